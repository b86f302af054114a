#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/model.h"
#include "packet/template.h"
#include "system/volleyd.h"

struct rte_mbuf;

namespace volley::test {

/// A stream of port "east" whose packet index stands in ipv4.src and whose name follows from ipv4.dst.
json indexed(const std::string& name, const std::string& dst, const json& burst, const json& size);

/// The other end of net_ring0's two queues: what comes out is checked as it comes. Every byte is that of a
/// template, and the indices of each stream go up in each queue. Streams named "visitor" come and go.
class RingReader {
  public:
    /// Packets may be those of this model's streams, whose names and ipv4.dst belong together. Before read().
    void expect(const config::Model& model);
    /// Room for that many packets of each stream, so that reading allocates nothing.
    void reserve(std::size_t packets);

    /// Empties the rings until `done` and nothing is left.
    void read(const std::atomic<bool>& done);
    /// The highest index that has come. Any thread.
    [[nodiscard]] std::uint32_t highest() const { return highest_; }

    /// Of each stream, packets 0 to count - 1 came once and no others.
    void expect_each_once(std::uint64_t count) const;

  private:
    struct Stream {
        std::string name;
        std::vector<std::unique_ptr<const packet::PacketTemplate>> made;  ///< any of these
        std::array<std::uint32_t, 2> next{};
        std::vector<std::uint8_t> count;  ///< by index
    };
    void take(unsigned queue, const rte_mbuf* mbuf);

    std::map<std::uint32_t, Stream> seen_;  ///< by ipv4.dst
    std::uint64_t strangers_ = 0;
    std::uint64_t wrong_ = 0;
    std::uint64_t backwards_ = 0;
    std::atomic<std::uint32_t> highest_{0};
};

}  // namespace volley::test
