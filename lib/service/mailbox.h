#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/units.h"
#include "config/problem.h"

namespace volley::service {

/// Packets to be captured from a port, until the first of the bounds is met.
struct CaptureOrder {
    std::string port;
    std::string filter;                             ///< of pcap-filter(7); empty: every packet
    std::uint64_t packets = 1'000;                  ///< at most
    std::uint64_t bytes = std::uint64_t{16} << 20;  ///< kept of them, at most
    Duration duration{10'000'000'000};
    std::uint32_t snap = 2'048;  ///< bytes kept of a packet, at most
};

/// What a client asks of control.
struct Command {
    enum class Kind : std::uint8_t {
        start,
        stop,
        clear,
        reload,
        configure,
        change_streams,
        log_level,
        capture
    };
    Kind kind = Kind::start;
    std::string who;       ///< for the log
    std::string if_match;  ///< the entity tag that the configuration must have; empty or "*": any
    std::string text;      ///< configure: the new configuration; log_level: the level
    std::string pattern;   ///< change_streams: shell pattern of their names
    /// start: "duration", "multiplier"; change_streams: "rate", "enabled", "paused". Values are JSON texts.
    std::vector<std::pair<std::string, std::string>> values;
    CaptureOrder capture{};
};

struct Outcome {
    enum class Verdict : std::uint8_t {
        done,
        invalid,      ///< the content is wrong; problems name all of it
        not_found,    ///< nothing is named so
        conflict,     ///< not in this state
        stale,        ///< if_match is not the tag in force
        unavailable,  ///< control or a device does not follow; try again
    };
    Verdict verdict = Verdict::done;
    std::string code;     ///< of the error: one word for programs
    std::string message;  ///< of the error, for people
    std::string hint;
    std::vector<config::Problem> problems;
    std::vector<std::string> names;  ///< change_streams: those that matched
    std::shared_ptr<const std::string>
        content;  ///< capture: the file, which is the answer instead of the rest
    std::string content_type;
    std::string state;  ///< afterwards
    std::string run_id;
    std::uint64_t generation = 0;
    std::string etag;
};

/// From the service's thread to control. The sender never waits: the answer comes as a call.
class Mailbox {
  public:
    using Answer = std::function<void(Outcome)>;
    struct Letter {
        Command command;
        Answer answer;
    };
    static constexpr std::size_t most = 256;

    /// Throws std::system_error when the kernel gives no event descriptor.
    Mailbox();
    /// The sender. When control is gone, or has too much to do, the answer says so at once.
    void post(Command command, Answer answer);
    /// Control: the next letter, if any.
    std::optional<Letter> take();
    /// Control: whether a letter of that kind waits.
    [[nodiscard]] bool holds(Command::Kind kind);
    /// Control, before it ends: answers all letters with `unavailable`, now and from now on.
    void close();
    /// Readable while letters wait.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  private:
    Fd fd_;
    std::mutex mutex_;
    std::vector<Letter> letters_;  ///< under mutex_
    bool closed_ = false;          ///< under mutex_
};

}  // namespace volley::service
