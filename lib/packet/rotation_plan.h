#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "packet/frame_window.h"
#include "packet/rotation.h"

namespace volley::packet {

/// What stamping a rotation executes. Immutable.
struct Rotation {
    struct Member {
        const std::uint8_t* bytes = nullptr;      ///< constant bytes of its longest packet
        const PacketTemplate* varying = nullptr;  ///< nullptr: bytes and length are all there is
        std::uint16_t length = 0;                 ///< of `bytes`
    };
    std::vector<Member> members;
    Order order = Order::sequence;
    Counting counting = Counting::own;
    std::vector<std::unique_ptr<const PacketTemplate>> owned;
    FrameStore frames;
    std::shared_ptr<FrameWindow> window;  ///< if not null, the packets come from there; members are samples
};

/// As Executor's, for a plan with a rotation: frames may hold anything, every byte is written.
void stamp_rotation(const Plan& plan, std::uint64_t first, std::uint32_t count,
                    std::uint8_t* const* frames) noexcept;
void lengths_of_rotation(const Plan& plan, std::uint64_t first, std::uint32_t count,
                         std::uint16_t* out) noexcept;

/// The same where the packets come from a window.
void stamp_window(const Plan& plan, std::uint64_t first, std::uint32_t count,
                  std::uint8_t* const* frames) noexcept;
void lengths_of_window(const Plan& plan, std::uint64_t first, std::uint32_t count,
                       std::uint16_t* out) noexcept;

}  // namespace volley::packet
