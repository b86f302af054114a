#!/usr/bin/env python3
"""Each subcommand of volley-bench with --short: it ends well, its tables have their header, the twins are well-formed.

usage: bench_test.py VOLLEY_BENCH SOFT_82599_PLUGIN
"""
import csv, json, os, pathlib, re, subprocess, sys, tempfile
import xml.etree.ElementTree as xml

BENCH = os.path.abspath(sys.argv[1])
HEADER = re.compile(r"^host .*CPUs? \(.*\), SCHED_\w+\nTSC [\d.]+ GHz, .*line transfer .* load .* steal ", re.M)
# Arguments of each subcommand whose output is a Result with its twins.
RUNS = {"tx": [], "rx": [], "ring": ["--bulk", "1,8", "--kernel-format"], "blackhole": [], "pacing": [], "burst": ["--burst", "1,32,100"]}
# These make a network namespace of their own.
if os.geteuid() == 0:
    RUNS |= {"flush": ["--threshold", "1,8"], "peers": [], "receive": []}


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


def burst_on_the_soft_nic(plugin, folder, device, *arguments):
    file = str(folder / "burst_soft.json")
    # A bare name, for the EAL takes no path below a folder that all may write to.
    done = subprocess.run([BENCH, "burst", "--short", "--plugin", plugin.name, "--device", device, "--json", file, *arguments],
                          capture_output=True, text=True, timeout=300, cwd="/", env=os.environ | {"LD_LIBRARY_PATH": str(plugin.parent)})
    assert done.returncode == 0, done.stderr
    return json.loads(pathlib.Path(file).read_text())["tables"]


def rows_of(table):
    return {row["label"].strip(): row["cells"] for row in table["rows"]}


# The bench's own count of tail writes is what the model of the chip saw.
def test_burst_on_the_soft_nic(plugin, folder):
    for rs_thresh, path, writes in ("32", "vector", [1, 1 / 3, 1 / 32, 4 / 128]), ("16", "full", [1, 1 / 3, 1 / 32, 1 / 128]):
        tables = burst_on_the_soft_nic(plugin, folder, "net_soft82599_0,id=10f7", "--burst", "1,3,32,128", "--rs-thresh", rs_thresh)
        assert f"{path} path" in tables[0]["name"], tables[0]["name"]
        rows = rows_of(tables[1])
        for mine, counted, expected in zip(rows["tail writes in 100 packets"], rows["counted by the model"], writes):
            assert abs(mine - 100 * expected) < 1e-6 and abs(counted - 100 * expected) < 1e-6, (path, rows)


# By a simulated clock, so these figures are exact wherever they are made.
def test_clean_up_on_the_soft_nic(plugin, folder):
    tables = burst_on_the_soft_nic(plugin, folder, "net_soft82599_0,id=10f7,mode=plain", "--burst", "1")
    by_ring, by_burst = rows_of(tables[2]), rows_of(tables[3])
    mpps, full, empty = 1, 2, 3
    assert by_ring["64 x 32"][full] > 10 and by_ring["64 x 32"][mpps] < 64 / 30, by_ring
    assert by_ring["4096 x 32"][full] == 0 and by_ring["4096 x 32"][empty] > 0, by_ring
    assert abs(by_ring["4096 x 32"][mpps] - 1000 / (81 + 123 / 32)) < 0.1, by_ring
    for burst, cells in by_burst.items():
        assert abs(cells[0] - 3.9) < 0.1 and cells[1] > 0, (burst, cells)


def test_help(name):
    text = run(name, "--help").stdout
    assert len(text.splitlines()) > 4, f"{name} --help says too little"


with tempfile.TemporaryDirectory() as folder:
    for name, arguments in RUNS.items():
        test_twins(name, arguments, pathlib.Path(folder))
        test_help(name)
    soft_nic = pathlib.Path(sys.argv[2]).absolute()
    test_burst_on_the_soft_nic(soft_nic, pathlib.Path(folder))
    test_clean_up_on_the_soft_nic(soft_nic, pathlib.Path(folder))
    assert "cannot be read" in run("compare", "/nonexistent", "/nonexistent", status=64).stderr
    assert "power of two" in run("ring", "--queue-size", "1000", status=64).stderr
    run("ring", "--no-such-option", status=64)
    for arguments in (("blackhole", "-n"), ("burst", "--burst"), ("burst", "--rs-thresh"), ("flush", "--threshold"), ("ring", "--bulk"), ("ring", "--queue-size")):
        assert "no whole number" in run(*arguments, "-5", status=64).stderr, arguments
print("volley-bench's subcommands run and their output is well-formed")
