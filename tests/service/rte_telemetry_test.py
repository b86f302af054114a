#!/usr/bin/env python3
"""Our commands on DPDK's own telemetry socket, asked by DPDK's own script. usage: rte_telemetry_test.py VOLLEYD"""
import json
import os
import shutil
import subprocess
import sys
import unittest

from volley import Volleyd, configuration, main, stream

VOLLEYD = sys.argv[1]


@unittest.skipUnless(shutil.which("dpdk-telemetry.py"), "dpdk-telemetry.py is not installed")
class RteTelemetry(unittest.TestCase):
    def setUp(self):
        names = [f"{i:04}-" + "x" * 59 for i in range(300)]  # names as long as they may be
        self.names = names
        self.daemon = Volleyd(VOLLEYD, configuration(streams=[stream(name, rate="10pps") for name in names])).start()
        self.daemon.wait_for_state("running")

    def tearDown(self):
        self.daemon.end()

    def ask(self, *commands):
        """One session of the script: a reply a command."""
        environment = {**os.environ, "RUNTIME_DIRECTORY": str(self.daemon.folder)}
        got = subprocess.run(["dpdk-telemetry.py", "-f", "test"], input="\n".join([*commands, "quit", ""]), capture_output=True, text=True,
                             env=environment)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        decoder, out, text = json.JSONDecoder(), [], got.stdout
        for command in commands:
            at = text.index('{"' + command.split(",")[0] + '"') if '{"' + command.split(",")[0] + '"' in text else text.index("{", text.index(command.split(",")[0]) - 20)
            value, end = decoder.raw_decode(text, at)
            out.append(value[command.split(",")[0]])
            text = text[end:]
        return out

    def test_lists_and_entries_are_whole_however_many_there_are(self):
        info, ports, port, lcores, lcore = self.ask("/volley/info", "/volley/ports", "/volley/port,0", "/volley/lcores", "/volley/lcore,0")
        self.assertEqual((info["state"], info["ports"], info["streams"]), ("running", 1, 300))
        self.assertEqual((ports, port["name"], port["device"]), (["east"], "east", "net_null0"))
        self.assertEqual((lcores, lcore["role"]), (["tx-3"], "tx"))
        names = []
        while len(names) < info["streams"]:
            page, = self.ask(f"/volley/streams,{len(names)}")
            self.assertTrue(page)
            names += page
        self.assertEqual(names, self.names)
        one, = self.ask("/volley/stream,299")
        self.assertEqual((one["name"], one["port"]), (self.names[299], "east"))
        run = self.daemon.get("/api/v1/state").json["run_id"]
        self.daemon.wait(lambda: self.ask("/volley/stream,299")[0]["tx_packets"] > 3, "packets")
        self.daemon.post("/api/v1/clear")
        port, one = self.ask("/volley/port,0", "/volley/stream,299")
        self.assertLessEqual(one["tx_packets"], port["tx_packets"])
        self.assertEqual(self.daemon.get("/api/v1/state").json["run_id"], run)

    def test_numbers_that_are_none_are_refused(self):
        for command in ("/volley/port", "/volley/port,1", "/volley/port,-1", "/volley/port,x", "/volley/stream,300", "/volley/lcore,99999999999999999999"):
            self.assertEqual(self.ask(command), [None], command)


if __name__ == "__main__":
    main()
