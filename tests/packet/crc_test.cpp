#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "models.h"
#include "packet/crc32c.h"
#include "packet/domain.h"

namespace volley::packet {
namespace {

std::span<const std::uint8_t> bytes_of_text(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Crc32c, is_that_of_rfc_3720_with_and_without_the_instruction) {
    const auto check = [](std::span<const std::uint8_t> bytes, std::uint32_t wanted) {
        const auto count = static_cast<std::uint32_t>(bytes.size());
        EXPECT_EQ(crc32c(bytes.data(), count), wanted);
        EXPECT_EQ(crc32c_by_table(bytes.data(), count), wanted);
    };
    check(bytes_of_text("123456789"), 0xe3069283);
    const std::vector<std::uint8_t> zeros(32);
    const std::vector<std::uint8_t> ones(32, 0xff);
    check(zeros, 0x8a9136aa);  // RFC 3720 appendix B.4
    check(ones, 0x62a8ab43);
    check({}, 0);
}

TEST(Domain, reads_back_from_its_labels) {
    std::string why;
    for (const std::string name : {"example.com", "a", ".", "xn--bcher-kva.example"}) {
        const auto labels = domain_labels(name, why);
        ASSERT_TRUE(labels) << why;
        EXPECT_EQ(domain_text(*labels), name);
    }
    EXPECT_EQ(hex(*domain_labels("ab.c.", why)),
              "0261620163"
              "00");
}

TEST(Domain, that_has_no_labels_of_dns_is_refused) {
    const std::string long_label(64, 'a');
    const std::string long_name = std::string(63, 'a') + "." + std::string(63, 'b') + "." +
                                  std::string(63, 'c') + "." + std::string(62, 'd');
    for (const std::string& name : {std::string("a..b"), std::string(".a"), std::string(".."),
                                    std::string("a.."), long_label, long_name}) {
        std::string why;
        EXPECT_FALSE(domain_labels(name, why)) << name;
        EXPECT_FALSE(why.empty());
    }
    std::string why;
    EXPECT_TRUE(domain_labels(long_name.substr(1), why)) << why;
}

}  // namespace
}  // namespace volley::packet
