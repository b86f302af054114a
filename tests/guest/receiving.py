"""A port that receives as well, with a device under test between its two directions: this process, which loses, doubles, swaps
and damages frames that it knows by their index."""
import contextlib

import machine
from judge import finished, reported
from outside import NETDEV, Outside
from scene import Scene, configuration, stream

SIGNED, BESIDE, PACKETS, SIZE = 70, 71, 2000, 128
LOST, DOUBLED, SWAPPED, DAMAGED, FOREIGN = {100, 101, 102, 1500}, {200, 1201}, 400, {300, 1700, 1701}, 5
CAME = PACKETS - len(LOST) + len(DOUBLED)


class Dut(Outside):
    """Forwards what the guest's card sends back to it, with the faults above."""

    def __init__(self, folder):
        super().__init__(folder)
        self.held = []

    def forward(self, frame):
        """What leaves for a frame that came."""
        if frame[36:38] != bytes([0, SIGNED]):  # UDP destination port
            return []
        index = int.from_bytes(frame[27:30])    # low 24 bits of the IPv4 source
        if index == SWAPPED:
            self.held.append(frame)
            return []
        if index in LOST:
            return []
        if index in DAMAGED:
            return [frame[:60] + bytes([frame[60] ^ 0x10]) + frame[61:]]
        foreign = [bytes(6) + frame[6:12] + b"\x88\xb5" + bytes(60)] * (FOREIGN if index == 0 else 0)
        out = [frame] * (2 if index in DOUBLED else 1) + foreign + self.held
        self.held.clear()
        return out

    def work(self):
        while not self.ending.is_set():
            with contextlib.suppress(TimeoutError):
                for frame in self.forward(self.socket.recv(65536)):
                    self.send(frame)

    def send(self, frame):
        while not self.ending.is_set():
            try:
                self.socket.sendto(frame, self.card)
                return
            except TimeoutError:  # the card's socket is full
                continue
            except OSError:       # the guest is off
                return


def faults_case(evidence, problems):
    run = evidence.left.runs.get("faults")
    if not finished(problems, "faults", run):
        return
    beside = run.report["streams"][1]["tx"]["packets"]
    reported(problems, "faults", run.report, PACKETS + beside, PACKETS * (SIZE - 4) + beside * 60)
    got = run.report["streams"][0]["rx"]
    wanted = {"packets": CAME, "lost": len(LOST), "duplicates": len(DOUBLED), "reordered": 1, "corrupted": len(DAMAGED),
              "verified": CAME}
    problems.equal("faults: what the receiver counted", {key: got[key] for key in wanted}, wanted)
    problems.equal("faults: packets of the port", run.report["ports"][0]["rx"]["packets"], CAME + FOREIGN)
    problems.equal("faults: unmatched", run.report["ports"][0]["rx"]["unmatched"], FOREIGN)
    problems.equal("faults: missed", run.report["ports"][0]["rx"]["missed"], 0)


# However slow the host is: a second stream, which the device swallows, keeps the run alive until all has come back.
FAULTS = f"""
begin faults
await faults.lines '"rx":{{"packets":{CAME + FOREIGN},'
kill -TERM $pid
finish
"""


def scene(name, model):
    card = machine.Card(model, None, netdev=NETDEV)
    signed = stream(SIGNED, PACKETS, 4, rate="5kpps", frame_size=SIZE, verify="all")
    faults = configuration([signed, stream(BESIDE, burst=1, rate="10pps")], interval="100ms", run={"settle_time": "100ms"})
    faults["ports"][0]["rx"] = {"lcores": faults["ports"][0]["tx"]["lcores"]}
    return Scene(name, card, FAULTS, {"faults": faults},
                 {"each_fault_of_a_device_under_test_is_counted_once_and_nothing_else": faults_case}, around=Dut)


def scenes():
    return [scene("Receive", "e1000e"), scene("ReceiveE1000", "e1000")]
