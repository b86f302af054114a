#pragma once

#include <string>
#include <vector>

namespace volley::test {

/// The captured bytes of each packet of a pcap file, in order. Throws std::runtime_error.
std::vector<std::string> read_pcap(const std::string& file);

}  // namespace volley::test
