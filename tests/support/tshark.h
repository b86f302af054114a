#pragma once

#include <string>
#include <vector>

namespace volley::test {

/// Why tshark cannot judge here, or empty: a test skips with it.
std::string tshark_unavailable();

/// One row a packet of the capture file, one text a field ("" where the packet has none; several values of
/// one field are joined by ","). Checksums of IPv4, UDP, TCP and ICMP are checked, so *.checksum.status is 1
/// for a good one, 0 for a bad one. Throws std::runtime_error with tshark's own words.
std::vector<std::vector<std::string>> tshark(const std::string& file, const std::vector<std::string>& fields,
                                             const std::string& filter = "");

}  // namespace volley::test
