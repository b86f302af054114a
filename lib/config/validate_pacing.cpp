#include "config/validate_pacing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "config/ixgbe_rules.h"
#include "config/print.h"

namespace volley::config {
namespace {

// Empty stands for every queue of the port.
bool share_a_queue(const Stream& a, const Stream& b) {
    if (a.workers.empty() || b.workers.empty()) return true;
    return std::any_of(a.workers.begin(), a.workers.end(), [&](std::uint32_t queue) {
        return std::find(b.workers.begin(), b.workers.end(), queue) != b.workers.end();
    });
}

// What a limiter cannot do; empty when it can.
std::string beyond_a_limiter(const Stream& stream) {
    if (!stream.rate_steps.empty() || stream.rate_ramp) return "a rate that changes";
    if (stream.rate && stream.rate->kind == Rate::Kind::max) return "the rate \"max\"";
    if (stream.bursts) return "bursts with gaps";
    if (stream.departure != Departure::constant) return "random departures";
    if (!stream.next.empty() || stream.loop != 1) return "chains and loops";
    return {};
}

}  // namespace

void check_pacing(Decoder& decoder, const Node& root, const Model& model) {
    const auto wrong = [&](const Stream& stream, const std::string& text) {
        const std::string pointer = stream.pointer + "/pacing";
        decoder.wrong(locate(root, pointer), pointer, text);
    };
    for (const Stream& stream : model.streams) {
        if (!stream.hardware_pacing || !stream.enabled) continue;
        const Port* const port = find_port(model, stream.port);
        if (port == nullptr) continue;  // told already
        if (!ixgbe::may_be_ixgbe(port->device)) {
            wrong(stream, "the device " + quote(port->device) + " of port " + quote(port->name) +
                              " has no rate limiter that Volley knows; use \"software\"");
        }
        const std::string beyond = beyond_a_limiter(stream);
        if (!beyond.empty())
            wrong(stream, "a NIC's limiter keeps one rate; for " + beyond + " use \"software\"");
        for (const Stream& other : model.streams) {
            if (&other == &stream || !other.enabled || other.port != stream.port) continue;
            if (!share_a_queue(stream, other)) continue;
            wrong(stream, "a NIC's limiter holds a whole queue, and stream " + quote(other.name) +
                              " sends from the same; give each \"workers\" of its own");
            break;
        }
    }
}

}  // namespace volley::config
