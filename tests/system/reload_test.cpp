#include <gtest/gtest.h>

#include <csignal>

#include "system/volleyd.h"

namespace volley::test {
namespace {

json config_with(const std::string& rate) {
    return configuration(2, true, {port("east", "net_null0,copy=0,no-rx=1", 2)},
                         {{{"name", "flood"}, {"port", "east"}, {"rate", rate}, {"packet", raw_packet()}}});
}

class Reload : public testing::Test {
  protected:
    void start() {
        volleyd_ = std::make_unique<Volleyd>(config_with("50kpps"));
        ASSERT_TRUE(volleyd_->wait_for_line([](const json& line) {
            return sum(line.at("streams"), "/tx/packets") > 0;
        })) << volleyd_->process().err();
    }
    void reload(const json& config) {
        volleyd_->rewrite(config);
        volleyd_->process().signal(SIGHUP);
    }
    bool wait_for_generation(std::uint64_t generation) {
        return volleyd_->wait_for_line([&](const json& line) { return line.at("generation") == generation; })
            .has_value();
    }
    bool wait_for_warning(const std::string& text) {
        return volleyd_
            ->wait_for_line(
                [&](const json& line) { return line.at("warnings").dump().find(text) != std::string::npos; })
            .has_value();
    }
    json end() {
        volleyd_->process().signal(SIGTERM);
        EXPECT_EQ(volleyd_->wait(), 0) << volleyd_->process().err();
        return volleyd_->report();
    }
    std::unique_ptr<Volleyd> volleyd_;
};

TEST_F(Reload, changes_rates_adds_and_removes_streams_and_keeps_every_count) {
    start();
    json config = config_with("80kpps");
    config["streams"].push_back(
        {{"name", "more"}, {"port", "east"}, {"rate", "10kpps"}, {"count", 500}, {"packet", raw_packet()}});
    reload(config);
    ASSERT_TRUE(wait_for_generation(2)) << volleyd_->process().err();
    ASSERT_TRUE(volleyd_->wait_for_line([](const json& line) {
        return line.at("generation") == 2 && named(line.at("streams"), "more").at("tx").at("packets") == 500;
    }));
    config["streams"].erase(1);
    reload(config);
    ASSERT_TRUE(wait_for_generation(3)) << volleyd_->process().err();
    const json report = end();
    expect_consistent(report);
    EXPECT_EQ(named(report.at("streams"), "more").at("tx").at("packets"), 500);
    EXPECT_EQ(named(report.at("streams"), "flood").at("target_pps"), 80'000);
    EXPECT_EQ(report.at("generation"), 3);
}

TEST_F(Reload, of_a_bad_file_changes_nothing_and_says_what_is_wrong_with_it) {
    start();
    json config = config_with("80kpps");
    config["streams"][0]["ratte"] = "1pps";
    config["streams"][0]["rate"] = "80kPPS";
    reload(config);
    ASSERT_TRUE(volleyd_->process().wait_for_err("/streams/0/rate: ")) << volleyd_->process().err();
    ASSERT_TRUE(volleyd_->process().wait_for_err("/streams/0/ratte: ")) << volleyd_->process().err();
    EXPECT_TRUE(wait_for_warning("reload"));
    volleyd_->dir().write("volley.json", "{");
    volleyd_->process().signal(SIGHUP);
    ASSERT_TRUE(volleyd_->process().wait_for_err("volley.json:1:")) << volleyd_->process().err();
    const json report = end();
    expect_consistent(report);
    EXPECT_EQ(report.at("generation"), 1);
    EXPECT_EQ(named(report.at("streams"), "flood").at("target_pps"), 50'000);
}

TEST_F(Reload, of_topology_is_refused_with_the_keys_named_and_a_good_one_clears_the_warning) {
    start();
    json config = config_with("80kpps");
    config["ports"][0]["tx"]["descriptors"] = 512;
    config["eal"]["memory_mib"] = 256;
    reload(config);
    ASSERT_TRUE(wait_for_warning("/ports/0/tx/descriptors")) << volleyd_->process().err();
    ASSERT_TRUE(wait_for_warning("/eal/memory_mib")) << volleyd_->process().err();
    reload(config_with("80kpps"));
    ASSERT_TRUE(wait_for_generation(2)) << volleyd_->process().err();
    EXPECT_TRUE(volleyd_->wait_for_line(
        [](const json& line) { return line.at("generation") == 2 && line.at("warnings").empty(); }));
    expect_consistent(end());
}

TEST_F(Reload, of_the_same_file_is_no_new_generation) {
    start();
    reload(config_with("50kpps"));
    ASSERT_TRUE(volleyd_->process().wait_for_err("nothing has changed")) << volleyd_->process().err();
    EXPECT_EQ(end().at("generation"), 1);
}

}  // namespace
}  // namespace volley::test
