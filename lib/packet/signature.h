#pragma once

#include <cstdint>
#include <cstring>

#include "packet/checksum.h"

namespace volley::packet {

/// The signature is the last 16 bytes of a frame before the FCS, big-endian:
///     check 16 | stream 24 | generation 8 | sequence 32 | TX time 48
/// The check is what makes the one's complement sum of the trailer and the run's salt zero (RFC 1071). So the
/// trailer adds the same to every checksum that covers it, whatever it says: it is written after the packet
/// was stamped, and no checksum in the packet has to be touched.
inline constexpr std::uint32_t signature_bytes = 16;
inline constexpr std::uint32_t most_signed_streams = 1U << 24;
/// TX times are nanoseconds modulo this: 78 hours.
inline constexpr std::uint64_t time_mask = (std::uint64_t{1} << 48) - 1;

/// What one stream signs with. Filled while a plan is compiled; constant once the plan is handed over.
struct Signing {
    std::uint16_t salt = 1;       ///< of the run: 1 to 0xfffe, so that the trailer's sum is neither zero
    std::uint32_t stream = 0;     ///< below most_signed_streams
    std::uint8_t generation = 0;  ///< of the stream's life that began at index 0
    bool closes_batch = false;    ///< a latency stream: nothing waits behind its packets

    /// What the trailer adds to a checksum at an even distance, as a memory-order word.
    [[nodiscard]] std::uint16_t trailer_sum() const noexcept {
        return swap_bytes(static_cast<std::uint16_t>(~salt));
    }
};

struct Signature {
    std::uint32_t origin = 0;    ///< stream 24 | generation 8
    std::uint32_t sequence = 0;  ///< low half of the packet index
    std::uint64_t time = 0;      ///< nanoseconds, 48 bits

    [[nodiscard]] std::uint32_t stream() const noexcept { return origin >> 8; }
    [[nodiscard]] std::uint8_t generation() const noexcept { return static_cast<std::uint8_t>(origin); }
};

namespace detail {

/// Folded to 16 bits: 0 only when the sum is.
inline std::uint32_t fold(std::uint64_t sum) noexcept {
    sum = (sum >> 32) + (sum & 0xffffffff);
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    return static_cast<std::uint32_t>((sum >> 16) + (sum & 0xffff));
}

inline std::uint64_t load_big(const std::uint8_t* at) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return __builtin_bswap64(value);
}

inline void store_big(std::uint8_t* at, std::uint64_t value) noexcept {
    value = __builtin_bswap64(value);
    std::memcpy(at, &value, sizeof value);
}

}  // namespace detail

/// What the trailers of one stream at one TX time have in common: each of them costs its sequence alone.
class Signer {
  public:
    Signer(const Signing& signing, std::uint64_t time_ns) noexcept
        : high_(std::uint64_t{signing.stream} << 24 | std::uint64_t{signing.generation} << 16),
          low_(time_ns & time_mask),
          sum_(detail::fold((high_ >> 32) + (high_ & 0xffffffff) + (low_ >> 32) + (low_ & 0xffffffff) +
                            signing.salt)) {}

    /// Writes the trailer of packet `index` to the 16 bytes from `at` on.
    void write(std::uint8_t* at, std::uint64_t index) const noexcept {
        const auto sequence = static_cast<std::uint32_t>(index);
        std::uint32_t sum = sum_ + (sequence >> 16) + (sequence & 0xffff);  // below 3 << 16
        sum = (sum >> 16) + (sum & 0xffff);
        sum += sum >> 16;
        detail::store_big(at, high_ | std::uint64_t{~sum & 0xffff} << 48 | sequence >> 16);
        detail::store_big(at + 8, low_ | std::uint64_t{sequence} << 48);
    }

  private:
    std::uint64_t high_;
    std::uint64_t low_;
    std::uint32_t sum_;  ///< of the parts and the salt: 1 to 0xffff, as the salt is not 0
};

/// Writes the trailer of packet `index`, sent at `time_ns`, to the 16 bytes from `at` on.
inline void write_signature(std::uint8_t* at, const Signing& signing, std::uint64_t index,
                            std::uint64_t time_ns) noexcept {
    Signer(signing, time_ns).write(at, index);
}

/// Reads a trailer. False when its check does not fit the salt: by chance in one of 65,535 foreign packets.
inline bool read_signature(const std::uint8_t* at, std::uint16_t salt, Signature& out) noexcept {
    const std::uint64_t high = detail::load_big(at);
    const std::uint64_t low = detail::load_big(at + 8);
    out.origin = static_cast<std::uint32_t>(high >> 16);
    out.sequence = static_cast<std::uint32_t>(high & 0xffff) << 16 | static_cast<std::uint32_t>(low >> 48);
    out.time = low & time_mask;
    // 2^16 is 1 modulo 0xffff, and so is 2^64: a carry is worth 1. The salt keeps the sum from being 0.
    std::uint64_t sum = high + low;
    sum += sum < high ? 1 : 0;
    sum += salt;
    sum += sum < salt ? 1 : 0;
    return sum % 0xffff == 0;
}

}  // namespace volley::packet
