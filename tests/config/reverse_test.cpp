#include <gtest/gtest.h>

#include "config/support.h"

namespace volley::config {
namespace {

std::string file(const std::string& stream, const std::string& more = "") {
    return R"({"version": 1,
        "ports": [{"name": "east", "device": "net_null0", "mac": "02:00:00:00:00:0e", "tx": {"lcores": [2]}, "rx": {"lcores": [2]}},
                  {"name": "west", "device": "net_null1", "tx": {"lcores": [3]}, "rx": {"lcores": [3]}},
                  {"name": "deaf", "device": "net_null2"}],
        "streams": [{"name": "s", "port": "east", "rate": "1kpps", )" +
           stream + "}" + more + "]}";
}

const std::string udp =
    R"("packet": {"headers": [{"eth": {"dst": "02:00:00:00:00:0f"}}, {"ipv4": {"src": "10.0.0.1", "dst": "10.0.0.2"}}, {"udp": {"src": 7}}]})";

packet::Value field_of(const Stream& stream, std::size_t header, std::string_view name) {
    for (const auto& value : stream.packet.headers[header].fields) {
        if (value.field->name == name) return value.program.from;
    }
    ADD_FAILURE() << name;
    return 0;
}

TEST(Reverse, adds_the_stream_of_the_other_direction_with_its_own_name) {
    const Model model = decoded(file(R"("reverse": "west", "expect_on": "west", "count": 9, )" + udp));
    ASSERT_EQ(model.streams.size(), 2U);
    const Stream& there = model.streams[0];
    const Stream& back = model.streams[1];
    EXPECT_EQ(back.name, "s.reverse");
    EXPECT_EQ(back.port, "west");
    EXPECT_EQ(back.expect_on, "east");
    EXPECT_EQ(back.count, there.count);
    EXPECT_EQ(back.rate, there.rate);
    EXPECT_TRUE(back.is_reverse);
    EXPECT_EQ(back.pointer, there.pointer);
    EXPECT_TRUE(field_of(back, 0, "src") == 0x02000000000f);
    EXPECT_TRUE(field_of(back, 0, "dst") == 0x02000000000e) << "the MAC address of the port that sent";
    EXPECT_TRUE(field_of(back, 1, "src") == 0x0a000002);
    EXPECT_TRUE(field_of(back, 2, "dst") == 7);
    EXPECT_TRUE(field_of(back, 2, "src") == 9);
}

TEST(Reverse, leads_to_the_port_that_sent_in_the_bits_that_a_mask_leaves) {
    const Model model = decoded(file(
        R"("reverse": "west", "packet": {"headers": [{"eth": {"src": {"increment": {"from": 0, "to": 3}, "mask": "0xff00"}}}, {"ipv4": {}}]})"));
    ASSERT_EQ(model.streams.size(), 2U);
    const auto& rest = model.streams[1].packet.headers[0].fields.back();
    EXPECT_EQ(rest.field->name, "dst");
    EXPECT_TRUE(rest.program.from == 0x02000000000e);
    EXPECT_TRUE(rest.program.mask == 0xffffffff00ff);
}

TEST(Reverse, is_named_where_a_problem_is_found_in_it) {
    const std::string bad =
        R"(, {"name": "t", "port": "west", "rate": "1kpps", "reverse": "east", "packet": {"headers": [{"eth": {}}, {"ipv4": {"src": {"increment": {"from": 0, "to": 3, "nest": "udp.src"}}}}]}})";
    EXPECT_NE(problems_of(file(udp, bad)).find("(in \"t.reverse\", the way back)"), std::string::npos);
}

TEST(Reverse, is_shown_as_it_was_written) {
    const Model model = decoded(file(R"("reverse": "west", )" + udp));
    const std::string dump = dump_config(model);
    EXPECT_EQ(dump.find("s.reverse"), std::string::npos);
    EXPECT_EQ(decoded(dump), model);
}

TEST(Reverse, of_a_chain_is_a_chain) {
    const std::string second =
        R"(, {"name": "t", "port": "east", "rate": "1kpps", "count": 1, "reverse": "west", )" + udp + "}";
    const Model model = decoded(file(R"("reverse": "west", "count": 1, "next": "t", )" + udp, second));
    ASSERT_EQ(model.streams.size(), 4U);
    EXPECT_EQ(model.streams[2].next, "t.reverse");
    const std::string without =
        R"(, {"name": "t", "port": "east", "rate": "1kpps", "count": 1, )" + udp + "}";
    EXPECT_NE(
        problems_of(file(R"("reverse": "west", "count": 1, "next": "t", )" + udp, without)).find("t.reverse"),
        std::string::npos);
}

TEST(Reverse, of_packets_in_turn_reverses_each) {
    const Model model = decoded(file(
        R"("reverse": "west", "packet": {"packets": [{"headers": [{"eth": {}}, {"ipv4": {"src": "10.0.0.1"}}]}]})"));
    ASSERT_EQ(model.streams.size(), 2U);
    const auto& fields = model.streams[1].source.packets[0].headers[1].fields;
    EXPECT_EQ(fields[0].field->name, "dst");
}

TEST(Reverse, that_cannot_be_is_refused_where_it_stands) {
    EXPECT_NE(problems_of(file(R"("reverse": "wset", )" + udp))
                  .find("/streams/0/reverse: there is no port \"wset\"; did you mean"),
              std::string::npos);
    EXPECT_NE(problems_of(file(R"("reverse": "deaf", )" + udp))
                  .find("/streams/0/reverse: port \"deaf\" has no \"tx\""),
              std::string::npos);
    EXPECT_NE(problems_of(file(R"("reverse": "west", "packet": {"pcap": "a.pcap"})"))
                  .find("/streams/0/reverse: the packets of a file"),
              std::string::npos);
    const std::string taken = R"(, {"name": "s.reverse", "port": "east", "rate": "1kpps", )" + udp + "}";
    EXPECT_NE(problems_of(file(R"("reverse": "west", )" + udp, taken)).find("\"s.reverse\" is taken"),
              std::string::npos);
}

}  // namespace
}  // namespace volley::config
