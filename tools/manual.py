#!/usr/bin/env python3
"""Writes volley.json(5) in scdoc's form from the schema of configurations. usage: manual.py SCHEMA OUT"""
import json
import pathlib
import re
import sys

INTRODUCTION = """volley.json(5)

# NAME

volley.json - configuration of volleyd

# DESCRIPTION

One JSON object. // and /\\* \\*/ comments are allowed in files; unknown and duplicate keys are errors. Rates and durations are texts with a
unit, such as "10Gbps", "50%%", "1.2Mpps", "max" and "10ms". Relative paths are relative to the file. Everything but version, ports and their
device has a default.

A useful file:

```
%s
```

*volleyctl config check* _FILE_ names every problem of a file, *volleyctl config show* _FILE_ shows it with every default filled in.
"""


def plain(text):
    return re.sub(r"([*_\\\[#])", r"\\\1", text)


def keys(properties, required):
    for name, value in properties.items():
        if value is False or "const" in value and name != "version":
            continue
        fallback = " Required." if name in required else f" Default: {plain(json.dumps(value['default']))}." if "default" in value else ""
        yield f"*{plain(name)}*\n\t{plain(value.get('description', name))}.{fallback}\n"


def main(schema_file, out):
    schema = json.loads(pathlib.Path(schema_file).read_text())
    parts = [INTRODUCTION % json.dumps(schema["examples"][0], indent=2)]
    for title, part in [("TOP LEVEL", schema), *((name.upper(), part) for name, part in schema["definitions"].items())]:
        described = list(keys(part.get("properties", {}), part.get("required", [])))
        if described:
            parts.append(f"# {plain(title)}\n\n" + "\n".join(described))
    parts.append("# SEE ALSO\n\n*volleyd*(8), *volleyctl*(1)\n")
    pathlib.Path(out).write_text("\n".join(parts))


main(*sys.argv[1:])
