#!/usr/bin/env python3
"""Debian's Prometheus scrapes volleyd, and each query of rules and dashboard finds data. usage: prometheus_test.py SOURCE_DIR VOLLEYD"""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

from volley import PATIENCE, Volleyd, configuration, main

SOURCE, VOLLEYD = pathlib.Path(sys.argv[1]), sys.argv[2]
RULES = SOURCE / "conf/prometheus/volley.rules.yml"
COMPARISON = re.compile(r"^(.*) (==|!=|<|>|<=|>=) [\d.]+$", re.S)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def queries_of_rules():
    """Each expr, what alerts compare without the comparison: an alert that does not fire finds nothing."""
    text = re.sub(r"expr: >-\n\s+", "expr: ", RULES.read_text())
    for expression in re.findall(r"expr: (.*)", text):
        found = COMPARISON.match(expression)
        yield found.group(1) if found else expression


def queries_of_dashboard():
    dashboard = json.loads((SOURCE / "conf/grafana/volley.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$instance", ".*").replace("$__rate_interval", "1m")


@unittest.skipUnless(shutil.which("prometheus") and shutil.which("promtool"), "prometheus is not installed")
class Prometheus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Volleyd(VOLLEYD, configuration(service={"http": ":0"})).start()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="volley-prometheus-"))
        port = re.search(r"serving http://127\.0\.0\.1:(\d+)", cls.daemon.log()).group(1)
        (cls.folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "200ms", "evaluation_interval": "200ms"},
            "rule_files": [str(RULES)],
            "scrape_configs": [{"job_name": "volley", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}],
        }))
        cls.address = f"127.0.0.1:{free_port()}"
        with (cls.folder / "log").open("wb") as log:
            cls.process = subprocess.Popen(
                ["prometheus", f"--config.file={cls.folder}/prometheus.yml", f"--storage.tsdb.path={cls.folder}/data",
                 f"--web.listen-address={cls.address}"], stdout=log, stderr=log)

    @classmethod
    def tearDownClass(cls):
        cls.process.terminate()
        cls.process.wait(PATIENCE)
        cls.daemon.end()
        shutil.rmtree(cls.folder)

    def ask(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return json.load(answer)["data"]

    def wait_for(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if condition():
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.fail(f"{what}: " + (self.folder / "log").read_text()[-2000:])
            time.sleep(0.1)

    def test_the_target_is_up_and_each_query_finds_data(self):
        self.wait_for(lambda: [t["health"] for t in self.ask("targets")["activeTargets"]] == ["up"], "target up")
        queries = [*queries_of_rules(), *queries_of_dashboard()]
        self.assertGreater(len(queries), 20)
        for query in queries:
            self.wait_for(lambda: self.ask("query", query=query)["result"], query)

    def test_promtool_finds_nothing_wrong_with_metrics_and_rules(self):
        got = subprocess.run(["promtool", "check", "metrics"], input=self.daemon.get("/metrics").text, capture_output=True, text=True)
        self.assertEqual((got.returncode, got.stdout + got.stderr), (0, ""))
        got = subprocess.run(["promtool", "check", "rules", str(RULES)], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)

    def test_the_example_configuration_is_one(self):
        got = subprocess.run(["promtool", "check", "config", str(SOURCE / "conf/prometheus/prometheus.yml")], capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout + got.stderr)


if __name__ == "__main__":
    main()
