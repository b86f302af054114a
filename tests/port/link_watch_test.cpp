#include "port/link_watch.h"

#include <gtest/gtest.h>

#include <functional>

namespace volley::port {
namespace {

using State = LinkWatch::State;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t second = 1000 * ms;
constexpr Link down{false, 0};
constexpr Link ten{true, 10'000'000'000};

/// Looks every 10 ms at a link that is a function of time; returns when the state was first `wanted`, in
/// milliseconds, or -1.
std::int64_t reached(LinkWatch& watch, State wanted, const std::function<Link(std::uint64_t at_ms)>& link,
                     std::uint64_t until_ms = 20'000, unsigned* retries = nullptr) {
    for (std::uint64_t at = 0; at <= until_ms; at += 10) {
        const auto step = watch.look(link(at), 5 * second + at * ms);
        if (retries != nullptr) *retries += step.retry ? 1 : 0;
        if (watch.state() == wanted) return static_cast<std::int64_t>(at);
    }
    return -1;
}

LinkWatch watch_for(std::optional<std::uint64_t> speed = std::nullopt) {
    LinkWatch::Settings settings;
    settings.wanted_bps = speed;
    return LinkWatch(settings);
}

TEST(LinkWatch, takes_a_link_that_is_up_at_once) {
    LinkWatch watch = watch_for(10'000'000'000);
    EXPECT_EQ(reached(watch, State::up, [](auto) { return ten; }), 0);
    EXPECT_EQ(watch.reason(), "");
}

TEST(LinkWatch, takes_a_late_link_when_it_has_stayed_up) {
    LinkWatch watch = watch_for();
    unsigned retries = 0;
    EXPECT_EQ(reached(
                  watch, State::up, [](auto at) { return at < 5000 ? down : ten; }, 20'000, &retries),
              5300);
    EXPECT_EQ(retries, 1U);
    EXPECT_EQ(watch.changes(), 1U);
}

TEST(LinkWatch, gives_up_on_an_absent_one_after_its_patience_and_says_what_to_check) {
    LinkWatch watch = watch_for();
    unsigned retries = 0;
    watch.look(down, 5 * second);
    EXPECT_NE(watch.reason().find("no link: check cable and module"), std::string::npos);
    EXPECT_EQ(reached(
                  watch, State::failed, [](auto) { return down; }, 20'000, &retries),
              10'000);
    EXPECT_EQ(retries, 3U);
    EXPECT_NE(watch.reason().find("no link: check cable and module"), std::string::npos);
    watch.look(ten, 60 * second);
    EXPECT_EQ(watch.state(), State::failed) << "nothing leaves it";
}

TEST(LinkWatch, never_takes_one_that_flaps_and_says_so) {
    LinkWatch watch = watch_for();
    const auto flaps = [](std::uint64_t at) { return at / 200 % 2 == 0 ? down : ten; };
    LinkWatch again = watch_for();
    EXPECT_EQ(reached(again, State::up, flaps), -1);
    EXPECT_EQ(reached(watch, State::failed, flaps), 10'000);
    EXPECT_NE(watch.reason().find("link flaps ("), std::string::npos) << watch.reason();
}

TEST(LinkWatch, takes_one_that_stops_flapping) {
    LinkWatch watch = watch_for();
    EXPECT_EQ(reached(watch, State::up, [](auto at) { return at < 3000 && at / 200 % 2 == 0 ? down : ten; }),
              3300);
}

TEST(LinkWatch, waits_for_an_unknown_speed_and_then_goes_without) {
    LinkWatch late = watch_for();
    EXPECT_EQ(reached(late, State::up,
                      [](auto at) {
                          return Link{true, at < 1000 ? 0 : ten.speed_bps};
                      }),
              1000);
    LinkWatch never = watch_for(10'000'000'000);
    never.look({true, 0}, 5 * second);
    EXPECT_EQ(never.state(), State::settling);
    EXPECT_NE(never.reason().find("not known yet"), std::string::npos);
    EXPECT_EQ(reached(never, State::up, [](auto) { return Link{true, 0}; }), 2000);
    EXPECT_NE(never.reason().find("does not tell"), std::string::npos);
}

TEST(LinkWatch, waits_for_the_wanted_speed_and_then_names_both) {
    LinkWatch watch = watch_for(10'000'000'000);
    EXPECT_EQ(reached(watch, State::failed, [](auto) { return Link{true, 1'000'000'000}; }), 2000);
    EXPECT_EQ(watch.reason(),
              "a link of 1Gbps, but the port's \"speed\" is 10Gbps: correct \"speed\", or the cabling");
    LinkWatch renegotiates = watch_for(10'000'000'000);
    EXPECT_EQ(reached(renegotiates, State::up,
                      [](auto at) {
                          return Link{true, at < 1000 ? 1'000'000'000 : ten.speed_bps};
                      }),
              1000);
}

TEST(LinkWatch, shows_a_later_loss_and_return_at_once) {
    LinkWatch watch = watch_for();
    watch.look(ten, 5 * second);
    EXPECT_TRUE(watch.look(down, 60 * second).changed);
    EXPECT_EQ(watch.state(), State::lost);
    EXPECT_NE(watch.reason().find("link lost"), std::string::npos);
    EXPECT_FALSE(watch.look(down, 100 * second).retry);
    EXPECT_TRUE(watch.look(ten, 160 * second).changed);
    EXPECT_EQ(watch.state(), State::up);
}

}  // namespace
}  // namespace volley::port
