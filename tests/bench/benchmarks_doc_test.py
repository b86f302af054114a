#!/usr/bin/env python3
"""tools/benchmarks_doc.py puts tables between their markers and leaves the rest alone. usage: benchmarks_doc_test.py SOURCE_DIR"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(SOURCE / "tools"))
import benchmarks_doc  # noqa: E402

MACHINE = {"time": "2026-01-01T00:00:00Z", "cpu": "A CPU", "cpus": 2, "relation": "separate cores", "tsc_hz": 2_600_000_000,
           "line_transfer_cycles": {"min": 300, "max": 400}, "load": 0.1, "steal_percent": 0, "scheduler": "SCHED_OTHER", "host": "kestrel"}
PAGE = "Before.\n\n<!-- volley-bench tx -->\nold\n<!-- end -->\n\nBetween.\n\n<!-- volley-bench rx -->\nkept\n<!-- end -->\nAfter.\n"


def result(cells, columns=("cycles", "ratio")):
    return {"subcommand": "tx", "machine": MACHINE, "advice": ["Take it."],
            "tables": [{"name": "Sending", "unit": "cycles", "columns": list(columns), "notes": ["A note."], "rows": [{"label": "a | b", "cells": cells}]}]}


def measured(low, median, high, spoiled=False):
    return {"min": low, "median": median, "p90": high, "kept": 3, "dropped": 0, "spoiled": spoiled}


class BenchmarksDoc(unittest.TestCase):
    def test_a_section_is_written_anew_and_the_rest_stays(self):
        page = benchmarks_doc.fill(PAGE, {"tx": result([measured(10, 11.5, 12), 1.25])})
        self.assertNotIn("old", page)
        self.assertTrue(page.startswith("Before.\n\n<!-- volley-bench tx -->\n`volley-bench tx`, 2026"), page)
        self.assertIn("<!-- end -->\n\nBetween.\n\n<!-- volley-bench rx -->\nkept\n<!-- end -->\nAfter.\n", page)
        self.assertEqual(page, benchmarks_doc.fill(page, {"tx": result([measured(10, 11.5, 12), 1.25])}))

    def test_ratios_come_first_and_cells_tell_their_spread(self):
        page = benchmarks_doc.fill(PAGE, {"tx": result([measured(10, 11.5, 12), measured(1, 1.26, 2, True)])})
        self.assertIn("| | ratio | cycles |\n|---|---:|---:|\n| a \\| b | 1.26 (1.0 to 2.0) ! | 11.5 (10.0 to 12.0) |\n", page)
        self.assertIn("A note.", page)
        self.assertIn("- Take it.", page)

    def test_the_host_is_not_named(self):
        self.assertNotIn("kestrel", benchmarks_doc.fill(PAGE, {"tx": result([1, 2])}))

    def test_a_result_without_a_place_is_refused(self):
        with self.assertRaisesRegex(ValueError, "ring"):
            benchmarks_doc.fill(PAGE, {"ring": result([1, 2])})

    def test_the_page_has_a_place_for_every_subcommand(self):
        page = (SOURCE / "docs/benchmarks.md").read_text()
        places = {name for _, name, _ in benchmarks_doc.MARKED.findall(page)}
        main = (SOURCE / "tools/volley-bench/main.cpp").read_text()
        self.assertEqual({name.split("_")[0] for name in places}, set(re.findall(r'add_subcommand\("(\w+)"', main)) - {"compare"})
        for image in re.findall(r"\]\((images/[^)]+)\)", page):
            self.assertTrue((SOURCE / "docs" / image).exists(), image)


unittest.main()
