#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "packet/template.h"

namespace volley::packet {

/// Which member of a rotation packet i is.
enum class Order : std::uint8_t {
    sequence,  ///< one after the other, from the first again
    random,    ///< a draw by the packet index, each equally likely
};

/// What a member with programs counts.
enum class Counting : std::uint8_t {
    own,     ///< its own sends, as if it were a stream of its own; the packet index in random order
    stream,  ///< every packet of the stream
};

/// Frames without FCS, back to back.
struct FrameStore {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> offsets;  ///< of each frame
    std::vector<std::uint16_t> lengths;  ///< of each frame, 1 to max_frame
};

/// A template whose packets are those of its members in turn. At least one member; none is a rotation.
/// signing: with which every member was built, or nullptr.
std::unique_ptr<const PacketTemplate> rotate(std::vector<std::unique_ptr<const PacketTemplate>> members,
                                             Order order, Counting counting,
                                             std::shared_ptr<const Signing> signing = nullptr);
/// The same of constant frames: 24 bytes a frame beside its own. signing: every frame ends with room for its
/// trailer, which nothing in it covers.
std::unique_ptr<const PacketTemplate> rotate(FrameStore frames, Order order,
                                             std::shared_ptr<const Signing> signing = nullptr);

}  // namespace volley::packet
