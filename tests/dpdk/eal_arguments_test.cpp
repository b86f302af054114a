#include <gtest/gtest.h>

#include "dpdk/eal.h"
#include "dpdk/error.h"

namespace volley::dpdk {
namespace {

std::string line(const EalOptions& options, std::uint64_t huge_free_mib = 0) {
    std::string out;
    for (const std::string& argument : eal_arguments(options, huge_free_mib)) out += argument + " ";
    return out;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(EalArguments, name_no_pci_device_that_the_configuration_does_not_name) {
    EalOptions options;
    EXPECT_TRUE(has(line(options), "--no-pci"));
    options.pci = {"0000:03:00.0", "0000:03:00.1"};
    EXPECT_FALSE(has(line(options), "--no-pci"));
    EXPECT_TRUE(has(line(options), "-a 0000:03:00.0 -a 0000:03:00.1"));
}

TEST(EalArguments, use_huge_pages_only_where_enough_are_free_unless_told) {
    EalOptions options;
    options.memory_mib = 512;
    EXPECT_TRUE(has(line(options, 511), "--no-huge --no-shconf"));
    EXPECT_FALSE(has(line(options, 511), "--in-memory")) << "the EAL refuses it with --no-huge";
    EXPECT_TRUE(has(line(options, 512), "--in-memory"));
    options.huge_pages = "no";
    EXPECT_TRUE(has(line(options, 512), "--no-huge"));
    options.huge_pages = "yes";
    EXPECT_TRUE(has(line(options, 0), "--in-memory"));
}

TEST(EalArguments, map_lcores_as_the_configuration_says_or_take_each_id_as_its_cpu) {
    EalOptions options;
    options.lcore_ids = {3, 0, 1, 3};
    EXPECT_TRUE(has(line(options), "-l 0,1,3 ")) << line(options);
    options.lcores = "0@0,1@0,3@1";
    EXPECT_TRUE(has(line(options), "--lcores 0@0,1@0,3@1 "));
    EXPECT_FALSE(has(line(options), "-l "));
}

TEST(DpdkError, says_operation_reason_and_next_step_whatever_the_sign_of_the_code) {
    const Error error("starting port east", -16, "free it");
    EXPECT_EQ(error.code(), 16);
    EXPECT_STREQ(error.what(), "starting port east: Device or resource busy: free it");
}

}  // namespace
}  // namespace volley::dpdk
