#include "config/next_hop.h"

#include <gtest/gtest.h>

#include <string>

#include "config/load.h"

namespace volley::config {
namespace {

/// A stream with these headers behind eth, on a port with two networks and a gateway.
Model model_of(const std::string& headers, const std::string& port = "") {
    return parse(
        R"({"version": 1, "ports": [{"name": "east", "device": "net_null0", "tx": {"lcores": [2]}, "rx": {"lcores": [2]},
        "addresses": ["10.0.0.1/24", "172.16.5.1/20", "2001:db8::1/64"], "gateway": "10.0.0.254")" +
            port +
            R"(}], "streams": [{"name": "s", "port": "east", "rate": "1pps", "packet": {"frame_size": 128,
        "headers": [{"eth": {"dst": "resolve"}}, )" +
            headers + R"(, {"udp": {}}]}}]})",
        "test");
}

std::string hop_of(const Model& model) {
    std::string why;
    const auto hop = next_hop(model.ports[0], model.streams[0].packet, why);
    return hop ? to_text(*hop) : why;
}

TEST(NextHop, is_the_destination_in_a_network_of_the_port_and_else_the_gateway) {
    EXPECT_EQ(hop_of(model_of(R"({"ipv4": {"dst": "10.0.0.9"}})")), "10.0.0.9");
    EXPECT_EQ(hop_of(model_of(R"({"ipv4": {"dst": "172.16.15.255"}})")), "172.16.15.255");
    EXPECT_EQ(hop_of(model_of(R"({"ipv4": {"dst": "172.16.16.1"}})")), "10.0.0.254");
    EXPECT_EQ(hop_of(model_of(R"({"ipv4": {}})")), "10.0.0.254");
    EXPECT_EQ(hop_of(model_of(R"({"ipv4": {"dst": {"increment": {"from": "10.0.0.2", "to": "10.0.0.9"}}}})")),
              "10.0.0.254");
    EXPECT_EQ(hop_of(model_of(R"({"ipv6": {"dst": "2001:db8::77"}})")), "2001:db8::77");
    EXPECT_EQ(hop_of(model_of(R"({"ipv6": {"dst": "fe80::77"}})")), "fe80::77");
    EXPECT_EQ(hop_of(model_of(R"({"vlan": {"id": 9}}, {"ipv4": {"dst": "10.0.0.9"}})", R"(, "vlan": 9)")),
              "10.0.0.9");
}

TEST(NextHop, that_was_found_out_is_in_the_packet_and_not_in_the_configuration) {
    Model model = model_of(R"({"ipv4": {"dst": "10.0.0.9"}})");
    const std::string before = dump_config(model);
    set_next_hop(model.streams[0].packet, 0x020000000177);
    set_next_hop(model.streams[0].packet, 0x020000000178);
    const auto& fields = model.streams[0].packet.headers[0].fields;
    ASSERT_EQ(fields.size(), 1U);
    EXPECT_EQ(fields[0].field->name, "dst");
    EXPECT_TRUE(fields[0].program.from == 0x020000000178);
    EXPECT_EQ(dump_config(model), before);
    EXPECT_NE(before.find("resolve"), std::string::npos);
}

}  // namespace
}  // namespace volley::config
