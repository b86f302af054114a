#!/usr/bin/env python3
"""The dashboard in a headless browser shows what telemetry says, and its policy forbids all that is foreign.

usage: dashboard_test.py VOLLEYD [SCREENSHOT]      exit code 77: no Chromium or chromedriver here
"""
import base64, html.parser, json, pathlib, shutil, socket, subprocess, sys, tempfile, time, urllib.error, urllib.request

from volley import many_streams

VOLLEYD = sys.argv[1]
SCREENSHOT = sys.argv[2] if len(sys.argv) > 2 else None
CHROMIUM = shutil.which("chromium")


def stream(name, rate):
    headers = [{"eth": {}}, {"ipv4": {"src": "10.0.0.1", "dst": "10.1.0.1"}}, {"udp": {"src": 1, "dst": 2}}]
    return {"name": name, "port": "east", "rate": rate, "packet": {"frame_size": 128, "headers": headers}}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Browser:
    """A headless Chromium behind its driver (W3C WebDriver)."""

    def __init__(self, folder):
        self.base = f"http://127.0.0.1:{free_port()}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.base.rsplit(':', 1)[1]}"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            f"--user-data-dir={folder}/profile", "--window-size=1400,1300"], "binary": CHROMIUM}
        deadline = time.monotonic() + 60
        while True:
            try:
                self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})["sessionId"]
                return
            except urllib.error.URLError as error:
                assert time.monotonic() < deadline and not isinstance(error, urllib.error.HTTPError), error
                time.sleep(0.1)

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def ask(self, what, body=None):
        return self.call("GET" if body is None else "POST", f"/session/{self.session}/{what}", body)

    def script(self, text):
        return self.ask("execute/sync", {"script": text, "args": []})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=30)


class Cells(html.parser.HTMLParser):
    """Rows of the tables by table id and data-name, each a list of data-value; the sequence that the page shows."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.table, self.row, self.sequence, self.ids = {}, None, None, None, set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.add(attributes["id"])
        if tag == "body":
            self.sequence = attributes.get("data-sequence")
        elif tag == "table":
            self.table = self.tables.setdefault(attributes.get("id"), {})
        elif tag == "tr" and "data-name" in attributes:
            self.row = self.table.setdefault(attributes["data-name"], [])
        elif tag == "td" and self.row is not None:
            self.row.append(attributes.get("data-value"))

    def handle_endtag(self, tag):
        if tag in ("tr", "table"):
            self.row = None


def start(folder, url, lines_file):
    """volleyd on that configuration, once it answers."""
    with open(lines_file, "w") as out, open(folder / "log", "w") as log:
        daemon = subprocess.Popen([VOLLEYD, "--config", str(folder / "volley.json"), "--duration", "180s"], stdout=out, stderr=log)
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(url + "telemetry", timeout=5):
                return daemon
        except OSError:
            assert daemon.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, "the service does not answer"
            time.sleep(0.05)


def end(daemon):
    daemon.terminate()
    daemon.wait(timeout=60)


def eventually(browser, condition, what):
    """A page's script that comes true."""
    deadline = time.monotonic() + 60
    while not browser.script("return " + condition):
        assert time.monotonic() < deadline, what + browser.script("return document.documentElement.outerHTML")
        time.sleep(0.1)


def check_restart(browser, folder, url, config):
    """The page says that volleyd is gone, finds the next one by itself and shows what that one does: 20,000 streams, by pages."""
    eventually(browser, "document.getElementById('connection').textContent.includes('No connection')", "the loss of the connection")
    count = many_streams(VOLLEYD)
    config["streams"] = [stream(f"many-{i:05}", "10pps") for i in range(count)]
    (folder / "volley.json").write_text(json.dumps(config))
    daemon = start(folder, url, folder / "more-lines")
    try:
        eventually(browser, "document.getElementById('connection').hidden", "the connection")
        eventually(browser, "document.getElementById('page').textContent.endsWith('of %d')" % count, "the new streams")
        eventually(browser, "document.querySelectorAll('#streams tbody tr').length === 50", "a page of fifty streams")
        browser.script("const f = document.getElementById('filter'); f.value = 'many-%04d*'; f.dispatchEvent(new Event('input'))" % (count // 10 - 1))
        eventually(browser, "document.querySelectorAll('#streams tbody tr').length === 10", "the filtered streams")
        sequence = browser.script("return Number(document.body.dataset.sequence)")
        eventually(browser, f"document.body.dataset.sequence > {sequence + 3}", "lines that go on")
    finally:
        end(daemon)


def main(folder):
    port = free_port()
    config = {"version": 1, "name": "dashboard",
              "eal": {"lcores": "0@0,1@0,2@0,3@0", "huge_pages": "no", "memory_mib": 128},
              "lcores": {"control": 0, "stats": 1, "dispatch": 2}, "telemetry": {"interval": "500ms", "socket": None},
              "ports": [{"name": "east", "device": "net_null0,copy=0,no-rx=1", "tx": {"lcores": [3]}}],
              "streams": [stream("web <b>", "2kpps")] + [stream(f"voice-{i:02}", "100pps") for i in range(60)],
              "service": {"unix": str(folder / "control.sock"), "http": f"127.0.0.1:{port}"}}
    (folder / "volley.json").write_text(json.dumps(config))
    lines_file = folder / "lines"
    url = f"http://127.0.0.1:{port}/"
    daemon = start(folder, url, lines_file)
    try:
        deadline = time.monotonic() + 60
        with urllib.request.urlopen(url, timeout=5) as answer:
            assert "default-src 'self'" in answer.headers["Content-Security-Policy"]
        with Browser(folder) as browser:
            browser.ask("url", {"url": url})
            ready = "return document.body.dataset.sequence > 2 && document.querySelectorAll('#streams tbody tr').length === 50"
            while not browser.script(ready):
                assert time.monotonic() < deadline, browser.script("return document.documentElement.outerHTML")
                time.sleep(0.1)
            page = browser.script("return document.documentElement.outerHTML")
            lines = [json.loads(line) for line in lines_file.read_text().splitlines(keepends=True) if line.endswith("\n")]
            assert "No connection" not in browser.script("return document.getElementById('connection').textContent")
            assert browser.script("return getComputedStyle(document.getElementById('steer')).display") == "none", \
                "who may only read sees no buttons"
            if SCREENSHOT:
                while browser.script("return Number(document.body.dataset.sequence)") < 40:
                    time.sleep(0.5)
                pathlib.Path(SCREENSHOT).write_bytes(base64.b64decode(browser.ask("screenshot")))
            end(daemon)
            check_restart(browser, folder, url, config)
        cells = Cells(page)
        shown = next(line for line in lines if line["sequence"] == int(cells.sequence))
        for port_line in shown["ports"]:
            row = cells.tables["ports"][port_line["name"]]
            for column, value in ((2, port_line["tx"]["packets"]), (3, port_line["tx"]["pps"]), (4, port_line["tx"]["l1_bps"])):
                assert float(row[column]) == value, (row, port_line)
        assert {worker["name"] for worker in shown["workers"]} == set(cells.tables["workers"])
        known = [{s["name"]: s["tx"]["packets"] for s in line["streams"]} for line in lines]
        rows = cells.tables["streams"]
        assert len(rows) == 50, "a page of fifty streams"
        assert any(all(line.get(name) == int(row[2]) for name, row in rows.items()) for line in known), rows
        if "uplot" in page:
            assert page.count("<canvas") == 6, "six plots"
    finally:
        end(daemon)


if CHROMIUM is None or shutil.which("chromedriver") is None:
    print("chromium and chromedriver are not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    main(pathlib.Path(folder))
print("the dashboard shows what telemetry says")
