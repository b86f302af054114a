"""Configurations for guests, and a scene: one boot with the cases that it serves."""
import dataclasses, json, pathlib
from typing import Callable

import machine

FCS = 4


def stream(number, packets=None, burst=1, rate="100kpps", frame_size=64, **more):
    """A stream whose number is its UDP destination port and whose packet index stands in the source address."""
    out = {"name": f"s{number}", "port": "east", "rate": rate, "burst": burst, **more}
    if packets is not None:
        out["count"] = packets
    out["packet"] = {"frame_size": frame_size, "payload": {"fill": "0xa5"}, "headers": [
        {"eth": {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}},
        {"ipv4": {"src": {"increment": {"from": "10.0.0.0", "to": "10.255.255.255"}}, "dst": "10.1.0.1"}},
        {"udp": {"src": 4096, "dst": number}}]}
    return out


def replay(number, file, **more):
    """A stream of the frames of a capture in /job, at the times that stand in it."""
    return {"name": f"s{number}", "port": "east", "packet": {"pcap": {"file": f"/job/{file}", "timing": "recorded", **more}}}


def configuration(streams, device="0000:00:01.0", workers=1, descriptors=1024, interval="1s", tx=None, run=None):
    """One port, everything on the guest's one CPU."""
    first = 2
    return {"version": 1, "name": "guest",
            "eal": {"lcores": ",".join(f"{lcore}@0" for lcore in range(first + workers)), "huge_pages": "yes", "memory_mib": 96},
            "run": {"settle_time": "0ms", **(run or {})},
            "ports": [{"name": "east", "device": device,
                       "tx": {"lcores": list(range(first, first + workers)), "descriptors": descriptors,
                              "flush_threshold": 1, **(tx or {})}}],
            "streams": streams, "telemetry": {"interval": interval, "socket": None}}


@dataclasses.dataclass
class Scene:
    name: str
    card: machine.Card
    script: str
    configurations: dict                     # NAME of volleyd's run -> configuration
    cases: dict[str, Callable]               # a promise -> function(evidence, problems)
    captures: dict = dataclasses.field(default_factory=dict)  # file in /job -> bytes
    short: bool = False                      # part of the short form
    virtual_time: bool = False
    cable: bool = True                       # plugged in at start
    wishes: dict = dataclasses.field(default_factory=dict)
    around: Callable | None = None           # context manager that runs meanwhile; gets the guest's folder

    def files(self):
        return {f"{name}.json": json.dumps(config, indent=1) for name, config in self.configurations.items()} | self.captures


@dataclasses.dataclass
class Evidence:
    """What a case judges by."""
    left: machine.Left
    frames: dict          # of each stream
    tails: list           # tail writes, one list a volleyd
    meanwhile: object     # what `around` gave
    programs: pathlib.Path  # folder of volleyd and volleyctl
    files: dict           # as the guest had them in /job: NAME.json -> text, captures -> bytes
