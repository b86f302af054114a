#!/usr/bin/env python3
"""volleyd against hostile clients, bad luck and great numbers. usage: hardening_test.py SOURCE_DIR VOLLEYD VOLLEYCTL"""
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

from volley import PATIENCE, Volleyd, configuration, main, stream

SOURCE, VOLLEYD, VOLLEYCTL = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
READER, ADMIN = "reader-0123456789abcdef", "admin-0123456789abcdef"


def port_of(daemon):
    return int(re.search(r"serving https?://\S+:(\d+)", daemon.log()).group(1))


def resident_kib(daemon):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()).group(1))


class Loopback(unittest.TestCase):
    """TCP without tokens."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Volleyd(VOLLEYD, configuration(service={"http": ":0"})).start()
        cls.port = port_of(cls.daemon)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.end()

    def ask(self, method, path, body=None, host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, body, {"Host": host} if host else {})
        status = connection.getresponse().status
        connection.close()
        return status

    def test_it_reads_and_does_not_change_and_foreign_names_are_refused(self):
        self.assertEqual(self.ask("GET", "/metrics"), 200)
        self.assertEqual(self.ask("POST", "/api/v1/stop"), 403)
        self.assertEqual(self.ask("GET", "/metrics", host=f"localhost:{self.port}"), 200)
        self.assertEqual(self.ask("GET", "/metrics", host=f"evil.example:{self.port}"), 403)

    def test_heads_and_bodies_of_64_mb_take_no_memory(self):
        before = resident_kib(self.daemon)
        for start in (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ", b"PUT /api/v1/config HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n4000000\r\n",
                      b"PUT /api/v1/config HTTP/1.1\r\nHost: localhost\r\nIf-Match: *\r\nTransfer-Encoding: chunked\r\n\r\n4000000\r\n"):
            for family, place in ((socket.AF_INET, ("127.0.0.1", self.port)), (socket.AF_UNIX, self.daemon.socket)):
                with socket.socket(family) as client:
                    client.settimeout(PATIENCE)
                    client.connect(place)
                    try:
                        client.sendall(start)
                        for _ in range(64):
                            client.sendall(b"x" * (1 << 20))
                    except OSError:
                        pass  # cut off, as it should be
        self.assertEqual(self.daemon.get("/healthz").status, 200)
        self.assertLess(resident_kib(self.daemon) - before, 80 * 1024)

    def test_stalled_clients_hold_up_nobody(self):
        stalled = []
        for i in range(12):
            client = socket.create_connection(("127.0.0.1", self.port))
            client.sendall([b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n", b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"][i % 4])
            stalled.append(client)
        for _ in range(20):
            self.assertEqual(self.ask("GET", "/metrics"), 200)
        for client in stalled:
            client.close()

    def test_a_client_that_dies_in_the_middle_leaves_nothing_half_applied(self):
        before = self.daemon.get("/api/v1/config")
        body = before.text.replace('"1kpps"', '"9kpps"').encode()
        head = f"PUT /api/v1/config HTTP/1.1\r\nHost: localhost\r\nIf-Match: *\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for part in (head, head + body[: len(body) // 2], head + body[:-1]):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(self.daemon.socket)
                client.sendall(part)
        self.assertEqual(self.daemon.get("/api/v1/config").headers["ETag"], before.headers["ETag"])
        # One that is whole is done, though nobody waits for the answer.
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.daemon.socket)
            client.sendall(head + body)
        self.daemon.wait(lambda: self.daemon.get("/api/v1/config").headers["ETag"] != before.headers["ETag"], "change")
        self.assertEqual({s["rate"] for s in self.daemon.get("/api/v1/config").json["streams"]}, {"9kpps", "5kpps"})
        self.assertEqual(self.daemon.post("/api/v1/reload").status, 200)

    def test_many_that_change_at_once_are_served_one_after_the_other(self):
        tag = self.daemon.get("/api/v1/config").headers["ETag"]
        answers = []

        def change(i):
            answers.append(self.daemon.request("PATCH", "/api/v1/streams/alpha", {"rate": f"{2 + i}kpps"}, If_Match=tag).status)

        threads = [threading.Thread(target=change, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers), [200] + 7 * [412])
        self.assertEqual(self.daemon.post("/api/v1/reload").status, 200)


class Tls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.TemporaryDirectory(prefix="volley-tls-")
        folder = pathlib.Path(cls.keys.name)
        cls.certificate, cls.key = str(folder / "c.pem"), str(folder / "k.pem")
        cls.make_certificate()
        cls.tokens = folder / "tokens"
        cls.tokens.write_text(f"read-only {READER}\nadmin {ADMIN}\n")
        cls.tokens.chmod(0o600)
        for name, token in (("reader", READER), ("admin", ADMIN)):
            (folder / name).write_text(token + "\n")
        service = {"http": "0.0.0.0:0", "tls": {"certificate": cls.certificate, "key": cls.key}, "tokens": str(cls.tokens)}
        cls.daemon = Volleyd(VOLLEYD, configuration(service=service)).start()
        cls.port = port_of(cls.daemon)
        cls.context = ssl.create_default_context(cafile=cls.certificate)

    @classmethod
    def tearDownClass(cls):
        cls.daemon.end()
        cls.keys.cleanup()

    @classmethod
    def make_certificate(cls):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", cls.key, "-out",
                        cls.certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       check=True, capture_output=True)

    def ask(self, method, path, token=None, **headers):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=PATIENCE, context=self.context)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        connection.request(method, path, None, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    def test_tokens_open_what_they_are_for(self):
        for token, read, change in ((None, 401, 401), ("", 401, 401), (ADMIN[:-1], 401, 401), (ADMIN + "x", 401, 401), (READER, 200, 403), (ADMIN, 200, 200)):
            self.assertEqual(self.ask("GET", "/metrics", token).status, read, token)
            self.assertEqual(self.ask("POST", "/api/v1/clear", token).status, change, token)
        self.assertEqual(self.ask("GET", "/metrics").headers["WWW-Authenticate"], "Bearer")
        self.assertEqual(self.ask("GET", "/healthz").status, 200)
        self.assertEqual(self.ask("GET", "/metrics", READER, Origin="https://evil.example").status, 403)
        self.assertNotIn(ADMIN, self.daemon.log())

    def test_what_is_no_tls_or_an_old_one_gets_nothing(self):
        for text in (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\xff\xff" + b"\0" * 600, b"\x16\x03\x01\0\x05\x01\0\0\x01\0"):
            with socket.create_connection(("127.0.0.1", self.port)) as client:
                client.settimeout(PATIENCE)
                client.sendall(text)
                client.shutdown(socket.SHUT_WR)
                got = b""
                try:
                    while part := client.recv(4096):
                        got += part
                except OSError:
                    pass
                self.assertNotIn(b"200", got)
        got = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{self.port}", "-tls1_1"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertNotEqual(got.returncode, 0)
        with self.assertRaises(ssl.SSLError):
            http.client.HTTPSConnection("localhost", self.port, context=ssl.create_default_context()).request("GET", "/healthz")
        self.assertEqual(self.ask("GET", "/healthz").status, 200)

    def test_volleyctl_uses_it(self):
        def ctl(token, *arguments):
            place = ["--url", f"https://localhost:{self.port}", "--ca-file", self.certificate, "--token-file", f"{self.keys.name}/{token}"]
            return subprocess.run([VOLLEYCTL, *place, *arguments], capture_output=True, text=True)
        self.assertEqual(json.loads(ctl("reader", "status", "--json").stdout)["name"], "test")
        self.assertEqual(ctl("reader", "clear").returncode, 77)
        self.assertEqual(ctl("admin", "clear").returncode, 0)

    def test_a_reload_takes_up_new_certificates_and_tokens_and_bad_ones_leave_the_old(self):
        key = pathlib.Path(self.key).read_text()
        pathlib.Path(self.key).write_text("no key\n")
        got = self.daemon.post("/api/v1/reload")
        self.assertEqual(got.status, 422, got.text)
        self.assertIn(self.key, got.text)
        self.assertEqual(self.ask("GET", "/healthz").status, 200)
        pathlib.Path(self.key).write_text(key)
        self.make_certificate()
        self.tokens.write_text(f"admin {ADMIN}-of-today\n")
        self.assertEqual(self.daemon.post("/api/v1/reload").status, 200)
        with self.assertRaises(ssl.SSLError):
            self.ask("GET", "/healthz")
        type(self).context = ssl.create_default_context(cafile=self.certificate)
        self.assertEqual(self.ask("GET", "/metrics", ADMIN).status, 401)
        self.assertEqual(self.ask("POST", "/api/v1/clear", ADMIN + "-of-today").status, 200)
        self.tokens.write_text(f"read-only {READER}\nadmin {ADMIN}\n")
        self.daemon.process.send_signal(signal.SIGHUP)
        self.daemon.wait(lambda: self.ask("GET", "/metrics", READER).status == 200, "tokens by SIGHUP")

    def test_tokens_that_everybody_may_read_are_refused_at_the_start(self):
        self.tokens.chmod(0o644)
        service = {"http": ":0", "tokens": str(self.tokens)}
        other = Volleyd(VOLLEYD, configuration(name="other", service=service)).start(ready=False)
        code = other.process.wait(PATIENCE)
        self.assertIn("chmod o=", other.log())
        other.end()
        self.tokens.chmod(0o600)
        self.assertEqual(code, 78)


class Misfortune(unittest.TestCase):
    def test_after_sigkill_it_starts_again_at_once(self):
        daemon = Volleyd(VOLLEYD, configuration(service={"http": ":0"}, telemetry={"interval": "100ms", "socket": "auto"})).start()
        self.addCleanup(daemon.end)
        for _ in range(2):
            daemon.process.send_signal(signal.SIGKILL)
            daemon.process.wait(PATIENCE)
            daemon.start()
            daemon.wait_for_state("running")

    def test_a_full_disk_is_counted_and_telemetry_goes_on_when_there_is_room(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small disk needs root")
        with tempfile.TemporaryDirectory(prefix="volley-disk-") as disk:
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True).returncode != 0:
                self.skipTest("nothing can be mounted here")
            try:
                filler, lines = pathlib.Path(disk) / "filler", pathlib.Path(disk) / "lines"
                with Volleyd(VOLLEYD, configuration(telemetry={"interval": "20ms", "socket": None, "file": str(lines)})) as daemon:
                    with filler.open("wb", buffering=0) as file:
                        try:
                            while True:
                                file.write(b"x" * 4096)
                        except OSError:
                            pass
                    dropped = lambda: int(re.search(r'dropped_lines_total\{sink="file"\} (\d+)', daemon.get("/metrics").text).group(1))
                    daemon.wait(lambda: dropped() > 0, "dropped lines")
                    filler.unlink()
                    lines.write_bytes(b"")
                    daemon.wait(lambda: lines.stat().st_size > 0, "lines")
                    daemon.wait_for_state("running")
            finally:
                subprocess.run(["umount", "-l", disk], check=True)

    def test_answers_stay_bounded_with_many_streams(self):
        count = 20_000 if os.environ.get("VOLLEY_LONG") else 2_000
        config = configuration(streams=[stream(f"s{i:05}", rate="1pps") for i in range(count)], telemetry={"interval": "1s", "socket": None, "streams": 100})
        config["eal"]["memory_mib"] = 512
        with Volleyd(VOLLEYD, config) as daemon:
            daemon.wait_for_state("running")
            metrics, line = daemon.get("/metrics").text, daemon.get("/telemetry")
            self.assertLess(len(metrics), 100_000)
            self.assertLess(len(line.text), 100_000)
            self.assertEqual([s["name"] for s in line.json["streams"]][-2:], ["s00099", "_other"])
            self.assertIn('stream="_other"', metrics)
            page = daemon.get(f"/api/v1/streams?offset={count - 1}").json
            self.assertEqual((page["total"], [s["name"] for s in page["streams"]]), (count, [f"s{count - 1:05}"]))
            self.assertEqual(len(daemon.get("/api/v1/streams?limit=99999").json["streams"]), 1000)
            self.assertEqual(daemon.request("PATCH", "/api/v1/streams/s00*", {"rate": "2pps"}).status, 200)


if __name__ == "__main__":
    main()
