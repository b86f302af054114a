#!/usr/bin/env python3
"""Puts the tables of volley-bench's JSON twins into a Markdown page, each between the markers that name its subcommand.

usage: benchmarks_doc.py PAGE FOLDER

For each FOLDER/NAME.json what stands between "<!-- volley-bench NAME -->" and "<!-- end -->" in PAGE is written anew. A
part whose file is missing stays as it is; a file without a marker is an error. Columns of ratios come first. A measured
cell is its median, with minimum and 90th percentile in brackets, and a "!" where the machine's noise spoiled it.
"""
import json
import pathlib
import re
import sys

MARKED = re.compile(r"(<!-- volley-bench (\w+) -->\n).*?(<!-- end -->)", re.S)
RATIO = re.compile(r"\bratio\b|\bby\b(?! bulk)")


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 10 or value == round(value, 1) else f"{value:.2f}"


def cell(value):
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return number(value)
    if value["kept"] == 0:
        return "none kept !"
    text = f"{number(value['median'])} ({number(value['min'])} to {number(value['p90'])})"
    if value["min"] == value["p90"]:
        text = number(value["median"])
    return text + (" !" if value["spoiled"] else "")


def escaped(text):
    return text.replace("|", "\\|").strip()


def table(part):
    order = sorted(range(len(part["columns"])), key=lambda c: not RATIO.search(part["columns"][c]))
    lines = [f"**{part['name']}**" + (f", {part['unit']}" if part["unit"] else ""), ""]
    lines.append("| | " + " | ".join(escaped(part["columns"][c]) for c in order) + " |")
    lines.append("|---|" + "---:|" * len(order))
    for row in part["rows"]:
        lines.append(f"| {escaped(row['label'])} | " + " | ".join(escaped(cell(row["cells"][c])) for c in order) + " |")
    return lines + [""] + [line for note in part["notes"] for line in (note, "")]


def machine(result):
    m = result["machine"]
    line = m["line_transfer_cycles"]
    return (f"`volley-bench {result['subcommand']}`, {m['time']}: {m['cpu']}, {m['cpus']} CPUs ({m['relation']}), TSC {m['tsc_hz'] / 1e9:.3f} GHz, "
            f"line transfer {line['min']:.0f} to {line['max']:.0f} cycles one way, load {m['load']:.2f}, steal {m['steal_percent']:.1f} %, {m['scheduler']}.")


def section(result):
    lines = [machine(result), ""]
    for part in result["tables"]:
        lines += table(part)
    for sentence in result["advice"]:
        lines += [f"- {sentence}"]
    return "\n".join(lines).rstrip() + "\n"


def fill(page, results):
    """The page with the sections of `results`, {name: parsed JSON}, put in. ValueError names a result without a marker."""
    missing = set(results) - {name for _, name, _ in MARKED.findall(page)}
    if missing:
        raise ValueError("no marker <!-- volley-bench NAME --> in the page for " + ", ".join(sorted(missing)))
    return MARKED.sub(lambda m: m[1] + section(results[m[2]]) + m[3] if m[2] in results else m[0], page)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    results = {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
    try:
        page.write_text(fill(page.read_text(), results))
    except ValueError as error:
        sys.exit(f"{sys.argv[1]}: {error}")


if __name__ == "__main__":
    main()
