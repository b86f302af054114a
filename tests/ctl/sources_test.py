#!/usr/bin/env python3
"""Packets from files and in sequence, as volleyctl renders and checks them. usage: sources_test.py SOURCE_DIR VOLLEYCTL"""
import json
import struct
import sys
import unittest

sys.dont_write_bytecode = True
from ctl import Folder, config, fields, frames, run


def pcap(*packets):
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(
        struct.pack("<IIII", 1, 0, len(packet), length or len(packet)) + packet for packet, length in packets)


def timed_pcap(*packets):
    """Packets with their times in nanoseconds."""
    return struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1) + b"".join(
        struct.pack("<IIII", time // 10**9, time % 10**9, len(packet), len(packet)) + packet for time, packet in packets)


def udp(host, port, text=b""):
    """A frame of a host that talks to 10.1.0.1."""
    body = struct.pack(">HHHH", port, 53, 8 + len(text), 0) + text
    return b"\x02" * 12 + b"\x08\x00" + struct.pack(">BBHHHBBHBBBBBBBB", 0x45, 0, 20 + len(body), 0, 0, 64, 17, 0, 10, 0, 0, host, 10, 1, 0, 1) + body


def recorded(file, **keys):
    pcap_keys = {key: keys.pop(key) for key in ("speed", "loop") if key in keys}
    return {"name": "s", "port": "east", "packet": {"pcap": {"file": file, "timing": "recorded", **pcap_keys}, "pad": False}, **keys}


# B34, B35, B82: gaps of 10 us, 1 ms and half a second, the first one long; one frame older than that before it.
START = 1_700_000_000_123_456_789
TIMES = [START + ns for ns in (0, 500_000_000, 500_010_000, 501_010_000, 501_009_000, 501_012_001)]
WANTED = [0, 500_000_000, 500_010_000, 501_010_000, 501_010_000, 501_013_001]


def stream(packet, **keys):
    return {"name": "s", "port": "east", "rate": "1Mpps", "packet": packet, **keys}


class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def test_a_capture_is_sent_byte_for_byte_and_loops_linearly(self):
        packets = [bytes([length]) * length for length in (61, 63, 81, 60)]
        self.folder.write("in.pcap", pcap(*((packet, 0) for packet in packets)))
        for loop in (1, 2, 3):
            out, told = self.folder.render(config([stream({"pcap": {"file": "in.pcap", "loop": loop}})], lcores=(3, 4, 5)))
            self.assertEqual(told["packets"], 4 * loop)
            self.assertEqual([bytes_ for _, bytes_ in frames(out)], packets * loop)
        out, told = self.folder.render(config([stream({"pcap": {"file": "in.pcap", "loop": 0}})]), 10)
        self.assertEqual([bytes_ for _, bytes_ in frames(out)], (packets * 3)[:10])

    def test_recorded_gaps_are_kept_times_a_factor_over_loops(self):
        packets = [bytes([60 + i]) * (60 + i) for i in range(6)]
        self.folder.write("in.pcap", timed_pcap(*zip(TIMES, packets)))
        out, _ = self.folder.render(config([recorded("in.pcap")]))
        self.assertEqual(frames(out), list(zip(WANTED, packets)))
        out, _ = self.folder.render(config([recorded("in.pcap", speed=0.5)]))
        self.assertEqual([time for time, _ in frames(out)], [2 * ns for ns in WANTED])
        out, _ = self.folder.render(config([recorded("in.pcap")], run={"multiplier": 0.5}))
        self.assertEqual([time for time, _ in frames(out)], [2 * ns for ns in WANTED])
        out, told = self.folder.render(config([recorded("in.pcap", loop=3)]))
        period = WANTED[-1] + WANTED[-1] // 5
        self.assertEqual(frames(out), [(ns + k * period, packet) for k in range(3) for ns, packet in zip(WANTED, packets)])
        _, told = self.folder.render(config([recorded("in.pcap", loop=0, duration="501012us")]))
        self.assertEqual(told["packets"], 5)
        _, told = self.folder.render(config([recorded("in.pcap", loop=0)], run={"duration": "501012us"}))
        self.assertEqual(told["packets"], 5)

    def test_a_file_larger_than_its_memory_is_read_while_it_is_sent_and_nothing_differs(self):
        packets = [(START + i * 777 - (500 if i % 50 == 49 else 0), bytes([i % 251]) * (40 + i * 37 % 1400)) for i in range(4000)]
        self.folder.write("in.pcap", timed_pcap(*packets))
        one, two = recorded("in.pcap", loop=3), recorded("in.pcap", loop=3)
        two["packet"]["pcap"]["memory_mib"] = 1
        for entry in (one, two):
            entry["packet"]["pad"] = True
        held, _ = self.folder.render(config([one]))
        held = frames(held)
        fed, told = self.folder.render(config([two]))
        self.assertEqual(told["packets"], 12000)
        self.assertEqual(frames(fed), held)
        out, _ = self.folder.render(config([two | {"duration": "1ms"}, stream({"headers": [{"eth": {}}]}, name="t", count=5)]), None, "--stream", "t")
        self.assertEqual(len(frames(out)), 5)
        out, _ = self.folder.render(config([two | {"duration": "1ms"}]))
        self.assertEqual(frames(out), [packet for packet in held if packet[0] < 10**6])
        for keys, lcores, text in (({"signature": True}, (3,), "unsigned"), ({"bytes": 1000}, (3,), 'say "count"'),
                                   ({"split": "flow"}, (3, 4), 'say "workers": [0]')):
            got = run("config", "check", self.folder.write("c.json", config([two | keys], lcores=lcores)))
            self.assertEqual(got.returncode, 65, text)
            self.assertIn(text, got.stderr)
            self.assertIn("larger than memory_mib (1 MiB)", got.stderr)

    def test_the_check_tells_of_frames_that_are_older_than_those_before(self):
        self.folder.write("in.pcap", timed_pcap(*((time, bytes(60)) for time in TIMES)))
        path = self.folder.write("c.json", config([recorded("in.pcap")]))
        self.assertIn("in.pcap: 1 frames are older than the one before them", run("render", path, "-o", "/dev/null").stderr)

    def test_flows_stay_on_one_worker_of_several_and_keep_their_times(self):
        talk = [(START + i * 1000, udp(1 + i * 7 % 20, 1000 + i * 5 % 3, bytes([i % 256, i // 256]))) for i in range(600)]
        self.folder.write("in.pcap", timed_pcap(*talk))
        for streams in ([recorded("in.pcap", split="flow")], [recorded("in.pcap", workers=[1])]):
            out, _ = self.folder.render(config(streams, lcores=(3, 4, 5)))
            self.assertEqual(frames(out), [(time - START, packet) for time, packet in talk])

    def test_what_does_not_go_with_recorded_times_is_refused_with_what_to_do(self):
        self.folder.write("in.pcap", timed_pcap(*((time, bytes(60)) for time in TIMES)))
        self.folder.write("one.pcap", timed_pcap((START, bytes(60)), (START, bytes(60))))
        inline = config([recorded("in.pcap", split="flow")], lcores=(3, 4))
        inline["lcores"] = {"control": 0, "stats": 1}
        chain = [stream({"headers": [{"eth": {}}]}, name="a", count=1, next="s"), recorded("in.pcap")]
        for top, pointer, text in ((config([recorded("in.pcap", rate="1Mpps")]), "/streams/0/rate", 'say "speed" in "pcap"'),
                                   (config([recorded("in.pcap", burst=2)]), "/streams/0/burst", 'leave "burst" out'),
                                   (config([recorded("in.pcap", loop=2) | {"loop": 2}]), "/streams/0/loop", 'say "loop" in "pcap"'),
                                   (config([recorded("in.pcap", departure="poisson")]), "/streams/0/departure", 'leave "departure" out'),
                                   (config([recorded("in.pcap")], lcores=(3, 4)), "/streams/0", '"split": "flow"'),
                                   (inline, "/streams/0", '"dispatch" lcore'),
                                   (config(chain), "/streams/0/next", "no place in a chain"),
                                   (config([stream({"headers": [{"eth": {}}]}, split="flow")]), "/streams/0/split", '"timing": "recorded"'),
                                   (config([recorded("one.pcap", loop=2)]), "/streams/0/packet/pcap", "no gap to keep")):
            got = run("config", "check", self.folder.write("c.json", top))
            self.assertEqual(got.returncode, 65, text)
            self.assertIn(pointer + ": ", got.stderr)
            self.assertIn(text, got.stderr)

    def test_a_signed_frame_of_a_file_grows_by_the_trailer_and_its_checksums_stay_right(self):
        packets = [(START, bytes([7]) * length) for length in (14, 44, 60, 101)] + [(START, udp(1, 53, b"odd"))]
        self.folder.write("in.pcap", timed_pcap(*packets))
        out, _ = self.folder.render(config([stream({"pcap": "in.pcap"}, signature=True)]))
        for (_, was), (_, sent) in zip(packets, frames(out), strict=True):
            self.assertEqual(sent[:-16], was + bytes(max(0, 44 - len(was))))
        self.folder.write("in.cfg", "{ eth(), ipv4(), udp(sp=7), drnd(3) }\n"
                          "{ eth(), ipv4(len=49, proto=17), 0x00, 0x07, 0x00, 0x07, 0x00, 0x1d, csumudp(14, 34), fill(0x01, 21) }\n")
        out, _ = self.folder.render(config([stream({"trafgen": "in.cfg"}, count=10, signature=True)]))
        self.assertEqual({status for status, in fields(out, "udp.checksum.status")}, {"1"})
        self.assertEqual([len(frame) for _, frame in frames(out)][:2], [61, 79])
        long = [(START, bytes([7]) * 9709)]
        self.folder.write("long.pcap", timed_pcap(*long))
        got = run("config", "check", self.folder.write("c.json", config([stream({"pcap": "long.pcap"}, signature=True)], port={"oversubscribe": True})))
        self.assertIn("the most is 9708 without FCS and signature", got.stderr)

    def test_short_frames_are_padded_unless_told_otherwise(self):
        self.folder.write("in.pcap", pcap((b"\x02" * 14, 0), (b"\x02" * 100, 0)))
        out, _ = self.folder.render(config([stream({"pcap": "in.pcap"})]))
        self.assertEqual([frame for _, frame in frames(out)], [b"\x02" * 14 + bytes(46), b"\x02" * 100])
        out, _ = self.folder.render(config([stream({"pcap": "in.pcap", "pad": False})]))
        self.assertEqual([len(frame) for _, frame in frames(out)], [14, 100])

    def test_what_is_wrong_with_a_file_is_told_by_the_check_with_place_and_reason(self):
        self.folder.write("cut.pcap", pcap((bytes(60), 0), (bytes(64), 93)))
        self.folder.write("long.pcap", pcap((bytes(60), 0), (b"\x08" * 1515, 0)))
        self.folder.write("fits.pcap", pcap((b"\x02" * 12 + b"\x81\x00\x00\x01" + b"\x08" * 1502, 0)))
        for packet, text in (({"pcap": "cut.pcap"}, "cut.pcap: at byte 100, packet 2: holds only 64 of the frame's 93 bytes"),
                             ({"pcap": "nowhere.pcap"}, "nowhere.pcap: No such file"),
                             ({"pcap": "long.pcap"}, "frames of 1519 bytes do not fit the mtu 1500"),
                             ({"pcap": {"file": "fits.pcap", "rewrite": {"ipv4.src": "10.0.0.1"}}}, "no packet has a field ipv4.src")):
            path = self.folder.write("c.json", config([stream(packet)], port={"mtu": 1500, "oversubscribe": True}))
            for got in (run("config", "check", path), run("render", path, "-o", "/dev/null")):
                self.assertEqual(got.returncode, 65, text)
                self.assertIn("c.json:1:", got.stderr)
                self.assertIn(text, got.stderr)
        for packet in ({"pcap": "fits.pcap"}, {"pcap": {"file": "cut.pcap", "pad": True}}):
            path = self.folder.write("c.json", config([stream(packet)], port={"mtu": 1500, "oversubscribe": True}))
            self.assertEqual(run("config", "check", path).returncode, 0)
        self.assertIn("1 frames were captured in part", run("render", path, "-o", "/dev/null").stderr)

    def test_rewrites_give_right_checksums_and_count_the_packets_of_the_stream(self):
        made, _ = self.folder.render(config([stream({"packets": [
            {"headers": [{"eth": {}}, {"vlan": {}}, {"ipv4": {}}, {"tcp": {}}, {"raw": {"text": "odd"}}]},
            {"headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {}}, {"raw": {"text": "x"}}]}]}, count=2)]))
        made.rename(self.folder.path / "in.pcap")
        rewrite = {"ipv4.src": {"increment": {"from": "10.9.0.0", "to": "10.9.0.255"}}, "vlan.id": 681, "udp.dst": 4053}
        out, _ = self.folder.render(config([stream({"pcap": {"file": "in.pcap", "loop": 300, "rewrite": rewrite}})]))
        rows = fields(out, "ip.src", "vlan.id", "udp.dstport")
        self.assertEqual(rows, [(f"10.9.0.{i % 256}", "681" if i % 2 == 0 else "", "" if i % 2 == 0 else "4053") for i in range(600)])
        literal = {"ipv4.dst": "10.1.2.3", "tcp.dst": 443}
        out, _ = self.folder.render(config([stream({"pcap": {"file": "in.pcap", "rewrite": literal}})]))
        self.assertEqual(fields(out, "ip.dst", "tcp.dstport"), [("10.1.2.3", "443"), ("10.1.2.3", "")])

    def test_packets_go_in_turn_and_count_their_own_sends(self):
        packets = [{"headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {"dst": 2040 + k, "src": {"increment": {"from": 1, "to": 9}}}}]}
                   for k in range(10)]
        for workers in (1, 3):
            out, _ = self.folder.render(config([stream({"packets": packets})], lcores=range(3, 3 + workers)), 200)
            rows = [tuple(map(int, row)) for row in fields(out, "udp.dstport", "udp.srcport")]
            self.assertEqual(rows, [(2040 + i % 10, i // 10 % 9 + 1) for i in range(200)])
        out, _ = self.folder.render(config([stream({"packets": packets, "order": "random"})]), 2000)
        seen = [row for row, in fields(out, "udp.dstport")]
        self.assertTrue(all(140 < seen.count(str(2040 + k)) < 260 for k in range(10)))

    def test_a_trafgen_file_is_sent_packet_by_packet_unpadded(self):
        self.folder.write("in.cfg", "#define N 2\n{ eth(da=02:00:00:00:00:02), ipv4(sa=10.0.0.1, da=dinc()), udp(sp=7, dp=dinc(1,N)), \"x\" }\n{ fill(2,12), c16(0x88b5) }")
        for workers in (1, 3):
            out, told = self.folder.render(config([stream({"trafgen": "in.cfg"}, count=6)], lcores=range(3, 3 + workers)))
            self.assertEqual([len(frame) for _, frame in frames(out)], [43, 14] * 3)
        rows = [row for row in fields(out, "ip.dst", "udp.dstport", "eth.src") if row[0]]
        self.assertEqual(rows, [("0.0.0.0", "1", "02:00:00:00:00:01"), ("0.0.0.1", "2", "02:00:00:00:00:01"), ("0.0.0.2", "1", "02:00:00:00:00:01")])
        out, _ = self.folder.render(config([stream({"trafgen": "in.cfg", "pad": True}, count=2)]))
        self.assertEqual([len(frame) for _, frame in frames(out)], [60, 60])

    def test_cpu_of_trafgen_names_workers_and_errors_have_line_and_column(self):
        self.folder.write("cpu.cfg", "cpu(0): { 1 } cpu(1-2): { 2 } { 3 }")
        for worker, bytes_ in ((0, [1, 3, 1]), (2, [2, 3, 2])):
            out, _ = self.folder.render(config([stream({"trafgen": "cpu.cfg"}, workers=[worker], count=3)], lcores=(3, 4, 5)))
            self.assertEqual([frame[0] for _, frame in frames(out)], bytes_)
        got = run("config", "check", self.folder.write("c.json", config([stream({"trafgen": "cpu.cfg"})], lcores=(3, 4, 5))))
        self.assertEqual(got.returncode, 65)
        self.assertIn('with "workers": [0], [1]', got.stderr)
        path = self.folder.write("c.json", config([stream({"trafgen": "cpu.cfg"}, workers=[0])], lcores=(3,)))
        self.assertIn('cpu.cfg: cpu(1) is sent by no worker: port "east" has 1', run("config", "check", path).stderr)
        path = self.folder.write("c.json", config([stream({"trafgen": "cpu.cfg"}, workers=[0])], lcores=(3, 4)))
        self.assertEqual(run("config", "check", path).stderr, "")
        self.folder.write("loud.cfg", "{ 1,\n 300 }")
        path = self.folder.write("c.json", config([stream({"trafgen": "loud.cfg"})]))
        got = run("config", "check", path)
        self.assertEqual((got.returncode, got.stdout), (0, f"{path}: ok\n"))
        self.assertRegex(got.stderr, "^warning: .*loud.cfg:2:2: 300 does not fit a byte")
        self.assertRegex(json.loads(run("config", "check", path, "--json").stdout)["files"][0]["warnings"][0], "loud.cfg:2:2: 300")
        self.folder.write("bad.cfg", "{ 1,\n 0xzz }")
        got = run("config", "check", self.folder.write("c.json", config([stream({"trafgen": "bad.cfg"})])))
        self.assertEqual(got.returncode, 65)
        self.assertIn("bad.cfg:2:2: ", got.stderr)

    def test_explain_shows_a_captured_frame_by_its_own_headers(self):
        made, _ = self.folder.render(config([stream({"headers": [{"eth": {}}, {"ipv4": {"dst": "10.7.7.7"}}, {"udp": {}}]}, count=1)]))
        made.rename(self.folder.path / "in.pcap")
        got = run("explain", self.folder.write("c.json", config([stream({"pcap": "in.pcap"})])))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertIn("1 packets in turn, 64 to 64", got.stdout)
        self.assertRegex(got.stdout, r"ipv4 dst +10\.7\.7\.7")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
