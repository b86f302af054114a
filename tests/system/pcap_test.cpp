#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <set>

#include "support/pcap_file.h"
#include "support/tshark.h"
#include "system/volleyd.h"

namespace volley::test {
namespace {

/// What `increment` says: from, from + step, ..., not beyond to, then again; each value for `every` packets.
std::uint64_t increment(std::uint64_t i, std::uint64_t from, std::uint64_t to, std::uint64_t step = 1,
                        std::uint64_t every = 1) {
    return from + i / every % ((to - from) / step + 1) * step;
}

std::string ipv4_text(std::uint64_t address) {
    const auto at = [&](int shift) { return std::to_string(address >> shift & 255); };
    return at(24) + "." + at(16) + "." + at(8) + "." + at(0);
}

std::string ipv6_text(std::uint64_t high, std::uint64_t low) {
    std::array<unsigned char, 16> bytes{};
    for (unsigned i = 0; i < 8; ++i) {
        bytes[i] = static_cast<unsigned char>(high >> (56 - 8 * i));
        bytes[8 + i] = static_cast<unsigned char>(low >> (56 - 8 * i));
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    return inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
}

constexpr std::uint64_t number_of(std::string_view ipv4) {
    std::uint64_t result = 0;
    std::uint64_t part = 0;
    for (const char c : ipv4) {
        if (c == '.') {
            result = result << 8 | part;
            part = 0;
        } else {
            part = part * 10 + static_cast<std::uint64_t>(c - '0');
        }
    }
    return result << 8 | part;
}

json eth(const std::string& src) {
    return {{"eth", {{"src", src}, {"dst", "02:00:00:00:00:02"}}}};
}

json range(const json& from, const json& to, std::uint64_t step = 1, std::uint64_t every = 1) {
    return {{"from", from}, {"to", to}, {"step", step}, {"every", every}};
}

json stream(const std::string& name, const std::string& rate, unsigned count, const json& packet) {
    return {{"name", name}, {"port", "east"}, {"rate", rate}, {"count", count}, {"packet", packet}};
}

json vlan_udp() {
    return {{"frame_size", {{"increment", range(70, 1518, 11)}}},
            {"headers",
             {eth("02:00:00:00:00:0a"),
              {{"vlan", {{"id", {{"increment", range(100, 106, 1, 3)}}}, {"pcp", 5}}}},
              {{"ipv4",
                {{"src", {{"increment", range("10.0.0.250", "10.0.1.9")}}},
                 {"dst", "10.1.0.1"},
                 {"id", {{"decrement", range(65535, 65001, 5)}}}}}},
              {{"udp",
                {{"src", {{"increment", range(64000, 65535, 7)}}},
                 {"dst", {{"list", {53, 123, 443}}, {"every", 2}}}}}}}}};
}

json ipv6_tcp() {
    return {{"frame_size", 128},
            {"headers",
             {eth("02:00:00:00:00:0b"),
              {{"ipv6",
                {{"src", "2001:db8::1"},
                 {"dst", {{"increment", range("2001:db8::ffff:ffff:ffff:fff0", "2001:db8:0:1::f")}}},
                 {"flow_label", {{"increment", range(0, 0xfffff, 0x1234)}}}}}},
              {{"tcp",
                {{"src", {{"random", {{"from", 1024}, {"to", 65535}, {"seed", 7}}}}},
                 {"dst", 443},
                 {"seq", {{"increment", range(5, 4294967295, 3000017)}}},
                 {"flags", "syn"}}}}}}};
}

json ipv6_udp() {
    return {
        {"frame_size", {{"random", {{"from", 82}, {"to", 1518}, {"seed", 3}}}}},
        {"payload", {{"random", {{"seed", 9}}}}},
        {"headers",
         {eth("02:00:00:00:00:0c"),
          {{"ipv6",
            {{"src", {{"random", {{"from", "2001:db8::"}, {"to", "2001:db8::ffff:ffff"}, {"seed", 5}}}}}}}},
          {{"udp", {{"dst", 4321}}}}}}};
}

json ping() {
    return {
        {"frame_size", 103},
        {"payload", {{"text", "odd"}}},
        {"headers",
         {eth("02:00:00:00:00:0d"),
          {{"ipv4", {{"dst", {{"random", {{"from", "10.2.0.0"}, {"to", "10.2.255.255"}, {"seed", 1}}}}}}}},
          {{"icmp", {{"id", 77}, {"seq", {{"increment", range(65530, 65535)}}}}}}}}};
}

constexpr unsigned vlan_udp_count = 4000;
constexpr unsigned ipv6_tcp_count = 3000;
constexpr unsigned ipv6_udp_count = 1500;
constexpr unsigned ping_count = 1000;
constexpr unsigned raw_count = 500;

json mixed_configuration(const std::string& file) {
    return configuration(
        1, true, {port("east", "net_pcap0,tx_pcap=" + file)},
        {stream("vlan_udp", "40kpps", vlan_udp_count, vlan_udp()),
         stream("ipv6_tcp", "30kpps", ipv6_tcp_count, ipv6_tcp()),
         stream("ipv6_udp", "15kpps", ipv6_udp_count, ipv6_udp()),
         stream("ping", "10kpps", ping_count, ping()), stream("raw", "5kpps", raw_count, raw_packet())});
}

/// tshark's fields of a packet by name.
using Fields = std::map<std::string, std::string>;

const std::vector<std::string> field_names{"eth.src",
                                           "frame.len",
                                           "vlan.id",
                                           "vlan.priority",
                                           "ip.src",
                                           "ip.dst",
                                           "ip.id",
                                           "ip.len",
                                           "ip.checksum.status",
                                           "udp.srcport",
                                           "udp.dstport",
                                           "udp.length",
                                           "udp.checksum.status",
                                           "ipv6.src",
                                           "ipv6.dst",
                                           "ipv6.flow",
                                           "ipv6.plen",
                                           "tcp.srcport",
                                           "tcp.dstport",
                                           "tcp.seq_raw",
                                           "tcp.flags",
                                           "tcp.checksum.status",
                                           "icmp.checksum.status",
                                           "icmp.ident",
                                           "icmp.seq"};

/// One run for all tests of the suite: 10,000 packets, and the same again.
class Pcap : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        dir_ = std::make_unique<TempDir>();
        report_ = run_volleyd(mixed_configuration(dir_->file("one.pcap")));
        run_volleyd(mixed_configuration(dir_->file("two.pcap")));
        if (!tshark_unavailable().empty()) return;
        for (const auto& row : tshark(dir_->file("one.pcap"), field_names)) {
            Fields fields;
            for (std::size_t i = 0; i < row.size(); ++i) fields[field_names[i]] = row[i];
            by_source_[fields.at("eth.src")].push_back(std::move(fields));
        }
    }
    static void TearDownTestSuite() {
        by_source_.clear();
        dir_.reset();
    }
    void SetUp() override {
        if (const std::string why = tshark_unavailable(); !why.empty()) GTEST_SKIP() << why;
    }
    static const std::vector<Fields>& from(const std::string& source) { return by_source_[source]; }
    static std::uint64_t number(const Fields& fields, const std::string& name) {
        return std::stoull(fields.at(name), nullptr, 0);
    }

    static std::unique_ptr<TempDir> dir_;
    static json report_;
    static std::map<std::string, std::vector<Fields>> by_source_;
};
std::unique_ptr<TempDir> Pcap::dir_;
json Pcap::report_;
std::map<std::string, std::vector<Fields>> Pcap::by_source_;

TEST_F(Pcap, holds_every_packet_and_byte_of_the_report) {
    expect_consistent(report_);
    const std::vector<std::string> packets = read_pcap(dir_->file("one.pcap"));
    EXPECT_EQ(packets.size(), 10'000U);
    std::uint64_t bytes = 0;
    for (const std::string& packet : packets) bytes += packet.size();
    const json tx = named(report_.at("ports"), "east").at("tx");
    EXPECT_EQ(tx.at("packets"), 10'000);
    EXPECT_EQ(tx.at("bytes"), bytes);
    EXPECT_EQ(tx.at("l2_bytes"), bytes + 40'000);
}

/// The packets of each stream, told apart by their source address, in their order.
std::map<std::string, std::vector<std::string>> by_stream(const std::vector<std::string>& packets) {
    std::map<std::string, std::vector<std::string>> streams;
    for (const std::string& packet : packets) streams[packet.substr(6, 6)].push_back(packet);
    return streams;
}

TEST_F(Pcap, is_what_volleyctl_renders_without_a_device) {
    const std::string config = dir_->file("mixed.json");
    std::ofstream(config) << mixed_configuration("unused.pcap");
    const Result rendered = run({volleyctl_path(), "render", config, "-o", dir_->file("rendered.pcap")});
    ASSERT_EQ(rendered.status, 0) << rendered.err;
    EXPECT_TRUE(by_stream(read_pcap(dir_->file("rendered.pcap"))) ==
                by_stream(read_pcap(dir_->file("one.pcap"))));
}

TEST(Sources, leave_a_device_as_volleyctl_renders_them) {
    const TempDir dir;
    std::ofstream(dir.file("in.cfg")) << "{ eth(sa=02:00:00:00:00:0a), ipv4(da=dinc()), udp(sp=7), \"x\" }\n"
                                         "{ eth(sa=02:00:00:00:00:0a), ipv4(), tcp(), drnd(30) }\n";
    json first = ping();
    json second = vlan_udp();
    first["headers"][0] = second["headers"][0] = eth("02:00:00:00:00:0b");
    const json trafgen = {{"trafgen", dir.file("in.cfg")}};
    const json packets = {{"packets", json::array({first, second})}};
    const auto with = [&](const std::string& device, const json& more) {
        json streams = json::array(
            {stream("trafgen", "20kpps", 999, trafgen), stream("packets", "30kpps", 1001, packets)});
        for (const json& one : more) streams.push_back(one);
        return configuration(1, true, {port("east", device)}, streams);
    };
    const auto render = [&](const json& config, const std::string& out) {
        std::ofstream(dir.file("config.json")) << config;
        const Result rendered =
            run({volleyctl_path(), "render", dir.file("config.json"), "-o", dir.file(out)});
        ASSERT_EQ(rendered.status, 0) << rendered.err;
    };
    render(with("net_null0", json::array()), "in.pcap");
    json capture = {{"file", dir.file("in.pcap")}, {"rewrite", {{"eth.src", "02:00:00:00:00:0c"}}}};
    capture["rewrite"]["ipv4.src"] = {{"increment", range("10.0.0.1", "10.0.0.9")}};
    const json replay = json::array({stream("replay", "40kpps", 2000, {{"pcap", capture}})});
    run_volleyd(with("net_pcap0,tx_pcap=" + dir.file("sent.pcap"), replay));
    render(with("net_null0", replay), "rendered.pcap");
    const auto sent = by_stream(read_pcap(dir.file("sent.pcap")));
    EXPECT_EQ(sent.size(), 3U);
    EXPECT_TRUE(sent == by_stream(read_pcap(dir.file("rendered.pcap"))));
}

/// Seconds since the first packet, of every packet.
std::vector<double> times_of(const std::string& file) {
    std::vector<double> out;
    for (const auto& row : tshark(file, {"frame.time_relative"})) out.push_back(std::stod(row[0]));
    return out;
}

// The device stamps a packet when it is handed over: no earlier than its due, and no later than the report
// says of the latest, however slow the machine is. Its clock is not calibrated as ours is, hence the percent.
TEST(Recorded, packets_leave_a_device_at_the_times_of_their_capture) {
    if (const std::string why = tshark_unavailable(); !why.empty()) GTEST_SKIP() << why;
    const TempDir dir;
    const json source = {{{"name", "s"},
                          {"port", "east"},
                          {"bursts", {{"packets", 7}, {"gap", "9ms"}, {"count", 6}}},
                          {"rate", "3kpps"},
                          {"burst", 1},
                          {"packet", vlan_udp()}}};
    std::ofstream(dir.file("source.json"))
        << configuration(1, true, {port("east", "net_null0")}, {source.begin(), source.end()});
    const Result made =
        run({volleyctl_path(), "render", dir.file("source.json"), "-o", dir.file("source.pcap")});
    ASSERT_EQ(made.status, 0) << made.err;
    const auto recorded = [&](const std::string& device) {
        const json packet = {
            {"pcap", {{"file", dir.file("source.pcap")}, {"timing", "recorded"}, {"speed", 0.5}}}};
        return configuration(1, true, {port("east", device)},
                             {{{"name", "s"}, {"port", "east"}, {"packet", packet}}});
    };
    const json report = run_volleyd(recorded("net_pcap0,tx_pcap=" + dir.file("sent.pcap")));
    EXPECT_TRUE(read_pcap(dir.file("source.pcap")) == read_pcap(dir.file("sent.pcap")));
    const std::vector<double> wanted = times_of(dir.file("source.pcap"));
    const std::vector<double> sent = times_of(dir.file("sent.pcap"));
    ASSERT_EQ(wanted.size(), 42U);
    ASSERT_EQ(sent.size(), wanted.size());
    const json stream = named(report.at("streams"), "s");
    EXPECT_EQ(stream.at("slips"), 0);
    const double late = stream.at("lateness_ns").at("max").get<double>() * 1e-9 + 1e-4;
    for (std::size_t i = 0; i < sent.size(); ++i)
        EXPECT_NEAR(sent[i], 2 * wanted[i], late + wanted[i] * 0.02) << i;
}

TEST(Recorded, a_file_larger_than_its_memory_leaves_a_device_byte_for_byte) {
    const TempDir dir;
    json source = stream("s", "40kpps", 1'000, vlan_udp());
    source["packet"]["frame_size"] = 1518;
    std::ofstream(dir.file("source.json")) << configuration(1, true, {port("east", "net_null0")}, {source});
    const Result made =
        run({volleyctl_path(), "render", dir.file("source.json"), "-o", dir.file("source.pcap")});
    ASSERT_EQ(made.status, 0) << made.err;
    const json packet = {{"pcap",
                          {{"file", dir.file("source.pcap")},
                           {"timing", "recorded"},
                           {"memory_mib", 1},
                           {"loop", 2},
                           {"speed", 0.5}}}};
    const json report =
        run_volleyd(configuration(1, true, {port("east", "net_pcap0,tx_pcap=" + dir.file("sent.pcap"))},
                                  {{{"name", "s"}, {"port", "east"}, {"packet", packet}}}));
    EXPECT_EQ(named(report.at("streams"), "s").at("tx").at("packets"), 2'000);
    std::vector<std::string> wanted = read_pcap(dir.file("source.pcap"));
    const std::vector<std::string> once = wanted;
    wanted.insert(wanted.end(), once.begin(), once.end());
    EXPECT_TRUE(wanted == read_pcap(dir.file("sent.pcap")));
}

TEST_F(Pcap, shows_every_checksum_good) {
    std::map<std::string, std::size_t> good;
    for (const auto& [source, packets] : by_source_) {
        for (const Fields& packet : packets) {
            for (const char* checksum : {"ip.checksum.status", "udp.checksum.status", "tcp.checksum.status",
                                         "icmp.checksum.status"}) {
                const std::string& status = packet.at(checksum);
                if (status.empty()) continue;
                ASSERT_EQ(status, "1") << checksum << " from " << source;
                ++good[checksum];
            }
        }
    }
    EXPECT_EQ(good["ip.checksum.status"], vlan_udp_count + ping_count);
    EXPECT_EQ(good["udp.checksum.status"], vlan_udp_count + ipv6_udp_count);
    EXPECT_EQ(good["tcp.checksum.status"], ipv6_tcp_count);
    EXPECT_EQ(good["icmp.checksum.status"], ping_count);
}

TEST_F(Pcap, shows_vlan_and_udp_fields_in_their_exact_sequence) {
    const auto& packets = from("02:00:00:00:00:0a");
    ASSERT_EQ(packets.size(), vlan_udp_count);
    constexpr std::array<unsigned, 3> destinations{53, 123, 443};
    for (std::size_t i = 0; i < packets.size(); ++i) {
        SCOPED_TRACE(i);
        const Fields& packet = packets[i];
        const std::uint64_t length = increment(i, 70, 1518, 11) - 4;
        ASSERT_EQ(number(packet, "frame.len"), length);
        ASSERT_EQ(number(packet, "ip.len"), length - 18);
        ASSERT_EQ(number(packet, "udp.length"), length - 38);
        ASSERT_EQ(number(packet, "vlan.id"), increment(i, 100, 106, 1, 3));
        ASSERT_EQ(number(packet, "vlan.priority"), 5U);
        ASSERT_EQ(packet.at("ip.src"),
                  ipv4_text(increment(i, number_of("10.0.0.250"), number_of("10.0.1.9"))));
        ASSERT_EQ(packet.at("ip.dst"), "10.1.0.1");
        ASSERT_EQ(number(packet, "ip.id"), 65535 - increment(i, 0, 534, 5));
        ASSERT_EQ(number(packet, "udp.srcport"), increment(i, 64000, 65535, 7));
        ASSERT_EQ(number(packet, "udp.dstport"), destinations[i / 2 % 3]);
    }
}

TEST_F(Pcap, shows_ipv6_and_tcp_fields_in_their_exact_sequence) {
    const auto& packets = from("02:00:00:00:00:0b");
    ASSERT_EQ(packets.size(), ipv6_tcp_count);
    std::set<std::string> ports;
    for (std::size_t i = 0; i < packets.size(); ++i) {
        SCOPED_TRACE(i);
        const Fields& packet = packets[i];
        ASSERT_EQ(number(packet, "frame.len"), 124U);
        ASSERT_EQ(number(packet, "ipv6.plen"), 124U - 14 - 40);
        // 32 addresses that cross the border of the low 64 bits.
        const std::uint64_t step = i % 32;
        ASSERT_EQ(packet.at("ipv6.dst"), step < 16 ? ipv6_text(0x20010db800000000, 0xfffffffffffffff0 + step)
                                                   : ipv6_text(0x20010db800000001, step - 16));
        ASSERT_EQ(number(packet, "ipv6.flow"), increment(i, 0, 0xfffff, 0x1234));
        ASSERT_EQ(number(packet, "tcp.seq_raw"), increment(i, 5, 4294967295, 3000017));
        ASSERT_EQ(number(packet, "tcp.dstport"), 443U);
        ASSERT_EQ(number(packet, "tcp.flags"), 2U);
        ASSERT_GE(number(packet, "tcp.srcport"), 1024U);
        ports.insert(packet.at("tcp.srcport"));
    }
    // 3000 draws of 64512 values: 2931 different ones are expected, with a standard deviation of 8.
    EXPECT_GT(ports.size(), 2850U);
    EXPECT_LT(ports.size(), 3000U);
}

TEST_F(Pcap, shows_random_sizes_with_the_lengths_that_follow) {
    const auto& packets = from("02:00:00:00:00:0c");
    ASSERT_EQ(packets.size(), ipv6_udp_count);
    std::uint64_t total = 0;
    std::set<std::string> sources;
    for (const Fields& packet : packets) {
        const std::uint64_t length = number(packet, "frame.len");
        ASSERT_GE(length, 78U);
        ASSERT_LE(length, 1514U);
        ASSERT_EQ(number(packet, "ipv6.plen"), length - 54);
        ASSERT_EQ(number(packet, "udp.length"), length - 54);
        ASSERT_TRUE(packet.at("ipv6.src").starts_with("2001:db8::")) << packet.at("ipv6.src");
        total += length;
        sources.insert(packet.at("ipv6.src"));
    }
    // The mean of 1500 draws from 78 to 1514 is 796, give or take 11.
    EXPECT_NEAR(static_cast<double>(total) / ipv6_udp_count, 796, 60);
    EXPECT_GE(sources.size(), 1498U);
}

TEST_F(Pcap, shows_pings_and_raw_frames_as_asked) {
    const auto& pings = from("02:00:00:00:00:0d");
    ASSERT_EQ(pings.size(), ping_count);
    for (std::size_t i = 0; i < pings.size(); ++i) {
        ASSERT_EQ(number(pings[i], "frame.len"), 99U);
        ASSERT_EQ(number(pings[i], "ip.len"), 85U);
        ASSERT_EQ(number(pings[i], "icmp.seq"), increment(i, 65530, 65535));
        ASSERT_EQ(number(pings[i], "icmp.ident"), 77U);
        ASSERT_TRUE(pings[i].at("ip.dst").starts_with("10.2."));
    }
    const std::string ones(60, '\xff');
    const std::vector<std::string> all = read_pcap(dir_->file("one.pcap"));
    EXPECT_EQ(std::count(all.begin(), all.end(), ones), raw_count);
}

TEST_F(Pcap, of_a_second_run_holds_the_same_bytes_stream_by_stream) {
    std::array<std::map<std::string, std::vector<std::string>>, 2> runs;
    for (const std::string& packet : read_pcap(dir_->file("one.pcap")))
        runs[0][packet.substr(6, 6)].push_back(packet);
    for (const std::string& packet : read_pcap(dir_->file("two.pcap")))
        runs[1][packet.substr(6, 6)].push_back(packet);
    EXPECT_EQ(runs[0].size(), 5U);
    EXPECT_TRUE(runs[0] == runs[1]);
}

}  // namespace
}  // namespace volley::test
