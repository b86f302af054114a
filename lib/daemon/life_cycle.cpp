#include "daemon/life_cycle.h"

#include <array>

namespace volley::daemon {
namespace {

struct Row {
    State from;
    Event event;
    State to;
};

// A second stop needs no row: it shortens the waits of whatever state it finds. Only starting may fail; what
// goes wrong later is counted and shown, it ends nothing.
constexpr std::array rows{
    Row{State::starting, Event::started, State::running},
    Row{State::starting, Event::started_idle, State::idle},
    Row{State::starting, Event::error, State::failed},
    Row{State::starting, Event::stop, State::stopping},
    Row{State::running, Event::reload, State::reloading},
    Row{State::reloading, Event::reload_done, State::running},
    Row{State::running, Event::run_over, State::draining},
    Row{State::running, Event::stop, State::draining},
    Row{State::running, Event::stop_run, State::draining},
    Row{State::draining, Event::drained, State::settling},
    Row{State::draining, Event::deadline, State::settling},
    Row{State::idle, Event::start, State::running},
    Row{State::idle, Event::stop, State::stopping},
};

}  // namespace

std::optional<State> next(State state, Event event, Context context) {
    if (state == State::settling && event == Event::settled) {
        return context.exit_after ? State::stopping : State::idle;
    }
    for (const Row& row : rows) {
        if (row.from == state && row.event == event) return row.to;
    }
    return std::nullopt;
}

std::string_view name_of(State state) {
    switch (state) {
        case State::starting:
            return "starting";
        case State::running:
            return "running";
        case State::reloading:
            return "reloading";
        case State::draining:
            return "draining";
        case State::settling:
            return "settling";
        case State::idle:
            return "idle";
        case State::stopping:
            return "stopping";
        case State::failed:
            return "failed";
    }
    return "unknown";
}

}  // namespace volley::daemon
