#!/usr/bin/env python3
"""Each subcommand of volley-bench with --short: it ends well, its tables have their header, the twins are well-formed.

usage: bench_test.py VOLLEY_BENCH
"""
import csv, json, os, pathlib, re, subprocess, sys, tempfile
import xml.etree.ElementTree as xml

BENCH = sys.argv[1]
HEADER = re.compile(r"^host .*CPUs? \(.*\), SCHED_\w+\nTSC [\d.]+ GHz, .*line transfer .* load .* steal ", re.M)
# Arguments of each subcommand whose output is a Result with its twins.
RUNS = {"ring": ["--bulk", "1,8", "--kernel-format"], "blackhole": []}
# These make a network namespace of their own.
if os.geteuid() == 0:
    RUNS |= {"flush": ["--threshold", "1,8"], "peers": []}


def run(*arguments, status=0):
    done = subprocess.run([BENCH, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def test_twins(name, arguments, folder):
    files = {kind: str(folder / f"{name}.{kind}") for kind in ("json", "csv", "svg")}
    text = run(name, "--short", *arguments, *(word for kind, file in files.items() for word in (f"--{kind}", file))).stdout
    assert HEADER.search(text), text
    result = json.loads(pathlib.Path(files["json"]).read_text())
    assert result["schema"] == 1 and result["subcommand"] == name and result["tables"], result
    rows = list(csv.DictReader(open(files["csv"])))
    assert len(rows) == sum(len(row["cells"]) for table in result["tables"] for row in table["rows"])
    assert xml.parse(files["svg"]).getroot().tag.endswith("svg")
    for table in result["tables"]:
        assert table["name"] in text
        assert all(len(row["cells"]) == len(table["columns"]) for row in table["rows"]), table["name"]
    verdicts = run("compare", files["json"], files["json"]).stdout
    assert "within the spread" in verdicts or "spoiled by noise" in verdicts, verdicts


def test_help(name):
    text = run(name, "--help").stdout
    assert len(text.splitlines()) > 4, f"{name} --help says too little"


with tempfile.TemporaryDirectory() as folder:
    for name, arguments in RUNS.items():
        test_twins(name, arguments, pathlib.Path(folder))
        test_help(name)
    assert "cannot be read" in run("compare", "/nonexistent", "/nonexistent", status=64).stderr
    assert "power of two" in run("ring", "--queue-size", "1000", status=64).stderr
    run("ring", "--no-such-option", status=64)
print("volley-bench's subcommands run and their output is well-formed")
