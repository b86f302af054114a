#include "import/flows.h"

#include <algorithm>
#include <span>
#include <unordered_set>

#include "import/dissect.h"

namespace volley::imports {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint8_t fragment_header = 44;  // IPv6: next header

// FNV-1a; the high half of the product spreads neighbouring addresses over few lanes.
std::uint64_t hash(Bytes bytes, std::uint64_t seed) {
    std::uint64_t out = 0xcbf29ce484222325 ^ seed;
    for (const std::uint8_t byte : bytes) out = (out ^ byte) * 0x100000001b3;
    return out ^ out >> 29;
}

struct Flow {
    std::uint64_t hosts = 0;  ///< of the addresses, either way round
    std::uint64_t tuple = 0;  ///< and of protocol and ports
    bool fragment = false;
};

// The outermost IP header and the layer behind it, or nothing.
const FoundLayer* first_ip(const std::vector<FoundLayer>& layers) {
    const auto found = std::find_if(layers.begin(), layers.end(), [](const FoundLayer& layer) {
        return layer.kind == packet::HeaderKind::ipv4 || layer.kind == packet::HeaderKind::ipv6;
    });
    return found == layers.end() ? nullptr : &*found;
}

Flow flow_of(Bytes frame) {
    const Dissected dissected = dissect(frame);
    const FoundLayer* ip = first_ip(dissected.layers);
    Flow out;
    if (ip == nullptr) {
        const std::size_t half = std::min<std::size_t>(frame.size() / 2, 6);
        out.hosts = hash(frame.first(half), 0) + hash(frame.subspan(half, half), 0);
        out.tuple = out.hosts;
        return out;
    }
    const bool v4 = ip->kind == packet::HeaderKind::ipv4;
    const Bytes header = frame.subspan(ip->offset);
    const std::size_t length = v4 ? 4 : 16;
    const Bytes from = header.subspan(v4 ? 12 : 8, length);
    const Bytes to = header.subspan(v4 ? 16 : 24, length);
    out.hosts = hash(from, 0) + hash(to, 0);
    out.fragment = v4 ? (header[6] & 0x3fU) != 0 || header[7] != 0 : header[6] == fragment_header;
    const FoundLayer* next = ip + 1;
    const bool last = next == dissected.layers.data() + dissected.layers.size();
    const bool ports =
        !last && (next->kind == packet::HeaderKind::udp || next->kind == packet::HeaderKind::tcp);
    const std::uint64_t protocol = last ? 0 : static_cast<std::uint64_t>(next->kind) + 1;
    out.tuple = out.hosts + protocol;
    if (ports) {
        const Bytes l4 = frame.subspan(next->offset, 4);
        out.tuple = hash(l4.first(2), hash(from, protocol)) + hash(l4.subspan(2), hash(to, protocol));
    }
    return out;
}

}  // namespace

std::vector<std::uint8_t> flow_lanes(const Capture& capture, std::uint32_t lanes) {
    std::vector<Flow> flows;
    std::unordered_set<std::uint64_t> fragmented;
    flows.reserve(capture.frames.size());
    for (std::size_t i = 0; i < capture.frames.size(); ++i) {
        flows.push_back(flow_of(capture.frame(i)));
        if (flows.back().fragment) fragmented.insert(flows.back().hosts);
    }
    std::vector<std::uint8_t> out;
    out.reserve(flows.size());
    for (const Flow& flow : flows) {
        const std::uint64_t key = fragmented.contains(flow.hosts) ? flow.hosts : flow.tuple;
        out.push_back(static_cast<std::uint8_t>((key ^ key >> 32) % lanes));
    }
    return out;
}

}  // namespace volley::imports
