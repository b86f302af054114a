#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace volley::daemon {

/// The life of volleyd as a table: pure, no effects. Control asks next() and then does what the new state
/// demands.
enum class State : std::uint8_t {
    starting,   ///< ports and workers come up
    running,    ///< a run is under way
    reloading,  ///< a new configuration is read, compared and adopted while traffic goes on
    draining,   ///< nothing more is emitted; rings run dry, batches go out
    settling,   ///< receivers wait for packets in flight
    idle,       ///< ports and links are up, no run
    stopping,   ///< final report is out; everything is taken down in reverse
    failed,     ///< start-up went wrong; one line says what to do next
};

enum class Event : std::uint8_t {
    started,       ///< ports up, plan adopted
    started_idle,  ///< ports up, run.start is manual
    error,         ///< start-up failed
    reload,        ///< SIGHUP or PUT config
    reload_done,   ///< adopted, or refused and nothing changed
    run_over,      ///< the duration has passed, or every count is emitted
    stop,          ///< SIGTERM, SIGINT: end the process
    stop_run,      ///< end the run, keep the process
    drained,       ///< the NIC has sent all that it accepted
    deadline,      ///< it has not, and waiting is over
    settled,       ///< the settle time is over
    start,         ///< begin a run
};

/// What the table cannot know by itself.
struct Context {
    bool exit_after = true;  ///< a stop was asked for, or when_done is "exit"
};

/// The state that follows, or nothing when the event means nothing in this state and is to be refused or
/// ignored.
std::optional<State> next(State state, Event event, Context context = {});

std::string_view name_of(State state);

}  // namespace volley::daemon
