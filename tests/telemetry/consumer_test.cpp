#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/log_buckets.h"
#include "telemetry/descriptor_sink.h"
#include "telemetry/example.h"
#include "telemetry/render.h"
#include "telemetry/report.h"
#include "telemetry/sink_fixture.h"

namespace volley::telemetry {
namespace {

using example::totals;
constexpr std::uint64_t top = std::numeric_limits<std::uint64_t>::max();

Totals full() {
    Totals out = totals(3, 3000);
    out.warnings = {"first", "second"};
    out.ports[0].rx = PortRx{1, 2, 3, 4, 5, 6, 7};
    out.ports[0].xstats = {{"out_of_buffer", 3}};
    out.queues[0].limiter = LimiterTotals{100'400'000, 100'000'000, -3984.0637};
    out.streams[0].due_packets = 3001;
    out.streams[0].lateness.assign(LatenessBuckets::size, 1);
    StreamRxTotals rx;
    rx.workers = 1;
    rx.packets = 2990;
    rx.bytes = 2990 * 60;
    rx.expected = 3000;
    rx.outages = 1;
    rx.outage_longest_ns = rx.outage_last_ns = 1'000;
    rx.transits = 2989;
    rx.jitter_16ths_ns = 40;
    rx.latency.assign(LatencyBuckets::size, 3);
    rx.arrival.assign(ArrivalBuckets::size, 3);
    out.streams[0].rx = rx;
    return out;
}

// What users, scripts and the public reports of other generators met: nothing sent, no time, one packet, no
// link, the largest numbers, names of any bytes, and a run that is over.
std::vector<std::string> every_kind_of_line() {
    const Totals zero = totals(0, 0);
    Totals down = totals(1, 0);
    down.ports[0].link = {false, 0, "no carrier for 5 s", 0};
    Totals huge = totals(1, 0);
    huge.ports[0].tx = PortTx{top, top, top, top, true};
    huge.ports[0].rx = PortRx{top, top, top, top, top, top, top};
    huge.ports[0].xstats = {{"twice", top}, {"twice", top}};
    huge.queues[0] = {"east", 0, 3, top, top, top, top};
    huge.workers[0].tx = TxCount{top, top};
    huge.workers[0].busy_cycles = huge.workers[0].total_cycles = top;
    huge.streams[0].rx = StreamRxTotals{1,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        top,
                                        std::vector<std::uint64_t>(LatencyBuckets::size, top),
                                        std::vector<std::uint64_t>(ArrivalBuckets::size, top)};
    huge.streams[0].tx = {top, top};
    huge.streams[0].due_packets = 1;
    huge.streams[0].target_pps = Rational{top, 1};
    huge.streams[0].lateness.assign(LatenessBuckets::size, top);
    Totals names = totals(1, 1);
    names.run_id = "\xff\xfe\"quoted\"";
    names.streams[0].name = std::string("nul\0 tab\t \xc3\x28 \xe2\x80\xa8", 16);
    std::vector<std::string> out;
    for (const Totals& now : {Totals{}, zero, totals(1, 1), down, huge, names, full()}) {
        out.push_back(render_json(make_snapshot(zero, zero, now, 256)));
        out.push_back(render_json(make_snapshot(zero, now, now, 0)));
        out.push_back(render_json(make_report(zero, now, {}, true)));
        out.push_back(render_json(make_report(now, now, {}, false)));
    }
    return out;
}

bool have(const std::string& program) {
    return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

class Consumer : public testing::Folder {
  protected:
    // The lines go through the sink into the program's stdin, as behind volleyd in a shell.
    int pipe_into(const std::string& command) {
        FILE* program = ::popen(command.c_str(), "w");
        if (program == nullptr) return -1;
        feed(::fileno(program));
        return ::pclose(program);
    }

  private:
    // The sink is gone at the end, and with it its own end of the pipe: the program sees the end of its
    // input.
    static void feed(int fd) {
        DescriptorSink sink("stdout", fd, DescriptorSink::Content::json);
        for (const std::string& text : every_kind_of_line()) {
            auto published = std::make_shared<Published>();
            published->line = text;
            sink.offer(published);
            while (sink.pending()) {
                pollfd woken{sink.poll_fd(), POLLIN, 0};
                if (::poll(&woken, 1, 30'000) != 1) break;
                sink.ready();
            }
        }
        EXPECT_EQ(sink.dropped_lines(), 0U);
    }
};

TEST_F(Consumer, jq_reads_every_line) {
    if (!have("jq")) GTEST_SKIP() << "jq is not installed";
    ASSERT_EQ(pipe_into("jq -c .type > " + path("types")), 0);
    const std::string types = testing::contents(path("types"));
    EXPECT_EQ(static_cast<std::size_t>(std::count(types.begin(), types.end(), '\n')),
              every_kind_of_line().size());
    EXPECT_EQ(types.substr(0, 44), "\"snapshot\"\n\"snapshot\"\n\"report\"\n\"report\"\n\"sna");
}

// B69: Python's json takes NaN and duplicate keys unless it is told not to.
TEST_F(Consumer, python_finds_no_nan_and_no_key_twice) {
    if (!have("python3")) GTEST_SKIP() << "python3 is not installed";
    {
        std::ofstream(path("strict.py")) << R"(import json, sys
def constant(name):
    raise ValueError("constant " + name)
def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("a key stands twice in %r" % keys)
    return dict(pairs)
for line in sys.stdin.buffer:
    json.loads(line.decode("utf-8", "strict"), parse_constant=constant, object_pairs_hook=unique)
)";
    }
    EXPECT_EQ(pipe_into("python3 " + path("strict.py")), 0);
}

// ports[].tx.packets and so on; names that configuration or device give are written as in the page.
void collect_paths(const nlohmann::ordered_json& json, const std::string& at, std::set<std::string>& out) {
    if (json.is_object() && (at.ends_with("xstats") || at == "publishers")) {
        for (const auto& value : json)
            collect_paths(value, at + (at == "publishers" ? ".SINK" : ".NAME"), out);
    } else if (json.is_object()) {
        for (const auto& [key, value] : json.items()) {
            std::string path = at.empty() ? "" : at + ".";
            collect_paths(value, path += key, out);
        }
    } else if (json.is_array()) {
        for (const auto& value : json) collect_paths(value, at + "[]", out);
    } else {
        out.insert(at);
    }
}

// The first cell of each table row that names a member: "| `path` | ...".
std::set<std::string> documented(const std::string& page) {
    std::set<std::string> out;
    std::istringstream lines(page);
    for (std::string text; std::getline(lines, text) && text != "## Metrics";) {
        if (text.rfind("| `", 0) == 0) out.insert(text.substr(3, text.find('`', 3) - 3));
    }
    return out;
}

TEST(TelemetryPage, documents_every_member_of_a_line_and_no_other) {
    const Totals zero = totals(0, 0);
    std::set<std::string> rendered;
    for (Snapshot line : {make_snapshot(zero, zero, full(), 256), make_report(zero, full(), {}, true)}) {
        line.publishers = {{"stdout", 0}};
        collect_paths(nlohmann::ordered_json::parse(render_json(line)), "", rendered);
    }
    const std::set<std::string> page = documented(testing::contents(VOLLEY_SOURCE_ROOT "/docs/telemetry.md"));
    for (const std::string& path : rendered)
        EXPECT_TRUE(page.contains(path)) << path << " is not in docs/telemetry.md";
    for (const std::string& path : page) EXPECT_TRUE(rendered.contains(path)) << path << " is in no line";
}

}  // namespace
}  // namespace volley::telemetry
