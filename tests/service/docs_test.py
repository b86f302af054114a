#!/usr/bin/env python3
"""Runs the shell blocks of docs/api.md, docs/automation.md and docs/operations.md. usage: docs_test.py SOURCE_DIR VOLLEYD VOLLEYCTL"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from volley import Volleyd, configuration, main, stream

SOURCE, VOLLEYD, VOLLEYCTL = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
WITHOUT_SUCCESS = re.compile(r'"error"')


# systemctl and what else of a machine the page uses, for a folder instead of a machine.
STAND_IN = r"""
systemctl() {
    local verb=$1
    case "$verb $*" in
        *restart*|*stop*) kill "$(cat pid)"; wait "$(cat pid)" || true; rm pid ;;&
        *start*|*enable*)
            "$VOLLEYD" --config "$ROOT/etc/volley.json" >out 2>>log & echo $! >pid
            for _ in $(seq 600); do
                ! volleyctl status 2>/dev/null | grep -q idle || return 0
                kill -0 "$(cat pid)"; sleep 0.1
            done
            return 1 ;;
        reload*) kill -HUP "$(cat pid)"; for _ in $(seq 600); do ! volleyctl config show --json | grep -q 15kpps || return 0; sleep 0.1; done; return 1 ;;
        kill*) kill -USR1 "$(cat pid)" ;;
        status*) kill -0 "$(cat pid)" ;;
    esac
}
systemd-sysusers() { grep -q volley-admin "$ROOT"/stage/usr/local/lib/sysusers.d/volley.conf; }
meson() { command meson install -C "$BUILD" --no-rebuild --quiet --destdir "$ROOT/stage"; }
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def shell_blocks(text):
    return re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)


class Docs(unittest.TestCase):
    def test_each_curl_line_of_the_page_of_routes_answers(self):
        page = (SOURCE / "docs/api.md").read_text()
        east = {"name": "east", "device": "net_null0,no-rx=1", "tx": {"lcores": [3]}, "rx": {"lcores": [3]}}
        config = configuration(run={"start": "manual", "when_done": "idle"}, ports=[east], streams=[stream("flood")])
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
            self.assertRegex(outputs[1], r"^flood \d+\n$")
            self.assertRegex(outputs[-1], r"^flood \d+ \d")


    def test_what_the_page_of_operations_shows_works(self):
        if not shutil.which("promtool"):
            self.skipTest("prometheus is not installed")
        with tempfile.TemporaryDirectory(prefix="volley-operations-") as folder:
            root = pathlib.Path(folder)
            (root / "conf").symlink_to(SOURCE / "conf")
            (root / "systemctl").write_text(STAND_IN)
            page = (SOURCE / "docs/operations.md").read_text()
            port = str(free_port())
            script = "set -euo pipefail\nsudo() { if [ \"$1\" = systemctl ]; then shift; systemctl \"$@\"; else \"$@\"; fi; }\n. ./systemctl\n"
            for block in shell_blocks(page):
                script += block.replace("/etc/volley", f"{root}/etc").replace("9464", port)
            environment = {**os.environ, "PATH": os.path.dirname(VOLLEYCTL) + ":" + os.environ["PATH"], "RUNTIME_DIRECTORY": str(root), "XDG_RUNTIME_DIR": str(root),
                           "VOLLEYD": VOLLEYD, "ROOT": str(root), "BUILD": str(pathlib.Path(VOLLEYD).parent.parent)}
            try:
                got = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=root, env=environment)
            finally:
                if (root / "pid").exists():
                    subprocess.run(["kill", (root / "pid").read_text().strip()], capture_output=True)
            log = (root / "log").read_text() if (root / "log").exists() else ""
            self.assertEqual(got.returncode, 0, got.stdout[-2000:] + got.stderr[-2000:] + log[-2000:])
            for text in ("volley: idle", "flood", "settled", "\ntrue\n", "\n15kpps\n", '"status":"ok"'):
                self.assertIn(text, got.stdout)

    def test_manual_pages_name_each_verb_and_option(self):
        page = (SOURCE / "docs/man/volleyctl.1.scd").read_text()
        for verb in subprocess.run([VOLLEYCTL, "__complete", ""], capture_output=True, text=True).stdout.split():
            self.assertRegex(page, rf"(?m)^.*\*{verb}\b")
        page = (SOURCE / "docs/man/volleyd.8.scd").read_text()
        for option in re.findall(r"(?m)^  (--[a-z-]+)", subprocess.run([VOLLEYD, "--help"], capture_output=True, text=True).stdout):
            self.assertIn(f"*{option}*", page)


if __name__ == "__main__":
    main()
