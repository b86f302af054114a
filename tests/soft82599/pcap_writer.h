#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "soft82599/packet.h"

namespace volley::soft82599 {

/// A pcap file (nanosecond magic, Ethernet) written with write(2) from a buffer of its own: the trap may not
/// allocate.
class PcapWriter {
  public:
    explicit PcapWriter(const std::string& path);  ///< Throws std::system_error.
    ~PcapWriter();
    PcapWriter(const PcapWriter&) = delete;
    PcapWriter& operator=(const PcapWriter&) = delete;

    void write(Bytes frame, std::uint64_t time_ns) noexcept;
    void flush() noexcept;

  private:
    void append(const void* data, std::size_t size) noexcept;

    int fd_;
    std::size_t used_ = 0;
    std::vector<std::uint8_t> buffer_;
};

}  // namespace volley::soft82599
