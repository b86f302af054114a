#!/usr/bin/env python3
"""The headers of conf/examples/more_headers.json, rendered and judged by tshark. usage: headers_test.py SOURCE_DIR VOLLEYCTL"""
import json
import sys
import unittest

sys.dont_write_bytecode = True
from ctl import SOURCE, Folder, config, fields, frames, run

EXAMPLE = SOURCE / "conf/examples/more_headers.json"
ETH = {"eth": {}}


def stream(*headers, **packet):
    return {"name": "s", "port": "east", "rate": "1Mpps", "packet": {"headers": list(headers), **packet}}


class Headers(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)

    def example(self, name, *asked, packets=300, **options):
        return fields(self.folder.render(EXAMPLE, packets, "--stream", name)[0], *asked, **options)

    def test_sctp_has_a_right_crc_whatever_varies(self):
        rows = self.example("sctp", "sctp.checksum.status", "sctp.chunk_length", "sctp.data_tsn_raw", "frame.len", "ip.src")
        self.assertEqual([row[:4] for row in rows],
                         [("1", str(size - 46), str(i + 1), str(size)) for i, size in enumerate([94, 566, 1514] * 100)])
        self.assertEqual(len({row[4] for row in rows}), 100)

    def test_sctp_within_a_tunnel_is_covered_by_the_outer_checksum(self):
        inner = [{"ipv4": {}}, {"sctp": {"src": {"increment": {"from": 1, "to": 5000}}}}, {"sctp_data": {}}]
        for size in (152, {"increment": {"from": 152, "to": 1452, "step": 4}}):
            made = stream(ETH, {"ipv6": {}}, {"udp": {}}, {"geneve": {}}, ETH, *inner, frame_size=size)
            pcap, _ = self.folder.render(config([made], lcores=(3, 4)), 700)
            self.assertEqual({row for row in fields(pcap, "udp.checksum.status", "sctp.checksum.status", "ip.checksum.status")}, {("1", "1", "1")})
            self.assertEqual(len({port for port, in fields(pcap, "sctp.srcport")}), 700)

    def test_chunks_that_are_no_whole_words_and_a_signature_behind_a_crc_are_refused(self):
        for made, text in ((stream(ETH, {"ipv4": {}}, {"sctp": {}}, {"sctp_data": {}}, frame_size=99), "whole 4 bytes"),
                           ({**stream(ETH, {"ipv4": {}}, {"sctp": {}}, frame_size=98), "signature": True}, "behind the CRC32c")):
            got = run("config", "check", self.folder.write("c.json", config([made])))
            self.assertEqual(got.returncode, 65)
            self.assertIn(text, got.stderr)

    def test_geneve_has_its_options_and_carries_frames_and_packets(self):
        rows = self.example("geneve", "udp.dstport", "geneve.vni", "geneve.option.class", "geneve.proto_type", "ip.dst", packets=10)
        self.assertEqual([row[:4] for row in rows], [("6081,9", f"0x{i + 1:06x}", "0x0102", "0x6558") for i in range(10)])
        pcap, _ = self.folder.render(config([stream(ETH, {"ipv4": {}}, {"udp": {}}, {"geneve": {"options": "0x0102800111"}}, {"ipv6": {}}, {"tcp": {}})]), 1)
        self.assertEqual(fields(pcap, "geneve.proto_type", "geneve.option.class", "geneve.option.type", "ipv6.nxt", clean=False), [("0x86dd", "0x0102", "0x80", "6")])

    def test_pppoe_has_lengths_that_follow_the_size(self):
        rows = self.example("pppoe", "pppoe.session_id", "pppoe.payload_length", "ppp.protocol", "ip.len", "frame.len", "vlan.id")
        self.assertEqual(rows, [(f"0x{i % 100 + 1:04x}", str(size - 24), "0x0021", str(size - 26), str(size), "7")
                                for i, size in ((i, 68 + i % 129) for i in range(300))])
        rows = self.example("pppoe_discovery", "eth.dst", "eth.type", "pppoe.code", "pppoed.tags.host_uniq", "pppoe.payload_length", packets=2)
        self.assertEqual(rows, [("ff:ff:ff:ff:ff:ff", "0x8863", "0x09", "00000001", "12")] * 2)

    def test_pauses_go_to_their_group(self):
        rows = self.example("pause", "eth.dst", "macc.opcode", "macc.pause_time", "frame.len", packets=4)
        self.assertEqual(rows, [("01:80:c2:00:00:01", "0x0001", time, "60") for time in ("65535", "0")] * 2)
        rows = self.example("pfc", "eth.dst", "macc.opcode", "macc.cbfc.pause_time.c0", "macc.cbfc.pause_time.c3", "macc.cbfc.enbv.c3", "macc.cbfc.enbv.c1",
                            packets=2)
        self.assertEqual([row[:4] for row in rows], [("01:80:c2:00:00:01", "0x0101", "100", time) for time in ("65535", "0")])
        self.assertNotEqual(rows[0][4], rows[0][5])

    def test_dns_asks_for_a_name(self):
        rows = self.example("dns", "udp.dstport", "dns.id", "dns.qry.name", "dns.qry.type", "dns.qry.class", "udp.length", packets=4)
        self.assertEqual(rows, [("53", f"0x{i:04x}", "www.example.com", "1" if i % 2 == 0 else "28", "0x0001", "41") for i in range(4)])
        for name, text in (("a..b", "empty label"), ("a" * 64 + ".b", "64 bytes"), (".".join(["a" * 60] * 5), "255")):
            got = run("config", "check", self.folder.write("c.json", config([stream(ETH, {"ipv4": {}}, {"udp": {}}, {"dns": {"name": name}})])))
            self.assertEqual(got.returncode, 65)
            self.assertIn(text, got.stderr)

    def test_ipv6_extension_headers_chain_and_segment_routing_takes_its_last_address_into_the_checksum(self):
        rows = self.example("extensions", "ipv6.nxt", "ipv6.hopopts.nxt", "ipv6.dstopts.nxt", "ipv6.routing.nxt", "ipv6.fraghdr.nxt", "ipv6.fraghdr.ident",
                            "udp.checksum.status", "ipv6.plen", "frame.len", "udp.srcport", clean=False)
        self.assertEqual(rows, [("0", "60", "43", "44", "17", f"0x{i % 1000 + 1:08x}", "1", str(size - 54), str(size), str(1024 + i))
                                for i, size in ((i, 196 + i % 101) for i in range(300))])

    def test_a_routing_header_that_does_not_tell_where_the_packet_ends_asks_for_a_checksum(self):
        routing = {"ipv6_routing": {"segments_left": 1}}
        for udp, code in (({}, 65), ({"checksum": 1}, 0)):
            got = run("config", "check", self.folder.write("c.json", config([stream(ETH, {"ipv6": {}}, routing, {"udp": udp})])))
            self.assertEqual(got.returncode, code, got.stderr)
            self.assertEqual("give checksum" in got.stderr, code != 0)

    def test_explain_names_every_byte_of_the_example_and_of_its_capture(self):
        got = run("explain", EXAMPLE, "--json")
        for entry in json.loads(got.stdout)["streams"]:
            named = {(part.get("layer"), part.get("field")) for part in entry["bytes"]}
            self.assertNotIn(("payload", "checksum"), named)
        pcap, _ = self.folder.render(EXAMPLE, 1, "--stream", "dns")
        pcap.rename(self.folder.path / "in.pcap")
        made = {"name": "s", "port": "east", "rate": "1Mpps", "packet": {"pcap": {"file": "in.pcap", "rewrite": {"dns.type": 28, "dns.id": 7}}}}
        got = run("explain", self.folder.write("c.json", config([made])))
        self.assertRegex(got.stdout, r"dns type +28")
        self.assertEqual(fields(self.folder.render(config([made]))[0], "dns.qry.type", "dns.id"), [("28", "0x0007")])

    def test_rewritten_sctp_keeps_a_right_crc(self):
        pcap, _ = self.folder.render(EXAMPLE, 9, "--stream", "sctp")
        pcap.rename(self.folder.path / "in.pcap")
        for tag in (77, {"increment": {"from": 1, "to": 100}}):
            made = {"name": "s", "port": "east", "rate": "1Mpps", "packet": {"pcap": {"file": "in.pcap", "rewrite": {"sctp.tag": tag}}}}
            self.assertEqual(len(fields(self.folder.render(config([made]))[0], "sctp.verification_tag")), 9)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
