#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "import/capture.h"
#include "import/capture_file.h"
#include "import/trafgen.h"
#include "packet/template.h"

namespace volley::imports {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<const packet::PacketTemplate> built(const TrafgenPacket& packet) {
    auto result = packet::build(packet.model);
    if (auto* problems = std::get_if<1>(&result)) throw Error(problems->front().text);
    return std::move(std::get<0>(result));
}

bool draws(const TrafgenPacket& packet) {
    for (const auto& program : packet.model.headers.front().programs) {
        if (program.program.kind == packet::Program::Kind::random) return true;
    }
    return false;
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Which bytes of a packet are drawn, or a checksum of what is.
std::vector<bool> loose_bytes(const TrafgenPacket& packet, bool rnd) {
    const auto& header = packet.model.headers.front();
    std::vector<bool> loose(header.raw.size());
    const auto set = [&](std::size_t at, std::size_t count) {
        for (std::size_t i = at; i < std::min(at + count, loose.size()); ++i) loose[i] = true;
    };
    for (const auto& program : header.programs) {
        if (program.program.kind == packet::Program::Kind::random) set(program.offset, program.width);
    }
    if (draws(packet) || rnd) {
        for (const auto& sum : header.checksums) set(sum.offset, 2);
    }
    return loose;
}

std::uint64_t slow_sum(const Bytes& bytes, std::size_t begin, std::size_t end) {
    std::uint64_t sum = 0;
    for (std::size_t at = begin; at < end; at += 2)
        sum += bytes[at] * 256U + (at + 1 < end ? bytes[at + 1] : 0U);
    return sum;
}

/// Every checksum that the file asks for, computed again from the bytes that are sent (RFC 1071).
void check_sums(const TrafgenPacket& packet, const Bytes& sent) {
    using Pseudo = packet::RawChecksum::Pseudo;
    for (const auto& sum : packet.model.headers.front().checksums) {
        const std::size_t end = sum.to.value_or(static_cast<std::uint16_t>(sent.size()));
        const bool within = sum.offset >= sum.from && sum.offset < end;
        std::uint64_t total = slow_sum(sent, sum.from, end);
        if (!within) total += slow_sum(sent, sum.offset, sum.offset + 2U);
        if (sum.pseudo == Pseudo::ipv4) total += slow_sum(sent, sum.ip + 12U, sum.ip + 20U);
        if (sum.pseudo == Pseudo::ipv6) total += slow_sum(sent, sum.ip + 8U, sum.ip + 40U);
        if (sum.pseudo != Pseudo::none) total += sum.protocol + (end - sum.from);
        while (total >> 16U != 0) total = (total & 0xffffU) + (total >> 16U);
        EXPECT_EQ(total, 0xffffU) << "checksum at byte " << sum.offset;
    }
}

/// Where trafgen itself is wrong: tests of their own say what is right.
bool known_wrong(const std::string& name) {
    return name == "35_cpu.cfg" || name == "01_udp_sample.trafgen";
}

TEST(TrafgenCorpus, is_accepted_or_refused_as_its_index_says_and_sends_the_bytes_that_trafgen_sent) {
    const char* corpus = std::getenv("VOLLEY_CORPUS");
    if (corpus == nullptr) GTEST_SKIP() << "VOLLEY_CORPUS names no folder";
    const fs::path root = fs::path(corpus) / "trafgen";
    std::istringstream index(text_of(root / "INDEX.txt"));
    std::string name;
    std::string modes;
    int exact = 0;
    int compared = 0;
    while (index >> name >> modes) {
        SCOPED_TRACE(name);
        const fs::path golden = root / "golden" / (name + (modes == "raw" ? ".raw.pcap" : ".cpp.pcap"));
        TrafgenFile file;
        TrafgenOptions options;
        if (fs::exists(golden)) {
            // Header functions took the addresses of the device that was there.
            const Capture first = read_capture(golden);
            if (name.starts_with("icmp02")) {
                options.device_mac = 0x020000000009;
                options.device_ipv4 = 0x0a090901;
            }
        }
        try {
            file = read_trafgen(root / "files" / name, options);
        } catch (const Error& error) {
            EXPECT_EQ(modes, "refused") << error.what();
            continue;
        }
        EXPECT_NE(modes, "refused");
        std::vector<std::unique_ptr<const packet::PacketTemplate>> packets;
        for (const TrafgenPacket& packet : file.packets) packets.push_back(built(packet));
        if (known_wrong(name)) continue;
        const bool rnd = text_of(root / "files" / name).find("rnd(") != std::string::npos;
        const Capture expected = read_capture(golden);
        ASSERT_EQ(expected.frames.size(), 12U);
        bool all = true;
        for (std::size_t i = 0; i < expected.frames.size(); ++i) {
            const TrafgenPacket& packet = file.packets[i % packets.size()];
            const auto wanted = expected.frame(i);
            Bytes sent(packets[i % packets.size()]->longest());
            sent.resize(packets[i % packets.size()]->write(i / packets.size(), sent.data()));
            ASSERT_EQ(sent.size(), wanted.size()) << i;
            check_sums(packet, sent);
            const auto loose = loose_bytes(packet, rnd);
            for (std::size_t at = 0; at < sent.size(); ++at) {
                all = all && !loose[at];
                if (!loose[at]) {
                    ASSERT_EQ(sent[at], wanted[at]) << "packet " << i << ", byte " << at;
                }
            }
        }
        ++compared;
        exact += all ? 1 : 0;
    }
    EXPECT_EQ(compared, 38);
    EXPECT_EQ(exact, 13) << "without anything drawn";
}

}  // namespace
}  // namespace volley::imports
