#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/units.h"

struct pcap;
struct pcap_dumper;

namespace volley::imports {

/// Writes Ethernet frames into a pcap file with nanosecond times (magic 0xa1b23c4d). "-" is stdout. Throws
/// Error.
class PcapWriter {
  public:
    explicit PcapWriter(const std::string& path);

    /// `frame` without FCS.
    void write(Duration at, std::span<const std::uint8_t> frame);
    /// Brings everything to the file; throws when it did not all fit.
    void finish();

  private:
    struct Close {
        void operator()(pcap* handle) const noexcept;
        void operator()(pcap_dumper* dumper) const noexcept;
    };
    std::string path_;
    std::unique_ptr<pcap, Close> handle_;
    std::unique_ptr<pcap_dumper, Close> dumper_;
};

}  // namespace volley::imports
