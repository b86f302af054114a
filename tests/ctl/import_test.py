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

# What scripts in the manner of the kernel's samples share: an address by default, a range, ports, a test of "not empty".
ADDRESS = """if [ -z "$DEST_IP" ]; then
    [ -z "$IP6" ] && DEST_IP="192.0.2.7" || DEST_IP="2001:db8::7"
fi
[ -z "$DST_MAC" ] && usage && err 2 "which address? -m"
[ -z "$COUNT" ] && COUNT=64
pg_set $DEV "count $COUNT"
pg_set $DEV "pkt_size $PKT_SIZE"
pg_set $DEV "dst_mac $DST_MAC"
"""
ONE_FLOW = ADDRESS + """pg_set $DEV "dst$IP6 $DEST_IP"
if [ -n "$DST_PORT" ]; then
    read -r LOW HIGH <<< $(parse_ports $DST_PORT)
    pg_set $DEV "udp_dst_min $LOW"
    pg_set $DEV "udp_dst_max $HIGH"
fi
"""
MANY_FLOWS = ADDRESS + """read -r LOW HIGH <<< "$(parse_addr${IP6} $DEST_IP)"
read -r FROM TO <<< $(parse_addr 198.18.0.0/15)
if [[ -n "$BURST" ]]; then
    err 1 "no bursts here"
fi
for ((thread = $F_THREAD; thread <= $L_THREAD; thread++)); do
    dev=${DEV}@${thread}
    pg_set $dev "dst${IP6}_min $LOW"
    pg_set $dev "dst${IP6}_max $HIGH"
    [ ! -z "$UDP_CSUM" ] && pg_set $dev "flag UDPCSUM"
    pg_set $dev "flag IPSRC_RND"
    pg_set $dev "src_min $FROM"
    pg_set $dev "src_max $TO"
done
"""
FLOW_BY_THREAD = """[ -z "$BURST" ] && BURST=32
for ((thread = $F_THREAD; thread <= $L_THREAD; thread++)); do
    dev=${DEV}@${thread}
    pg_set $dev "src_min 198.18.$((thread+1)).1"
    pg_set $dev "src_max 198.18.$((thread+1)).1"
    if [[ ${BURST} -ne 0 ]]; then
        pg_set $dev "burst $BURST"
    else
        info "$dev without bursts"
    fi
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

    def test_every_way_to_write_to_a_device_is_read_and_an_unknown_one_is_named(self):
        config, told = self.imported('PGDIR=/proc/net/pktgen\nPGDEV=$PGDIR/eth1\necho "count 10" > $PGDEV\necho "pkt_size 996" > $PGDIR/eth1\n'
                                     'printf "dst 10.0.0.9\\n" > /proc/net/pktgen/eth1\necho "vlan_id 5" | tee /proc/net/pktgen/eth1\n'
                                     'echo "src_min 10.0.0.1" > $NOWHERE\necho 5 > /proc/irq/7/smp_affinity\necho done >&2\n')
        stream = config["streams"][0]
        self.assertEqual((stream["count"], stream["packet"]["frame_size"]), (10, 1000))
        self.assertEqual(stream["packet"]["headers"][1:3], [{"vlan": {"id": 5}}, {"ipv4": {"dst": "10.0.0.9"}}])
        self.assertIn('line 7: its file is not known; left out: echo "src_min', told)
        self.assertEqual(told.count("not known"), 1, told)

    def test_what_is_not_followed_is_named_with_its_line(self):
        _, told = self.imported('pgset() {\n  echo $1 > $PGDEV\n}\npg_set eth1 "count 1"\nsetup() {\n  pg_set $1 "count 10"\n}\nfor D in eth1 eth2; do\n  pg_set $D "dst 10.0.0.$N"\n'
                                'done\nwhile [ $i -lt 4 ]; do\n  i=4\ndone\ncase "$MODE" in\n  fast) pg_set eth5 "delay 0" ;;\nesac\n')
        for text in ("line 6: its device is not known", "line 8: read once, with its first value", "line 9: $N is not set", "line 11: read once", "line 14: left out, up to esac"):
            self.assertIn(text, told)
        self.assertNotIn("line 2:", told)
        self.assertNotIn("eth5", told)

    def test_threads_of_a_device_that_differ_are_named(self):
        config, told = self.imported('pg_set eth1@0 "count 10"\npg_set eth1@0 "burst 2"\npg_set eth1@1 "count 20"\npg_set eth1@1 "burst 2"\n')
        self.assertEqual(config["streams"][0]["count"], 20)
        self.assertIn("line 3: eth1@1 sets count 20 where eth1@0 has 10", told)
        self.assertNotIn("burst", told)

    def test_what_gives_way_or_has_no_effect_is_named(self):
        lines = ("delay 1000", "ratep 500", "pkt_size 42", "traffic_class 20", "vlan_id 5000", "dst 10.0.0.1")
        config, told = self.imported("".join(f'pg_set eth1 "{line}"\n' for line in lines), "-a", "-v", "-x")
        self.assertEqual((config["streams"][0]["rate"], config["streams"][0]["packet"]["frame_size"]), ("500pps", 64))
        for text in ("delay 1000 gives way to ratep", "pkt_size 42 becomes 60", "traffic_class has no effect with IPv4", "vlan_id 5000 is above 4095"):
            self.assertIn(text, told)
        _, told = self.imported('pg_set eth1 "pkt_size 100"\npg_set eth1 "imix_weights 42,7 576,4"\n')
        self.assertIn("pkt_size 100 gives way to imix_weights", told)
        self.assertIn("42,7 becomes 60", told)

    def headers(self, script, *options):
        config, told = self.imported(script, "-i", "eth0", *options)
        return {name: fields for header in config["streams"][0]["packet"]["headers"] for name, fields in header.items()}, told

    def test_the_address_is_the_option_s_or_the_default_of_its_family(self):
        mac = ("-m", "02:00:00:00:00:09")
        self.assertEqual(self.headers(ONE_FLOW, *mac)[0]["ipv4"], {"dst": "192.0.2.7"})
        self.assertEqual(self.headers(ONE_FLOW, *mac, "-6")[0]["ipv6"], {"dst": "2001:db8::7"})
        self.assertEqual(self.headers(ONE_FLOW, *mac, "-d", "192.0.2.1")[0]["ipv4"], {"dst": "192.0.2.1"})
        config, _ = self.imported(ONE_FLOW, "-i", "eth0", *mac)
        self.assertEqual((config["streams"][0]["count"], config["streams"][0]["packet"]["frame_size"]), (64, 64))

    def test_ports_and_prefixes_become_ranges(self):
        made, told = self.headers(ONE_FLOW, "-m", "02:00:00:00:00:09", "-p", "80-90")
        self.assertEqual(made["udp"]["dst"], {"increment": {"from": 80, "to": 90}})
        self.assertNotIn("stops", told)
        made, _ = self.headers(MANY_FLOWS, "-m", "02:00:00:00:00:09", "-d", "10.1.2.0/23")
        self.assertEqual(made["ipv4"]["dst"], {"increment": {"from": "10.1.2.0", "to": "10.1.3.255"}})
        self.assertEqual(made["ipv4"]["src"], {"random": {"from": "198.18.0.0", "to": "198.19.255.255"}})
        self.assertEqual(made["udp"]["checksum"], 0, "the flag is set only where UDP_CSUM is not empty")
        made, _ = self.headers(MANY_FLOWS, "-6", "-d", "2001:db8::10/124")
        self.assertEqual(made["ipv6"]["dst"], {"increment": {"from": "2001:db8::10", "to": "2001:db8::1f"}})

    def test_where_the_script_would_stop_is_told(self):
        self.assertIn("line 4: the script stops here: which address? -m", self.headers(ONE_FLOW)[1])
        self.assertIn("no bursts here", self.headers(MANY_FLOWS, "-b", "8")[1])
        self.assertIn("not understood: read", self.headers(MANY_FLOWS, "-d", "example")[1])

    def test_a_loop_is_read_once_with_its_first_thread(self):
        config, told = self.imported(FLOW_BY_THREAD, "-i", "eth0", "-f", "4", "-t", "3")
        self.assertEqual(config["streams"][0]["packet"]["headers"][1]["ipv4"], {"src": "198.18.5.1"})
        self.assertEqual(config["streams"][0]["burst"], 32)
        self.assertIn("-t 3: one worker", told)
        config, _ = self.imported(FLOW_BY_THREAD, "-i", "eth0", "-b", "0")
        self.assertNotIn("burst", config["streams"][0])

    def test_conditions_on_one_line_and_their_alternatives(self):
        made, _ = self.headers('if [ -n "$NONE" ]; then pgset "vlan_id 1"; fi\nPGDEV=/proc/net/pktgen/eth0\n'
                               'if [ -z "$NONE" ]; then pgset "dst 10.0.0.1"; pgset "src_min 10.0.0.2"; else pgset "dst 10.0.0.3"; fi\n'
                               'if [ "$PKT_SIZE" == 60 ]; then\npgset "udp_dst_min 5"\nelif [ -z "$NONE" ]; then\n'
                               'pgset "udp_dst_min 6"\nelse\npgset "udp_dst_min 7"\nfi\n'
                               'if [ -n "$NONE" ]; then\npgset "udp_src_min 1"\nelif [ ! -n "$NONE" ]; then pgset "udp_src_min 2"\n'
                               'else pgset "udp_src_min 3"; fi\n')
        self.assertEqual(made["ipv4"], {"src": "10.0.0.2", "dst": "10.0.0.1"})
        self.assertEqual((made["udp"]["dst"], made["udp"]["src"]), (5, 2))
        self.assertNotIn("vlan", made)

    def test_values_that_do_not_stay_as_written_are_named(self):
        _, told = self.headers('pgset "burst 512"\npgset "tos zz"\npgset "dst_mac_count 3"\npgset "dst_min $NONE"\n')
        for text in ("burst 512 becomes 256", "tos zz is no byte", "dst_mac_count 3 has no effect without dst_mac",
                     "dst_min is empty (its variable was not set)"):
            self.assertIn(text, told)

    def test_a_rate_in_megabits_counts_the_frame_without_fcs(self):
        config, _ = self.imported('pgset "rate 100"\npgset "pkt_size 60"\n')
        self.assertEqual(config["streams"][0]["rate"], "208333pps")

    def test_a_script_without_a_device_is_refused(self):
        got = run("import", "pktgen", self.folder.write("script.sh", "echo hello\n"))
        self.assertEqual(got.returncode, 66)
        self.assertIn("no pgset", got.stderr)
        self.assertEqual(run("import", "pktgen", "/nonexistent.sh").returncode, 66)
        self.assertEqual(run("import").returncode, 64)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
