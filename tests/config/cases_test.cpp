#include <gtest/gtest.h>

#include <chrono>

#include "config/ixgbe_rules.h"
#include "config/lcores.h"
#include "config/literal.h"
#include "config/support.h"
#include "config/wire_rate.h"
#include "support/temp_dir.h"

namespace volley::config {
namespace {

std::string ports(const std::string& port, const std::string& streams) {
    return R"({"version": 1, "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2]})" +
           port + R"(}], "streams": [)" + streams + "]}";
}

std::string stream(const std::string& name, const std::string& members, const std::string& size = "64") {
    return R"({"name": ")" + name + R"(", "port": "east")" + members + R"(, "packet": {"frame_size": )" +
           size + R"(, "headers": [{"eth": {}}]}})";
}

TEST(Rates, above_the_link_are_refused_with_stream_and_numbers) {
    const std::string told =
        problems_of(ports(R"(, "speed": "10Gbps")", stream("jumbo", R"(, "rate": "2Mpps")", "9000")));
    EXPECT_EQ(told,
              "f:1:98: /ports/0/speed: the streams of port \"east\" ask for 144.32Gbps on the wire (L1: "
              "\"jumbo\" 144.32Gbps) and its "
              "link carries 10Gbps; lower a rate, or say \"oversubscribe\": true");
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps", "oversubscribe": true)",
                                stream("jumbo", R"(, "rate": "2Mpps")", "9000"))),
              "");
    EXPECT_EQ(problems_of(ports("", stream("jumbo", R"(, "rate": "2Mpps")", "9000"))), "")
        << "an unknown link is checked when it is up";
}

TEST(Rates, are_summed_exactly_on_l1) {
    const auto told = [](const std::string& a, const std::string& b, const std::string& size = "64") {
        return problems_of(
            ports(R"(, "speed": "10Gbps")", stream("a", ", \"rate\": \"" + a + "\"", size) + ", " +
                                                stream("b", ", \"rate\": \"" + b + "\"", size)));
    };
    EXPECT_EQ(told("50%", "50%"), "");
    EXPECT_NE(told("50%", "50.0000001%"), "");
    EXPECT_EQ(told("14880952pps", "0.38pps"), "") << "64 bytes: 672 bits on the wire";
    EXPECT_NE(told("14880952pps", "0.381pps"), "");
    EXPECT_EQ(told("10Gbps@L1", "max"), "");
    EXPECT_NE(told("10Gbps@L1", "1pps"), "");
    EXPECT_NE(told("10Gbps", "max"), "") << "10 Gbit/s of frames need more than 10 Gbit/s of wire";
    EXPECT_EQ(told("4Gbps", "3.6Gbps"), "") << "64-byte frames fill the wire at 7.619 Gbit/s";
    EXPECT_NE(told("4Gbps", "3.62Gbps"), "");
    EXPECT_EQ(told("9.8Gbps", "69.7Mbps", "1518"), "");
    EXPECT_NE(told("9.8Gbps", "70.1Mbps", "1518"), "");
    EXPECT_NE(told("9999999999Tbps", "9999999999Tpps"), "");
}

TEST(Rates, of_a_port_are_shared_and_multiplied_before_they_are_summed) {
    const std::string shared = stream("a", R"(, "weight": 7)", "64") + ", " +
                               stream("b", R"(, "weight": 4, "scale": false)", "570") + ", " +
                               stream("c", "", "1518");
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps", "rate": "100%")", shared)), "");
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps", "rate": "10Gbps@L1")", shared)), "");
    // 12 packets have 4,246 bytes, and 4,486 on the wire: 3.3437 Mpps or 9.465 Gbit/s fill it.
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps", "rate": "3.343Mpps")", shared)), "");
    EXPECT_NE(problems_of(ports(R"(, "speed": "10Gbps", "rate": "3.344Mpps")", shared)), "");
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps", "rate": "9.464Gbps")", shared)), "");
    EXPECT_NE(problems_of(ports(R"(, "speed": "10Gbps", "rate": "9.466Gbps")", shared)), "");
    ParseOptions options;
    options.sets = {"/run/multiplier=1.0001"};
    const std::string told = problems_of(ports(R"(, "speed": "10Gbps", "rate": "100%")", shared), options);
    EXPECT_NE(told.find("\"b\" 5.26"), std::string::npos) << told;
    options.sets = {"/run/multiplier=2"};
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps")", stream("a", R"(, "rate": "50%")")), options), "");
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps")", stream("a", R"(, "rate": "100%", "scale": false)")),
                          options),
              "");
    EXPECT_NE(problems_of(ports(R"(, "speed": "10Gbps")", stream("a", R"(, "rate": "50.1%")")), options), "");
    EXPECT_EQ(problems_of(ports(R"(, "speed": "10Gbps")",
                                stream("a", R"(, "rate": "100%")") + ", " +
                                    stream("off", R"(, "enabled": false, "rate": "100%")"))),
              "");
}

TEST(Rates, refusal_names_the_largest_streams) {
    std::string streams;
    for (int i = 1; i <= 9; ++i)
        streams += (i > 1 ? ", " : "") +
                   stream("s" + std::to_string(i), ", \"rate\": \"" + std::to_string(i * 3) + "%\"");
    EXPECT_NE(
        problems_of(ports(R"(, "speed": "1Gbps")", streams))
            .find(
                R"(ask for 1.35Gbps on the wire (L1: "s9" 270Mbps, "s8" 240Mbps, "s7" 210Mbps and 6 more))"),
        std::string::npos);
}

TEST(WireRate, saturates_instead_of_wrapping) {
    const Rate huge{Rate::Kind::packets, {UINT64_MAX, 1}};
    const auto wire = wire_rate(huge, {9728, 1}, 1);
    ASSERT_TRUE(wire);
    EXPECT_FALSE(wire->fits(UINT64_MAX));
    EXPECT_FALSE((*wire + *wire).fits(UINT64_MAX));
    EXPECT_FALSE(wire->scaled(1e6).fits(UINT64_MAX));
    EXPECT_FALSE(wire_rate(huge, {64, 1}, 1)->scaled(1e-6).fits(1'000'000'000'000));
}

TEST(Packets, problems_of_the_builder_are_told_at_their_place) {
    const std::string text = ports("", "\n" + stream("s", R"(, "rate": "1pps", "enabled": false)", "60"));
    const std::string told = problems_of(text);
    EXPECT_EQ(told.substr(0, 40), "f:2:90: /streams/0/packet/frame_size: fr") << told;
    EXPECT_NE(told.find("\"pad\": false"), std::string::npos);
}

TEST(Names, of_seven_kinds_of_slip_are_each_told_with_the_nearest_or_the_right_place) {
    const auto told = [](const std::string& members) {
        return problems_of(small_file("", R"(, "rate": "1pps")" + members));
    };
    EXPECT_NE(told(R"(, "ratte_pps": 1)").find("unknown key \"ratte_pps\" in streams[]"), std::string::npos);
    EXPECT_NE(told(R"(, "Count": 1)").find("did you mean \"count\"?"), std::string::npos);
    EXPECT_NE(told(R"(, "frame_size": 64)").find("it belongs in streams[].packet"), std::string::npos);
    EXPECT_NE(told(R"(, "rate": "2pps")").find("duplicate key"), std::string::npos);
    EXPECT_NE(told(R"(, "start-delay": "1s")").find("unknown key \"start-delay\""), std::string::npos);
}

TEST(Ixgbe, is_known_by_the_host_where_it_has_the_device_and_supposed_where_it_has_not) {
    const test::TempDir dir;
    const auto put = [&](const std::string& address, const char* vendor, const char* device) {
        std::filesystem::create_directories(dir.path() / "bus/pci/devices" / address);
        dir.write("bus/pci/devices/" + address + "/vendor", vendor);
        dir.write("bus/pci/devices/" + address + "/device", device);
    };
    put("0000:03:00.0", "0x8086\n", "0x10fb\n");
    put("0000:af:00.0", "0x15b3\n", "0x1017\n");
    put("0000:05:00.0", "0x8086\n", "0x1572\n");
    const auto may_be = [&](const char* device) { return ixgbe::may_be_ixgbe(device, dir.path()); };
    EXPECT_TRUE(may_be("0000:03:00.0"));
    EXPECT_TRUE(may_be("03:00.0,fiber_sdp3_no_tx_disable=1"));
    EXPECT_FALSE(may_be("0000:AF:00.0"));
    EXPECT_FALSE(may_be("05:00.0"));
    EXPECT_TRUE(may_be("0000:07:00.0")) << "the file may be for another machine";
    EXPECT_TRUE(may_be("net_soft82599_0,id=10f7"));
    EXPECT_FALSE(may_be("net_null0"));
    EXPECT_FALSE(may_be("net_pcap0,tx_pcap=a:b.pcap"));
}

TEST(Lcores, are_read_in_every_form_of_the_eal) {
    std::string why;
    const auto lcores = [&](const char* text) {
        return parse_lcores(text, why).value_or(std::set<std::uint32_t>{});
    };
    EXPECT_EQ(lcores("0@0,1@0"), (std::set<std::uint32_t>{0, 1}));
    EXPECT_EQ(lcores("0-3"), (std::set<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(lcores("(0-2,7)@(1,3-4), 5 @ 6"), (std::set<std::uint32_t>{0, 1, 2, 5, 7}));
    EXPECT_EQ(lcores("127@1023"), (std::set<std::uint32_t>{127}));
}

TEST(Literal, of_every_type_reads_back_from_its_own_text) {
    using packet::FieldType;
    using packet::Value;
    const Value all = ~Value{0};
    for (const FieldType type :
         {FieldType::number, FieldType::mac, FieldType::ipv4, FieldType::ipv6, FieldType::flags}) {
        for (const Value value : {Value{0}, Value{1}, Value{0x12}, Value{0x1ff}, Value{0x200},
                                  Value{0xffffffff}, Value{0x02000000000a}, Value{0xffffffffffff},
                                  Value{UINT64_MAX}, Value{UINT64_MAX} + 1, all, all - 1}) {
            std::string why;
            const auto read = parse_literal(type, literal_node(type, value), why);
            ASSERT_TRUE(read) << why;
            EXPECT_TRUE(*read == value);
        }
    }
}

TEST(Load, takes_a_list_of_20000_addresses_whole) {
    std::string list = "\"10.0.0.1\"";
    for (int i = 0; i < 19'999; ++i)
        list += ", \"10." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".7\"";
    const Model model = decoded(small_file(
        "", R"(, "rate": "1pps")",
        R"("frame_size": 64, "headers": [{"eth": {}}, {"ipv4": {"src": {"list": [)" + list + "]}}}]"));
    EXPECT_EQ(model.streams[0].packet.headers[1].fields[0].program.list.size(), 20'000U);
}

}  // namespace
}  // namespace volley::config
