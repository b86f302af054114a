"""Cases on each emulated card: exact counts, tail writes and bytes, and volleyd's life in the guest, in real time."""
import collections, math, re, socket

import machine, packets
from judge import finished, reported, sound, steps
from outside import NETDEV, Outside
from scene import FCS, Scene, configuration, stream

E1000E = machine.Doorbell("e1000e_core_write", re.compile(r"register (?P<register>0x[0-9a-f]+), \d+ byte\(s\), value: (?P<value>0x[0-9a-f]+)"),
                          {0x3818: 0, 0x3918: 1}, {0x3810: 0, 0x3910: 1})


def region(name, mask, tails, heads):
    pattern = r"addr (?P<register>0x[0-9a-f]+) value (?P<value>0x[0-9a-f]+) size \d+ name '" + name + "'"
    return machine.Doorbell("memory_region_ops_write", re.compile(pattern), tails, heads, mask)


# The igb driver takes the legacy alias of the first four queues, stride 0x100.
IGB = region("igb-mmio", 0x1ffff, {0x3818 + 0x100 * q: q for q in range(4)}, {0x3810 + 0x100 * q: q for q in range(4)})
E1000 = region("e1000-mmio", 0x1ffff, {0x3818: 0}, {0x3810: 0})
VMXNET3 = region("vmxnet3-b0", 0xfff, {0x600: 0}, {})  # TXPROD of queue 0

BURSTS = {1: 64, 2: 65, 4: 128, 8: 256, 32: 594, 64: 1024, 128: 1518}  # burst -> frame size, with FCS
PACKETS = 1000
RING = 1024
# Numbers of streams of which the clock decides how many packets they send, and of those over several queues.
TERM, INT, RELOADED, ADDED, LATE, SHARED, SLOW = 20, 21, 22, 23, 24, 26, 40


def burst_case(evidence, problems):
    """One volleyd a burst size; the runs are in the order of BURSTS, and so are the set-ups of queues."""
    for place, (burst, size) in enumerate(BURSTS.items()):
        what = f"burst {burst}"
        run = evidence.left.runs.get(f"b{burst}")
        if not finished(problems, what, run):
            continue
        sound(problems, what, evidence.frames[burst], PACKETS, size - FCS)
        reported(problems, what, run.report, PACKETS, sum(frame.length for frame in evidence.frames[burst]))
        writes = evidence.tails[place]
        wanted = collections.Counter({burst: PACKETS // burst})
        if PACKETS % burst:
            wanted[PACKETS % burst] += 1
        problems.equal(f"{what}: tail writes", len(writes), math.ceil(PACKETS / burst))
        problems.equal(f"{what}: packets that a tail write announced", steps(writes, RING), wanted)
        problems.equal(f"{what}: tail writes that volleyd reported", run.report["queues"][0]["tx"]["tail_writes"], len(writes))


def queues_case(queues, place, first=SHARED):
    """Streams over all queues of a card: each queue's own packets, each packet once."""
    def judge(evidence, problems):
        what = f"{queues} queues"
        run = evidence.left.runs.get("queues")
        if not finished(problems, what, run):
            return
        streams = {first: 8, first + 1: 32}
        total = sum(frame.length for number in streams for frame in evidence.frames[number])
        for number in streams:
            sound(problems, f"{what}, stream {number}", evidence.frames[number], PACKETS, 60, ordered=False)
        reported(problems, what, run.report, PACKETS * len(streams), total)
        writes = evidence.tails[place]
        problems.equal(f"{what}: tail writes", len(writes), sum(math.ceil(PACKETS / burst) for burst in streams.values()))
        for queue in run.report["queues"]:
            own = [write for write in writes if write.queue == queue["queue"]]
            sizes = steps(own, RING)
            problems.equal(f"{what}: tail writes of queue {queue['queue']}", queue["tx"]["tail_writes"], len(own))
            problems.equal(f"{what}: packets announced to queue {queue['queue']}",
                           sum(packets * writes for packets, writes in sizes.items()), queue["tx"]["packets"])
            problems.true(f"{what}: queue {queue['queue']} is idle", queue["tx"]["packets"] > 0)
    return judge


def queues_configuration(queues, first=SHARED):
    return configuration([stream(first, PACKETS, 8), stream(first + 1, PACKETS, 32)], workers=queues)


def stop_case(evidence, problems):
    """SIGTERM, then SIGINT in another run: what was sent until then is whole, counted and seen outside."""
    for name, number in (("term", TERM), ("int", INT)):
        run = evidence.left.runs.get(name)
        if not finished(problems, name, run):
            continue
        count = run.report["ports"][0]["tx"]["packets"]
        problems.true(f"{name}: only {count} packets", count >= 100)
        sound(problems, name, evidence.frames[number], count, 60)
        reported(problems, name, run.report, count, sum(frame.length for frame in evidence.frames[number]))


def reload_case(evidence, problems):
    """SIGHUP with a new rate and a new stream, then with a file that is wrong: no packet lost, none twice."""
    run = evidence.left.runs.get("reload")
    if not finished(problems, "reload", run):
        return
    problems.equal("reload: generation", run.report["generation"], 2)
    problems.true("reload: the wrong file was not refused", any("reload refused" in line for line in run.log))
    counts = {one["name"]: one["tx"]["packets"] for one in run.report["streams"]}
    sound(problems, "reload: stream of both plans", evidence.frames[RELOADED], counts.get(f"s{RELOADED}"), 60)
    sound(problems, "reload: stream of the second plan", evidence.frames[ADDED], counts.get(f"s{ADDED}"), 124)


LIFE = """
for name in term int; do
    begin $name
    await $name.lines '"state":"running".*"east".*"tx":{"packets":[0-9]\{3,\},.*"queues"'
    case $name in term) kill -TERM $pid ;; int) kill -INT $pid ;; esac
    finish
done
begin reload
await reload.lines '"state":"running"' 3
cp /job/faster.json /tmp/reload.json
kill -HUP $pid
await reload.log 'reloading -> running'
await reload.lines '"generation":2' 3
echo '{"version": 1, "ports": 7}' >/tmp/reload.json
kill -HUP $pid
await reload.log 'reload refused'
kill -TERM $pid
finish
"""


def life_configurations():
    slow = stream(RELOADED, rate="2kpps")
    return {"term": configuration([stream(TERM, burst=4, rate="5kpps")], interval="100ms"),
            "int": configuration([stream(INT, burst=1, rate="5kpps")], interval="100ms"),
            "reload": configuration([slow], interval="100ms", tx={"max_frame": 256}),
            "faster": configuration([{**slow, "rate": "5kpps"}, stream(ADDED, rate="1kpps", burst=2, frame_size=128)],
                                    interval="100ms", tx={"max_frame": 256})}


def burst_streams():
    """One of each burst size; the largest frames just fit a card of 1 Gbps."""
    return {f"b{burst}": stream(burst, PACKETS, burst, rate="10kpps", frame_size=size) for burst, size in BURSTS.items()}


def burst_configurations():
    return {name: configuration([one]) for name, one in burst_streams().items()}


def e1000e():
    bursts = burst_configurations()
    script = "".join(f"run {name}\n" for name in bursts) + "run queues\n" + LIFE
    return Scene("E1000e", machine.Card("e1000e", E1000E), script,
                 {**bursts, "queues": queues_configuration(2), **life_configurations()},
                 {"each_burst_is_one_tail_write_and_each_packet_arrives_once": burst_case,
                  "two_queues_share_the_packets_exactly": queues_case(2, len(BURSTS)),
                  "a_stop_counts_what_was_sent_until_then": stop_case,
                  "a_reload_loses_no_packet_and_a_wrong_one_changes_nothing": reload_case}, short=True)


def igb():
    bursts = burst_configurations()
    return Scene("Igb", machine.Card("igb", IGB), "".join(f"run {name}\n" for name in bursts) + "run queues\n",
                 {**bursts, "queues": queues_configuration(4)},
                 {"each_burst_is_one_tail_write_and_each_packet_arrives_once": burst_case,
                  "four_queues_share_the_packets_exactly": queues_case(4, len(BURSTS))})


def e1000():
    bursts = burst_configurations()
    return Scene("E1000", machine.Card("e1000", E1000), "".join(f"run {name}\n" for name in bursts), bursts,
                 {"each_burst_is_one_tail_write_and_each_packet_arrives_once": burst_case})


def seven_case(evidence, problems):
    """The same of all burst sizes at once, in one volleyd on one queue."""
    run = evidence.left.runs.get("all")
    if not finished(problems, "seven streams", run):
        return
    wanted = collections.Counter()
    for burst, size in BURSTS.items():
        sound(problems, f"burst {burst}", evidence.frames[burst], PACKETS, size - FCS)
        wanted[burst] += PACKETS // burst
        wanted[PACKETS % burst] += PACKETS % burst > 0
    total = sum(frame.length for burst in BURSTS for frame in evidence.frames[burst])
    reported(problems, "seven streams", run.report, PACKETS * len(BURSTS), total)
    writes = evidence.tails[0]
    problems.equal("seven streams: tail writes", len(writes), wanted.total())
    problems.equal("seven streams: packets that a tail write announced", steps(writes, RING), +wanted)
    problems.equal("seven streams: tail writes that volleyd reported", run.report["queues"][0]["tx"]["tail_writes"], len(writes))


def seven():
    return {"all": configuration(list(burst_streams().values()))}


def vmxnet3():
    return Scene("Vmxnet3", machine.Card("vmxnet3", VMXNET3), "run all\n", seven(),
                 {"bursts_of_seven_streams_keep_their_tail_writes": seven_case})


def vfio():
    card = machine.Card("e1000e", E1000E, machine="q35,kernel-irqchip=split", driver=machine.VFIO,
                        extra="-device intel-iommu,intremap=on,device-iotlb=on")
    return Scene("Vfio", card, "run all\n", seven(), {"a_card_behind_an_iommu_sends_the_same": seven_case})


class SlowReader(Outside):
    """Takes frames from the guest, and pauses often enough for the card's ring to be full."""

    def __init__(self, folder):
        super().__init__(folder)
        self.frames = []
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

    def work(self):
        while True:
            try:
                self.frames.append(self.socket.recv(65536))
            except TimeoutError:
                if self.ending.is_set():
                    return
                continue
            if len(self.frames) % 500 == 0:
                self.ending.wait(0.1)


def virtio_case(evidence, problems):
    run = evidence.left.runs.get("slow")
    if not finished(problems, "virtio", run):
        return
    frames = [frame for frame in evidence.meanwhile.frames if frame[36:38] == bytes([0, SLOW])]  # UDP destination port
    indices = [int.from_bytes(frame[27:30]) for frame in frames]  # low 24 bits of the IPv4 source
    problems.equal("virtio: frames that the reader got", len(frames), 6000)
    problems.true("virtio: a frame is lost, twice or out of order", indices == list(range(len(indices))))
    problems.true("virtio: a frame has a wrong byte", frames == [packets.packet(SLOW, index, 60) for index in indices])
    reported(problems, "virtio", run.report, 6000, sum(map(len, frames)))
    queue = run.report["queues"][0]["tx"]
    problems.true("virtio: tx_burst never returned short", queue["backpressure_packets"] > 0)


def virtio():
    card = machine.Card("virtio-net-pci,disable-legacy=on", None, netdev=NETDEV)
    return Scene("Virtio", card, "run slow\nusleep 500000\n",
                 {"slow": configuration([stream(SLOW, 6000, 32, rate="1Mpps")], descriptors=256)},
                 {"a_slow_reader_gets_each_packet_once": virtio_case}, around=SlowReader)


def link_never_case(evidence, problems):
    run = evidence.left.runs.get("never")
    if finished(problems, "no link", run, 69):
        problems.true(f"no link: the last words do not name port and next step: {run.log[-1:]}",
                      any("link of port east" in line and "check cable" in line for line in run.log))
    run = evidence.left.runs.get("patient")
    if run is None or run.status != 0 or run.lines and run.report:
        problems.say(f"a stop while the link is waited for: {run}")


def link_start_case(evidence, problems):
    run = evidence.left.runs.get("start")
    if finished(problems, "link after the start", run):
        sound(problems, "link after the start", evidence.frames[1], PACKETS, 60)


def link_late_case(evidence, problems):
    """The card throws frames away while its cable is out, as a real one may: it says so, and goes on afterwards."""
    run = evidence.left.runs.get("late")
    if not finished(problems, "link lost", run):
        return
    ups = [line["ports"][0]["link"]["up"] for line in run.lines if line["state"] != "starting"]
    changes = [up for before, up in zip([None, *ups], ups) if up != before]
    problems.equal("link lost: link as told", changes, [True, False, True])
    reasons = [line["ports"][0]["link"]["reason"] is not None for line in run.lines
               if line["state"] != "starting"]
    problems.equal("link lost: lines with a reason are those without link", reasons, [not up for up in ups])
    count = run.report["ports"][0]["tx"]["packets"]
    indices = [frame.index for frame in evidence.frames[LATE]]
    problems.true("link lost: a frame came twice or out of order", indices == sorted(set(indices)))
    problems.equal("link lost: the last frame outside", indices[-1] + 1, count)
    problems.true("link lost: nothing was lost outside, so the cable was never out", len(indices) < count)


LINK = """
run never
begin patient
await patient.log 'port east waits'
usleep 300000
kill -TERM $pid
finish
begin start
await start.log 'port east waits'
host plug
finish
begin late
await late.lines '"state":"running"' 3
host unplug
await late.log 'warning: port east: '
await late.lines '"state":"running".*"link":{"up":false' 3
host plug
await late.log 'link up' 2
usleep 400000
kill -TERM $pid
finish
"""


def link():
    wishes = {"plug": lambda control: control.cable(True), "unplug": lambda control: control.cable(False)}
    one = configuration([stream(1, PACKETS)])
    late = configuration([stream(LATE, burst=4, rate="2kpps")], interval="100ms")
    return Scene("Link", machine.Card("e1000e", E1000E), LINK, {"never": one, "patient": one, "start": one, "late": late},
                 {"a_port_without_link_is_given_up_by_name_and_can_be_stopped_before": link_never_case,
                  "a_link_that_comes_late_is_waited_for": link_start_case,
                  "a_link_that_goes_is_told_and_traffic_goes_on_when_it_is_back": link_late_case}, cable=False, wishes=wishes)


def scenes():
    return [e1000e(), link(), e1000(), vmxnet3(), virtio(), vfio(), igb()]
