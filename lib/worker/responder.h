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

/// Somebody whose MAC address is asked for; its place is used again for another when control has given it
/// back. A receiver that has read one address never writes the MAC address of it for the next, for it
/// exchanges the word that holds the place's use as well, and that has changed meanwhile. (Uses are counted
/// modulo 2^15, all of which no receiver sleeps through between two loads.)
class Neighbour {
  public:
    /// Control. 0: unknown. What a receiver has learned needs no order: it is one word.
    [[nodiscard]] std::uint64_t mac() const noexcept { return word_.load(std::memory_order_relaxed) & macs; }
    /// Control: the place is for that address from now on, whose MAC address is unknown.
    void use(const IpAddress& address) noexcept;
    /// Control: for nobody's.
    void give_back() noexcept;
    /// Control.
    [[nodiscard]] bool used() const noexcept { return is_used(word_.load(std::memory_order_relaxed)); }
    [[nodiscard]] bool is(std::span<const std::uint8_t> address) const noexcept;
    /// A receiver: takes the MAC address, not 0, if this is for that IP address.
    void learn(std::span<const std::uint8_t> address, std::uint64_t mac) noexcept;

  private:
    static constexpr unsigned mac_bits = 48;
    static constexpr std::uint64_t macs = (std::uint64_t{1} << mac_bits) - 1;
    static bool is_used(std::uint64_t word) noexcept { return (word >> mac_bits & 1) != 0; }

    std::atomic<std::uint64_t> word_{0};  ///< MAC address, and above it how often the place was taken and
                                          ///< given back: odd, it is used. Written by control and receivers
    std::array<std::atomic<std::uint64_t>, 2>
        address_{};                        ///< written by control while the place is not
                                           ///< used, read by receivers; released by each store
    std::atomic<std::uint8_t> length_{0};  ///< the same
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

    /// Control: an address to be asked for, good until it is given back; one that is there already is found
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
    [[nodiscard]] std::uint32_t own_tag() const noexcept;
    /// TPID and priority of the question, as the neighbour expects them back.
    [[nodiscard]] std::uint32_t answer_tag(std::uint32_t seen) const noexcept;
    std::uint32_t put_ethernet(const std::uint8_t* destination, std::uint16_t type, std::uint32_t tag,
                               std::uint8_t* out) const noexcept;

    std::array<std::uint8_t, 6> mac_{};
    std::optional<std::uint16_t> vlan_;
    std::vector<IpAddress> addresses_;
    std::unique_ptr<Neighbour[]> neighbours_;
    std::atomic<std::uint32_t> known_{0};  ///< of them, so many have been used; written by control, read by
                                           ///< receivers; a place says itself whether it is in use
};

}  // namespace volley::worker
