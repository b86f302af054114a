#!/usr/bin/env python3
"""Runs the shell blocks of docs/api.md and docs/automation.md. usage: docs_test.py SOURCE_DIR VOLLEYD VOLLEYCTL"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

from volley import Volleyd, configuration, main, stream

SOURCE, VOLLEYD, VOLLEYCTL = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
WITHOUT_SUCCESS = re.compile(r'"error"')


def shell_blocks(text):
    return re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)


class Docs(unittest.TestCase):
    def test_each_curl_line_of_the_page_of_routes_answers(self):
        page = (SOURCE / "docs/api.md").read_text()
        config = configuration(run={"start": "manual", "when_done": "idle"}, streams=[stream("flood")])
        with Volleyd(VOLLEYD, config) as daemon:
            blocks = shell_blocks(page)
            self.assertGreater(len(blocks), 15)
            for block in blocks[1:]:  # the first names the socket
                got = subprocess.run(["bash", "-euc", f"S={daemon.socket}\n{block}"], capture_output=True, text=True, cwd=daemon.folder)
                self.assertEqual(got.returncode, 0, block + got.stderr)
                self.assertIsNone(WITHOUT_SUCCESS.search(got.stdout), block + got.stdout)

    def test_each_route_of_the_program_is_on_the_page(self):
        page = (SOURCE / "docs/api.md").read_text()
        routes = re.findall(r'\{"([A-Z]+)", "(/[^"]*)"', (SOURCE / "lib/service/routes.h").read_text())
        self.assertGreater(len(routes), 15)
        for method, path in routes:
            self.assertRegex(page, r"http://localhost" + re.escape(path).replace(r"\*", r"[^ ]*"), method)


    def test_what_the_page_of_automation_shows_works(self):
        page = (SOURCE / "docs/automation.md").read_text()
        program = re.search(r"^```python\n(.*?)^```", page, re.M | re.S).group(1)
        self.assertLessEqual(len(program.splitlines()), 30)
        config = configuration(run={"start": "manual", "when_done": "idle"}, streams=[stream("flood", "10kpps")])
        environment = {**os.environ, "PATH": os.path.dirname(VOLLEYCTL) + ":" + os.environ["PATH"]}
        with Volleyd(VOLLEYD, config) as daemon:
            environment["S"] = daemon.socket
            (daemon.folder / "trial.py").write_text(program)
            outputs = []
            for command in [*shell_blocks(page), "python3 trial.py $S 1s"]:
                daemon.wait_for_state("idle")
                got = subprocess.run(["bash", "-euo", "pipefail", "-c", command], capture_output=True, text=True, cwd=daemon.folder, env=environment)
                self.assertEqual(got.returncode, 0, command + got.stdout + got.stderr)
                outputs.append(got.stdout)
            self.assertEqual(outputs[1], "flood 10000\n")
            self.assertRegex(outputs[-1], r"^flood 10000 \d")


if __name__ == "__main__":
    main()
