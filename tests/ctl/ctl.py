"""What the tests of volleyctl share: running it, and reading captures with tshark, checksums on."""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])
VOLLEYCTL = sys.argv[2]
CHECKS = [word for name in ("ip", "udp", "tcp") for word in ("-o", f"{name}.check_checksum:TRUE")] + ["-o", "sctp.checksum:CRC-32c"]


def run(*args):
    return subprocess.run([VOLLEYCTL, *map(str, args)], capture_output=True, text=True)


def config(streams, lcores=(3,), port=None, **top):
    """A configuration of one port that needs no device."""
    entry = {"name": "east", "device": "net_null0", "speed": "10Gbps", "tx": {"lcores": list(lcores)}, **(port or {})}
    return {"version": 1, "lcores": {"control": 0, "stats": 1, "dispatch": 2}, "ports": [entry], "streams": streams, **top}


STATUSES = ("ip.checksum.status", "udp.checksum.status", "tcp.checksum.status", "icmp.checksum.status", "icmpv6.checksum.status",
            "sctp.checksum.status", "_ws.malformed", "_ws.expert.message", "frame.protocols")


def fields(pcap, *names, clean=True, options=()):
    """Of each packet the values of the named fields, as tshark writes them. clean: a checksum or length that tshark calls wrong in any
    packet fails the test."""
    command = ["tshark", "-n", "-r", str(pcap), *CHECKS, *options, "-T", "fields", "-E", "occurrence=a", "-E", "separator=/t"]
    asked = list(dict.fromkeys((*names, *STATUSES)))  # tshark fills the first of two alike with nothing
    for name in asked:
        command += ["-e", name]
    got = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in got.stdout.splitlines()]
    if clean:
        for number, row in enumerate(rows, 1):
            told = dict(zip(asked, row))
            malformed, experts = told["_ws.malformed"], told["_ws.expert.message"]
            wrong = [name for name in STATUSES[:-3] if "0" in told[name].split(",")]
            # Random ports and payloads look like other protocols to tshark: what it says of those says nothing.
            judged = not {"udp", "tcp"} & set(told["frame.protocols"].split(":"))
            if wrong or "Bad length" in experts or (judged and (malformed or "length" in experts.lower())):
                raise AssertionError(f"packet {number}: {wrong} {malformed} {experts}")
    return [tuple(row[:len(names)]) for row in rows]


def frames(pcap):
    """Of each packet the time in nanoseconds and the bytes, of a little-endian pcap with nanoseconds."""
    data = pathlib.Path(pcap).read_bytes()
    assert data[:4] == bytes.fromhex("4d3cb2a1"), data[:4]
    at, out = 24, []
    while at < len(data):
        seconds, rest, length, _ = struct.unpack_from("<4I", data, at)
        out.append((seconds * 10**9 + rest, data[at + 16:at + 16 + length]))
        at += 16 + length
    return out


class Folder:
    """A folder of its own for a test, with the configurations and captures that it makes."""

    def __init__(self, test):
        holder = tempfile.TemporaryDirectory()
        test.addCleanup(holder.cleanup)
        self.path = pathlib.Path(holder.name)

    def write(self, name, content):
        path = self.path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def render(self, content, packets=None, *options):
        """Renders a configuration (a dict, or a file); returns the capture and the summary."""
        path = content if isinstance(content, pathlib.Path) else self.write("config.json", content)
        out = self.path / "out.pcap"
        limit = [] if packets is None else ["-n", packets]
        got = run("render", path, *limit, "-o", out, "--json", *options)
        if got.returncode != 0:
            raise AssertionError(f"render: {got.returncode}: {got.stderr}")
        return out, json.loads(got.stdout)
