#!/usr/bin/env python3
"""Adds up what meson test left in each build folder: the output of what failed, what was skipped and why, and the sum.

usage: count_tests.py [--filtered] [--passed NAME | --failed NAME | LABEL=BUILD_FOLDER]...
A GoogleTest case counts as one, any other test program as one. --filtered: programs without a matching case, and those
that are not GoogleTest's, do not count.
"""
import json, pathlib, re, sys

CASE = re.compile(r"\[ *(OK|FAILED|SKIPPED) *\] (\S+?)(?:, where .*)? \(\d+ ms\)$")
REASON = re.compile(r"^\S+:\d+: Skipped$")


def cases(output):
    """(verdict, name, reason of a skip) for each GoogleTest case in a program's output."""
    reason, after_skip = [], False
    for line in output.splitlines():
        match = CASE.search(line)
        if match:
            yield match[1], match[2], " ".join(reason).strip()
        if match or line.startswith("[ RUN"):
            reason, after_skip = [], False
        elif REASON.match(line):
            after_skip = True
        elif after_skip:
            reason.append(line.strip())


def judge(program, filtered):
    """(passed, failures, skips) of one test program as meson logged it."""
    output = program.get("stdout", "")
    if "[==========] Running" not in output:
        if program["returncode"] == 77:
            return 0, [], [(program["name"], output.strip())]
        if program["result"] != "OK":
            return 0, [f"{program['result']}, exit status {program['returncode']}"], []
        return (0 if filtered else 1), [], []
    found = list(cases(output))
    failures = [name for verdict, name, _ in found if verdict == "FAILED"]
    announced = int(re.search(r"Running (\d+) tests?", output)[1])
    if len(found) != announced:
        failures.append(f"{program['result']}: only {len(found)} of {announced} cases ran to their end")
    elif program["result"] != "OK" and not failures:
        failures.append(f"{program['result']}, exit status {program['returncode']}")
    return (sum(verdict == "OK" for verdict, _, _ in found), failures,
            [(name, reason) for verdict, name, reason in found if verdict == "SKIPPED"])


def main(arguments):
    passed, failed, skipped, filtered = 0, [], [], False
    words = iter(arguments)
    for word in words:
        if word == "--filtered":
            filtered = True
        elif word == "--passed":
            next(words)
            passed += 1
        elif word == "--failed":
            failed.append(next(words))
        else:
            label, folder = word.split("=", 1)
            log = pathlib.Path(folder, "meson-logs/testlog.json")
            if not log.exists():
                print(pathlib.Path(folder, "meson-logs/test.out").read_text())
                failed.append(f"{label}: meson test wrote no log")
                continue
            for program in map(json.loads, log.read_text().splitlines()):
                good, bad, skips = judge(program, filtered)
                passed += good
                name = f"{label}: {program['name']}"
                if bad:
                    print(f"\n===== {name}\n{program.get('stdout', '')}\n{program.get('stderr', '')}")
                failed += [f"{name}: {case}" for case in bad]
                skipped += [f"skipped: {name}: {case}: {reason or 'no reason given'}" for case, reason in skips]
    for line in failed:
        print(f"failed: {line}")
    for line in skipped:
        print(line)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or passed == 0 else 0


sys.exit(main(sys.argv[1:]))
