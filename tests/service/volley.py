"""volleyd as a child of a test, and its control interface, by the standard library alone."""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE = 60  # seconds that nothing healthy needs


def configuration(**changes):
    """One worker on net_null, three streams; `changes` replace top-level members."""
    cpus = os.cpu_count() or 1
    out = {
        "version": 1, "name": "test",
        "eal": {"lcores": f"0@0,1@0,3@{cpus - 1}", "huge_pages": "no", "memory_mib": 128},
        "lcores": {"control": 0, "stats": 1},
        "run": {"when_done": "idle", "settle_time": "0ms"},
        "ports": [{"name": "east", "device": "net_null0", "speed": "10Gbps", "tx": {"lcores": [3]}}],
        "streams": [stream("alpha"), stream("beta"), stream("gamma", rate="5kpps")],
        "telemetry": {"interval": "100ms", "socket": None},
    }
    out.update(changes)
    return out


def stream(name, rate="1kpps", **more):
    return {"name": name, "port": "east", "rate": rate, "packet": {"frame_size": 64, "headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {}}]}, **more}


def many_streams(program):
    """20,000, or a tenth of it in a build by clang, which is one with a sanitizer."""
    built = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return 2_000 if "lang" in built else 20_000


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.text = response.status, response.headers, response.read().decode(errors="replace")

    @property
    def json(self):
        return json.loads(self.text)


class Volleyd:
    """with Volleyd(PROGRAM, configuration()) as daemon: ..."""

    def __init__(self, program, config, arguments=(), environment=None, prefix=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="volley-"))
        self.config_file = self.folder / "volley.json"
        self.config_file.write_text(json.dumps(config))
        self.socket = str(self.folder / f"{config.get('name', 'volley')}.control.sock")
        self.command = [*prefix, program, "--config", str(self.config_file), *arguments]
        self.environment = {**os.environ, "RUNTIME_DIRECTORY": str(self.folder), **(environment or {})}
        self.out, self.err = self.folder / "out", self.folder / "err"
        self.process = None

    def start(self, ready=True):
        with self.out.open("ab") as out, self.err.open("ab") as err:
            self.process = subprocess.Popen(self.command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=self.environment)
        if ready:
            self.wait(self.answers, "volleyd answers")
        return self

    def answers(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"volleyd ended with {self.process.returncode}: {self.log()}")
        try:
            return self.get("/healthz").status == 200
        except OSError:
            return False

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.end()

    def end(self, number=signal.SIGTERM):
        """Ends it and returns the exit code."""
        code = None
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(number)
            try:
                code = self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code

    def log(self):
        return self.err.read_text(errors="replace") if self.err.exists() else ""

    def request(self, method, path, body=None, **headers):
        connection = UnixConnection(self.socket)
        try:
            if body is not None and not isinstance(body, (str, bytes)):
                body = json.dumps(body)
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.request("GET", path, **headers)

    def post(self, path, body=None, **headers):
        return self.request("POST", path, body, **headers)

    def state(self):
        return self.get("/api/v1/state").json

    def wait_for_state(self, state):
        self.wait(lambda: self.state()["state"] == state, f"state {state}")

    @staticmethod
    def wait(condition, what):
        """Polls until the condition holds; a deadline passed is a failure, never a measurement."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {what} in {PATIENCE} s")
            time.sleep(0.02)


class CaseByCase(unittest.TestResult):
    """Tells each case in GoogleTest's form, which tools/count_tests.py counts."""

    def startTest(self, test):
        super().startTest(test)
        self.began, self.verdict = time.monotonic(), "      OK"
        print(f"[ RUN      ] {self.name(test)}", flush=True)

    def stopTest(self, test):
        print(f"[ {self.verdict} ] {self.name(test)} ({(time.monotonic() - self.began) * 1000:.0f} ms)", flush=True)
        super().stopTest(test)

    def addError(self, test, error):
        super().addError(test, error)
        self.verdict = " FAILED "
        print(self.errors[-1][1])

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.verdict = " FAILED "
        print(self.failures[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.verdict = " SKIPPED"
        print(f"{__file__}:1: Skipped\n{reason}")

    @staticmethod
    def name(test):
        return ".".join(test.id().split(".")[-2:])


def main():
    """Runs the cases of the program that was started; with VOLLEY_CASE those alone whose names hold it."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    cases = [case for group in suite for case in group if os.environ.get("VOLLEY_CASE", "") in case.id()]
    print(f"[==========] Running {len(cases)} tests")
    result = CaseByCase()
    unittest.TestSuite(cases).run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
