#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "system/long_run.h"
#include "system/soft_scene.h"

namespace volley::test {
namespace {

// The real driver, and a NIC whose wire this test moves: in trap mode a tail write costs microseconds.
TEST(SoftRates, of_a_long_run_are_those_of_the_clock) {
    const unsigned seconds = std::getenv("VOLLEY_LONG") != nullptr ? 100 : 1;
    EXPECT_TRUE(in_child([&] {
        const json config = rates_config(seconds, "net_soft82599_0,id=10f7,mode=plain");
        const SceneResult result = run_scene(config, [](const Scene& scene) {
            std::uint64_t turns = 0;
            for (bool over = false; !over; ++turns) {
                if (Scene::nic().pump() == 0) std::this_thread::yield();  // the sender may need this CPU
                if (turns % 100'000 == 0)
                    over = !scene.lines().empty() && scene.lines().back().at("type") == "report";
            }
        });
        EXPECT_EQ(result.status, 0) << result.error << result.log;
        ASSERT_FALSE(result.lines.empty());
        expect_rates(result.lines.back(), seconds);
    }));
}

}  // namespace
}  // namespace volley::test
