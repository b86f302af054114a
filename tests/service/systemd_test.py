#!/usr/bin/env python3
"""What systemd is told, by a notify socket of the test's own; the unit file. usage: systemd_test.py SOURCE_DIR VOLLEYD"""
import ctypes
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from volley import PATIENCE, Volleyd, configuration, main

SOURCE, VOLLEYD = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


def ptrace(request, tid):
    if LIBC.ptrace(request, tid, None, None) != 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")


class Manager:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="volley-notify-")
        self.path = os.path.join(self.folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)

    def close(self):
        self.socket.close()
        shutil.rmtree(self.folder)

    def wait_for(self, pattern, patience=PATIENCE):
        """The first message that matches, or None."""
        deadline = time.monotonic() + patience
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.socket], [], [], left)[0]:
                return None
            text = self.socket.recv(4096).decode()
            if re.search(pattern, text):
                return text

    def drop_all(self):
        while select.select([self.socket], [], [], 0)[0]:
            self.socket.recv(4096)


class Notify(unittest.TestCase):
    def setUp(self):
        self.manager = Manager()
        environment = {"NOTIFY_SOCKET": self.manager.path, "WATCHDOG_USEC": "1000000"}
        self.daemon = Volleyd(VOLLEYD, configuration(run={"when_done": "idle"}), environment=environment).start(ready=False)

    def tearDown(self):
        self.daemon.end(signal.SIGKILL)
        self.manager.close()

    def test_ready_status_reload_watchdog_and_stop_are_told(self):
        self.assertIsNotNone(self.manager.wait_for("^READY=1"))
        self.assertIsNotNone(self.manager.wait_for("^WATCHDOG=1"))
        self.assertIsNotNone(self.manager.wait_for(r"^STATUS=running: \d+ packets/s, [\d.]+ Gbit/s on the wire"))
        self.daemon.process.send_signal(signal.SIGHUP)
        told = self.manager.wait_for("^RELOADING=1")
        self.assertRegex(told, r"\nMONOTONIC_USEC=\d+$")
        self.assertLess(abs(int(told.rsplit("=", 1)[1]) / 1e6 - time.monotonic()), PATIENCE)
        self.assertIsNotNone(self.manager.wait_for("^READY=1"))
        self.daemon.process.send_signal(signal.SIGTERM)
        self.assertIsNotNone(self.manager.wait_for("^STOPPING=1"))
        self.assertEqual(self.daemon.process.wait(PATIENCE), 0)

    def test_a_worker_that_hangs_starves_the_watchdog_until_it_goes_on(self):
        self.assertIsNotNone(self.manager.wait_for("^WATCHDOG=1"))
        tid = self.worker()
        stopped, go_on, done = threading.Event(), threading.Event(), threading.Event()

        def hold():  # whoever traces a thread must let it go itself
            ptrace(PTRACE_SEIZE, tid)
            ptrace(PTRACE_INTERRUPT, tid)
            os.waitpid(tid, 0x40000000)  # __WALL
            stopped.set()
            go_on.wait()
            ptrace(PTRACE_DETACH, tid)
            done.set()

        holder = threading.Thread(target=hold, daemon=True)
        holder.start()
        if not stopped.wait(5):
            self.skipTest("this kernel lets nobody stop a thread by ptrace")
        # What was under way when it stopped may still be told, once.
        self.manager.wait_for("^WATCHDOG=1", 1)
        self.manager.drop_all()
        self.assertIsNone(self.manager.wait_for("^WATCHDOG=1", 2.5))
        go_on.set()
        done.wait(PATIENCE)
        self.assertIsNotNone(self.manager.wait_for("^WATCHDOG=1"))

    def worker(self):
        """The thread that has used the most CPU is the one that polls."""
        tasks = pathlib.Path(f"/proc/{self.daemon.process.pid}/task")
        named = [task for task in tasks.iterdir() if re.match(r"(lcore-worker|rte-worker|dpdk-worker)[-]?3", (task / "comm").read_text())]
        self.assertEqual(len(named), 1, [(task / "comm").read_text() for task in tasks.iterdir()])
        return int(named[0].name)


class Journal(unittest.TestCase):
    def test_lines_have_priorities_when_stderr_is_the_journal(self):
        reader, writer = os.pipe()
        status = os.fstat(writer)
        config = Volleyd(VOLLEYD, configuration())
        command = config.command
        environment = {**config.environment, "JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=writer, env=environment)
        os.close(writer)
        with os.fdopen(reader) as lines:
            first = lines.readline()
            child.terminate()
            rest = lines.read()
        child.wait(PATIENCE)
        config.process = None
        config.end()
        for line in (first + rest).splitlines():
            self.assertRegex(line, r"^<[2-7]>", line)


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
class Unit(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="volley-unit-"))
        text = (SOURCE / "conf/systemd/volleyd.service").read_text()
        self.unit = self.folder / "volleyd.service"
        self.unit.write_text(text.replace("@sbindir@/volleyd", VOLLEYD))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def test_systemd_finds_nothing_wrong_with_it(self):
        got = subprocess.run(["systemd-analyze", "verify", "--man=no", str(self.unit)], capture_output=True, text=True)
        self.assertEqual((got.returncode, got.stdout + got.stderr), (0, ""))

    def test_its_exposure_is_at_most_2(self):
        got = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager", str(self.unit)],
                             capture_output=True, text=True)
        self.assertEqual(got.returncode, 0, got.stdout[-300:] + got.stderr)


if __name__ == "__main__":
    main()
