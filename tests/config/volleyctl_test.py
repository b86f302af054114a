#!/usr/bin/env python3
"""volleyctl config: exit codes, streams and JSON. usage: volleyctl_test.py SOURCE_DIR VOLLEYCTL"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])
VOLLEYCTL = sys.argv[2]
GOOD = str(SOURCE / "tests/config/corpus/good/least.json")
BAD = str(SOURCE / "tests/config/corpus/bad/many_problems.json")


def run(*args):
    return subprocess.run([VOLLEYCTL, *args], capture_output=True, text=True)


class ConfigCheck(unittest.TestCase):
    def test_a_good_file_is_ok(self):
        got = run("config", "check", GOOD)
        self.assertEqual((got.returncode, got.stdout, got.stderr), (0, f"{GOOD}: ok\n", ""))

    def test_a_bad_file_tells_all_problems_and_exits_65(self):
        got = run("config", "check", GOOD, BAD)
        self.assertEqual(got.returncode, 65)
        self.assertEqual(len(got.stderr.splitlines()), 3)
        self.assertTrue(all(line.startswith(BAD + ":") for line in got.stderr.splitlines()))

    def test_no_such_file_exits_66_and_the_others_are_still_checked(self):
        got = run("config", "check", "/nonexistent.json", BAD)
        self.assertEqual(got.returncode, 66)
        self.assertIn("cannot read /nonexistent.json: No such file or directory", got.stderr)
        self.assertIn("/prots", got.stderr)
        self.assertEqual(run("config", "check", "/").returncode, 66)

    def test_json_is_one_object(self):
        got = run("config", "check", "--json", GOOD, BAD, "/nonexistent.json")
        self.assertEqual(got.returncode, 66)
        self.assertEqual(got.stderr, "")
        good, bad, missing = json.loads(got.stdout)["files"]
        self.assertEqual(good, {"file": GOOD, "valid": True, "error": None, "problems": [], "warnings": []})
        self.assertFalse(bad["valid"])
        self.assertEqual([sorted(p) for p in bad["problems"]], [["column", "file", "line", "pointer", "text"]] * 3)
        self.assertIn("No such file", missing["error"])

    def test_usage_errors_exit_64(self):
        for args in ([], ["config"], ["config", "check"], ["config", "check", "--nope", GOOD], ["nope"], ["config", "show", GOOD, BAD],
                     ["config", "check", GOOD, "--set"]):
            self.assertEqual(run(*args).returncode, 64, args)

    def test_help_and_version_exit_0(self):
        for args in (["--help"], ["config", "check", "--help"], ["--version"]):
            self.assertEqual(run(*args).returncode, 0, args)

    def test_set_changes_values_before_the_check(self):
        got = run("config", "check", "--set", "/run/duration=5", GOOD)
        self.assertEqual(got.returncode, 65)
        self.assertIn("--set: /run/duration: is the number 5", got.stderr)
        self.assertEqual(run("config", "check", "--set", "/run/duration=5s", "--set", "/name=x", GOOD).returncode, 0)


class ConfigShow(unittest.TestCase):
    def test_shows_every_default(self):
        got = run("config", "show", GOOD, "--set", "/ports/0/tx/lcores=[5]")
        self.assertEqual(got.returncode, 0)
        shown = json.loads(got.stdout)
        self.assertEqual(shown["ports"][0]["tx"]["descriptors"], 1024)
        self.assertEqual(shown["telemetry"]["interval"], "1s")
        self.assertEqual(json.loads(run("config", "show", GOOD, "--json").stdout)["run"]["multiplier"], 1)
        self.assertEqual(len(run("config", "show", GOOD, "--json").stdout.splitlines()), 1)

    def test_refuses_like_check(self):
        self.assertEqual(run("config", "show", BAD).returncode, 65)
        self.assertEqual(run("config", "show", "/nonexistent.json").returncode, 66)

    def test_paths_are_relative_to_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "c.json"
            path.write_text('{"version": 1, "ports": [{"name": "a", "device": "net_null0"}], "telemetry": {"file": "log/t.jsonl"}}')
            shown = json.loads(run("config", "show", str(path)).stdout)
            self.assertEqual(shown["telemetry"]["file"], str(pathlib.Path(folder) / "log/t.jsonl"))
            again = pathlib.Path(folder) / "sub.json"
            again.write_text(json.dumps(shown))
            self.assertEqual(json.loads(run("config", "show", str(again)).stdout), shown)


unittest.main(argv=sys.argv[:1])
