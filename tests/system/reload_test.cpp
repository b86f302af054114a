#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "system/volleyd.h"

namespace volley::test {
namespace {

json config_with(const std::string& rate) {
    return configuration(2, true, {port("east", "net_null0,copy=0,no-rx=1", 2)},
                         {{{"name", "flood"}, {"port", "east"}, {"rate", rate}, {"packet", raw_packet()}}});
}

/// A capture of that many frames of 1000 bytes, a microsecond apart.
void write_capture(const std::string& file, std::uint32_t frames) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    const auto word = [&](std::uint32_t value) {
        out.write(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (const std::uint32_t value : {0xa1b23c4dU, 0x00040002U, 0U, 0U, 65535U, 1U}) word(value);
    const std::string frame(1000, 'x');
    for (std::uint32_t i = 0; i < frames; ++i) {
        for (const std::uint32_t value : {7U, i * 1'000U, 1000U, 1000U}) word(value);
        out << frame;
    }
}

json capture_config(const std::string& file) {
    json packet = {{"pcap", {{"file", file}, {"timing", "recorded"}, {"memory_mib", 1}, {"loop", 0}}}};
    return configuration(1, false, {port("east", "net_null0,copy=0,no-rx=1")},
                         {{{"name", "flood"}, {"port", "east"}, {"packet", std::move(packet)}}});
}

class Reload : public testing::Test {
  protected:
    void start() { start(config_with("50kpps")); }
    void start(const json& config) {
        volleyd_ = std::make_unique<Volleyd>(config);
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

TEST_F(Reload, of_the_same_file_takes_a_capture_that_was_put_in_place_of_another) {
    const TempDir dir;
    const std::string file = dir.file("capture.pcap");
    write_capture(file, 100);
    start(capture_config(file));
    reload(capture_config(file));
    ASSERT_TRUE(volleyd_->process().wait_for_err("nothing has changed")) << volleyd_->process().err();
    write_capture(dir.file("other"), 101);
    std::filesystem::rename(dir.file("other"), file);
    reload(capture_config(file));
    ASSERT_TRUE(wait_for_generation(2)) << volleyd_->process().err();
    EXPECT_EQ(end().at("generation"), 2);
}

// Both signals are there before the file is read; the lower number is taken first.
TEST_F(Reload, that_looks_through_a_large_capture_is_given_up_for_a_stop) {
    const TempDir dir;
    write_capture(dir.file("small.pcap"), 100);
    write_capture(dir.file("large.pcap"), 20'000);  // 20 MB
    start(capture_config(dir.file("small.pcap")));
    reload(capture_config(dir.file("large.pcap")));
    const json report = end();
    EXPECT_EQ(report.at("generation"), 1);
    EXPECT_NE(volleyd_->process().err().find("a stop came before"), std::string::npos)
        << volleyd_->process().err();
    expect_consistent(report);
}

}  // namespace
}  // namespace volley::test
