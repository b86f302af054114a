#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <sstream>

#include "system/volleyd.h"

namespace volley::test {
namespace {

// volleyd at one end of a cable, the kernel at the other: it answers, and takes only what is for its address.
class Resolving : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = NetNamespace::unavailable(); !why.empty()) GTEST_SKIP() << why;
        near_ = std::make_unique<NetNamespace>();
        far_ = std::make_unique<NetNamespace>();
        connect(*near_, "near", *far_, "far");
        options_.where = near_.get();
    }
    void far(std::vector<std::string> command) const {
        const Result result = run(far_->inside(std::move(command)));
        ASSERT_EQ(result.status, 0) << result.out << result.err;
    }
    void give_addresses(const std::string& link) const {
        std::string key = link;
        std::replace(key.begin(), key.end(), '.', '/');
        far({"ip", "addr", "add", "10.9.0.2/24", "dev", link});
        far({"sysctl", "-qw", "net.ipv6.conf." + key + ".disable_ipv6=0"});
        far({"ip", "addr", "add", "fd09::2/64", "dev", link, "nodad"});
    }
    /// UDP datagrams for ports that nobody has: the kernel took them as its own.
    [[nodiscard]] std::uint64_t taken(const std::string& file, const std::string& row) const {
        std::istringstream lines(run(far_->inside({"cat", "/proc/net/" + file})).out);
        std::string line;
        std::uint64_t out = 0;
        while (std::getline(lines, line)) {
            std::istringstream words(line);
            std::string name;
            std::uint64_t first = 0;
            std::uint64_t second = 0;
            if (words >> name >> first && name == row) out = words >> second ? second : first;
        }
        return out;
    }
    static json east(bool tagged) {
        json out = port("east", "net_af_packet0,iface=near");
        out["rx"] = {{"lcores", out["tx"]["lcores"]}};
        out["addresses"] = {"10.8.0.1/24", "10.9.0.1/24", "fd09::1/64"};
        out["gateway"] = "10.9.0.2";
        out["mac"] = "02:00:00:00:09:01";
        if (tagged) out["vlan"] = 100;
        return out;
    }
    static json stream(const std::string& name, const json& ip, bool tagged) {
        json headers = json::array({{{"eth", {{"dst", "resolve"}}}}});
        if (tagged) headers.push_back({{"vlan", {{"id", 100}}}});
        headers.push_back(ip);
        headers.push_back({{"udp", json::object()}});
        return {{"name", name},
                {"port", "east"},
                {"rate", "2kpps"},
                {"count", 40},
                {"packet", {{"frame_size", 128}, {"headers", headers}}}};
    }
    static std::vector<json> streams(bool tagged) {
        const json to_many{{"increment", {{"from", "10.77.0.1"}, {"to", "10.77.0.9"}}}};
        return {stream("direct", {{"ipv4", {{"src", "10.9.0.1"}, {"dst", "10.9.0.2"}}}}, tagged),
                stream("routed", {{"ipv4", {{"src", "10.9.0.1"}, {"dst", to_many}}}}, tagged),
                stream("six", {{"ipv6", {{"src", "fd09::1"}, {"dst", "fd09::2"}}}}, tagged)};
    }

    std::unique_ptr<NetNamespace> near_;
    std::unique_ptr<NetNamespace> far_;
    Volleyd::Options options_;
};

class Tagged : public Resolving, public testing::WithParamInterface<bool> {};

TEST_P(Tagged, port_sends_to_the_addresses_that_the_neighbours_answered_with) {
    const bool tagged = GetParam();
    const std::string link = tagged ? "far.100" : "far";
    if (tagged) {
        const Result made = run(
            far_->inside({"ip", "link", "add", "link", "far", "name", link, "type", "vlan", "id", "100"}));
        if (made.status != 0) GTEST_SKIP() << "this kernel has no VLAN links: " << made.err;
        far({"ip", "link", "set", link, "up"});
    }
    give_addresses(link);
    // Packets of "routed" are for it by their MAC address, and on this host by their IP address too.
    far({"ip", "addr", "add", "10.77.0.1/24", "dev", "lo"});
    far({"ip", "route", "add", "local", "10.77.0.0/24", "dev", "lo"});
    Volleyd volleyd(configuration(1, false, {east(tagged)}, streams(tagged)), options_);
    EXPECT_EQ(volleyd.wait(), 0) << volleyd.process().err();
    const json report = volleyd.report();
    for (const char* name : {"direct", "routed", "six"})
        EXPECT_EQ(named(report.at("streams"), name).at("tx").at("packets"), 40) << name;
    EXPECT_EQ(taken("snmp6", "Udp6NoPorts"), 40U);
    EXPECT_EQ(taken("snmp", "Udp:"), 80U);
}

INSTANTIATE_TEST_SUITE_P(UntaggedAndTagged, Tagged, testing::Bool(),
                         [](const auto& param_info) { return param_info.param ? "tagged" : "untagged"; });

// A net_ring is its own far side: who asks for its own address gets the answer from itself.
TEST(Resolve, asks_and_answers_behind_the_tag_of_the_port) {
    json east = port("east", "net_ring0");
    east["rx"] = {{"lcores", east["tx"]["lcores"]}};
    east["addresses"] = {"10.9.0.1/24", "fd09::1/64"};
    east["mac"] = "02:00:00:00:09:01";
    east["vlan"] = 100;
    const auto to = [](const json& ip) {
        return json{{"name", "to-" + ip.begin().key()},
                    {"port", "east"},
                    {"rate", "2kpps"},
                    {"count", 20},
                    {"verify", "all"},
                    {"packet",
                     {{"frame_size", 128},
                      {"headers", json::array({{{"eth", {{"dst", "resolve"}}}},
                                               {{"vlan", {{"id", 100}}}},
                                               ip,
                                               {{"udp", json::object()}}})}}}};
    };
    Volleyd volleyd(configuration(
        1, false, {east}, {to({{"ipv4", {{"dst", "10.9.0.1"}}}}), to({{"ipv6", {{"dst", "fd09::1"}}}})}));
    EXPECT_EQ(volleyd.wait(), 0) << volleyd.process().err();
    for (const char* hop : {"10.9.0.1", "fd09::1"}) {
        const std::string told = "next hop " + std::string(hop) + " on port east is 02:00:00:00:09:01";
        EXPECT_NE(volleyd.process().err().find(told), std::string::npos) << volleyd.process().err();
    }
    const json report = volleyd.report();
    for (const char* name : {"to-ipv4", "to-ipv6"})
        EXPECT_EQ(named(report.at("streams"), name).at("rx").at("verified"), 20) << name;
}

// Nobody has the address, so without what ends it the reload would take its hour.
class ResolveOfAReload : public testing::Test {
  protected:
    /// Has the running daemon reload and wait.
    void begin(const std::optional<std::string>& duration) {
        json east = port("east", "net_ring0");
        east["rx"] = {{"lcores", east["tx"]["lcores"]}};
        east["addresses"] = {"10.9.0.1/24"};
        json config = configuration(1, false, {east}, {});
        config["run"]["resolve_timeout"] = "1h";
        config["service"] = {{"unix", "auto"}};
        if (duration) config["run"]["duration"] = *duration;
        volleyd_.emplace(config);
        ASSERT_TRUE(volleyd_->wait_for_state("running")) << err();
        config["streams"] = {{{"name", "lost"},
                              {"port", "east"},
                              {"rate", "2kpps"},
                              {"packet",
                               {{"frame_size", 128},
                                {"headers", json::array({{{"eth", {{"dst", "resolve"}}}},
                                                         {{"ipv4", {{"dst", "10.9.0.2"}}}}})}}}}};
        volleyd_->rewrite(config);
        volleyd_->process().signal(SIGHUP);
        ASSERT_TRUE(volleyd_->process().wait_for_err("running -> reloading")) << err();
    }
    void expect_end(const std::string& why) {
        EXPECT_EQ(volleyd_->wait(), 0) << err();
        EXPECT_NE(err().find("refused: " + why + " before its next hops were known"), std::string::npos)
            << err();
    }
    std::string err() { return volleyd_->process().err(); }

    std::optional<Volleyd> volleyd_;
};

TEST_F(ResolveOfAReload, ends_with_a_signal_to_stop_and_refuses_the_reload) {
    begin({});
    volleyd_->process().signal(SIGTERM);
    expect_end("a stop came");
}

TEST_F(ResolveOfAReload, ends_with_volleyctl_stop_and_refuses_the_reload) {
    begin({});
    const Result stop =
        run({volleyctl_path(), "--socket", volleyd_->dir().file("test.control.sock"), "stop"});
    EXPECT_EQ(stop.status, 0) << stop.err;
    volleyd_->process().signal(SIGTERM);
    expect_end("a stop came");
}

TEST_F(ResolveOfAReload, ends_with_the_run_and_refuses_the_reload) {
    begin("3s");
    expect_end("the run ended");
    EXPECT_EQ(named(volleyd_->report().at("ports"), "east").at("rx").at("answered"), 0)
        << "a question is no answer";
}

TEST_F(Resolving, without_an_answer_ends_with_who_did_not_answer_on_which_port) {
    json config = configuration(1, false, {east(false)}, streams(false));
    config["run"]["resolve_timeout"] = "300ms";
    Volleyd volleyd(config, options_);
    EXPECT_EQ(volleyd.wait(), 69);
    const std::string told = volleyd.process().err();
    EXPECT_NE(told.find("resolving 10.9.0.2 on port east (stream direct), fd09::2 on port east (stream six)"),
              std::string::npos)
        << told;
    EXPECT_NE(told.find("no answer in 300ms"), std::string::npos) << told;
    EXPECT_TRUE(volleyd.lines().empty() || volleyd.lines().back().at("type") == "snapshot");
}

TEST_F(Resolving, before_a_run_that_is_asked_for_is_refused_without_an_answer_and_succeeds_with_one) {
    json config = configuration(1, false, {east(false)}, streams(false));
    config["run"] = {
        {"start", "manual"}, {"when_done", "idle"}, {"settle_time", "0ms"}, {"resolve_timeout", "3s"}};
    config["service"] = {{"unix", "auto"}};
    Volleyd volleyd(config, options_);
    ASSERT_TRUE(volleyd.wait_for_state("idle")) << volleyd.process().err();
    const std::string socket = volleyd.dir().file("test.control.sock");
    const auto ctl = [&](std::vector<std::string> verb) {
        verb.insert(verb.begin(), {volleyctl_path(), "--socket", socket});
        return run(verb);
    };
    const Result refused = ctl({"start"});
    EXPECT_NE(refused.status, 0);
    EXPECT_NE(refused.err.find("10.9.0.2 on port east"), std::string::npos) << refused.err;
    give_addresses("far");
    const Result done = ctl({"run"});
    EXPECT_EQ(done.status, 0) << done.out << done.err;
    EXPECT_EQ(taken("snmp6", "Udp6NoPorts"), 40U);
    // The neighbour changes its card: the next run asks anew.
    far({"ip", "link", "set", "far", "address", "02:00:00:00:09:77"});
    const Result again = ctl({"run"});
    EXPECT_EQ(again.status, 0) << again.out << again.err;
    EXPECT_EQ(taken("snmp6", "Udp6NoPorts"), 80U);
}

}  // namespace
}  // namespace volley::test
