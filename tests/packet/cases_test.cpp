// Behaviour that other generators are publicly reported to get wrong.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "checker.h"
#include "models.h"
#include "packet/sizes.h"

namespace volley::packet {
namespace {

using enum HeaderKind;
using Bytes = std::vector<std::uint8_t>;

std::uint64_t number_at(const Bytes& bytes, std::size_t at, std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value = value << 8 | bytes[at + i];
    return value;
}

void expect_sound(const Bytes& bytes, const std::vector<Checker::Expected>& stack, std::uint64_t index) {
    const Checker checker(bytes, stack);
    for (const auto& text : checker.complaints())
        ADD_FAILURE() << text << " in packet " << index << " " << hex(bytes);
}

TEST(Checksums, follow_a_range_of_ports) {
    const auto frame =
        built(packet({header(eth), header(ipv4), header(udp, {{"src", increment(1025, 1030)}})}));
    for (std::uint64_t i = 0; i < 6; ++i) {
        const auto bytes = bytes_of(*frame, i);
        EXPECT_EQ(number_at(bytes, 34, 2), 1025 + i);
        expect_sound(bytes, {{eth}, {ipv4}, {udp}}, i);
    }
}

TEST(Checksums, stay_right_over_70000_addresses) {
    const auto frame =
        built(packet({header(eth), header(ipv4, {{"src", increment(0x0a000001, 0x0aff0000)}}), header(udp)}));
    for (std::uint64_t i = 0; i < 70000; ++i) {
        const auto bytes = bytes_of(*frame, i);
        ASSERT_EQ(number_at(bytes, 26, 4), 0x0a000001 + i);
        ASSERT_TRUE(Checker(bytes, {{eth}, {ipv4}, {udp}}).complaints().empty()) << i;
    }
}

TEST(Lengths, follow_a_random_size) {
    const auto frame = built(sized(packet({header(eth), header(ipv4), header(udp)}), random_of(64, 1518)));
    std::set<std::size_t> sizes;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const auto bytes = bytes_of(*frame, i);
        EXPECT_EQ(number_at(bytes, 16, 2), bytes.size() - 14);
        expect_sound(bytes, {{eth}, {ipv4}, {udp}}, i);
        sizes.insert(bytes.size());
        EXPECT_GE(bytes.size(), 60U);
        EXPECT_LE(bytes.size(), 1514U);
    }
    EXPECT_GT(sizes.size(), 500U);
}

TEST(Lengths, are_honoured_beside_a_range) {
    const auto frame = built(
        sized(packet({header(eth), header(ipv4, {{"src", increment(1, 300)}}), header(udp)}), literal(768)));
    EXPECT_EQ(bytes_of(*frame, 299).size(), 764U);
    expect_sound(bytes_of(*frame, 299), {{eth}, {ipv4}, {udp}}, 299);
}

TEST(Checksums, cover_a_random_payload) {
    for (const auto kind : {udp, tcp, icmp}) {
        auto model = sized(packet({header(eth), header(ipv4), header(kind)}), list({146, 147, 301}));
        model.payload.kind = Payload::Kind::random;
        const auto frame = built(model);
        Bytes last;
        for (std::uint64_t i = 0; i < 50; ++i) {
            const auto bytes = bytes_of(*frame, i);
            expect_sound(bytes, {{eth}, {ipv4}, {kind}}, i);
            EXPECT_NE(Bytes(bytes.end() - 40, bytes.end()), last);
            last = Bytes(bytes.end() - 40, bytes.end());
        }
    }
}

TEST(Checksums, pad_an_odd_last_byte_with_zero) {
    const std::pair<HeaderKind, std::size_t> odd[] = {{icmp, 15}, {udp, 1}, {tcp, 1}};
    for (const auto& [kind, length] : odd) {
        const auto frame = built(packet({header(eth), header(ipv4, {{"id", increment(0, 9)}}), header(kind),
                                         raw_bytes(Bytes(length, 0xe7))}));
        expect_sound(bytes_of(*frame, 3), {{eth}, {ipv4}, {kind}, {raw, length}}, 3);
    }
}

TEST(Ranges, come_in_order_and_in_equal_shares) {
    const auto frame =
        built(packet({header(eth), header(ipv4, {{"dst", increment(0xc0a80101, 0xc0a801fe)}}), header(udp)}));
    std::map<std::uint64_t, int> seen;
    for (std::uint64_t i = 0; i < 512; ++i) ++seen[number_at(bytes_of(*frame, i), 30, 4)];
    EXPECT_EQ(seen.size(), 254U);
    for (const auto& [address, times] : seen) EXPECT_TRUE(times == 2 || times == 3) << address;
    std::map<std::uint64_t, int> whole;
    for (std::uint64_t i = 0; i < 25400; ++i) ++whole[number_at(bytes_of(*frame, i), 30, 4)];
    for (const auto& [address, times] : whole) EXPECT_EQ(times, 100) << address;
}

TEST(Flows, are_capped_for_all_workers_together) {
    auto model = packet({header(eth), header(ipv4, {{"src", increment(0x10000001, 0x10000002)}}),
                         header(udp, {{"src", increment(1025, 2048)}})});
    model.flows = 3;
    const auto frame = built(model);
    std::set<Bytes> tuples;
    for (std::uint64_t worker = 0; worker < 4; ++worker) {
        for (std::uint64_t i = worker; i < 4000; i += 4) {
            const auto bytes = bytes_of(*frame, i);
            tuples.insert(Bytes(bytes.begin() + 26, bytes.begin() + 38));
        }
    }
    EXPECT_EQ(tuples.size(), 3U);
}

TEST(Flows, of_many_packets_each_are_still_as_many_as_asked) {
    auto model =
        packet({header(eth), header(ipv4, {{"src", increment(1, 1000, 1, 10)}, {"id", increment(0, 65535)}}),
                header(udp)});
    model.flows = 7;
    const auto frame = built(model);
    std::map<std::uint64_t, int> flows;
    std::set<std::uint64_t> ids;
    for (std::uint64_t i = 0; i < 700; ++i) {
        const auto bytes = bytes_of(*frame, i);
        ++flows[number_at(bytes, 26, 4)];
        ids.insert(number_at(bytes, 18, 2));
    }
    EXPECT_EQ(flows.size(), 7U);
    for (const auto& [address, packets] : flows) EXPECT_EQ(packets, 100) << address;
    EXPECT_EQ(ids.size(), 700U);  // what counts within a flow runs on
}

TEST(Lists, may_hold_tens_of_thousands_of_values) {
    std::vector<Value> addresses;
    for (Value i = 0; i < 20000; ++i) addresses.push_back(0x0a000000 + i * 7919 % 1000003);
    const auto frame = built(packet({header(eth), header(ipv4, {{"dst", list(addresses)}}), header(udp)}));
    for (std::uint64_t i = 0; i < 40000; i += 13) {
        const auto bytes = bytes_of(*frame, i);
        EXPECT_EQ(number_at(bytes, 30, 4), static_cast<std::uint64_t>(addresses[i % 20000]));
    }
    expect_sound(bytes_of(*frame, 19999), {{eth}, {ipv4}, {udp}}, 19999);
}

TEST(Random, takes_many_values_under_a_mask) {
    auto port = random_of(0, 65535);
    port.mask = 0x0fff;
    const auto frame =
        built(packet({header(eth), header(ipv4), header(udp, {{"dst", literal(0x4000)}, {"dst", port}})}));
    std::set<std::uint64_t> ports;
    for (std::uint64_t i = 0; i < 100; ++i) ports.insert(number_at(bytes_of(*frame, i), 36, 2));
    EXPECT_GE(ports.size(), 90U);
    for (const auto value : ports) EXPECT_EQ(value & 0xf000, 0x4000U);
}

TEST(Random, is_limited_to_a_set_and_repeats_with_its_seed) {
    auto address = random_of(0x30000001, 0x300000ff, 0x1235);
    address.distinct = 16;
    const auto model = packet({header(eth), header(ipv4, {{"dst", address}}), header(udp)});
    const auto frame = built(model);
    const auto again = built(model);
    std::set<std::uint64_t> seen;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        seen.insert(number_at(bytes_of(*frame, i), 30, 4));
        EXPECT_EQ(bytes_of(*frame, i), bytes_of(*again, i));
    }
    EXPECT_EQ(seen.size(), 16U);
}

TEST(SynFlood, has_right_checksums_and_draws_that_do_not_move_together) {
    const auto frame = built(packet(
        {header(eth),
         header(ipv4, {{"src", random_of(0x10000000, 0x120000fe)}, {"dst", literal(0x30000001)}}),
         header(tcp, {{"src", random_of(1025, 65000)}, {"dst", literal(80)}, {"flags", literal(2)}})}));
    std::set<std::pair<std::uint64_t, std::uint64_t>> tuples;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const auto bytes = bytes_of(*frame, i);
        expect_sound(bytes, {{eth}, {ipv4}, {tcp}}, i);
        const auto address = number_at(bytes, 26, 4);
        const auto port = number_at(bytes, 34, 2);
        EXPECT_TRUE(address >= 0x10000000 && address <= 0x120000fe && port >= 1025 && port <= 65000);
        // With one draw for both, the port would follow from the address.
        tuples.insert({(address - 0x10000000) * 16 / 0x20000ff, (port - 1025) * 16 / 63976});
    }
    EXPECT_GT(tuples.size(), 200U);
}

TEST(Variables, tie_fields_together) {
    auto model = packet({header(eth, {{"src", variable("client")}}),
                         header(ipv4, {{"src", variable("client")}}), header(udp)});
    model.variables.emplace_back("client", increment(1, 30000));
    model.headers[0].fields[0].program.add = 0x020000000000;
    model.headers[1].fields[0].program.mask = 0xffff;
    model.headers[1].fields.insert(model.headers[1].fields.begin(),
                                   {find_field(ipv4, "src"), literal(0x10000000)});
    const auto frame = built(model);
    for (const std::uint64_t i : {0U, 254U, 255U, 29999U, 30000U}) {
        const auto bytes = bytes_of(*frame, i);
        EXPECT_EQ(number_at(bytes, 6, 6), 0x020000000000 + i % 30000 + 1);
        EXPECT_EQ(number_at(bytes, 26, 4), 0x10000000 + i % 30000 + 1);
        expect_sound(bytes, {{eth}, {ipv4}, {udp}}, i);
    }
}

TEST(Nesting, makes_ten_thousand_flows_of_a_hundred_by_a_hundred) {
    auto port = increment(1024, 1123);
    port.nest = "ipv4.src";
    const auto frame = built(
        packet({header(eth), header(ipv4, {{"src", increment(1, 100)}}), header(udp, {{"dst", port}})}));
    std::set<std::pair<std::uint64_t, std::uint64_t>> flows;
    for (std::uint64_t i = 0; i < 20000; ++i) {
        const auto bytes = bytes_of(*frame, i);
        flows.insert({number_at(bytes, 26, 4), number_at(bytes, 36, 2)});
        if (i == 10000 - 1) {
            EXPECT_EQ(flows.size(), 10000U);
        }
    }
    EXPECT_EQ(flows.size(), 10000U);
}

TEST(Mpls, labels_count_up_under_a_fixed_one) {
    const auto frame = built(packet({header(eth), header(mpls, {{"label", literal(17)}}),
                                     header(mpls, {{"label", increment(1, 2000)}, {"ttl", literal(12)}}),
                                     header(ipv4), header(udp)}));
    for (const std::uint64_t i : {0U, 1U, 1999U, 2000U}) {
        const auto bytes = bytes_of(*frame, i);
        EXPECT_EQ(number_at(bytes, 18, 4), (i % 2000 + 1) << 12 | 0x10c);
        expect_sound(bytes, {{eth}, {mpls}, {mpls}, {ipv4}, {udp}}, i);
    }
}

TEST(Vxlan, checksums_hold_inside_and_outside_over_an_inner_range) {
    const auto frame = built(packet(
        {header(eth), header(ipv4), header(udp), header(vxlan, {{"vni", increment(42, 50)}}), header(eth),
         header(ipv6, {{"src", increment(1, 70000)}}), header(udp), raw_bytes(Bytes(21, 'x'))}));
    for (std::uint64_t i = 65530; i < 65540; ++i) {
        expect_sound(bytes_of(*frame, i), {{eth}, {ipv4}, {udp}, {vxlan}, {eth}, {ipv6}, {udp}, {raw, 21}},
                     i);
    }
}

}  // namespace
}  // namespace volley::packet
