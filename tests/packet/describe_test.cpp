#include "packet/describe.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "checker.h"
#include "models.h"
#include "packet/reverse.h"
#include "packet/sizes.h"
#include "packet/text.h"
#include "random_models.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

TupleCount tuples(const PacketModel& model) {
    return describe(model).tuples;
}

TEST(Describe, places_every_layer_and_field) {
    const auto about = describe(packet(
        {header(eth), header(vlan), header(ipv4, {{"src", increment(1, 9, 2)}}), header(gre), header(ipv4)}));
    ASSERT_EQ(about.layers.size(), 5U);
    EXPECT_EQ(about.layers[4].name, "ipv4.2");
    EXPECT_EQ(about.layers[4].offset, 12U + 4 + 2 + 20 + 4);
    EXPECT_EQ(about.layers[0].fields[2].bit, 16U * 8);  // type, behind the tag
    EXPECT_EQ(about.layers[3].fields.size(), 3U);       // flags, version, protocol: no key
    EXPECT_EQ(about.payload_at, 62U);
    EXPECT_EQ(about.sizes, "66");
    for (const auto& field : about.layers[2].fields) {
        EXPECT_EQ(field.program, field.field->name == "src" ? "0.0.0.1 to 0.0.0.9, step 0.0.0.2" : "")
            << field.field->name;
    }
}

TEST(Describe, prints_the_genome_of_a_mix) {
    auto model = packet({header(eth), header(ipv4), header(udp)});
    model.frame_size = SizeModel{{}, named_mix("simple")};
    EXPECT_EQ(describe(model).sizes, "64 x 7, 570 x 4, 1518 x 1: aAaaAagaAaAa [A=570]");
    model.frame_size = size_of(increment(64, 100));
    EXPECT_EQ(describe(model).sizes, "64 to 100");
}

TEST(TupleCount, is_exact_for_ranges_that_step_together_or_nest) {
    auto model = packet({header(eth), header(ipv4, {{"src", increment(1, 100)}, {"id", increment(0, 65535)}}),
                         header(udp, {{"dst", increment(1, 150)}})});
    EXPECT_EQ(tuples(model).most, 300U);
    EXPECT_TRUE(tuples(model).exact);
    model.headers[2].fields[0].program.nest = "ipv4.src";
    EXPECT_EQ(tuples(model).most, 15000U);
    model.flows = 77;
    EXPECT_EQ(tuples(model).most, 77U);
    EXPECT_EQ(tuples(packet({header(eth)})).most, 1U);
    EXPECT_EQ(tuples(packet({header(eth, {{"src", list({1, 2, 1})}})})).most, 2U);
}

TEST(TupleCount, is_a_bound_for_random_draws_and_large_spaces) {
    const auto random = tuples(packet({header(eth), header(ipv4, {{"src", random_of(1, 1000)}})}));
    EXPECT_EQ(random.most, 1000U);
    EXPECT_FALSE(random.exact);
    auto model = packet({header(eth), header(ipv6, {{"src", increment(0, ~Value{0})}})});
    EXPECT_FALSE(tuples(model).most);
    model.flows = 10;
    EXPECT_EQ(tuples(model).most, 10U);
    EXPECT_TRUE(tuples(model).exact);
}

TEST(ProgramText, says_what_a_program_does) {
    auto program = random_of(1, 0xffff);
    program.distinct = 16;
    program.permute = true;
    program.nest = "ipv4.src";
    program.mask = 0xff00;
    program.shift = -2;
    program.every = 3;
    EXPECT_EQ(
        to_text(FieldType::number, program),
        "random 1 to 65535, seed 1, every 3 packets, 16 of them, each once, once per cycle of ipv4.src, "
        "shifted right 2, mask 65280");
    EXPECT_EQ(to_text(FieldType::mac, decrement(5, 1)), "00:00:00:00:00:05 down to 00:00:00:00:00:01");
    EXPECT_EQ(to_text(FieldType::flags, literal(0x12)), "syn,ack");
}

TEST(Text, writes_addresses_as_people_do) {
    EXPECT_EQ(to_text(FieldType::ipv6, Value{0x20010db8} << 96 | 1), "2001:db8::1");
    EXPECT_EQ(to_text(FieldType::ipv6, 0), "::");
    EXPECT_EQ(to_text(FieldType::ipv6, Value{1} << 112), "1::");
    EXPECT_EQ(to_text(FieldType::ipv6, (Value{0x2001000000010000} << 64) | 0x0000000100000001),
              "2001:0:1::1:0:1");
    EXPECT_EQ(to_text(FieldType::number, ~Value{0}), "340282366920938463463374607431768211455");
    EXPECT_EQ(to_text(FieldType::flags, 0), "0");
}

TEST(Reversed, exchanges_addresses_and_ports_and_what_nests_in_them) {
    auto model = packet({header(eth, {{"dst", literal(0x0a)}}), header(ipv4, {{"src", increment(1, 9)}}),
                         header(udp, {{"dst", increment(1, 9)}})});
    model.headers[2].fields[0].program.nest = "ipv4.src";
    const auto back = reversed(model);
    EXPECT_EQ(back.headers[2].fields[0].program.nest, "ipv4.dst");
    const auto there = bytes_of(*built(model), 5);
    const auto here = bytes_of(*built(back), 5);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(there[26 + i], here[30 + i]);
        EXPECT_EQ(there[30 + i], here[26 + i]);
    }
    EXPECT_EQ(hex({there.begin() + 34, there.begin() + 36}), hex({here.begin() + 36, here.begin() + 38}));
    EXPECT_EQ(hex({there.begin() + 36, there.begin() + 38}), hex({here.begin() + 34, here.begin() + 36}));
    EXPECT_EQ(here[11], 0x0a);
    EXPECT_EQ(bytes_of(*built(reversed(back)), 5), there);
}

TEST(Reversed, leaves_the_port_that_announces_a_tunnel) {
    const auto model = packet({header(eth), header(ipv4), header(udp, {{"src", literal(1337)}}),
                               header(vxlan), header(eth), header(ipv4)});
    const auto bytes = bytes_of(*built(reversed(model)), 0);
    EXPECT_EQ(hex({bytes.begin() + 34, bytes.begin() + 38}), "053912b5");
}

TEST(Reversed, leaves_what_nests_in_the_port_of_a_tunnel) {
    auto model = packet({header(eth), header(ipv4), header(udp, {{"src", increment(5000, 5001)}}),
                         header(vxlan), header(eth), header(ipv4, {{"src", increment(1, 4)}}),
                         header(udp, {{"dst", increment(1, 4)}})});
    model.headers[5].fields[0].program.nest = "udp.src";
    model.headers[6].fields[0].program.nest = "ipv4.2.src";
    const auto back = reversed(model);
    EXPECT_EQ(back.headers[5].fields[0].program.nest, "udp.src");
    EXPECT_EQ(back.headers[6].fields[0].program.nest, "ipv4.2.dst");
    EXPECT_NE(built(back), nullptr);
}

TEST(Reversed, takes_the_bits_that_a_mask_leaves_along) {
    auto masked = increment(0, 5);
    masked.mask = 0xff;
    auto nesting = increment(1, 3);
    nesting.nest = "ipv4.src";
    const auto model =
        packet({header(eth), header(ipv4, {{"src", masked}}), header(udp, {{"src", nesting}})});
    const auto back = reversed(model);
    for (const unsigned index : {0U, 7U}) {
        const auto there = bytes_of(*built(model), index);
        const auto here = bytes_of(*built(back), index);
        EXPECT_EQ(hex({there.begin() + 26, there.begin() + 30}), hex({here.begin() + 30, here.begin() + 34}));
        EXPECT_EQ(hex({there.begin() + 30, there.begin() + 34}), hex({here.begin() + 26, here.begin() + 30}));
        EXPECT_EQ(bytes_of(*built(reversed(back)), index), there);
    }
}

TEST(Reversed, takes_a_query_of_dns_for_what_comes_back_from_its_port) {
    const auto model = packet({header(eth), header(ipv4), header(udp), header(dns)});
    const auto bytes = bytes_of(*built(reversed(model)), 0);
    EXPECT_EQ(hex({bytes.begin() + 34, bytes.begin() + 38}), "00350400");
}

/// Source port of the outer UDP over IPv4.
unsigned source_port(const std::vector<std::uint8_t>& bytes) {
    return bytes[34] * 256U + bytes[35];
}

TEST(TunnelSourcePort, is_one_for_each_flow_within_and_dynamic) {
    for (const auto tunnel : {vxlan, geneve}) {
        const auto model = packet({header(eth), header(ipv4), header(udp), header(tunnel), header(eth),
                                   header(ipv4, {{"src", increment(1, 100)}, {"id", increment(0, 65535)}}),
                                   header(udp, {{"dst", list({80, 443, 53})}})});
        const auto packet = built(model);
        std::map<unsigned, unsigned> of_flow;
        std::set<unsigned> seen;
        for (unsigned i = 0; i < 900; ++i) {
            const auto bytes = bytes_of(*packet, i);
            const unsigned port = source_port(bytes);
            EXPECT_GE(port, 49152U);
            EXPECT_EQ(of_flow.try_emplace(i % 300, port).first->second, port) << i;
            seen.insert(port);
            const Checker checker(bytes, stack_of(model));
            EXPECT_TRUE(checker.complaints().empty());
        }
        EXPECT_GT(seen.size(), 280U);
    }
}

TEST(TunnelSourcePort, follows_flows_that_never_repeat_and_stays_with_one_flow) {
    auto model = packet({header(eth), header(ipv4), header(udp), header(vxlan), header(eth),
                         header(ipv4, {{"src", random_of(0, 0xffffffff)}})});
    const auto random = built(model);
    EXPECT_NE(source_port(bytes_of(*random, 1)), source_port(bytes_of(*random, 2)));
    model.headers[5].fields[0].program = literal(7);
    const auto one = source_port(bytes_of(*built(model), 0));
    EXPECT_EQ(source_port(bytes_of(*built(model), 9)), one);
    model.headers[5].fields[0].program = literal(8);
    EXPECT_NE(source_port(bytes_of(*built(model), 0)), one);
    EXPECT_GE(one, 49152U);
}

TEST(TunnelSourcePort, is_what_the_operator_gives) {
    const auto model = packet({header(eth), header(ipv4), header(udp, {{"src", literal(1337)}}),
                               header(vxlan), header(eth), header(ipv4)});
    EXPECT_EQ(source_port(bytes_of(*built(model), 3)), 1337U);
    EXPECT_EQ(describe(packet({header(eth), header(ipv4), header(udp), header(geneve), header(eth),
                               header(ipv4, {{"src", increment(1, 9)}})}))
                  .layers[2]
                  .fields[0]
                  .program,
              "hash of the flow within");
}

}  // namespace
}  // namespace volley::packet
