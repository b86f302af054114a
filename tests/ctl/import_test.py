#!/usr/bin/env python3
"""volleyctl import pktgen. usage: import_test.py SOURCE_DIR VOLLEYCTL"""
import json
import sys
import unittest

sys.dont_write_bytecode = True
from ctl import Folder, fields, run

SCRIPT = """#!/bin/bash
# One thread, a range of sources.
[ -z "$COUNT" ] && COUNT="1000"
[ -z "$CLONE_SKB" ] && CLONE_SKB="0"
DELAY="${DELAY:-10000}"
pg_ctrl reset
for ((thread = 0; thread <= 0; thread++)); do
    dev=${DEV}@0
    pg_thread 0 "add_device" $dev
    pg_set $dev "count $COUNT"
    pg_set $dev "clone_skb $CLONE_SKB"
    pg_set $dev "pkt_size $PKT_SIZE"
    pg_set $dev "delay $DELAY"
    pg_set $dev "flag NO_TIMESTAMP"
    pg_set $dev "dst_mac 90:e2:ba:0a:56:b4"
    pg_set $dev "dst$IP6 198.18.0.42"
    if [ -n "$DST_PORT" ]; then
        pg_set $dev "flag UDPDST_RND"
        pg_set $dev "udp_dst_min $UDP_DST_MIN"
        pg_set $dev "udp_dst_max $UDP_DST_MAX"
    fi
    pg_set $dev "src_min 198.18.0.1"
    pg_set $dev "src_max 198.18.0.10"
    pg_set $dev "vlan_id 5"
    pg_set $dev "node 1"
    pg_set $dev "flag IPSEC"
done
"""


class ImportPktgen(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def imported(self, script, *options):
        got = run("import", "pktgen", self.folder.write("script.sh", script), *options)
        self.assertEqual(got.returncode, 0, got.stderr)
        return json.loads(got.stdout), got.stderr

    def test_a_script_becomes_a_configuration_that_sends_what_it_says(self):
        config, told = self.imported(SCRIPT, "-i", "eth0", "-s", "100", "-p", "9-12")
        self.assertEqual(config["ports"][0]["device"], "net_af_packet0,iface=eth0")
        self.assertEqual((config["streams"][0]["rate"], config["streams"][0]["count"]), ("100000pps", 1000))
        config["ports"][0]["device"] = "net_null0"
        pcap, summary = self.folder.render(config)
        self.assertEqual(summary["packets"], 1000)
        rows = fields(pcap, "frame.len", "ip.src", "ip.dst", "eth.dst", "udp.checksum", "vlan.id", "udp.dstport")
        self.assertEqual([row[:6] for row in rows[:12]],
                         [("100", f"198.18.0.{i % 10 + 1}", "198.18.0.42", "90:e2:ba:0a:56:b4", "0x0000", "5") for i in range(12)])
        self.assertEqual({row[6] for row in rows}, {"9", "10", "11", "12"})
        for name in ("node 1", "flag IPSEC", "own header"):
            self.assertIn(name, told)

    def test_without_the_option_its_part_is_left_out(self):
        config, _ = self.imported(SCRIPT, "-i", "eth0")
        self.assertEqual(config["streams"][0]["packet"]["headers"][-1], {"udp": {"src": 9, "dst": 9, "checksum": 0}})
        self.assertEqual(config["streams"][0]["packet"]["frame_size"], 64)

    def test_pgset_lines_flows_sizes_mixes_labels_and_ipv6(self):
        config, _ = self.imported('PGDEV=/proc/net/pktgen/eth1\npgset "min_pkt_size 60"\npgset "max_pkt_size 1514"\npgset "flag TXSIZE_RND"\n'
                                  'pgset "flows 8"\npgset "flowlen 10"\npgset "flag FLOW_SEQ"\npgset "src_min 10.0.0.0"\npgset "src_max 10.0.0.255"\n'
                                  'pgset "ratep 5000"\npgset "burst 32"\npgset "mpls 0001000a,0002000a"\npgset "dst_mac_count 3"\npgset "dst_mac 02:00:00:00:00:01"\n')
        stream = config["streams"][0]
        self.assertEqual((stream["rate"], stream["burst"], stream["packet"]["flows"]), ("5000pps", 32, 8))
        self.assertEqual(stream["packet"]["frame_size"], {"random": {"from": 64, "to": 1518}})
        config["ports"][0]["device"] = "net_null0"
        pcap, _ = self.folder.render(config, 80)
        self.assertEqual([row for row, in fields(pcap, "mpls.label")], ["16,32"] * 80)
        config, _ = self.imported('pg_set eth2 "dst6 fd00::2"\npg_set eth2 "src6 fd00::1"\npg_set eth2 "imix_weights 62,7 576,4 1500,1"\n')
        self.assertEqual(config["streams"][0]["packet"]["frame_size"]["weighted"][1], {"size": 580, "weight": 4})
        config["ports"][0]["device"] = "net_null0"
        pcap, _ = self.folder.render(config, 24)
        self.assertEqual(set(fields(pcap, "ipv6.src", "ipv6.dst")), {("fd00::1", "fd00::2")})

    def test_a_script_without_a_device_is_refused(self):
        got = run("import", "pktgen", self.folder.write("script.sh", "echo hello\n"))
        self.assertEqual(got.returncode, 66)
        self.assertIn("no pgset", got.stderr)
        self.assertEqual(run("import", "pktgen", "/nonexistent.sh").returncode, 66)
        self.assertEqual(run("import").returncode, 64)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
