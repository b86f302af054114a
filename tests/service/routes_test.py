#!/usr/bin/env python3
"""The routes of the control interface on a running volleyd. usage: routes_test.py VOLLEYD"""
import json
import sys
import unittest

from volley import Volleyd, configuration, main

VOLLEYD = sys.argv[1]


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Volleyd(VOLLEYD, configuration()).start()
        cls.daemon.wait_for_state("running")

    @classmethod
    def tearDownClass(cls):
        cls.daemon.end()

    def test_metrics_are_in_the_text_format_with_labels_of_port_queue_worker_and_stream(self):
        got = self.daemon.get("/metrics")
        self.assertEqual((got.status, got.headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        for sample in ('volley_port_transmit_packets_total{port="east"} ', 'volley_queue_tail_writes_total{port="east",queue="0"} ',
                       'volley_worker_turns_total{worker="tx-3",lcore="3",role="tx"} ',
                       'volley_stream_transmit_packets_total{stream="alpha",port="east"} ', 'volley_state{state="running"} 1'):
            self.assertIn("\n" + sample, got.text)

    def test_telemetry_is_the_snapshot_line(self):
        line = self.daemon.get("/telemetry").json
        self.assertEqual((line["type"], line["schema"]), ("snapshot", 1))

    def test_health_state_ports_and_xstats_answer(self):
        self.assertEqual(self.daemon.get("/healthz").json, {"status": "ok"})
        state = self.daemon.state()
        self.assertEqual((state["name"], state["state"], state["ports"], state["streams"]), ("test", "running", 1, 3))
        self.assertEqual([p["name"] for p in self.daemon.get("/api/v1/ports?name=e*").json["ports"]], ["east"])
        self.assertEqual(self.daemon.get("/api/v1/ports?name=west").json["ports"], [])
        self.assertEqual(self.daemon.get("/api/v1/xstats").json["ports"][0]["name"], "east")

    def test_streams_are_found_by_pattern_and_cut_into_pages(self):
        got = self.daemon.get("/api/v1/streams?name=*a&limit=1&offset=1").json
        self.assertEqual((got["total"], [s["name"] for s in got["streams"]]), (3, ["beta"]))
        self.assertEqual(self.daemon.get("/api/v1/streams?limit=x").status, 400)

    def test_the_configuration_has_a_tag_and_is_not_sent_twice(self):
        got = self.daemon.get("/api/v1/config")
        self.assertEqual(got.json["streams"][0]["name"], "alpha")
        tag = got.headers["ETag"]
        self.assertEqual(tag, self.daemon.state()["etag"])
        self.assertEqual(self.daemon.get("/api/v1/config", If_None_Match=tag).status, 304)

    def test_the_schema_is_the_one_of_the_sources(self):
        self.assertEqual(self.daemon.get("/api/v1/schema").json["$schema"], "http://json-schema.org/draft-07/schema#")

    def test_without_a_run_that_ended_there_is_no_report(self):
        got = self.daemon.get("/api/v1/report")
        self.assertEqual((got.status, got.json["error"]["code"]), (404, "no_report"))

    def test_head_answers_like_get_without_a_body(self):
        got = self.daemon.request("HEAD", "/metrics")
        self.assertEqual((got.status, got.text), (200, ""))
        self.assertGreater(int(got.headers["Content-Length"]), 1000)

    def test_head_of_events_ends_and_a_configuration_is_whole_for_who_has_none(self):
        got = self.daemon.request("HEAD", "/api/v1/events")
        self.assertEqual((got.status, got.text, got.headers["Content-Type"]), (200, "", "text/event-stream"))
        self.assertEqual(self.daemon.request("GET", "/api/v1/config", If_None_Match="").status, 200)

    def test_unknown_paths_and_methods_are_refused_as_json(self):
        for path in ("/assets", "/assets/../etc/passwd", "/assets/nothing", "/api", "/api/v1", "/api/v1/nothing", "/metrics/", "/metrics/more", "/etc/passwd"):
            self.assertIn(self.daemon.get(path).status, (400, 404), path)
        for path in ("/../etc/passwd", "/api/v1/../../etc/passwd", "/%2e%2e/etc/passwd", "/a%00b", "/%zz", "/metrics%", "//metrics"):
            self.assertEqual(self.daemon.get(path).status, 400, path)
        got = self.daemon.request("DELETE", "/metrics")
        self.assertEqual((got.status, got.headers["Allow"], got.json["error"]["code"]), (405, "GET", "method_not_allowed"))

    def test_events_are_a_stream_of_lines(self):
        from volley import UnixConnection
        connection = UnixConnection(self.daemon.socket)
        connection.request("GET", "/api/v1/events")
        response = connection.getresponse()
        self.assertEqual(response.headers["Content-Type"], "text/event-stream")
        sequences = []
        while len(sequences) < 3:
            line = response.readline().decode()
            if line.startswith("data: "):
                sequences.append(json.loads(line[6:])["sequence"])
        connection.close()
        self.assertEqual(sequences, sorted(set(sequences)))

    def test_pages_of_another_site_are_refused(self):
        self.assertEqual(self.daemon.get("/telemetry", Origin="http://evil.example").status, 403)
        self.assertEqual(self.daemon.get("/telemetry", Origin="http://localhost").status, 200)


class Steering(unittest.TestCase):
    """Each test leaves the daemon idle."""

    @classmethod
    def setUpClass(cls):
        cls.daemon = Volleyd(VOLLEYD, configuration(run={"start": "manual", "when_done": "idle", "settle_time": "0ms"})).start()

    @classmethod
    def tearDownClass(cls):
        cls.code = cls.daemon.end()

    def setUp(self):
        self.daemon.wait_for_state("idle")

    def tearDown(self):
        self.daemon.post("/api/v1/stop")
        self.daemon.wait_for_state("idle")

    def report_of(self, run_id):
        self.daemon.wait(lambda: self.daemon.state()["report_run_id"] == run_id, "report")
        return self.daemon.get("/api/v1/report").json

    def test_each_run_has_an_id_counts_from_zero_and_one_settled_report(self):
        seen = set()
        for _ in range(2):
            got = self.daemon.post("/api/v1/start", {"duration": "200ms"})
            self.assertEqual((got.status, got.json["state"]), (200, "running"), got.text)
            report = self.report_of(got.json["run_id"])
            self.assertTrue(report["settled"])
            # A machine that is late gives packets up, and says how many.
            self.assertEqual([s["tx"]["packets"] + s["shortfall_packets"] for s in report["streams"]], [200, 200, 1000])
            seen.add(report["run_id"])
            self.daemon.wait_for_state("idle")
        self.assertEqual(len(seen), 2)
        self.assertIsNone(self.daemon.get("/api/v1/config").json["run"]["duration"])

    def test_a_second_start_is_a_conflict(self):
        self.assertEqual(self.daemon.post("/api/v1/start").status, 200)
        got = self.daemon.post("/api/v1/start")
        self.assertEqual((got.status, got.json["error"]["code"], got.json["state"]), (409, "not_idle", "running"))

    def test_a_start_that_fails_leaves_the_run_before_it_the_last_one(self):
        packets = self.daemon.folder / "packets.cfg"
        packets.write_text("{ fill(0x01, 60) }\n")
        config = self.daemon.get("/api/v1/config").json
        fed = {"name": "fed", "port": "east", "rate": "1kpps", "packet": {"trafgen": str(packets)}}
        put = lambda streams: self.daemon.request("PUT", "/api/v1/config", {**config, "streams": streams}, If_Match="*")
        self.assertEqual(put([*config["streams"], fed]).status, 200)
        report = self.report_of(self.daemon.post("/api/v1/start", {"duration": "50ms"}).json["run_id"])
        self.daemon.wait_for_state("idle")
        keys = ("state", "run_id", "generation", "report_run_id", "warnings")
        before = [self.daemon.state()[key] for key in keys]
        packets.unlink()
        got = self.daemon.post("/api/v1/start")
        self.assertEqual((got.status, got.json["error"]["code"]), (422, "invalid_configuration"), got.text)
        self.assertIn("packets.cfg", got.json["error"]["message"])
        self.assertEqual([self.daemon.state()[key] for key in keys], before)
        self.assertEqual(self.daemon.get("/api/v1/report").json, report)
        sent = lambda: [s["tx"]["packets"] for s in self.daemon.get("/telemetry").json["streams"]]
        self.assertEqual(sent(), [s["tx"]["packets"] for s in report["streams"]])
        self.assertEqual(put(config["streams"]).status, 200)

    def test_settings_of_a_run_are_judged_and_named(self):
        got = self.daemon.post("/api/v1/start", {"duration": 5, "multiplier": "fast"})
        self.assertEqual(got.status, 422)
        self.assertEqual([p["pointer"] for p in got.json["error"]["problems"]], ["/duration", "/multiplier"])
        self.assertEqual(self.daemon.state()["state"], "idle")
        got = self.daemon.post("/api/v1/start", {"durration": "1s"})
        self.assertEqual((got.status, got.json["error"]["pointer"]), (422, "/durration"))
        self.assertEqual(self.daemon.post("/api/v1/start", "[1]").status, 400)

    def test_clear_counts_from_zero_and_leaves_the_report_whole(self):
        run = self.daemon.post("/api/v1/start").json["run_id"]
        sent = lambda: sum(s["tx"]["packets"] for s in self.daemon.get("/api/v1/streams").json["streams"])
        self.daemon.wait(lambda: sent() > 2000, "packets")
        before = sent()
        self.assertEqual(self.daemon.post("/api/v1/clear").status, 200)
        self.assertLess(sent(), before)
        self.daemon.post("/api/v1/stop")
        report = self.report_of(run)
        self.assertGreaterEqual(sum(s["tx"]["packets"] for s in report["streams"]), before)
        self.assertEqual(report["warnings"], [])

    def test_a_bad_configuration_changes_nothing_and_explains_everything(self):
        self.daemon.post("/api/v1/start")
        before = self.daemon.get("/api/v1/config")
        bad = before.json
        bad["streams"][0]["rate"] = "10Gbit"
        bad["streams"][1]["port"] = "eats"
        bad["prots"] = []
        got = self.daemon.request("PUT", "/api/v1/config", bad, If_Match=before.headers["ETag"])
        self.assertEqual(got.status, 422)
        self.assertEqual({p["pointer"] for p in got.json["error"]["problems"]}, {"/streams/0/rate", "/streams/1/port", "/prots"})
        after = self.daemon.get("/api/v1/config")
        self.assertEqual((after.text, after.headers["ETag"]), (before.text, before.headers["ETag"]))
        self.assertIn("volley_config_last_reload_successful 0", self.daemon.get("/metrics").text)
        for text in ("", "{", "{}", "// no comments\n" + before.text):
            self.assertEqual(self.daemon.request("PUT", "/api/v1/config", text, If_Match="*").status, 422, text[:20])

    def test_of_two_clients_that_change_at_once_one_gets_a_conflict(self):
        self.daemon.post("/api/v1/start")
        seen = self.daemon.get("/api/v1/config")
        first, second = seen.json, seen.json
        first["streams"][0]["rate"] = "2kpps"
        second["streams"][1]["rate"] = "3kpps"
        got = self.daemon.request("PUT", "/api/v1/config", first, If_Match=seen.headers["ETag"])
        self.assertEqual(got.status, 200, got.text)
        lost = self.daemon.request("PUT", "/api/v1/config", second, If_Match=seen.headers["ETag"])
        self.assertEqual((lost.status, lost.json["error"]["code"]), (412, "changed_meanwhile"))
        self.assertEqual(self.daemon.request("PUT", "/api/v1/config", second).status, 428)
        rates = {s["name"]: s["rate"] for s in self.daemon.get("/api/v1/config").json["streams"]}
        self.assertEqual((rates["alpha"], rates["beta"]), ("2kpps", "1kpps"))
        self.assertEqual(self.daemon.post("/api/v1/reload").status, 200)
        self.assertEqual(self.daemon.get("/api/v1/config").headers["ETag"], seen.headers["ETag"])

    def test_what_needs_a_restart_is_a_conflict_that_names_the_keys(self):
        fresh = self.daemon.get("/api/v1/config").json
        fresh["telemetry"]["interval"] = "2s"
        got = self.daemon.request("PUT", "/api/v1/config", fresh, If_Match="*")
        self.assertEqual((got.status, got.json["error"]["code"], got.json["error"]["pointer"]), (409, "needs_restart", "/telemetry/interval"))

    def test_rates_of_streams_change_by_pattern(self):
        self.daemon.post("/api/v1/start")
        got = self.daemon.request("PATCH", "/api/v1/streams/*et*", {"rate": "4kpps"})
        self.assertEqual((got.status, got.json["streams"]), (200, ["beta"]), got.text)
        targets = {s["name"]: s["target_pps"] for s in self.daemon.get("/api/v1/streams").json["streams"]}
        self.assertEqual(targets, {"alpha": 1000, "beta": 4000, "gamma": 5000})
        got = self.daemon.request("PATCH", "/api/v1/streams/beta", {"rate": "fast"})
        self.assertEqual((got.status, got.json["error"]["pointer"]), (422, "/rate"))
        self.assertRegex(got.json["error"]["message"], "^request: /rate: ")
        got = self.daemon.request("PATCH", "/api/v1/streams/*", {"rate": "fast"})
        self.assertEqual([p["pointer"] for p in got.json["error"]["problems"]], ["/rate"], got.text)
        got = self.daemon.request("PATCH", "/api/v1/streams/beta", '{"rate": "1pps", "rate": "2pps"}')
        self.assertEqual((got.status, got.json["error"]["pointer"]), (400, "/rate"), got.text)
        self.assertEqual(self.daemon.request("PATCH", "/api/v1/streams/nope", {"rate": "1pps"}).status, 404)
        self.assertEqual(self.daemon.request("PATCH", "/api/v1/streams/beta", {"colour": "red"}).status, 422)
        self.assertEqual(self.daemon.request("PATCH", "/api/v1/streams/beta", {}).status, 400)
        self.daemon.post("/api/v1/reload")

    def test_a_disabled_stream_sends_nothing_and_comes_back(self):
        self.daemon.post("/api/v1/start")
        self.assertEqual(self.daemon.request("PATCH", "/api/v1/streams/alpha", {"enabled": False}).status, 200)
        self.assertEqual(self.daemon.request("PATCH", "/api/v1/streams/alpha", {"enabled": True}).status, 200)
        self.daemon.post("/api/v1/reload")

    def test_the_log_level_changes_and_changes_are_in_the_log(self):
        self.assertEqual(self.daemon.request("PUT", "/api/v1/log-level", {"level": "debug"}).status, 200)
        self.assertEqual(self.daemon.request("PUT", "/api/v1/log-level", {"level": "loud"}).status, 422)
        self.assertRegex(self.daemon.log(), r"audit: uid \d+ pid \d+ PUT /api/v1/log-level -> 200")


if __name__ == "__main__":
    main()
