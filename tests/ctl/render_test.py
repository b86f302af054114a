#!/usr/bin/env python3
"""volleyctl render and explain. usage: render_test.py SOURCE_DIR VOLLEYCTL"""
import collections
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
from ctl import SOURCE, Folder, config, fields, frames, run

QUICKSTART = SOURCE / "conf/quickstart.json"
UDP = [{"eth": {}}, {"ipv4": {"src": {"increment": {"from": "10.0.0.1", "to": "10.0.0.255"}}}}, {"udp": {}}]


def stream(**keys):
    return {"name": "s", "port": "east", "rate": "1Mpps", "packet": {"frame_size": 64, "headers": UDP}, **keys}


class Render(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def test_times_are_exact_to_the_nanosecond(self):
        pcap, _ = self.folder.render(config([stream(rate="3Mpps", burst=1)]), 7)
        self.assertEqual([time for time, _ in frames(pcap)], [i * 1000 // 3 for i in range(7)])

    def test_a_burst_falls_due_together(self):
        pcap, _ = self.folder.render(config([stream(burst=4)]), 10)
        self.assertEqual([time for time, _ in frames(pcap)], [0] * 4 + [4000] * 4 + [8000] * 2)

    def test_any_number_of_workers_sends_the_same_packets(self):
        seen = set()
        for workers in (1, 2, 3, 8):
            pcap, told = self.folder.render(config([stream(count=255 * 20, burst=7)], lcores=range(3, 3 + workers)))
            self.assertEqual(told["packets"], 255 * 20)
            seen.add(tuple(frames(pcap)))
        self.assertEqual(len(seen), 1)
        sources = collections.Counter(src for src, in fields(pcap, "ip.src"))
        self.assertEqual((len(sources), set(sources.values())), (255, {20}))

    def test_a_reverse_stream_goes_the_other_way_from_its_port(self):
        there = stream(count=300, reverse="west", packet={"headers": [{"eth": {"dst": "02:00:00:00:00:0f"}}, *UDP[1:2], {"udp": {"dst": 53}}, {"dns": {}}]})
        made = config([there], port={"mac": "02:00:00:00:00:0e"})
        made["ports"].append({"name": "west", "device": "net_null1", "speed": "10Gbps", "tx": {"lcores": [4]}})
        asked = ("eth.src", "eth.dst", "ip.src", "ip.dst", "udp.srcport", "udp.dstport")
        east, told = self.folder.render(made, None, "--port", "east")
        self.assertEqual([(entry["name"], entry["packets"]) for entry in told["streams"]], [("s", 300)])
        sent = fields(east, *asked)
        west, told = self.folder.render(made, None, "--port", "west")
        self.assertEqual([(entry["name"], entry["packets"]) for entry in told["streams"]], [("s.reverse", 300)])
        self.assertEqual(fields(west, *asked, clean=False), [(row[1], row[0], row[3], row[2], row[5], row[4]) for row in sent])

    def test_a_reverse_stream_draws_what_the_way_there_draws(self):
        inner = [{"ipv4": {}}, {"udp": {}}, {"vxlan": {}}, {"eth": {}}]
        drawn = {"from": "10.0.0.0", "to": "10.0.3.255"}
        for program, tunnel in (({"random": drawn}, []), ({"random": {**drawn, "distinct": 100}}, []), ({"random": {**drawn, "permute": True}}, []),
                                ({"random": {**drawn, "distinct": 100, "permute": True}}, inner)):
            headers = [{"eth": {}}, *tunnel, {"ipv4": {"src": program}}, {"udp": {"dst": {"random": {"from": 1, "to": 60000}}}}]
            made = config([stream(count=500, reverse="west", packet={"headers": headers})])
            made["ports"].append({"name": "west", "device": "net_null1", "speed": "10Gbps", "tx": {"lcores": [4]}})
            asked = ("ip.src", "ip.dst", "udp.srcport", "udp.dstport", "eth.src", "eth.dst")
            sent, back = ([[value.split(",")[-1] for value in row] for row in fields(self.folder.render(made, None, "--port", port)[0], *asked, clean=False)]
                          for port in ("east", "west"))
            used = 6 if tunnel else 4  # the addresses of the frame itself are the ports' own
            self.assertEqual([row[:used] for row in back], [[row[at] for at in (1, 0, 3, 2, 5, 4)][:used] for row in sent], program)
            self.assertGreater(len({row[0] for row in sent}), 90)

    def test_long_frames_have_their_lengths_and_checksums(self):
        for size in (2000, 9600):
            pcap, _ = self.folder.render(config([stream(rate="1kpps", packet={"frame_size": size, "payload": {"random": {}}, "headers": UDP})]), 3)
            self.assertEqual(fields(pcap, "frame.len", "ip.len", "udp.length", "udp.checksum.status"), [(str(size - 4), str(size - 18), str(size - 38), "1")] * 3)

    def test_numbers_of_packets_are_whole_and_in_decimal(self):
        out = self.folder.path / "out.pcap"
        for arguments in (("render", QUICKSTART, "-o", out, "-n"), ("explain", QUICKSTART, "--packet"), ("watch", "--count")):
            for number, text in (("-5", "no whole number"), ("+5", "no whole number"), ("0x5", "no whole number"), ("5.0", "no whole number"), ("", "no whole number"),
                                 (str(2**64), "too large")):
                got = run(*arguments, number)
                self.assertEqual((got.returncode, text in got.stderr), (64, True), (arguments, number, got.stderr))
        self.assertFalse(out.exists())
        _, told = self.folder.render(QUICKSTART, "010")
        self.assertEqual(sum(entry["packets"] for entry in told["streams"]), 10)

    def test_100_by_100_nested_values_are_10000_flows_each_as_often(self):
        headers = [{"eth": {}}, {"ipv4": {"src": {"increment": {"from": "10.0.0.1", "to": "10.0.0.100"}}}},
                   {"udp": {"src": {"increment": {"from": 1001, "to": 1100, "nest": "ipv4.src"}}}}]
        made = config([stream(packet={"frame_size": 64, "headers": headers}, count=20_000)], lcores=(3, 4, 5))
        pcap, _ = self.folder.render(made)
        flows = collections.Counter(frame[26:30] + frame[34:36] for _, frame in frames(pcap))
        self.assertEqual((len(flows), set(flows.values())), (10_000, {2}))
        got = run("explain", self.folder.write("c.json", made))
        self.assertIn("tuples  10000\n", got.stdout)

    def test_the_end_of_the_run_bounds_it(self):
        _, told = self.folder.render(config([stream()], run={"duration": "1ms"}))
        self.assertEqual(told["packets"], 1000)
        _, told = self.folder.render(config([stream(duration="2ms")]))
        self.assertEqual(told["packets"], 2000)

    def test_a_run_without_end_asks_for_a_number_of_packets(self):
        got = run("render", QUICKSTART, "-o", self.folder.path / "out.pcap")
        self.assertEqual(got.returncode, 64)
        self.assertIn("-n 1000", got.stderr)

    def test_a_stream_at_max_takes_what_the_link_leaves(self):
        streams = [stream(), stream(name="flood", rate="max")]
        _, told = self.folder.render(config(streams, run={"duration": "1ms"}))
        paced, flood = (entry["packets"] for entry in told["streams"])
        self.assertEqual(paced, 1000)
        self.assertAlmostEqual(flood, 14880.95 - 1000, delta=64)

    def test_steps_groups_and_chains_are_played_on_their_time_lines(self):
        steps = stream(rate={"steps": [{"rate": "1kpps", "for": "3ms"}, {"rate": "2kpps", "for": "1ms"}]},
                       duration="4ms", next="after")
        after = stream(name="after", bursts={"packets": 2, "gap": "5ms", "count": 2}, burst=1)
        pcap, _ = self.folder.render(config([steps, after]), None)
        us = [0, 1000, 2000, 3000, 3500, 4000, 4001, 9002, 9003]
        self.assertEqual([time for time, _ in frames(pcap)], [t * 1000 for t in us])

    def test_the_earliest_time_of_day_is_the_zero(self):
        streams = [stream(name=name, count=1, start={"at": f"2026-07-01T12:00:{second}Z"})
                   for name, second in (("late", "02.5"), ("early", "01"))]
        pcap, _ = self.folder.render(config(streams), None)
        self.assertEqual([time for time, _ in frames(pcap)], [0, 1_500_000_000])

    def sent_in_10_ms(self, **keys):
        lcores = keys.pop("lcores", (3,))
        _, told = self.folder.render(config([stream(**keys)], run={"duration": "10ms"}, lcores=lcores))
        return told["packets"]

    def test_rates_count_the_fcs_and_hold_for_every_size_and_worker(self):
        # B29: frames of 64 bytes with their FCS, 84 on the wire.
        for pps in (500_000, 1_000_000, 2_000_000, 3_000_000):
            self.assertEqual(self.sent_in_10_ms(rate=f"{pps * 64 * 8 // 1000}kbps"), pps // 100)
            self.assertEqual(self.sent_in_10_ms(rate=f"{pps * 84 * 8 // 1000}kbps@L1"), pps // 100)
        # B31: the rate holds with varying sizes.
        packet = {"frame_size": {"increment": {"from": 64, "to": 1518}}, "headers": UDP}
        self.assertEqual(self.sent_in_10_ms(rate="100kpps", packet=packet), 1000)
        # B37: and on a worker that is not the first.
        self.assertEqual(self.sent_in_10_ms(rate="1Mpps", workers=[1], lcores=(3, 4)), 10_000)

    def test_a_percentage_of_a_capture_is_reckoned_from_its_mean_size(self):
        # B30: 60 and 1500 bytes, 84 and 1524 on the wire.
        source = [stream(name=str(size), count=1, rate="1kpps", packet={"frame_size": size + 4, "headers": UDP}) for size in (60, 1500)]
        pcap, _ = self.folder.render(config(source))
        (self.folder.path / "in.pcap").write_bytes(pathlib.Path(pcap).read_bytes())
        for percent in (100, 50):
            packet = {"pcap": {"file": "in.pcap", "loop": 0}}
            wanted = 10**10 * percent // 100 / (8 * (84 + 1524) / 2) / 100
            self.assertAlmostEqual(self.sent_in_10_ms(rate=f"{percent}%", packet=packet), wanted, delta=1)

    def test_ports_and_streams_can_be_chosen(self):
        streams = [stream(count=10), stream(name="t", count=20)]
        _, told = self.folder.render(config(streams), None, "--stream", "t")
        self.assertEqual([(entry["name"], entry["packets"]) for entry in told["streams"]], [("t", 20)])
        _, told = self.folder.render(config(streams), None, "--port", "east")
        self.assertEqual(told["packets"], 30)
        path = self.folder.write("c.json", config(streams))
        self.assertEqual(run("render", path, "-o", "/dev/null", "--port", "west").returncode, 64)
        self.assertEqual(run("render", path, "-o", "/dev/null", "--stream", "u").returncode, 64)

    def test_what_cannot_be_read_written_or_compiled_has_its_exit_code(self):
        out = self.folder.path / "out.pcap"
        self.assertEqual(run("render", "/nonexistent.json", "-n", 1, "-o", out).returncode, 66)
        got = run("render", QUICKSTART, "-n", 1, "-o", "/nonexistent/out.pcap")
        self.assertEqual((got.returncode, "/nonexistent/out.pcap" in got.stderr), (66, True))
        path = self.folder.write("c.json", config([stream(rate="50%")], port={"speed": None}))
        got = run("render", path, "-n", 1, "-o", out)
        self.assertEqual(got.returncode, 65)
        self.assertIn("/streams/0/rate", got.stderr)
        self.assertEqual(run("render", path, "-n", 1, "-o", out, "--link-speed", "10Gbps").returncode, 0)
        self.assertEqual(run("render", path, "-n", 1, "-o", out, "--link-speed", "10").returncode, 64)
        self.assertEqual(run("render", path).returncode, 64)


class Explain(unittest.TestCase):
    def test_every_byte_is_named_once_and_in_order(self):
        got = run("explain", QUICKSTART, "--json")
        self.assertEqual(got.returncode, 0, got.stderr)
        for entry, size in zip(json.loads(got.stdout)["streams"], (1518, 218, 128)):
            covered = set()
            for part in entry["bytes"]:
                self.assertLessEqual(part["offset"], max(covered, default=-1) + 1)
                covered |= set(range(part["offset"], part["offset"] + len(part["bytes"].split())))
            self.assertEqual(covered, set(range(size - 4)), entry["name"])

    def test_programs_tuples_and_arithmetic_are_told(self):
        got = run("explain", QUICKSTART, "--stream", "voice")
        for text in ("100000 packets/s", "one every 10000.000 ns", "174.400 Mbit/s L2", "190.400 Mbit/s L1", "tuples  100",
                     "udp src", "16384 to 16483", "payload"):
            self.assertIn(text, got.stdout)
        self.assertIn("      *\n", got.stdout)

    def test_the_signature_is_named_and_a_captured_frame_has_none(self):
        folder = Folder(self)
        for keys, named in (({"signature": True}, 1), ({}, 0)):
            got = run("explain", folder.write("c.json", config([stream(**keys, packet={"frame_size": 100, "headers": UDP})])), "--json")
            parts = json.loads(got.stdout)["streams"][0]["bytes"]
            self.assertEqual([(part["offset"], len(part["bytes"].split())) for part in parts if part["layer"] == "signature"], [(80, 16)] * named)
            self.assertEqual(max(part["offset"] for part in parts if part["layer"] == "payload"), 74 if named else 90)

    def test_a_mix_shows_its_genome(self):
        folder = Folder(self)
        mix = stream(packet={"frame_size": {"imix": "simple"}, "headers": UDP})
        got = run("explain", folder.write("c.json", config([mix])))
        self.assertIn("64 x 7, 570 x 4, 1518 x 1: ", got.stdout)
        self.assertIn("[A=570", got.stdout)

    def test_tags_and_mac_addresses_make_tuples_and_no_five_tuples(self):
        headers = [{"eth": {}}, {"vlan": {"id": {"increment": {"from": 1, "to": 100}}}}, {"ipv4": {"src": {"list": ["10.0.0.1", "10.0.0.2"]}}}, {"udp": {}}]
        got = run("explain", Folder(self).write("c.json", config([stream(packet={"headers": headers})])))
        self.assertIn("  tuples  100\n  5-tuple 2\n", got.stdout)

    def test_packets_in_turn_show_their_programs(self):
        packets = [{"headers": [{"eth": {}}, {"ipv4": {"id": {"increment": {"from": first, "to": 99}}}}, {"udp": {}}]} for first in (5, 7)]
        path = Folder(self).write("c.json", config([stream(packet={"packets": packets})]))
        for index, text in ((0, "5 to 99"), (1, "7 to 99"), (2, "5 to 99")):
            self.assertIn(text, run("explain", path, "--packet", index).stdout)

    def test_any_packet_can_be_shown(self):
        got = run("explain", QUICKSTART, "--stream", "voice", "--packet", "99")
        self.assertIn("packet 99", got.stdout)
        self.assertIn("16483", got.stdout.split("packet 99")[1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
