#!/usr/bin/env python3
"""volleyctl top in a terminal of tmux, before a running volleyd. usage: top_test.py VOLLEYD VOLLEYCTL      77: no tmux here"""
import pathlib, re, shutil, subprocess, sys, tempfile, unittest

import volley

VOLLEYD, VOLLEYCTL = sys.argv[1:3]


class Terminal:
    """A tmux of its own with one window of that size, in which a command runs."""

    def __init__(self, columns, rows, command):
        self.folder = tempfile.TemporaryDirectory()
        self.tmux = ["tmux", "-S", f"{self.folder.name}/tmux", "-f", "/dev/null"]
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(columns), "-y", str(rows), command], check=True,
                       env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"})

    def text(self):
        return subprocess.run([*self.tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout

    def keys(self, *keys):
        subprocess.run([*self.tmux, "send-keys", *keys], check=True)

    def wait(self, condition, what):
        volley.Volleyd.wait(lambda: condition(self.text()), what)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], stderr=subprocess.DEVNULL)
        self.folder.cleanup()


def top(daemon, after=""):
    return f"{VOLLEYCTL} --socket {daemon.socket} top; {after} sleep 60"


class Top(unittest.TestCase):
    def test_a_screen_of_80_by_24_shows_ports_cores_and_streams(self):
        with volley.Volleyd(VOLLEYD, volley.configuration()) as daemon, Terminal(80, 24, top(daemon)) as terminal:
            terminal.wait(lambda text: "running" in text and "gamma" in text, "the streams")
            rows = terminal.text().split("\n")
            self.assertIn("Volley test", rows[0])
            self.assertTrue(any(row.startswith("PORT") and "L1 bps" in row and "L2 bps" in row for row in rows))
            self.assertTrue(any(row.startswith("east") and "10Gbps" in row for row in rows))
            self.assertTrue(any(row.startswith("busy:") and "tx-3" in row and "ring" in row and "pool" in row for row in rows))
            self.assertTrue(any(row.startswith("STREAM") and "late p99" in row and "lost" in row for row in rows))
            self.assertTrue(any(row.startswith("q quit") and row.rstrip().endswith("o sort") for row in rows), "every key is told")
            self.assertTrue(all(len(row) <= 80 for row in rows))

    def test_a_wide_screen_shows_more_columns(self):
        with volley.Volleyd(VOLLEYD, volley.configuration()) as daemon, Terminal(200, 50, top(daemon)) as terminal:
            terminal.wait(lambda text: "TX packets" in text and "corrupt" in text and "gamma" in text, "the columns")

    def test_keys_pause_resume_and_change_the_rate_of_the_selected_stream(self):
        with volley.Volleyd(VOLLEYD, volley.configuration()) as daemon, Terminal(100, 24, top(daemon)) as terminal:
            terminal.wait(lambda text: "beta" in text, "the streams")
            terminal.keys("Down", "p")
            terminal.wait(lambda text: any(row.startswith("beta") and "paused" in row for row in text.split("\n")), "beta paused")
            terminal.keys("p")
            terminal.wait(lambda text: any(row.startswith("beta") and "running" in row for row in text.split("\n")), "beta resumed")
            terminal.keys("r", "2", "k", "p", "p", "s", "Enter")
            daemon.wait(lambda: next(s for s in daemon.get("/api/v1/streams").json["streams"] if s["name"] == "beta")["target_pps"] == 2000,
                        "the new rate")
            terminal.keys("r", "x", "Enter")
            terminal.wait(lambda text: "rate" in text.split("\n")[1], "the refusal")

    def test_filter_sort_stop_and_start(self):
        with volley.Volleyd(VOLLEYD, volley.configuration()) as daemon, Terminal(100, 24, top(daemon)) as terminal:
            terminal.wait(lambda text: "gamma" in text, "the streams")
            terminal.keys("o", "o")
            terminal.wait(lambda text: "by pps" in text and text.index("gamma") < text.index("alpha"), "the order by rate")
            terminal.keys("/", "a", "l", "*", "Enter")
            terminal.wait(lambda text: "1 stream, filter al*" in text and "gamma" not in text, "the filter")
            terminal.keys("x")
            daemon.wait_for_state("idle")
            terminal.wait(lambda text: "idle" in text.split("\n")[0], "idle")
            terminal.keys("s")
            daemon.wait_for_state("running")

    def test_a_daemon_that_is_restarted_is_found_again(self):
        with volley.Volleyd(VOLLEYD, volley.configuration()) as daemon, Terminal(100, 24, top(daemon)) as terminal:
            terminal.wait(lambda text: "alpha" in text, "the streams")
            daemon.process.terminate()
            daemon.process.wait(volley.PATIENCE)
            terminal.wait(lambda text: "no connection" in text, "the loss of the connection")
            daemon.start()
            terminal.wait(lambda text: "no connection" not in text and "alpha" in text, "the connection")

    def test_20000_streams_are_shown_by_pages_and_keys_still_answer(self):
        count = volley.many_streams(VOLLEYD)
        last = f"many-{count // 10 - 1:04}"
        many = volley.configuration(streams=[volley.stream(f"many-{i:05}", rate="10pps") for i in range(count)])
        with volley.Volleyd(VOLLEYD, many) as daemon, Terminal(100, 24, top(daemon)) as terminal:
            terminal.wait(lambda text: f"{count} streams, 1 to" in text and "many-00000" in text, "the first streams")
            terminal.keys("End")
            terminal.wait(lambda text: f"to {count} shown" in text and f"many-{count - 1:05}" in text, "the last page")
            terminal.keys("Home", "NPage")
            terminal.wait(lambda text: "many-00000" not in text and "many-00020" in text, "the second page")
            terminal.keys("/", *last, "*", "Enter")
            terminal.wait(lambda text: f"10 streams, filter {last}*" in text and f"{last}9" in text, "the last streams")
            terminal.keys("p")
            terminal.wait(lambda text: "paused" in text, "a paused one")

    def test_the_terminal_is_as_it_was_after_q_and_after_a_signal(self):
        for way in ("q", "TERM"):
            with volley.Volleyd(VOLLEYD, volley.configuration()) as daemon, tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                command = (f"stty -a > {folder}/before; sh -c 'echo $$ > {folder}/pid; exec {VOLLEYCTL} --socket {daemon.socket} top'; "
                           f"echo $? > {folder}/status; stty -a > {folder}/after; touch {folder}/done; sleep 60")
                with Terminal(80, 24, command) as terminal:
                    terminal.wait(lambda text: "alpha" in text, "the streams")
                    if way == "q":
                        terminal.keys("q")
                    else:
                        subprocess.run(["kill", "-TERM", (folder / "pid").read_text().strip()], check=True)
                    daemon.wait((folder / "done").exists, "the end of top")
                    self.assertEqual((folder / "before").read_text(), (folder / "after").read_text())
                    self.assertEqual((folder / "status").read_text().strip(), "0" if way == "q" else "143")
                    self.assertNotIn("STREAM", terminal.text())

    def test_a_screen_of_40_by_10_shows_whole_figures_and_streams(self):
        with volley.Volleyd(VOLLEYD, volley.configuration()) as daemon, Terminal(40, 10, top(daemon)) as terminal:
            terminal.wait(lambda text: "alpha" in text and "beta" in text, "the streams")
            rows = terminal.text().split("\n")
            self.assertTrue(any(re.fullmatch(r"busy:.*(%|pool \d+/\d+) *", row) for row in rows), rows)
            self.assertTrue(all(len(row) <= 40 for row in rows))

    def test_a_terminal_that_is_not_known_is_said(self):
        with Terminal(80, 24, f"TERM=nonsense {VOLLEYCTL} top; echo status $?; sleep 60") as terminal:
            terminal.wait(lambda text: "is not known here; set TERM" in text and "status 64" in text, "the message")

    def test_without_a_terminal_it_says_what_to_use(self):
        done = subprocess.run([VOLLEYCTL, "top"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 64)
        self.assertIn("volleyctl watch", done.stderr)


if shutil.which("tmux") is None:
    print("tmux is not installed")
    sys.exit(77)
volley.main()
