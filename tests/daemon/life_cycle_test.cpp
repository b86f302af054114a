#include "daemon/life_cycle.h"

#include <gtest/gtest.h>

#include <array>

namespace volley::daemon {
namespace {

constexpr std::array states{State::starting, State::running, State::reloading, State::draining,
                            State::settling, State::idle,    State::stopping,  State::failed};
constexpr std::array events{Event::started,     Event::started_idle, Event::error,   Event::reload,
                            Event::reload_done, Event::run_over,     Event::stop,    Event::stop_run,
                            Event::drained,     Event::deadline,     Event::settled, Event::start};

TEST(LifeCycle, goes_from_start_over_drain_and_settle_to_stop_when_the_run_is_over) {
    EXPECT_EQ(next(State::starting, Event::started), State::running);
    EXPECT_EQ(next(State::running, Event::run_over), State::draining);
    EXPECT_EQ(next(State::draining, Event::drained), State::settling);
    EXPECT_EQ(next(State::settling, Event::settled, {true}), State::stopping);
}

TEST(LifeCycle, keeps_ports_up_in_idle_when_asked_to_and_can_run_again) {
    EXPECT_EQ(next(State::settling, Event::settled, {false}), State::idle);
    EXPECT_EQ(next(State::idle, Event::start), State::running);
    EXPECT_EQ(next(State::starting, Event::started_idle), State::idle);
}

TEST(LifeCycle, a_stop_drains_a_run_and_ends_an_idle_process_at_once) {
    EXPECT_EQ(next(State::running, Event::stop), State::draining);
    EXPECT_EQ(next(State::running, Event::stop_run), State::draining);
    EXPECT_EQ(next(State::idle, Event::stop), State::stopping);
    EXPECT_EQ(next(State::draining, Event::deadline), State::settling);
}

TEST(LifeCycle, a_reload_always_comes_back_to_running) {
    EXPECT_EQ(next(State::running, Event::reload), State::reloading);
    EXPECT_EQ(next(State::reloading, Event::reload_done), State::running);
}

TEST(LifeCycle, nothing_leads_out_of_stopping_and_failed) {
    for (const Event event : events) {
        EXPECT_FALSE(next(State::stopping, event));
        EXPECT_FALSE(next(State::failed, event));
    }
}

TEST(LifeCycle, only_starting_can_fail_and_only_a_run_can_reload) {
    for (const State state : states) {
        EXPECT_EQ(next(state, Event::error).has_value(), state == State::starting) << name_of(state);
        EXPECT_EQ(next(state, Event::reload).has_value(), state == State::running) << name_of(state);
    }
}

}  // namespace
}  // namespace volley::daemon
