#!/usr/bin/env python3
"""A module includes earlier ones only, never a sibling; JSON, mbufs and logging stand in few. usage: layering_test.py LIB"""
import pathlib, re, sys

layers = [["base"], ["packet", "dpdk"], ["config", "import"], ["traffic", "port"], ["worker"], ["telemetry"], ["service"], ["daemon"]]
rank = {module: i for i, modules in enumerate(layers) for module in modules}
only_in = {"nlohmann": {"config", "telemetry", "service"}, "rte_mbuf": {"worker", "port"}, "spdlog": set(rank) - {"worker"}}

lib = pathlib.Path(sys.argv[1])
sources = [p for p in sorted(lib.rglob("*")) if p.suffix in (".h", ".cpp")]
problems = [f"lib/{d.name}: not in the order of modules" for d in lib.iterdir() if d.is_dir() and d.name not in rank]
for source in sources:
    module = source.relative_to(lib).parts[0]
    for number, line in enumerate(source.read_text().splitlines(), 1):
        place = f"{source.relative_to(lib.parent)}:{number}"
        problems += [f"{place}: {word} may not stand in {module}" for word, modules in only_in.items()
                     if re.search(rf"\b{word}\b", line.split("//")[0]) and module not in modules]
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
        if not include:
            continue
        kind, target = include.groups()
        owner = target.split("/")[0]
        if kind == '"' and owner not in rank:
            problems.append(f"{place}: write {target} from lib/, as MODULE/NAME.h")
        elif kind == '"' and owner != module and rank[owner] >= rank[module]:
            problems.append(f"{place}: {module} may not include {target}")
print("\n".join(problems) or f"{len(sources)} files in order")
sys.exit(1 if problems or not sources else 0)
