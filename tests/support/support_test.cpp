#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "support/json_lines.h"
#include "support/net_namespace.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "support/tshark.h"

namespace volley::test {
namespace {

TEST(Process, yields_both_streams_and_the_exit_code) {
    const Result result = run({"sh", "-c", "echo out; echo err >&2; exit 7"});
    EXPECT_EQ(result.status, 7);
    EXPECT_EQ(result.out, "out\n");
    EXPECT_EQ(result.err, "err\n");
}

TEST(Process, is_seen_writing_while_it_runs_and_ends_by_signal) {
    Process process({"sh", "-c", "echo ready; exec sleep 600"});
    ASSERT_TRUE(process.wait_for_out("ready"));
    EXPECT_FALSE(process.wait(Seconds{0}));
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(), 128 + SIGTERM);
}

TEST(Process, that_ends_silently_is_not_waited_for_until_the_deadline) {
    Process process({"true"});
    EXPECT_FALSE(process.wait_for_out("never"));
    EXPECT_EQ(process.wait(), 0);
}

TEST(Process, is_gone_when_its_object_is) {
    pid_t pid = 0;
    {
        Process process({"sleep", "600"});
        pid = process.pid();
    }
    EXPECT_FALSE(std::filesystem::exists("/proc/" + std::to_string(pid)));
}

TEST(Process, gets_the_environment_it_is_given) {
    EXPECT_EQ(run({"sh", "-c", "echo $VOLLEY_TEST"}, {"VOLLEY_TEST=1", "VOLLEY_TEST=2"}).out, "2\n");
}

TEST(TempDir, leaves_nothing_behind) {
    std::filesystem::path path;
    {
        const TempDir dir;
        path = dir.path();
        EXPECT_EQ(read_file(dir.write("a", "text")), "text");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(JsonLines, refuse_what_some_parsers_let_pass) {
    EXPECT_EQ(parse_json_lines("{\"a\": {\"a\": 1}, \"b\": 18446744073709551615}\n[]\n").size(), 2U);
    for (const char* bad :
         {"{\"a\": 1, \"a\": 2}\n", "{\"a\": NaN}\n", "[Infinity]\n", "[1e999]\n", "{}", "{} {}\n", "\n"}) {
        EXPECT_THROW(parse_json_lines(bad), std::runtime_error) << bad;
    }
}

TEST(NetNamespace, joins_two_ends_that_carry_nothing_of_their_own) {
    if (const std::string why = NetNamespace::unavailable(); !why.empty()) GTEST_SKIP() << why;
    const NetNamespace near;
    const NetNamespace far;
    connect(near, "near", far, "far", 9216);
    EXPECT_NE(run(near.inside({"ip", "link", "show", "dev", "near"})).out.find("state UP"),
              std::string::npos);
    EXPECT_NE(run(far.inside({"ip", "link", "show", "dev", "far"})).out.find("mtu 9216"), std::string::npos);
    EXPECT_EQ(counters(far, "far").rx_packets, 0U);
}

TEST(Tshark, tells_a_good_checksum_from_a_bad_one) {
    if (const std::string why = tshark_unavailable(); !why.empty()) GTEST_SKIP() << why;
    const TempDir dir;
    // A frame of an Ethernet and an IPv4 header, as text2pcap reads it.
    const std::string good =
        "0000 02 00 00 00 00 02 02 00 00 00 00 01 08 00 45 00 00 14 00 00 00 00 40 fd 65 eb 0a 00 00 01 0a "
        "01 00 01\n";
    std::string bad = good;
    bad.replace(bad.find("65 eb"), 5, "65 ea");
    const std::string text = dir.write("frames", good + bad);
    const std::string capture = dir.file("frames.pcap");
    ASSERT_EQ(run({"text2pcap", "-q", text, capture}).status, 0);
    const auto rows = tshark(capture, {"ip.dst", "ip.checksum.status", "udp.port"});
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0], (std::vector<std::string>{"10.1.0.1", "1", ""}));
    EXPECT_EQ(rows[1], (std::vector<std::string>{"10.1.0.1", "0", ""}));
}

}  // namespace
}  // namespace volley::test
