#!/usr/bin/env python3
"""The scenarios of conf/examples, rendered and judged by tshark. usage: scenarios_test.py SOURCE_DIR VOLLEYCTL"""
import collections
import sys
import unittest

sys.dont_write_bytecode = True
from ctl import SOURCE, Folder, fields, frames, run

EXAMPLES = SOURCE / "conf/examples"


def address(base, offset):
    number = int.from_bytes(map(int, base.split(".")), "big") + offset
    return ".".join(map(str, number.to_bytes(4, "big")))


class Scenarios(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def render(self, name, packets=None, *options):
        return self.folder.render(EXAMPLES / f"{name}.json", packets, *options)

    def test_every_example_is_told_to_be_good_and_can_be_explained(self):
        files = sorted(EXAMPLES.glob("*.json"))
        self.assertGreaterEqual(len(files), 16)
        self.assertEqual(run("config", "check", *files).returncode, 0)
        for file in files:
            self.assertEqual(run("explain", file).returncode, 0, file)

    def test_s01_imix_of_three_streams_keeps_weights_sizes_and_ranges(self):
        pcap, told = self.render("s01_imix", 4800)
        counts = {entry["name"]: entry["packets"] for entry in told["streams"]}
        for name, share in (("small", 2800), ("medium", 1600), ("large", 400)):
            self.assertAlmostEqual(counts[name], share, delta=40)
        rows = fields(pcap, "frame.len", "ip.src", "ip.dst", "udp.length")
        small = [row for row in rows if row[0] == "60"]
        self.assertEqual([row[1:3] for row in small],
                         [(address("16.0.0.1", i % 254), address("48.0.0.1", i % 254)) for i in range(len(small))])
        self.assertEqual({(row[0], row[3]) for row in rows}, {("60", "26"), ("590", "556"), ("1514", "1480")})

    def test_s01_named_mixes_have_their_weights_in_every_cycle(self):
        for stream, weights in (("simple", {60: 7, 566: 4, 1514: 1}), ("tolly", {60: 55, 74: 5, 572: 17, 1514: 23}),
                                ("rpr", {60: 50, 508: 15, 1514: 15, 9214: 20}), ("no_checksum", {60: 7, 590: 4, 1414: 1})):
            cycle = sum(weights.values())
            pcap, _ = self.render("s01_imix_named", 3 * cycle, "--stream", stream)
            sizes = [len(frame) for _, frame in frames(pcap)]
            for turn in range(3):
                self.assertEqual(collections.Counter(sizes[turn * cycle:(turn + 1) * cycle]), weights)
        self.assertEqual({row for row in fields(pcap, "udp.checksum")}, {("0x0000",)})

    def test_s02_sends_255_sources_equally_often_over_three_workers(self):
        pcap, _ = self.render("s02_source_range", 255 * 40)
        seen = collections.Counter(src for src, in fields(pcap, "ip.src"))
        self.assertEqual(seen, {address("10.0.0.1", i): 40 for i in range(255)})

    def test_s03_makes_no_more_flows_than_asked_and_steps_together(self):
        pcap, _ = self.render("s03_tuples", 4096, "--stream", "cross")
        seen = collections.Counter(fields(pcap, "ip.src", "udp.srcport"))
        self.assertEqual((len(seen), set(seen.values())), (2048, {2}))
        pcap, _ = self.render("s03_tuples", 2500, "--stream", "together")
        self.assertEqual(fields(pcap, "ip.src", "ip.dst", "udp.srcport", "udp.dstport"),
                         [(address("192.168.0.1", i % 128), address("192.168.1.1", i % 128), str(5000 + i % 2001), str(2000 + i % 2001))
                          for i in range(2500)])

    def test_s04_vxlan_is_right_inside_and_outside(self):
        pcap, _ = self.render("s04_vxlan")
        rows = fields(pcap, "vxlan.vni", "udp.dstport", "ip.src", "ip.len", "udp.length", "ip.checksum.status", "udp.checksum.status")
        self.assertEqual(rows, [("42", "4789,4321", "16.0.0.1,10.0.0.1", "98,48", "78,28", "1,1", "1,1")] * 17)
        self.assertEqual([time for time, _ in frames(pcap)], [i * 10**9 for i in range(17)])

    def test_s05_mpls_labels_step_and_the_last_one_has_the_bottom_bit(self):
        pcap, _ = self.render("s05_mpls")
        self.assertEqual(fields(pcap, "mpls.label", "mpls.bottom", "mpls.exp", "mpls.ttl"),
                         [(f"17,{i + 1}", "0,1", "1,0", "255,12") for i in range(100)])

    def test_s06_tags_nest_and_range(self):
        pcap, _ = self.render("s06_vlan", 400)
        rows = fields(pcap, "eth.type", "vlan.id", "vlan.priority", "ieee8021ad.id", "ipv6.plen", "frame.len")
        kinds = collections.Counter(row[1] for row in rows if row[4] or row[3] or row[2] == "1")
        self.assertEqual(set(kinds), {"11", "1,2,3,4", "7"})
        self.assertIn(("0x8100", "1,2,3,4", "4,3,2,0", "", "60", "130"), rows)
        self.assertIn("500", {row[3] for row in rows})
        single = {int(row[1]) for row in rows if row[1].isdigit() and not row[3]}
        self.assertEqual(single, set(range(1, 101)))

    def test_s07_udp_over_ipv6_always_has_a_checksum(self):
        pcap, _ = self.render("s07_imix_ipv6", 960)
        rows = fields(pcap, "frame.len", "ipv6.plen", "udp.checksum.status", "ipv6.src")
        self.assertEqual({row[:3] for row in rows}, {("62", "8", "1"), ("590", "536", "1"), ("1514", "1460", "1")})
        self.assertEqual(len({row[3] for row in rows}), 254)

    def test_s08_the_multiplier_leaves_the_probe_alone(self):
        _, told = self.render("s08_probe_beside_load", None, "--set", '/run/duration="100ms"')
        self.assertEqual({entry["name"]: entry["packets"] for entry in told["streams"]}, {"load": 10000, "probe": 100})

    def test_s09_the_chain_sends_exactly_22_packets(self):
        pcap, told = self.render("s09_burst_chain")
        self.assertEqual(told["packets"], 22)
        times = [time for time, _ in frames(pcap)]
        self.assertEqual([gap // 10**6 for gap in (b - a for a, b in zip(times[2:], times[3:]))].count(1), 15)
        self.assertEqual(sum(b - a >= 10**9 for a, b in zip(times, times[1:])), 4)

    def test_s10_lengths_follow_random_sizes_and_the_seed_repeats_them(self):
        pcap, _ = self.render("s10_random_length", 500)
        rows = [tuple(map(int, row)) for row in fields(pcap, "frame.len", "ip.len", "udp.length")]
        self.assertTrue(all(ip == frame - 14 and udp == frame - 34 for frame, ip, udp in rows))
        self.assertGreater(len(set(rows)), 450)
        self.assertTrue(60 <= min(rows)[0] < 400 and 8900 < max(rows)[0] <= 9226)
        first = frames(pcap)
        pcap, _ = self.render("s10_random_length", 500)
        self.assertEqual(frames(pcap), first)

    def test_s11_syns_are_random_and_right(self):
        pcap, _ = self.render("s11_syn_flood", 2000)
        rows = fields(pcap, "ip.src", "tcp.srcport", "tcp.dstport", "tcp.flags", "tcp.checksum.status")
        self.assertEqual({row[2:] for row in rows}, {("80", "0x0002", "1")})
        self.assertGreater(len({row[:2] for row in rows}), 1990)
        self.assertTrue(all(1025 <= int(row[1]) <= 65000 for row in rows))

    def test_s12_one_variable_stands_in_both_places(self):
        pcap, _ = self.render("s12_correlated", 300)
        self.assertEqual(fields(pcap, "eth.src", "ip.src"),
                         [(f"02:00:00:00:{i >> 8:02x}:{i & 255:02x}", f"198.18.{i >> 8}.{i & 255}") for i in range(1, 301)])

    def test_s13_random_destinations_are_the_same_16(self):
        pcap, _ = self.render("s13_repeatable_random", 2000)
        seen = {dst for dst, in fields(pcap, "ip.dst")}
        self.assertEqual(len(seen), 16)

    def test_s14_the_rate_steps_without_a_stop(self):
        pcap, _ = self.render("s14_rate_profile")
        mean = (sum((64, 128, 256, 512, 1024, 1280, 1518)) / 7 + 20) * 8
        bins = collections.Counter(time // 10**7 for time, _ in frames(pcap))
        for step, percent in enumerate((10, 20, 40, 60, 80)):
            self.assertAlmostEqual(bins[step], 10**8 * percent / 100 / mean, delta=40)

    def test_s15_packets_follow_each_other(self):
        pcap, _ = self.render("s15_packet_sequence", 120)
        rows = fields(pcap, "udp.dstport", "vlan.id", "frame.len", "tcp.flags", "gtp.teid")
        turn = [(str(2040 + k), "681", "508", "", "") for k in range(10)]
        turn += [("", "681", "508", "0x0091", ""), ("2152,9", "", "508", "", "0x00000005")]
        self.assertEqual(rows, turn * 10)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
