#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

struct bpf_program;

namespace volley::imports {

/// A filter expression of pcap-filter(7), compiled for Ethernet frames without FCS. Immutable: any number of
/// threads use it. Its programs jump forward only, so a packet costs at most their length in steps.
class PacketFilter {
  public:
    /// An empty expression takes every packet. Throws Error with what libpcap says is wrong. A host name in
    /// the expression is looked up, which may take its time.
    explicit PacketFilter(const std::string& expression);

    /// frame: what is at hand of a packet of `length` bytes.
    [[nodiscard]] bool accepts(std::span<const std::uint8_t> frame, std::uint32_t length) const noexcept;

  private:
    struct Free {
        void operator()(bpf_program* program) const noexcept;
    };
    std::unique_ptr<bpf_program, Free> program_;  ///< none: every packet
};

}  // namespace volley::imports
