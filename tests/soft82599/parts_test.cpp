#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "soft82599/abi.h"
#include "soft82599/eeprom.h"
#include "soft82599/mmio.h"
#include "soft82599/options.h"
#include "soft82599/pacer.h"
#include "soft82599/rss.h"
#include "soft82599/sfp.h"
#include "soft82599/statistics.h"

namespace volley::soft82599 {
namespace {

std::optional<MmioAccess> decode(std::initializer_list<unsigned> bytes) {
    std::vector<std::uint8_t> code;
    for (const unsigned byte : bytes) code.push_back(static_cast<std::uint8_t>(byte));
    code.resize(16, 0xCC);
    return decode_mmio(code.data());
}

TEST(Mmio, decodes_the_four_forms_with_every_addressing_mode) {
    struct Row {
        std::initializer_list<unsigned> code;
        bool store;
        unsigned gpr;
        unsigned length;
    };
    const Row rows[] = {
        {{0x8B, 0x07}, false, 0, 2},                    // mov eax, [rdi]
        {{0x8B, 0x82, 0x10, 0x60, 0, 0}, false, 0, 6},  // mov eax, [rdx + disp32]
        {{0x44, 0x8B, 0x40, 0x08}, false, 8, 4},        // mov r8d, [rax + disp8]
        {{0x41, 0x8B, 0x14, 0x24}, false, 2, 4},        // mov edx, [r12]: SIB
        {{0x8B, 0x04, 0x85, 0, 0, 0, 0}, false, 0, 7},  // mov eax, [rax*4 + disp32]: no base
        {{0x8B, 0x0D, 0, 0, 0, 0}, false, 1, 6},        // mov ecx, [rip + disp32]
        {{0x89, 0x34, 0x08}, true, 6, 3},               // mov [rax + rcx], esi
        {{0x45, 0x89, 0x7C, 0x24, 0x10}, true, 15, 5},  // mov [r12 + disp8], r15d
        {{0x0F, 0x38, 0xF9, 0x08}, true, 1, 4},         // movdiri [rax], ecx
        {{0x44, 0x0F, 0x38, 0xF9, 0x9A, 0x18, 0x60, 0, 0}, true, 11, 9},  // movdiri [rdx + disp32], r11d
    };
    for (const Row& row : rows) {
        const auto access = decode(row.code);
        ASSERT_TRUE(access) << row.length << " bytes, register " << row.gpr;
        EXPECT_EQ(access->store, row.store);
        EXPECT_EQ(access->gpr, row.gpr);
        EXPECT_EQ(access->length, row.length);
        EXPECT_FALSE(access->immediate);
    }
    const auto immediate = decode({0xC7, 0x80, 0x88, 0x08, 0, 0, 0xFF, 0xEE, 0xDD, 0x7C});
    ASSERT_TRUE(immediate);
    EXPECT_TRUE(immediate->store && immediate->immediate);
    EXPECT_EQ(immediate->value, 0x7CDDEEFFU);
    EXPECT_EQ(immediate->length, 10);
}

TEST(Mmio, refuses_other_operand_sizes_and_instructions) {
    EXPECT_FALSE(decode({0x48, 0x8B, 0x07}));        // 64-bit load
    EXPECT_FALSE(decode({0x66, 0x89, 0x07}));        // 16-bit store
    EXPECT_FALSE(decode({0x88, 0x07}));              // 8-bit store
    EXPECT_FALSE(decode({0x8B, 0xC1}));              // register to register
    EXPECT_FALSE(decode({0x83, 0x0F, 0x01}));        // or [rdi], 1
    EXPECT_FALSE(decode({0x0F, 0x38, 0xF1, 0x08}));  // movbe
    EXPECT_FALSE(decode({0xC7, 0xF8, 0, 0, 0, 0}));  // xbegin
}

TEST(Options, are_read_with_their_defaults_and_refused_with_what_would_be_right) {
    const Options defaults = parse_options("");
    EXPECT_EQ(defaults.id, DeviceId::sfp);
    EXPECT_EQ(defaults.mode, Mode::trap);
    EXPECT_TRUE(defaults.lossless && defaults.link_up && defaults.module_present && !defaults.loop);

    const Options all =
        parse_options("id=10f7,mode=virtual,peer=net_soft82599_3,link=down,lossless=0,mac=02:00:00:00:0a:0b");
    EXPECT_EQ(all.id, DeviceId::kx4);
    EXPECT_EQ(all.mode, Mode::virtual_time);
    EXPECT_EQ(all.peer, "net_soft82599_3");
    EXPECT_FALSE(all.link_up || all.lossless);
    EXPECT_EQ(all.mac, (MacAddress{2, 0, 0, 0, 0x0A, 0x0B}));

    const auto refusal = [](const char* text) {
        try {
            parse_options(text);
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_EQ(refusal("id=1528"), "id: \"1528\" (use 10fb or 10f7)");
    EXPECT_NE(refusal("speed=10").find("unknown option \"speed=10\""), std::string::npos);
    EXPECT_NE(refusal("loop").find("KEY=VALUE"), std::string::npos);
    EXPECT_NE(refusal("loop=1,peer=net_soft82599_1").find("exclude each other"), std::string::npos);
    EXPECT_NE(refusal("mac=01:00:00:00:00:00").find("unicast"), std::string::npos);
    EXPECT_NE(refusal("mac=02-00-00-00-00-00").find("six bytes"), std::string::npos);
    EXPECT_EQ(port_number("net_soft82599_31"), 31U);
    EXPECT_THROW(port_number("net_soft82599_32"), std::invalid_argument);
    EXPECT_THROW(port_number("net_soft82599"), std::invalid_argument);
}

TEST(Abi, knows_22_11_and_says_what_to_do_about_others) {
    EXPECT_EQ(dpdk_mismatch("DPDK 22.11.11"), "");
    EXPECT_NE(dpdk_mismatch("DPDK 23.11.2").find("this is DPDK 23.11.2: compare"), std::string::npos);
    EXPECT_NE(dpdk_mismatch("DPDK 22.11").find("22.11"), std::string::npos);
}

TEST(Eeprom, has_the_checksum_and_answers_read_commands) {
    const Eeprom eeprom({2, 0, 0, 0, 0, 1});
    std::uint16_t sum = 0;
    for (unsigned i = 0; i <= 0x3F; ++i) sum = static_cast<std::uint16_t>(sum + eeprom.word(i));
    EXPECT_EQ(sum, 0xBABA);
    EXPECT_EQ(eeprom.read_command(0x0F << 2 | 1), 0x200U << 16 | 0x0F << 2 | 2);
    EXPECT_EQ(eeprom.word(0x3FFF), 0);
}

/// The driver's side of the two-wire bus.
class Bus {
  public:
    explicit Bus(SfpModule& module) : module_(module) {}
    void start() {
        set(true, true);
        set(true, false);
        set(false, false);
    }
    void stop() {
        set(false, false);
        set(true, false);
        set(true, true);
    }
    bool write(unsigned byte) {
        for (int bit = 7; bit >= 0; --bit) clock((byte >> bit & 1) != 0);
        return !clock(true);  // acknowledged
    }
    unsigned read(bool acknowledge) {
        unsigned byte = 0;
        for (int bit = 0; bit < 8; ++bit) byte = byte << 1 | (clock(true) ? 1 : 0);
        clock(!acknowledge);
        return byte;
    }

  private:
    void set(bool scl, bool sda) {
        value_ = (scl ? 2U : 0U) | (sda ? 8U : 0U);
        module_.write(value_);
    }
    bool clock(bool sda) {
        set(false, sda);
        set(true, sda);
        const bool line = (module_.read(value_ | 4) & 4) != 0;  // an old input bit must not show
        set(false, sda);
        return line;
    }
    SfpModule& module_;
    std::uint32_t value_ = 0;
};

TEST(Sfp, answers_random_and_sequential_reads_at_its_address_only) {
    SfpModule module;
    Bus bus(module);
    bus.start();
    EXPECT_FALSE(bus.write(0xA2));
    bus.stop();
    bus.start();
    ASSERT_TRUE(bus.write(0xA0));
    ASSERT_TRUE(bus.write(0x25));
    bus.start();
    ASSERT_TRUE(bus.write(0xA1));
    EXPECT_EQ(bus.read(true), 0x00U);
    EXPECT_EQ(bus.read(true), 0x1BU);
    EXPECT_EQ(bus.read(false), 0x21U);
    bus.stop();
    module.set_present(false);
    bus.start();
    EXPECT_FALSE(bus.write(0xA0));
}

TEST(Statistics, clear_on_read_latch_pairs_and_stick_at_the_top) {
    Statistics statistics;
    statistics.add(stat::good_sent, 5);
    EXPECT_EQ(statistics.read(stat::good_sent), 5U);
    EXPECT_EQ(statistics.read(stat::good_sent), 0U);

    statistics.add(stat::good_octets_sent, 0x1'2345'6789);
    EXPECT_EQ(statistics.read(stat::good_octets_sent), 0x2345'6789U);
    statistics.add(stat::good_octets_sent, 0xF'0000'0000);
    EXPECT_EQ(statistics.read(stat::good_octets_sent + 4), 1U);  // what the low half latched
    EXPECT_EQ(statistics.read(stat::good_octets_sent), 0U);
    EXPECT_EQ(statistics.read(stat::good_octets_sent + 4), 15U);

    statistics.add(stat::good_sent, 0xFFFF'FFFF);
    statistics.add(stat::good_sent, 3);
    EXPECT_EQ(statistics.read(stat::good_sent), 0xFFFF'FFFFU);
    for (const std::uint64_t bytes : {64U, 65U, 127U, 128U, 1023U, 1024U})
        statistics.add_size(stat::tx_size, bytes);
    std::array<std::uint32_t, 6> classes{};
    for (unsigned i = 0; i < 6; ++i) classes[i] = statistics.read(stat::tx_size + 4 * i);
    EXPECT_EQ(classes, (std::array<std::uint32_t, 6>{1, 2, 1, 0, 1, 1}));
}

TEST(Rss, hashes_the_published_verification_vectors) {
    // Microsoft's "Verifying the RSS hash calculation": source 66.9.149.187:2794, destination
    // 161.142.100.80:1766.
    constexpr RssKey key = {0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
                            0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
                            0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
                            0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
    constexpr std::uint8_t tuple[] = {66,  9,  149,       187,         161,       142,
                                      100, 80, 2794 >> 8, 2794 & 0xFF, 1766 >> 8, 1766 & 0xFF};
    EXPECT_EQ(toeplitz(key, Bytes(tuple).first(8)), 0x323e8fc2U);
    EXPECT_EQ(toeplitz(key, tuple), 0x51ccc178U);
}

TEST(Pacer, keeps_a_limited_rate_exact_over_many_frames) {
    Pacer pacer(4);
    constexpr std::uint32_t factor = 3U << 14 | 5461;  // 10000 / 3000 as the driver rounds it
    pacer.set_limiter(0, reg::rttbcnrc_enable | factor);
    const auto after = [](std::uint64_t frames) { return frames * 64 * 800 * factor / (1U << 14); };
    constexpr std::uint64_t frames = 100'000;
    for (std::uint64_t i = 0; i < frames; ++i) pacer.sent(0, pacer.start(0), 60);
    EXPECT_EQ(pacer.start(0), after(frames));
    EXPECT_EQ(pacer.start(1),
              after(frames - 1) + 84U * 800);  // the wire is free when the last frame has left
}

TEST(Pacer, shares_the_wire_and_pauses_in_512_bit_times) {
    Pacer pacer(4);
    pacer.sent(0, pacer.start(0), 60);
    EXPECT_EQ(pacer.start(7), 84U * 800);
    pacer.set_now(1'000'000);
    pacer.available(7);
    EXPECT_EQ(pacer.start(7), 1'000'000U);
    pacer.pause(10);
    EXPECT_TRUE(pacer.paused());
    EXPECT_EQ(pacer.start(7), 1'000'000U + 10 * 51'200);
    pacer.pause(0);
    EXPECT_FALSE(pacer.paused());
}

}  // namespace
}  // namespace volley::soft82599
