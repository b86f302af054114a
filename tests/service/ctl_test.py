#!/usr/bin/env python3
"""volleyctl against a running volleyd. usage: ctl_test.py SOURCE_DIR VOLLEYD VOLLEYCTL"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from volley import PATIENCE, Volleyd, configuration, main, stream

SOURCE, VOLLEYD, VOLLEYCTL = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
VERBS = ["run", "status", "ports", "streams", "xstats", "start", "stop", "pause", "resume", "rate", "clear", "reload", "log-level", "watch",
         "report", "capture", "config"]


class Ctl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        config = configuration(run={"start": "manual", "when_done": "idle", "settle_time": "0ms"})
        cls.daemon = Volleyd(VOLLEYD, config).start()
        cls.daemon.wait_for_state("idle")

    @classmethod
    def tearDownClass(cls):
        cls.daemon.end()

    def tearDown(self):
        self.ctl("stop", "--json")
        self.ctl("reload", "--json")
        self.ctl("resume", "*", "--json")

    def ctl(self, *arguments, socket=True, **more):
        place = ["--socket", self.daemon.socket] if socket else []
        return subprocess.run([VOLLEYCTL, *place, *arguments], capture_output=True, text=True, timeout=2 * PATIENCE, **more)

    def ok(self, *arguments):
        got = self.ctl(*arguments)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)
        return got.stdout

    def ok_json(self, *arguments):
        return json.loads(self.ok(*arguments, "--json"))

    def test_run_starts_waits_and_prints_the_settled_report(self):
        report = self.ok_json("run", "--duration", "200ms", "--multiplier", "0.5")
        self.assertEqual((report["type"], report["settled"]), ("report", True))
        self.assertEqual([s["tx"]["packets"] + s["shortfall_packets"] for s in report["streams"]], [100, 100, 500])
        self.assertEqual(self.ok_json("report"), report)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.json"
            self.assertIn(", settled", self.ok("run", "--duration", "100ms", "--report", str(path)))
            self.assertEqual(json.loads(path.read_text())["type"], "report")

    def test_status_ports_streams_and_xstats_have_a_text_and_json(self):
        self.ok("start")
        self.assertIn("test: running", self.ok("status"))
        self.assertEqual(self.ok_json("status")["state"], "running")
        self.assertRegex(self.ok("ports"), r"(?m)^east +net_null0 ")
        self.assertEqual([s["name"] for s in self.ok_json("streams", "*a")["streams"]], ["alpha", "beta", "gamma"])
        self.assertEqual([line.split()[0] for line in self.ok("streams", "b*").splitlines()], ["STREAM", "beta"])
        self.assertNotIn("LOST", self.ok("streams") + self.ok("ports") + self.ok("status"), "nobody receives")
        self.assertIn("PORT", self.ok("xstats"))

    def test_status_ports_and_streams_say_what_was_received_and_lost(self):
        ring = {"name": "east", "device": "net_ring0", "tx": {"lcores": [3]}, "rx": {"lcores": [3]}}
        streams = [stream("alpha", count=100, verify="all"), stream("beta", count=50)]
        config = configuration(ports=[ring], streams=streams, run={"start": "manual", "when_done": "idle", "settle_time": "100ms"})
        with Volleyd(VOLLEYD, config) as daemon:
            ctl = lambda *words: subprocess.run([VOLLEYCTL, "--socket", daemon.socket, *words], capture_output=True, text=True,
                                                timeout=PATIENCE, check=True).stdout
            self.assertRegex(ctl("run"), r"(?m)^alpha .* 100 +0 +0$")
            self.assertRegex(ctl("streams"), r"(?m)^STREAM .* SHORT +RX +LOST +CORRUPTED\n(.*\n)*alpha .* 100 +0 +0$")
            self.assertRegex(ctl("streams"), r"(?m)^beta .* - +- +-$")
            self.assertRegex(ctl("ports"), r"(?m)^PORT .* RX PACKETS +UNMATCHED +MISSED +RX ERRORS\neast .* 150 +50 +0 +0$")
            self.assertIn("\nreceived 100, lost 0, corrupted 0\n", ctl("status"))

    def test_a_paused_stream_sends_nothing_until_it_is_resumed(self):
        self.ok("start")
        self.assertEqual(self.ok_json("pause", "al*")["streams"], ["alpha"])
        stream = lambda: self.ok_json("streams", "alpha")["streams"][0]
        self.assertEqual(stream()["state"], "paused")
        self.ok("reload")
        self.assertEqual(stream()["state"], "paused")
        self.daemon.wait(lambda: stream()["tx"]["pps"] == 0, "silence")
        before = stream()["tx"]["packets"]
        self.ok("resume", "alpha")
        self.daemon.wait(lambda: stream()["tx"]["packets"] > before, "packets")
        self.ok("stop")
        report = self.ok_json("report")
        self.assertEqual((report["settled"], report["warnings"]), (True, []))

    def test_rates_change_by_pattern(self):
        self.assertEqual(self.ok_json("rate", "*a", "2kpps")["streams"], ["alpha", "beta", "gamma"])
        self.assertEqual({s["rate"] for s in self.ok_json("config", "show")["streams"]}, {"2kpps"})

    def test_json_tells_errors_too_wherever_it_stands(self):
        for code, arguments in [("usage", ["--json", "pause"]), ("usage", ["status", "--jsn", "--json"]), ("usage", ["nope", "--json"]),
                                ("none_named", ["--json", "streams", "nope"]), ("unreachable", ["--json", "--socket", "/nowhere", "status"]),
                                ("no_such_file", ["report", "/nowhere", "--json"])]:
            got = self.ctl(*arguments, socket="--socket" not in arguments)
            self.assertNotEqual(got.returncode, 0)
            self.assertEqual(json.loads(got.stdout)["error"]["code"], code, got.stdout)
            self.assertEqual(got.stderr, "")
        self.assertEqual(json.loads(self.ok("--json", "status"))["name"], "test")

    def test_watch_prints_a_line_a_tick(self):
        lines = [json.loads(line) for line in self.ok("watch", "--count", "2", "--json").splitlines()]
        self.assertEqual([line["type"] for line in lines], ["snapshot", "snapshot"])
        self.assertLess(lines[0]["sequence"], lines[1]["sequence"])

    def test_config_diff_and_push(self):
        shown = self.ok_json("config", "show")
        shown["streams"][0]["rate"] = "7kpps"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "fresh.json"
            path.write_text(json.dumps(shown))
            got = self.ctl("config", "diff", str(path))
            self.assertEqual((got.returncode, got.stdout), (1, "live      /streams\n"))
            self.assertEqual(self.ctl("config", "push", str(path), "--if-match", '"stale"').returncode, 75)
            self.ok("config", "push", str(path))
            self.assertEqual(self.ctl("config", "diff", str(path)).returncode, 0)
            shown["telemetry"]["interval"] = "5s"
            path.write_text(json.dumps(shown))
            got = self.ctl("config", "push", str(path))
            self.assertEqual(got.returncode, 65)
            self.assertIn("/telemetry/interval", got.stderr)
            shown["streams"][0]["rate"] = "fast"
            path.write_text(json.dumps(shown))
            got = self.ctl("config", "push", str(path))
            self.assertEqual(got.returncode, 65)
            self.assertIn(f"{path}:1:", got.stderr)

    def test_exit_codes_tell_what_is_wrong(self):
        self.assertEqual(self.ctl().returncode, 64)
        got = self.ctl("nonsense")
        self.assertEqual(got.returncode, 64)
        self.assertIn('"nonsense" is no verb', got.stderr)
        self.assertEqual(self.ctl("rate", "alpha", "fast").returncode, 65)
        self.assertEqual(self.ctl("rate", "nobody", "1pps").returncode, 66)
        for verb in ("ports", "streams", "xstats"):
            got = self.ctl(verb, "nobody")
            self.assertEqual(got.returncode, 66, verb)
            self.assertIn('is named "nobody"', got.stderr)
        self.assertEqual(self.ok_json("top")["type"], "snapshot")
        self.assertEqual(self.ctl("run", "--duration", "soon").returncode, 65)
        self.ok("start")
        got = self.ctl("start")
        self.assertEqual(got.returncode, 75)
        self.assertIn("a run is under way", got.stderr)
        got = self.ctl("--socket", "/nonexistent.sock", "status", socket=False)
        self.assertEqual(got.returncode, 69)
        self.assertIn("is volleyd running", got.stderr)

    def test_without_socket_the_only_one_of_the_runtime_folder_is_taken(self):
        environment = {**os.environ, "RUNTIME_DIRECTORY": str(self.daemon.folder), "XDG_RUNTIME_DIR": "/nonexistent"}
        got = self.ctl("status", "--json", socket=False, env=environment)
        if "which daemon?" not in got.stderr:  # /run/volley may have one of its own
            self.assertEqual(json.loads(got.stdout)["name"], "test")

    def test_completion_offers_verbs_options_and_names(self):
        words = lambda *w: self.ctl("__complete", *w, socket=False).stdout.split()
        self.assertEqual(sorted(set(VERBS) - set(words(""))), [])
        self.assertEqual(words("st"), ["start", "status", "stop", "streams"])
        self.assertIn("--duration", words("run", "--"))
        self.assertIn("--socket", words("run", "--so"))
        self.assertEqual(words("config", ""), ["check", "diff", "push", "show"])
        self.assertEqual(words("--socket", self.daemon.socket, "pause", ""), ["alpha", "beta", "gamma"])
        script = f'source {SOURCE}/conf/volleyctl.bash; PATH={os.path.dirname(VOLLEYCTL)}:$PATH; COMP_WORDS=(volleyctl conf); COMP_CWORD=1; _volleyctl; echo "${{COMPREPLY[@]}}"'
        self.assertEqual(subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout, "config\n")

    def test_a_client_that_dies_while_it_waits_leaves_the_run_alone(self):
        child = subprocess.Popen([VOLLEYCTL, "--socket", self.daemon.socket, "run"], stdout=subprocess.DEVNULL)
        self.daemon.wait_for_state("running")
        child.send_signal(signal.SIGKILL)
        child.wait()
        self.assertEqual(self.ok_json("status")["state"], "running")


if __name__ == "__main__":
    main()
