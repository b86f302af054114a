#!/usr/bin/env python3
"""Judges the corpus by conf/volley.schema.json and by volleyctl: the schema never refuses what the program accepts.

usage: schema_test.py SOURCE_DIR VOLLEYCTL
"""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)


def without_comments(text):
    """Blanks out // and /* */ outside of texts."""
    out, i = [], 0
    while i < len(text):
        if text[i] == '"':
            end = i + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            out.append(text[i:end + 1])
            i = end + 1
        elif text.startswith("//", i):
            i = text.find("\n", i) if "\n" in text[i:] else len(text)
        elif text.startswith("/*", i):
            i = text.index("*/", i) + 2
        else:
            out.append(text[i])
            i += 1
    return "".join(out)


def main(source, volleyctl):
    schema = json.loads((source / "conf/volley.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = 0
    refused_by_schema = 0

    def fail(text):
        nonlocal failures
        failures += 1
        print("FAILED", text)

    def program(path):
        return subprocess.run([volleyctl, "config", "check", str(path)], capture_output=True, text=True)

    corpus = source / "tests/config/corpus"
    good = sorted((corpus / "good").glob("*.json")) + [
        path for path in sorted((source / "conf").rglob("*.json")) if not path.name.endswith(".schema.json") and path.parent.name != "grafana"]
    for path in good:
        verdict = program(path)
        if verdict.returncode != 0:
            fail(f"{path}: the program refuses it: {verdict.stderr}")
        for error in validator.iter_errors(json.loads(without_comments(path.read_text()))):
            fail(f"{path}: the schema refuses it at {list(error.path)}: {error.message[:200]}")
        shown = subprocess.run([volleyctl, "config", "show", str(path)], capture_output=True, text=True)
        for error in validator.iter_errors(json.loads(shown.stdout)):
            fail(f"{path}: the schema refuses its dump at {list(error.path)}: {error.message[:200]}")
    bad = sorted((corpus / "bad").glob("*.json"))
    for path in bad:
        text = path.read_text()
        verdict = program(path)
        if verdict.returncode != 65:
            fail(f"{path}: exit code {verdict.returncode} instead of 65")
        for line in text.splitlines():
            if not line.startswith("// "):
                break
            if line[3:] not in verdict.stderr:
                fail(f"{path}: no {line[3:]!r} in {verdict.stderr}")
        try:
            refused_by_schema += not validator.is_valid(json.loads(without_comments(text)))
        except json.JSONDecodeError:
            refused_by_schema += 1
    if refused_by_schema < len(bad) // 3:
        fail(f"the schema refuses only {refused_by_schema} of {len(bad)} bad files: is it still of use to an editor?")
    for example in schema["examples"]:
        if not validator.is_valid(example):
            fail("the schema refuses its own example")
    print(f"{len(good)} good and {len(bad)} bad files, {refused_by_schema} of them refused by the schema, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
