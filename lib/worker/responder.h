#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace volley::worker {

/// An IPv4 address (length 4) or an IPv6 address (length 16), in network order.
struct IpAddress {
    std::array<std::uint8_t, 16> bytes{};
    std::uint8_t length = 4;
    std::uint8_t prefix = 0;  ///< of an address of ours: bits of its network
    bool operator==(const IpAddress&) const = default;
};

/// Somebody whose MAC address is asked for.
struct Neighbour {
    IpAddress address;
    std::atomic<std::uint64_t> mac{
        0};  ///< 0: unknown. Written by receivers, and by control to forget it; read by control
};

/// Answers for a port's own addresses: ARP requests (RFC 826), neighbour solicitations (RFC 4861), and echo
/// requests of ICMP (RFC 792) and ICMPv6 (RFC 4443). Learns the answers to what resolve() asked. Knows
/// frames, not ports: the same answer whoever sends it. Immutable but for the neighbours, which
/// control adds while receivers look at them.
class Responder {
  public:
    static constexpr std::uint32_t longest_reply = 9728;
    static constexpr std::uint32_t most_neighbours = 1024;

    /// mac: the port's. vlan: the tag that its addresses live behind; none: they are untagged.
    Responder(std::uint64_t mac, std::optional<std::uint16_t> vlan, std::vector<IpAddress> addresses);
    Responder(const Responder&) = delete;
    Responder& operator=(const Responder&) = delete;

    /// The frame is for the port or for everybody, on its VLAN, and of a protocol that may have an answer: a
    /// quick look, for most packets that come are somebody else's.
    [[nodiscard]] bool concerns(std::span<const std::uint8_t> frame) const noexcept;
    /// Writes the reply to `frame` (without FCS) to out, which has room for longest_reply. Returns its
    /// length; 0 when there is none.
    std::uint32_t reply(std::span<const std::uint8_t> frame, std::uint8_t* out) const noexcept;

    /// Control: an address to be asked for, good as long as the responder; one that is there already is found
    /// again. nullptr: there are as many as there may be.
    Neighbour* add_neighbour(const IpAddress& address);
    /// Control: the frame that asks for that neighbour, from our address in its network, else our first one
    /// of its kind (or none: then the length is 0).
    std::uint32_t ask(const IpAddress& address, std::uint8_t* out) const noexcept;

  private:
    struct Seen;
    [[nodiscard]] bool ours(std::span<const std::uint8_t> address) const noexcept;
    [[nodiscard]] const IpAddress* asker(const IpAddress& address) const noexcept;
    void learn(std::span<const std::uint8_t> address, const std::uint8_t* mac) const noexcept;
    std::uint32_t reply_arp(const Seen& seen, std::uint8_t* out) const noexcept;
    std::uint32_t reply_ipv4(const Seen& seen, std::uint8_t* out) const noexcept;
    std::uint32_t reply_ipv6(const Seen& seen, std::uint8_t* out) const noexcept;
    std::uint32_t put_ethernet(const std::uint8_t* destination, std::uint16_t type,
                               std::uint8_t* out) const noexcept;

    std::array<std::uint8_t, 6> mac_{};
    std::optional<std::uint16_t> vlan_;
    std::vector<IpAddress> addresses_;
    std::unique_ptr<Neighbour[]> neighbours_;
    std::atomic<std::uint32_t> known_{0};  ///< of them; released by control, acquired by receivers
};

}  // namespace volley::worker
