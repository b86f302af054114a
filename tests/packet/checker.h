#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "packet/fields.h"

namespace volley::packet {

struct SeenLayer {
    HeaderKind kind;
    std::size_t offset;
};

/// Walks a frame header by header and checks every length and checksum the slow way, with nothing shared with
/// the code under test. `stack` says what to expect where the bytes do not tell (behind mpls, gtpu and raw
/// bytes, and how long raw bytes are).
class Checker {
  public:
    struct Expected {
        HeaderKind kind;
        std::size_t raw_length = 0;
    };

    Checker(std::span<const std::uint8_t> frame, std::vector<Expected> stack);

    [[nodiscard]] const std::vector<SeenLayer>& layers() const { return layers_; }
    [[nodiscard]] const std::vector<std::string>& complaints() const { return complaints_; }
    /// Where the innermost length fields say that the packet ends.
    [[nodiscard]] std::size_t content_end() const { return end_; }

  private:
    void walk();
    void eth(std::size_t& at, unsigned& type);
    void ipv4(std::size_t& at, unsigned& type);
    void ipv6(std::size_t& at, unsigned& type);
    void transport(HeaderKind kind, std::size_t& at);
    void extension(HeaderKind kind, std::size_t& at, std::size_t next);
    void sctp(std::size_t& at);
    void other(HeaderKind kind, std::size_t& at, std::size_t i);
    void next_type(HeaderKind parent, unsigned type, std::size_t next);
    void see_end(std::size_t end, const char* field);
    [[nodiscard]] unsigned word(std::size_t at) const { return frame_[at] * 256U + frame_[at + 1]; }
    [[nodiscard]] std::uint64_t sum(std::size_t begin, std::size_t end) const;
    void complain(const std::string& text) { complaints_.push_back(text); }

    std::span<const std::uint8_t> frame_;
    std::vector<Expected> stack_;
    std::size_t end_;
    bool end_known_ = false;
    int ip_ =
        -1;  ///< index in layers_ of the IP header that a transport header's sum takes its addresses from
    std::size_t last_hop_ = 0;  ///< if not 0, where that sum takes the destination from instead
    std::vector<SeenLayer> layers_;
    std::vector<std::string> complaints_;
};

}  // namespace volley::packet
