#!/usr/bin/env python3
"""Writes lib/service/assets.cpp's table: the files that the service serves to browsers.

usage: embed_assets.py OUT PATH=FILE...      PATH as in the URL; an empty FILE is left out
"""
import hashlib
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".txt": "text/plain; charset=utf-8"}

out, *pairs = sys.argv[1:]
rows = []
for pair in pairs:
    path, file = pair.split("=", 1)
    text = pathlib.Path(file).read_text()
    if not text:
        continue
    kind = TYPES[pathlib.PurePosixPath(path).suffix or ".html"]
    tag = hashlib.sha256(text.encode()).hexdigest()[:16]
    # One literal may be 64 KiB in the standard's minimum; neighbours are joined by the compiler.
    literals = "\n".join(f'R"embedded({text[i:i + 8192]})embedded"' for i in range(0, len(text), 8192))
    rows.append(f'    {{"{path}", "{kind}", "\\"{tag}\\"",\n{literals}}},\n')
pathlib.Path(out).write_text(
    '#include "service/assets.h"\n\nnamespace volley::service {\n\n'
    "const std::vector<Asset>& assets() {\n    static const std::vector<Asset> table{\n" + "".join(rows) +
    "    };\n    return table;\n}\n\n}  // namespace volley::service\n")
