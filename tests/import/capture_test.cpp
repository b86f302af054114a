#include "import/capture.h"

#include <gtest/gtest.h>

#include <map>

#include "import/capture_file.h"

namespace volley::imports {
namespace {

std::string refusal(const std::string& text, const CaptureOptions& options = {}) {
    const TestFile file(text);
    try {
        read_capture(file.path(), options);
    } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_TRUE(what.starts_with(file.path())) << what;
        return what.substr(std::min(file.path().size(), what.size()));
    }
    ADD_FAILURE() << "accepted";
    return {};
}

TEST(Capture, holds_the_frames_of_every_kind_of_pcap_with_their_times) {
    for (const bool big_endian : {false, true}) {
        for (const bool nano : {false, true}) {
            PcapText text(nano ? 0xa1b23c4d : 0xa1b2c3d4, 1, big_endian);
            const TestFile file(text.packet(7, 5, Bytes(60, 1))
                                    .packet(7, 999'999, Bytes(61, 2))
                                    .packet(1, 0, Bytes(1, 3))
                                    .text());
            const Capture capture = read_capture(file.path());
            ASSERT_EQ(capture.frames.size(), 3U);
            const std::uint64_t unit = nano ? 1 : 1000;
            EXPECT_EQ(capture.frames[0].time_ns, 7'000'000'000 + 5 * unit);
            EXPECT_EQ(capture.frames[1].time_ns, 7'000'000'000 + 999'999 * unit);
            EXPECT_EQ(capture.frames[2].time_ns, 1'000'000'000U) << "time may run backwards";
            EXPECT_EQ(capture.frame(1).size(), 61U);
            EXPECT_EQ(capture.frame(2)[0], 3);
        }
    }
}

TEST(Capture, refuses_what_it_cannot_send_with_place_and_reason) {
    EXPECT_EQ(refusal(""), ": at byte 0: the file is empty");
    EXPECT_NE(refusal("\x1f\x8b\x08").find("gunzip"), std::string::npos);
    EXPECT_NE(refusal("not a capture, but a text of some length").find("at byte 0: "), std::string::npos);
    EXPECT_NE(refusal(PcapText().text().substr(0, 10)).find("at byte 0: truncated"), std::string::npos);
    EXPECT_NE(refusal(PcapText(0xa1b2c3d4, 113).text()).find("at byte 20: the link type is LINUX_SLL"),
              std::string::npos);
    PcapText whole;
    whole.packet(1, 0, Bytes(60, 1)).packet(1, 0, Bytes(60, 1));
    EXPECT_NE(refusal(whole.text().substr(0, 24 + 76 + 5)).find("at byte 100, packet 2: truncated"),
              std::string::npos);
    EXPECT_NE(refusal(whole.text().substr(0, 24 + 76 + 20)).find("at byte 100, packet 2: truncated"),
              std::string::npos);
    EXPECT_NE(refusal(PcapText().packet(1, 0, Bytes(10, 1), 9).text()).find("packet 1: holds 10 bytes"),
              std::string::npos);
    EXPECT_NE(refusal(PcapText().packet(1, 0, {}).text()).find("packet 1: holds no byte"), std::string::npos);
    CaptureOptions small;
    small.most_bytes = 100;
    EXPECT_NE(refusal(whole.text(), small).find("packet 2: the frames up to here take more than"),
              std::string::npos);
    EXPECT_THROW(read_capture("/nonexistent.pcap"), Error);
    EXPECT_THROW(read_capture("/"), Error);
}

TEST(Capture, never_sends_a_frame_short_in_silence) {
    const std::string cut = PcapText().packet(1, 0, Bytes(64, 1), 93).packet(1, 0, Bytes(60, 1)).text();
    EXPECT_NE(refusal(cut).find("at byte 24, packet 1: holds only 64 of the frame's 93 bytes"),
              std::string::npos);
    const TestFile file(cut);
    const Capture capture = read_capture(file.path(), {true});
    EXPECT_EQ(capture.padded, 1U);
    EXPECT_EQ(capture.frame(0).size(), 93U);
    EXPECT_EQ(capture.frame(0)[63], 1);
    EXPECT_EQ(capture.frame(0)[64], 0);
}

TEST(Capture, takes_off_the_fcs_that_the_file_says_it_holds) {
    const TestFile file(PcapText(0xa1b2c3d4, 2U << 28U | 1U << 26U | 1U).packet(1, 0, Bytes(64, 1)).text());
    EXPECT_EQ(read_capture(file.path()).frame(0).size(), 60U);
}

/// What capinfos -c says, or 0 for a file that is refused.
TEST(Capture, of_the_corpus_loads_every_file_whole_or_refuses_it) {
    const char* corpus = std::getenv("VOLLEY_CORPUS");
    if (corpus == nullptr) GTEST_SKIP() << "VOLLEY_CORPUS names no folder";
    const std::map<std::string, std::size_t> counts{{"802.1ad_QinQ.pcap", 2},
                                                    {"bigtcp-ipv4-vxlan-ipv6.pcap", 1},
                                                    {"bigtcp-ipv6.pcap", 1},
                                                    {"derived_bigendian.pcap", 179},
                                                    {"derived_fcs_flag.pcap", 2},
                                                    {"derived_header_only.pcap", 0},
                                                    {"derived_max_frame_9600.pcap", 2},
                                                    {"derived_one_byte_frame.pcap", 5},
                                                    {"derived_time_backwards.pcap", 5},
                                                    {"dns.pcap", 2},
                                                    {"dns_tcp.pcap", 11},
                                                    {"huge-tipc-messages.pcap", 13},
                                                    {"ipv4_udp_9k.pcap", 1},
                                                    {"isup.pcap", 6},
                                                    {"jumbo.pcap", 22},
                                                    {"pktgendpdk_gtpv1-u-1024.pcap", 1024},
                                                    {"pptp.pcap", 23},
                                                    {"slow-ossp.pcap", 1},
                                                    {"syn_packet.pcap", 1},
                                                    {"tcpreplay_fragroute.pcap", 20},
                                                    {"tcpreplay_test.pcap", 179},
                                                    {"udp_1518B_no_crc.pcap", 1},
                                                    {"udp_64B_no_crc.pcap", 1},
                                                    {"vxlan.pcap", 10}};
    std::size_t loaded = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(corpus) / "pcap")) {
        const std::string name = entry.path().filename();
        const auto expected = counts.find(name);
        try {
            const Capture capture = read_capture(entry.path());
            ++loaded;
            ASSERT_NE(expected, counts.end()) << name << " should be refused";
            EXPECT_EQ(capture.frames.size(), expected->second) << name;
        } catch (const Error& error) {
            EXPECT_EQ(expected, counts.end()) << error.what();
            EXPECT_NE(std::string(error.what()).find(": at byte "), std::string::npos) << error.what();
        }
    }
    EXPECT_EQ(loaded, counts.size());
}

}  // namespace
}  // namespace volley::imports
