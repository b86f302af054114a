#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"

namespace volley::port {

/// What the kernel or the NIC says of the link.
struct Link {
    bool up = false;
    std::uint64_t speed_bps = 0;  ///< 0: unknown
};

/// One link from the port's start on, as a state machine without effects or clock of its own:
///
/// | from          | sees                                                     | to       |
/// |---------------|----------------------------------------------------------|----------|
/// | waiting       | up at the first look, at the wanted speed                | up       |
/// | waiting       | up                                                       | settling |
/// | settling      | down                                                     | waiting  |
/// | settling      | up for `settle`, at the wanted speed                     | up       |
/// | settling      | up for `speed_patience`, speed unknown                   | up       |
/// | settling      | up for `speed_patience` at another speed than the wanted | failed   |
/// | waiting, settling | `patience` is over                                   | failed   |
/// | up            | down                                                     | lost     |
/// | lost          | up                                                       | up       |
///
/// Nothing is sent before the first `up`, and nothing leaves `failed`. A link that is lost later holds its
/// packets in the NIC; its traffic is not stopped.
class LinkWatch {
  public:
    enum class State : std::uint8_t { waiting, settling, up, lost, failed };

    struct Settings {
        std::optional<std::uint64_t> wanted_bps;  ///< the port's "speed"
        Duration patience{10'000'000'000};        ///< from the start to the first up
        Duration settle{300'000'000};             ///< a link that came up late must stay so long
        Duration speed_patience{2'000'000'000};   ///< for a speed that is unknown or wrong
        Duration retry_interval{3'000'000'000};   ///< between two requests to bring it up
    };

    explicit LinkWatch(const Settings& settings) : settings_(settings) {}

    struct Step {
        bool changed = false;  ///< the state is another one
        bool retry = false;    ///< now the port is to be asked to bring its link up once more
    };
    /// Time runs from the first look, soon after the port's start. now_ns never falls from call to call.
    Step look(const Link& link, std::uint64_t now_ns);

    [[nodiscard]] State state() const noexcept { return state_; }
    /// What is waited for, or what went wrong, with the next step; empty when all is well.
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
    /// Of the last look.
    [[nodiscard]] const Link& link() const noexcept { return link_; }
    /// Times that the link went up or down since the port's start.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

  private:
    [[nodiscard]] State next(std::uint64_t now_ns) const;
    [[nodiscard]] bool speed_right() const noexcept;
    [[nodiscard]] std::string explain() const;

    Settings settings_;
    std::uint64_t started_ns_ = 0;
    std::uint64_t since_ns_ = 0;  ///< the link is as it is since then
    std::uint64_t retry_ns_ = 0;  ///< of the last request
    State state_ = State::waiting;
    Link link_;
    std::uint64_t looks_ = 0;
    std::uint64_t changes_ = 0;
    std::string reason_;
};

}  // namespace volley::port
