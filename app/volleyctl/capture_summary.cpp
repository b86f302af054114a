#include "volleyctl/capture_summary.h"

#include <cstring>

namespace volley::ctl {
namespace {

constexpr std::uint32_t statistics_block = 5;
constexpr std::uint32_t packet_block = 6;

template <class Word>
Word word_at(std::string_view text, std::size_t at) {
    Word out = 0;
    if (at + sizeof out <= text.size()) std::memcpy(&out, text.data() + at, sizeof out);
    return out;
}

// The options of a statistics block begin behind its interface and its time.
void read_statistics(std::string_view block, CaptureSummary& out) {
    for (std::size_t at = 20; at + 12 <= block.size();) {
        const auto code = word_at<std::uint16_t>(block, at);
        const auto length = word_at<std::uint16_t>(block, at + 2);
        if (code == 4) out.received = word_at<std::uint64_t>(block, at + 4);
        if (code == 5) out.dropped = word_at<std::uint64_t>(block, at + 4);
        if (code == 6) out.accepted = word_at<std::uint64_t>(block, at + 4);
        at += 4 + (length + 3U) / 4 * 4;
    }
}

}  // namespace

CaptureSummary summary_of(std::string_view pcapng) {
    CaptureSummary out;
    for (std::size_t at = 0; at + 12 <= pcapng.size();) {
        const auto type = word_at<std::uint32_t>(pcapng, at);
        const auto length = word_at<std::uint32_t>(pcapng, at + 4);
        if (length < 12) break;
        if (type == packet_block) ++out.packets;
        if (type == statistics_block) read_statistics(pcapng.substr(at, length), out);
        at += length;
    }
    return out;
}

}  // namespace volley::ctl
