#include "packet/fields.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace volley::packet {
namespace {

TEST(Fields, have_one_entry_a_name_and_a_description_with_its_source) {
    std::set<std::pair<HeaderKind, std::string_view>> seen;
    for (const auto& field : all_fields()) {
        EXPECT_TRUE(seen.insert({field.header, field.name}).second)
            << name_of(field.header) << " " << field.name;
        EXPECT_EQ(find_field(field.header, field.name), &field);
        EXPECT_FALSE(field.filled.empty()) << field.name;
        EXPECT_NE(field.description.find('('), std::string_view::npos) << field.description;
        EXPECT_EQ(field.bit_width == 0, field.type == FieldType::bytes || field.type == FieldType::domain)
            << field.name;
    }
}

TEST(Fields, never_share_a_bit_within_a_header) {
    for (const auto& a : all_fields()) {
        for (const auto& b : all_fields()) {
            if (&a == &b || a.header != b.header) continue;
            EXPECT_TRUE(a.bit_offset + a.bit_width <= b.bit_offset ||
                        b.bit_offset + b.bit_width <= a.bit_offset)
                << name_of(a.header) << " " << a.name << " and " << b.name;
        }
    }
}

TEST(Fields, are_found_by_header_and_name_and_nothing_else_is) {
    ASSERT_NE(find_header("ipv4"), nullptr);
    EXPECT_EQ(*find_header("ipv4"), HeaderKind::ipv4);
    EXPECT_EQ(find_header("IPv4"), nullptr);
    EXPECT_EQ(find_field(HeaderKind::udp, "ttl"), nullptr);
    for (std::size_t i = 0; i < header_kinds; ++i) {
        const auto kind = static_cast<HeaderKind>(i);
        ASSERT_NE(find_header(name_of(kind)), nullptr);
        EXPECT_EQ(*find_header(name_of(kind)), kind);
    }
    EXPECT_EQ(tcp_flag_names()[4], "ack");
}

}  // namespace
}  // namespace volley::packet
