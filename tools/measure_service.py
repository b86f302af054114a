#!/usr/bin/env python3
"""What scraping costs: rounds without and with 100 scrapers and 12 stalled clients, in turn, while volleyd sends flat out.

Tells medians of the rate, involuntary context switches of the worker, times of scrapes, and memory. It asserts nothing:
the numbers are those of the machine, which should be quiet and have a CPU for the worker alone.

usage: measure_service.py VOLLEYD [--rounds N] [--seconds S] [--scrapers N] [--stalled N] [--streams N] [--json FILE]
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/service"))
from volley import Volleyd, configuration, stream  # noqa: E402


def worker_of(daemon):
    for task in pathlib.Path(f"/proc/{daemon.process.pid}/task").iterdir():
        if re.match(r"(lcore|rte|dpdk)-worker-?3", (task / "comm").read_text()):
            return task
    raise RuntimeError("no worker thread")


def involuntary_switches(task):
    return int(re.search(r"nonvoluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text()).group(1))


def memory_kib(daemon):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()).group(1))


def sent(daemon):
    line = daemon.get("/telemetry").json
    return line["ports"][0]["tx"]["packets"], line["monotonic_ns"]


class Scrapers:
    """Each asks once a second over a connection that it keeps."""

    def __init__(self, port, count, stalled):
        self.port, self.times, self.failures, self.end = port, [], 0, threading.Event()
        self.stalled = []
        for _ in range(stalled):
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(b"GET /metrics HT")
            self.stalled.append(client)
        self.threads = [threading.Thread(target=self.scrape, args=(i / count,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def scrape(self, phase):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        self.end.wait(phase)
        while not self.end.is_set():
            begin = time.monotonic()
            try:
                connection.request("GET", "/metrics")
                connection.getresponse().read()
                self.times.append(time.monotonic() - begin)
            except (OSError, http.client.HTTPException):
                self.failures += 1
                connection.close()
            self.end.wait(max(0, 1 - (time.monotonic() - begin)))
        connection.close()

    def stop(self):
        self.end.set()
        for thread in self.threads:
            thread.join()
        for client in self.stalled:
            client.close()


def measure(daemon, task, seconds):
    packets, at = sent(daemon)
    switches = involuntary_switches(task)
    time.sleep(seconds)
    more, then = sent(daemon)
    return (more - packets) / (then - at) * 1e9, (involuntary_switches(task) - switches) / seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("volleyd")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--scrapers", type=int, default=100)
    parser.add_argument("--stalled", type=int, default=12)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--json")
    options = parser.parse_args()
    streams = [stream(f"s{i:05}", rate="max" if i == 0 else "1pps") for i in range(options.streams)]
    config = configuration(streams=streams, service={"http": ":0"}, telemetry={"interval": "1s", "socket": None})
    if options.streams > 1000:
        config["eal"]["memory_mib"] = 512
    quiet, scraped, times, failures, memory = [], [], [], 0, []
    with Volleyd(options.volleyd, config) as daemon:
        daemon.wait_for_state("running")
        port, task = int(re.search(r"serving http://\S+:(\d+)", daemon.log()).group(1)), worker_of(daemon)
        # The clients stay off the worker's CPU, which is the last; volleyd has chosen its own by now.
        others = os.sched_getaffinity(0) - {(os.cpu_count() or 1) - 1}
        if others:
            os.sched_setaffinity(0, others)
        measure(daemon, task, 1)  # to warm up
        for _ in range(options.rounds):
            quiet.append(measure(daemon, task, options.seconds))
            scrapers = Scrapers(port, options.scrapers, options.stalled)
            scraped.append(measure(daemon, task, options.seconds))
            scrapers.stop()
            times += scrapers.times
            failures += scrapers.failures
            memory.append(memory_kib(daemon))
        size = len(daemon.get("/metrics").text)
    rate, loaded = (statistics.median(rate for rate, _ in rounds) for rounds in (quiet, scraped))
    times.sort()
    result = {
        "rounds": options.rounds, "seconds": options.seconds, "scrapers": options.scrapers, "stalled": options.stalled, "streams": options.streams,
        "pps_quiet": rate, "pps_scraped": loaded, "change_percent": (loaded / rate - 1) * 100,
        "involuntary_switches_a_second_quiet": statistics.median(s for _, s in quiet),
        "involuntary_switches_a_second_scraped": statistics.median(s for _, s in scraped),
        "scrapes": len(times), "scrapes_failed": failures, "scrape_bytes": size,
        "scrape_ms_p50": times[len(times) // 2] * 1000, "scrape_ms_p99": times[len(times) * 99 // 100] * 1000, "scrape_ms_max": times[-1] * 1000,
        "memory_kib_first_round": memory[0], "memory_kib_last_round": memory[-1],
    }
    print(json.dumps(result, indent=2))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result) + "\n")


main()
