#!/usr/bin/env python3
"""volleyctl capture on a port that receives what it sends. usage: capture_test.py VOLLEYD VOLLEYCTL"""
import json
import os
import shutil
import subprocess
import sys
import threading
import time
import unittest

from volley import PATIENCE, Volleyd, configuration, main, stream

VOLLEYD, VOLLEYCTL = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])


def udp(name, dst):
    return stream(name, packet={"frame_size": 100, "headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {"dst": dst}}]})


class Capture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ports = [{"name": "east", "device": "net_ring0", "tx": {"lcores": [3]}, "rx": {"lcores": [3]}},
                 {"name": "silent", "device": "net_ring1", "tx": {"lcores": [3]}, "rx": {"lcores": [3]}},
                 {"name": "deaf", "device": "net_null0", "tx": {"lcores": [3]}}]
        cls.daemon = Volleyd(VOLLEYD, configuration(ports=ports, streams=[udp("wanted", 1234), udp("other", 4321)])).start()
        cls.daemon.wait_for_state("running")

    @classmethod
    def tearDownClass(cls):
        cls.daemon.end()

    def ctl(self, *arguments, **more):
        return subprocess.run([VOLLEYCTL, "--socket", self.daemon.socket, "capture", *arguments], capture_output=True, timeout=2 * PATIENCE, **more)

    def rows(self, file, *fields):
        if not shutil.which("tshark"):
            self.skipTest("tshark is not installed")
        asked = [word for field in fields for word in ("-e", field)]
        got = subprocess.run(["tshark", "-n", "-r", str(file), "-T", "fields", *asked], capture_output=True, text=True, check=True)
        return [line.split("\t") for line in got.stdout.splitlines()]

    def test_takes_as_many_packets_as_are_asked_for_and_only_those_of_the_filter(self):
        file = self.daemon.folder / "wanted.pcapng"
        begin = time.time()
        got = self.ctl("east", "--filter", "udp dst port 1234", "--count", "20", "--duration", "60s", "-o", str(file), "--json")
        self.assertEqual(got.returncode, 0, got.stderr)
        told = json.loads(got.stdout)
        self.assertEqual((told["packets"], told["dropped"]), (20, 0))
        self.assertGreaterEqual(told["received"], told["accepted"])
        rows = self.rows(file, "udp.dstport", "frame.len", "frame.interface_name", "frame.time_epoch")
        self.assertEqual([row[:3] for row in rows], [["1234", "96", "east"]] * 20)
        times = [float(row[3]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertTrue(begin - 1 < times[0] < time.time() + 1)

    def test_goes_to_a_pipe_and_keeps_no_more_of_a_packet_than_is_asked_for(self):
        got = self.ctl("east", "--count", "3", "--snap", "64")
        self.assertEqual(got.returncode, 0, got.stderr)
        file = self.daemon.folder / "piped.pcapng"
        file.write_bytes(got.stdout)
        self.assertIn(b"3 packets", got.stderr)
        self.assertEqual(self.rows(file, "frame.len", "frame.cap_len"), [["96", "64"]] * 3)

    def test_ends_when_its_bytes_are_used_up(self):
        file = self.daemon.folder / "bytes.pcapng"
        self.assertEqual(self.ctl("east", "--bytes", "1000", "--duration", "60s", "-o", str(file)).returncode, 0)
        self.assertEqual(len(self.rows(file, "frame.len")), 10)

    def test_is_counted_in_the_metrics(self):
        def counted(name):
            return next(int(line.split()[-1]) for line in self.daemon.get("/metrics").text.splitlines() if line.startswith(f"volley_{name} "))

        names = ("capture_packets_total", "capture_bytes_total", 'captures_total{result="done"}')
        before = [counted(name) for name in names]
        file = self.daemon.folder / "counted.pcapng"
        self.assertEqual(self.ctl("east", "--count", "7", "-o", str(file)).returncode, 0)
        self.daemon.wait(lambda: [counted(name) for name in names] == [before[0] + 7, before[1] + file.stat().st_size, before[2] + 1], "the counts")
        self.assertEqual(counted("captures_under_way"), 0)

    def test_ends_when_its_time_is_over(self):
        file = self.daemon.folder / "silent.pcapng"
        got = self.ctl("silent", "--duration", "50ms", "-o", str(file))
        self.assertEqual(got.returncode, 0, got.stderr)
        self.assertEqual(self.rows(file, "frame.len"), [])

    def test_says_what_is_wrong(self):
        for arguments, code, words in [(["east", "--filter", "udp port"], 65, b"pcap-filter(7)"), (["nowhere"], 66, b"no port is named"),
                                       (["deaf"], 65, b"receives nothing"), (["east", "--duration", "2h"], 65, b"duration: "),
                                       (["east", "--duration", "0s"], 65, b"duration: "),
                                       (["east", "--count", "0"], 65, b"packets: ")]:
            got = self.ctl(*arguments)
            self.assertEqual(got.returncode, code, got.stderr)
            self.assertIn(words, got.stderr)
        self.assertEqual(self.daemon.post("/api/v1/capture", {}).status, 422)
        self.assertEqual(self.daemon.post("/api/v1/capture", {"port": "east", "count": 1}).status, 422)
        self.assertEqual(self.daemon.post("/api/v1/capture", "[]").status, 400)

    def test_of_a_port_is_one_at_a_time_and_what_it_has_so_far_is_answered_when_volleyd_ends(self):
        with Volleyd(VOLLEYD, configuration(ports=[{"name": "east", "device": "net_ring0", "tx": {"lcores": [3]}, "rx": {"lcores": [3]}}])) as daemon:
            daemon.wait_for_state("running")
            answers = []

            def take():
                while (answer := daemon.post("/api/v1/capture", {"port": "east", "duration": "600s", "packets": 1000000})).status == 409:
                    pass
                answers.append((answer.status, answer.headers["Content-Type"]))

            first = threading.Thread(target=take)
            first.start()
            daemon.wait(lambda: daemon.post("/api/v1/capture", {"port": "east", "duration": "1ms"}).status == 409, "capture under way")
            daemon.process.terminate()
            first.join(PATIENCE)
            self.assertEqual(answers, [(200, "application/x-pcapng")])


if __name__ == "__main__":
    main()
