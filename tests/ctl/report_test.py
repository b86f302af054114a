#!/usr/bin/env python3
"""volleyctl report on a file: result.json and telemetry lines become CSV, HTML and JUnit. usage: report_test.py VOLLEYCTL"""
import csv, html.parser, json, pathlib, subprocess, sys, tempfile
import xml.etree.ElementTree as xml

VOLLEYCTL = sys.argv[1]


def line(kind, sequence, pps, lost, run="lab-1"):
    tx = {"packets": sequence * 1000, "bytes": 0, "l2_bytes": 64000, "pps": pps, "l2_bps": 1.0, "l1_bps": 2.0, "errors": 0,
          "unsent": 0, "stalled": False}
    rx = {"packets": sequence * 1000 - lost, "l2_bytes": 1, "lost": lost, "duplicates": 0, "reordered": 0, "corrupted": 0,
          "loss_duration_ns": None, "jitter_ns": 7, "latency_ns": {"count": 5, "min": 90, "mean": 100, "p50": 100, "p90": 110,
                                                                   "p99": 1234, "p99_9": 1300, "p99_99": 1300, "max": 1301}}
    return {"type": kind, "schema": 1, "sequence": sequence, "run_id": run, "state": "running", "time_unix_ns": 10**18 + sequence * 10**9,
            "monotonic_ns": sequence * 10**9, "generation": 1, "warnings": [], "settled": kind == "report", "duration_ns": 3 * 10**9,
            "ports": [{"name": "east", "device": "net_null0", "tx": tx, "rx": None, "link": {"up": True, "speed_bps": 10**10, "reason": None}, "tx_path": "default"}], "queues": [], "workers": [],
            "streams": [{"name": "=web </b>", "port": "east", "state": "running", "tx": tx, "rx": rx, "target_pps": 1000,
                         "rate_error_ppm": -42.5, "shortfall_packets": 3, "lateness_ns": {"p50": 10, "p99": 20, "max": 30}}]}


def run(*arguments, status=0):
    done = subprocess.run([VOLLEYCTL, "report", *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.foreign = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.foreign += [value for name, value in attributes if name in ("src", "href")]

    def handle_data(self, data):
        self.text += data


def check_forms(source, folder):
    forms = {kind: folder / f"out.{kind}" for kind in ("html", "csv", "junit")}
    run(source, *(word for kind, file in forms.items() for word in (f"--{kind}", file)))
    rows = list(csv.DictReader(forms["csv"].open()))
    assert [row["kind"] for row in rows] == ["port", "stream"]
    assert rows[1]["name"] == "'=web </b>", "a name is no formula"
    assert (rows[1]["lost"], rows[1]["latency_p99_ns"], rows[1]["tx_packets"], rows[0]["lost"]) == ("4", "1234", "3000", "")
    page = Page(forms["html"].read_text())
    assert "script" not in page.tags and not page.foreign, "all is in the page"
    assert page.tags.count("svg") == 6 and "=web </b>" in page.text and "1.234 µs" in page.text and "3,000" in page.text
    return xml.parse(forms["junit"]).getroot()


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    lines = [line("snapshot", 1, 900, 0, run="earlier"), line("snapshot", 1, 990, 0), line("snapshot", 2, 1010, 4), line("report", 3, 1000, 4)]
    telemetry = folder / "lines.jsonl"
    telemetry.write_text("".join(json.dumps(one) + "\n" for one in lines) + '{"type": "snapsh')
    suite = check_forms(telemetry, folder)
    assert suite.get("tests") == "1" and suite.get("failures") == "0"
    config = {"streams": [{"name": "=web </b>", "expect": {"loss": 3, "rate_error_ppm": 50}}]}
    result = folder / "result.json"
    result.write_text(json.dumps({"schema": 1, "config": config, "environment": {"host": "h", "cpu": "c", "kernel": "k", "cpus": 2},
                                  "versions": {"volley": "0.1.0"}, "report": lines[-1],
                                  "samples": [{"time_unix_ns": 10**18 + i * 10**9, "ports": [{"name": "east", "tx_pps": 990 + i, "rx_pps": None}],
                                               "streams": [{"name": "=web </b>", "pps": 990, "lateness_p50": 1, "lateness_p99": 2,
                                                            "latency_p50": 3, "latency_p99": 4, "lost": 0}]} for i in range(3)]}))
    suite = check_forms(result, folder)
    assert suite.get("tests") == "2" and suite.get("failures") == "1"
    assert suite.find("testcase[@name='loss']/failure").get("message") == "lost 4, at most 3 expected"
    assert json.loads(run(result, "--json").stdout)["run_id"] == "lab-1"
    (folder / "none").write_text('{"type": "snapshot"}\n')
    assert "no report" in run(folder / "none", status=65).stderr
    assert "cannot be read" in run(folder / "missing", status=66).stderr
    assert "cannot write" in run(result, "--html", folder / "missing" / "x", status=66).stderr
print("reports become CSV, HTML and JUnit")
