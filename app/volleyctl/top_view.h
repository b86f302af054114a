#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace volley::ctl {

/// What `volleyctl top` knows: plain values, filled by whoever talks to the daemon.
struct TopState {
    nlohmann::json line;     ///< the latest telemetry line; null before the first
    nlohmann::json streams;  ///< array as /api/v1/streams gives it: some of `total`, from number `first` on
    std::size_t first = 0;
    std::size_t total = 0;   ///< that the filter takes
    std::string name;        ///< of the configuration
    std::string connection;  ///< empty while all is well, else what is wrong with it
    std::string message;     ///< answer to the last key, empty when none
    std::string filter = "*";
    std::size_t sort = 0;      ///< index into sort_keys()
    std::size_t selected = 0;  ///< number of a stream in the order shown; `first` is the first of streams
    bool may_change = false;
    std::string prompt;  ///< "rate: 10" while something is typed, else empty
};

/// A column by which streams are put in order.
struct SortKey {
    std::string name;
    std::string pointer;  ///< into a stream; the name sorts up, figures sort down
};
const std::vector<SortKey>& sort_keys();

enum class Style { plain, title, good, bad, head, selected };

/// A piece of a row of the screen.
struct Piece {
    std::string text;
    Style style = Style::plain;
};
using Row = std::vector<Piece>;

/// Streams in the order shown. Where not all are here, by the daemon's order it is a part of them that
/// `first` begins, and by any other the order is among those that are here.
std::vector<nlohmann::json> sorted_streams(const TopState& state);

/// How many streams a screen of that size shows at a time.
std::size_t streams_shown(const TopState& state, std::size_t rows, std::size_t columns);

/// The screen: exactly `rows` rows, none wider than `columns`. Made for 80 x 24; wider ones show more
/// columns, higher ones more streams. Never fails, whatever parts of a line are missing.
std::vector<Row> draw_top(const TopState& state, std::size_t rows, std::size_t columns);

/// The name of the stream that is selected, empty when there is none.
std::string selected_stream(const TopState& state);

}  // namespace volley::ctl
