#include "soft82599/interrupts.h"

#include <gtest/gtest.h>

#include <vector>

namespace volley::soft82599 {
namespace {

struct Interrupts82599 : testing::Test {
    Interrupts82599() {
        interrupts.set_sink([this](unsigned vector) { fired.push_back(vector); });
    }
    /// MSI-X with auto-masking, RX queue q on vector q + 1, other causes on vector 0: what the driver sets
    /// up.
    void use_msix() {
        registers.store(reg::gpie, reg::gpie_msix | reg::gpie_auto_mask);
        registers.store(reg::eiam_ex, 0xFFFF'FFFF);
        registers.store(reg::ivar, 0x81U | 0x82U << 16);
        registers.store(reg::ivar_misc, 0x80U << 8);
    }
    RegisterFile registers;
    Interrupts interrupts{registers};
    std::vector<unsigned> fired;
};

TEST_F(Interrupts82599, wait_for_their_unmasking_and_fire_once_until_read) {
    interrupts.raise(reg::cause_link);
    EXPECT_TRUE(fired.empty());
    interrupts.write(reg::eims, reg::cause_link);
    EXPECT_EQ(fired, std::vector<unsigned>{0});
    interrupts.raise(reg::cause_link);
    EXPECT_EQ(fired.size(), 2U);  // another change
    interrupts.write(reg::eics, 0);
    EXPECT_EQ(fired.size(), 2U);  // nothing new
    EXPECT_EQ(interrupts.read(reg::eicr), reg::cause_link);
    EXPECT_EQ(interrupts.read(reg::eicr), 0U);
    interrupts.write(reg::eimc, reg::cause_link);
    interrupts.raise(reg::cause_link);
    EXPECT_EQ(fired.size(), 2U);
}

TEST_F(Interrupts82599, of_a_queue_mask_themselves_and_lose_no_packet_that_comes_meanwhile) {
    use_msix();
    interrupts.write(reg::eims, 0x6);
    interrupts.raise_rx(1);
    EXPECT_EQ(fired, std::vector<unsigned>{2});
    interrupts.raise_rx(1);
    interrupts.raise_rx(1);
    EXPECT_EQ(fired.size(), 1U);  // masked by the first
    interrupts.raise_rx(0);
    EXPECT_EQ(fired.back(), 1U);
    interrupts.write(reg::eims, 0x6);
    EXPECT_EQ(fired, (std::vector<unsigned>{2, 1, 2}));  // what came while masked
}

TEST_F(Interrupts82599, of_queue_and_link_have_vectors_of_their_own) {
    use_msix();
    interrupts.write(reg::eims, 0x2 | reg::cause_link);
    interrupts.raise_rx(0);
    interrupts.raise(reg::cause_link);
    EXPECT_EQ(fired, (std::vector<unsigned>{1, 0}));
    EXPECT_EQ(interrupts.fired(0), 1U);
    EXPECT_EQ(interrupts.fired(1), 1U);
}

TEST_F(Interrupts82599, of_high_queues_are_masked_through_the_extended_registers) {
    use_msix();
    registers.store(reg::ivar + 4 * 20, 0xA9);  // queue 40 on vector 41
    registers.store(reg::eiam_ex + 4, 0xFFFF'FFFF);
    interrupts.raise_rx(40);
    EXPECT_TRUE(fired.empty());
    interrupts.write(reg::eims_ex + 4, 1U << 9);
    EXPECT_EQ(fired, std::vector<unsigned>{41});
    EXPECT_EQ(interrupts.read(reg::eims_ex + 4), 0U);
}

}  // namespace
}  // namespace volley::soft82599
