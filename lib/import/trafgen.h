#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/error.h"
#include "packet/model.h"

namespace volley::imports {

struct TrafgenOptions {
    packet::Value device_mac = 0;                              ///< what stands for the device's own addresses
    packet::Value device_ipv4 = 0;                             ///< where a header function is not given any
    std::uint64_t seed = 1;                                    ///< of rnd() and drnd()
    std::vector<std::pair<std::string, std::string>> defines;  ///< as trafgen's -D
};

/// One packet of a trafgen file. Its programs count its own sends.
struct TrafgenPacket {
    packet::PacketModel model;  ///< a raw header with programs and checksums, not padded
    std::optional<std::pair<std::uint32_t, std::uint32_t>> cpus;  ///< cpu(first-last)
};

struct TrafgenFile {
    std::vector<TrafgenPacket> packets;
    std::vector<std::string> warnings;  ///< "FILE:LINE:COL: text"
};

/// Reads a file in the trafgen language, preprocessor included. Throws Error "FILE:LINE:COL: what is wrong".
TrafgenFile read_trafgen(const std::string& path, const TrafgenOptions& options = {});
/// The same for a text; `name` stands in messages, and #include "…" is taken from its folder.
TrafgenFile parse_trafgen(std::string_view text, const std::string& name, const TrafgenOptions& options = {});

}  // namespace volley::imports
