#include "config/change.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace volley::config {
namespace {

using Strings = std::vector<std::string>;
using Kind = Change::Kind;

constexpr const char* running_text = R"({
  "version": 1,
  "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2]}, "rate": "10%"},
            {"name": "west", "device": "net_null1", "tx": {"lcores": [3]}}],
  "streams": [{"name": "s", "port": "east", "packet": {"frame_size": 64, "headers": [{"eth": {}}]}}]
})";

Change changed(const Strings& sets) {
    ParseOptions options;
    options.sets = sets;
    return classify(parse(running_text, "old"), parse(running_text, "new", options));
}

TEST(Change, is_nothing_when_only_the_layout_of_the_file_differs) {
    EXPECT_EQ(changed({}).kind, Kind::nothing);
    EXPECT_EQ(changed({"/run/multiplier=1", "/telemetry/interval=1000ms", "/$schema=x"}).kind, Kind::nothing);
}

TEST(Change, is_nothing_when_ports_change_places) {
    const Model old = parse(running_text, "old");
    Model fresh = old;
    std::swap(fresh.ports[0], fresh.ports[1]);
    EXPECT_EQ(classify(old, fresh).kind, Kind::nothing);
}

TEST(Change, of_streams_rates_and_the_multiplier_is_traffic_only) {
    const Change change =
        changed({"/streams/0/packet/frame_size=128", "/ports/0/rate=20%", "/run/multiplier=2"});
    EXPECT_EQ(change.kind, Kind::traffic_only);
    EXPECT_EQ(change.live, (Strings{"/run/multiplier", "/ports/0/rate", "/streams"}));
    EXPECT_EQ(change.restart, Strings{});
}

TEST(Change, of_the_run_counts_from_the_next_run_on) {
    const Change change =
        changed({"/run/duration=5s", "/run/when_done=idle", "/run/settle_time=1s", "/run/start=manual"});
    EXPECT_EQ(change.kind, Kind::traffic_only);
    EXPECT_EQ(change.next_run,
              (Strings{"/run/start", "/run/duration", "/run/when_done", "/run/settle_time"}));
    EXPECT_EQ(change.live, Strings{});
}

TEST(Change, of_topology_needs_a_restart_and_names_every_key) {
    const Change change =
        changed({"/eal/memory_mib=64", "/lcores/dispatch=4", "/ports/1/tx/lcores/0=5", "/ports/0/mtu=9000",
                 "/telemetry/socket=null", "/name=lab", "/streams/0/rate=1pps"});
    EXPECT_EQ(change.kind, Kind::needs_restart);
    EXPECT_EQ(change.restart, (Strings{"/name", "/eal/memory_mib", "/lcores/dispatch", "/ports/0/mtu",
                                       "/ports/1/tx/lcores", "/telemetry/socket"}));
    EXPECT_EQ(change.live, (Strings{"/streams"}));
}

TEST(Change, names_ports_that_come_and_go) {
    const Change change = changed({"/ports/1/name=north"});
    EXPECT_EQ(change.kind, Kind::needs_restart);
    EXPECT_EQ(change.restart, (Strings{"/ports/1", "/ports (without \"west\")"}));
    EXPECT_EQ(changed({"/ports/1/tx=null"}).restart, (Strings{"/ports/1/tx"}));
}

}  // namespace
}  // namespace volley::config
