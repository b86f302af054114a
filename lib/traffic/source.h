#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "config/model.h"
#include "import/capture.h"
#include "packet/signature.h"
#include "packet/template.h"
#include "traffic/feed.h"

namespace volley::traffic {

/// The packets of a stream, wherever they come from.
struct Source {
    std::unique_ptr<const packet::PacketTemplate> packet;
    std::uint64_t packets = 0;            ///< of a capture: how many the file holds; 0 otherwise
    std::vector<std::uint64_t> times_ns;  ///< of a capture with recorded timing: when each was captured
    std::shared_ptr<Feed> feed;           ///< of a recorded capture too large to be held, instead of times_ns
    std::vector<std::uint8_t> lanes;      ///< and which of several workers sends each, flow by flow
    std::vector<std::string> warnings;    ///< for the operator's log
    std::uint32_t cpus_named = 0;  ///< one more than the greatest N that begins a trafgen file's cpu(N)
};

/// Builds a stream's header stack, or reads the file that it names. port_mac: the default source address.
/// workers: those of its port that send it, which cpu() of trafgen files names. signing: of a stream that
/// is signed, or nullptr; each frame of a file then grows by the trailer. rest: while a capture is read.
/// Problems come with pointers below the stream's packet and name file, place and reason.
std::variant<Source, std::vector<packet::Problem>> build_source(
    const config::Stream& stream, std::optional<packet::Value> port_mac,
    std::span<const std::uint32_t> workers, const std::shared_ptr<const packet::Signing>& signing = nullptr,
    const imports::Rest& rest = {});

/// Why the port cannot send all of these packets, as its file says: frames above its mtu (which counts
/// neither header nor outer tags) or tx.max_frame. Empty when it can.
std::string too_long(const config::Port& port, const packet::PacketTemplate& packet);

/// A warning when a trafgen file has packets for workers that the port has not; empty when it has none.
std::string unsent_cpus(const config::Stream& stream, const config::Port& port, const Source& source);

}  // namespace volley::traffic
