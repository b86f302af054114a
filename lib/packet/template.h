#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "packet/model.h"

namespace volley::packet {

/// The most packets that one stamp call takes: one TemplateBurst.
inline constexpr std::uint32_t max_burst = 256;
/// Largest frame in bytes without FCS: 9728 with it, the largest jumbo frame of ixgbe ports.
inline constexpr std::uint32_t max_frame = 9724;

struct Assembly;
struct Plan;
struct Signing;

/// A compiled packet: packet number i is a pure function of (template, i). Immutable, shared by all workers.
/// No DPDK here: the same code writes packets into mbufs, pcap files and a receiver's expectations.
class PacketTemplate {
  public:
    PacketTemplate(std::unique_ptr<const Assembly> assembly, Rational mean,
                   std::shared_ptr<const Signing> signing = nullptr);
    ~PacketTemplate();
    PacketTemplate(const PacketTemplate&) = delete;
    PacketTemplate& operator=(const PacketTemplate&) = delete;

    /// Identifies the constant image in a buffer; unique in the process and never reused, never 0.
    [[nodiscard]] std::uint32_t content_id() const noexcept { return content_id_; }
    /// Constant bytes of the longest packet, without FCS; a buffer that holds them needs only stamp().
    [[nodiscard]] std::span<const std::uint8_t> image() const noexcept { return image_; }
    /// No byte and no length depends on the index: stamp() and lengths() need not be called.
    [[nodiscard]] bool constant() const noexcept { return constant_; }
    /// Length without FCS of every packet, or 0 when lengths differ from packet to packet.
    [[nodiscard]] std::uint16_t fixed_length() const noexcept { return fixed_length_; }
    [[nodiscard]] std::uint16_t longest() const noexcept { return static_cast<std::uint16_t>(image_.size()); }
    /// Mean frame length in bytes with FCS over one whole cycle of sizes, exactly.
    [[nodiscard]] Rational mean_l2_bytes() const noexcept { return mean_; }

    /// Lengths without FCS of packets first..first+count-1. count ≤ max_burst.
    void lengths(std::uint64_t first, std::uint32_t count, std::uint16_t* out) const noexcept;
    /// Makes frames[k], which already hold image(), packets first+k: writes the varying fields and their
    /// checksums. Frames may have been stamped with any other index of this template before. count ≤
    /// max_burst.
    void stamp(std::uint64_t first, std::uint32_t count, std::uint8_t* const* frames) const noexcept;
    /// Packet `index` complete into `frame` (at least longest() bytes). Returns its length without FCS. A
    /// signed packet ends with a trailer that says nothing, but adds up to what any of the run does.
    std::uint16_t write(std::uint64_t index, std::uint8_t* frame) const noexcept;

    /// With what its sender signs, as the last step; nullptr: not at all.
    [[nodiscard]] const Signing* signing() const noexcept { return signing_.get(); }
    /// {offset, length} of the bytes that a router changes: MAC addresses, time to live, IPv4 checksum.
    [[nodiscard]] std::span<const std::pair<std::uint16_t, std::uint16_t>> routed() const noexcept;
    /// What stamp() executes, for explanations and for tests of each instruction set.
    [[nodiscard]] const Plan& plan() const noexcept;

  private:
    std::unique_ptr<const Assembly> assembly_;
    std::span<const std::uint8_t> image_;
    void (*stamp_)(const Plan&, std::uint64_t, std::uint32_t, std::uint8_t* const*) noexcept;
    void (*lengths_)(const Plan&, std::uint64_t, std::uint32_t, std::uint16_t*) noexcept;
    std::shared_ptr<const Signing> signing_;
    Rational mean_;
    std::uint32_t content_id_;
    std::uint16_t fixed_length_;
    bool constant_;
};

/// Compiles a model. `port_mac` is the default source address of the outermost eth header (and arp sender).
/// Throws nothing but std::bad_alloc: all problems come back at once, with pointers such as
/// "/headers/2/ipv4/src". signing: its salt must be known, the rest may follow until the template is used.
std::variant<std::unique_ptr<const PacketTemplate>, std::vector<Problem>> build(
    const PacketModel& model, std::optional<Value> port_mac = std::nullopt,
    std::shared_ptr<const Signing> signing = nullptr);

}  // namespace volley::packet
