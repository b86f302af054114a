#!/usr/bin/env python3
"""Writes a C++ source that holds a text file. usage: embed.py FILE HEADER FUNCTION OUT"""
import pathlib
import sys

source, header, function, out = sys.argv[1:]
text = pathlib.Path(source).read_text()
namespace, name = function.rsplit("::", 1)
# One literal may be 64 KiB in the standard's minimum; neighbours are joined by the compiler.
pieces = [text[i:i + 8192] for i in range(0, len(text), 8192)]
literals = "\n".join(f'R"embedded({piece})embedded"' for piece in pieces)
pathlib.Path(out).write_text(
    f'#include "{header}"\n\nnamespace {namespace} {{\n\n'
    f"std::string_view {name}() {{\n    static constexpr std::string_view text =\n{literals};\n    return text;\n}}\n\n"
    f"}}  // namespace {namespace}\n")
