#include "config/reverse.h"

#include <algorithm>

#include "packet/reverse.h"

namespace volley::config {
namespace {

using packet::HeaderKind;

/// A source that was not given was the sender's own address, so it is where the way back leads.
packet::PacketModel way_back(const packet::PacketModel& packet, const Port* sender) {
    packet::PacketModel out = packet::reversed(packet);
    if (sender == nullptr || !sender->mac || out.headers.empty()) return out;
    packet::HeaderModel& eth = out.headers.front();
    if (eth.kind != HeaderKind::eth || eth.resolve) return out;
    packet::give_rest(eth, "dst", *sender->mac);
    return out;
}

Stream reversed(const Stream& stream, const Port* sender) {
    Stream out = stream;
    out.name += ".reverse";
    out.port = *stream.reverse;
    out.reverse.reset();
    out.is_reverse = true;
    if (!out.next.empty()) out.next += ".reverse";
    if (out.expect_on) out.expect_on = stream.port;
    out.packet = way_back(stream.packet, sender);
    for (packet::PacketModel& packet : out.source.packets) packet = way_back(packet, sender);
    return out;
}

}  // namespace

void add_reversed_streams(Model& model) {
    const std::size_t written = model.streams.size();
    for (std::size_t i = 0; i < written; ++i) {
        const Stream& stream = model.streams[i];
        if (!stream.reverse || stream.reverse->empty()) continue;
        model.streams.push_back(reversed(stream, find_port(model, stream.port)));
    }
}

}  // namespace volley::config
