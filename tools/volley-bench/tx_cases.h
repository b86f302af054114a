#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "packet/template.h"

namespace volley::bench {

/// Packets whose way to the port is measured.
struct TxCase {
    std::string name;
    std::shared_ptr<const packet::PacketTemplate> packet;
    std::vector<std::uint32_t> bursts;
    bool dispatched = false;  ///< a dispatcher on another lcore plans them
};

/// The cases of that name, or all of them for an empty one.
std::vector<TxCase> tx_cases(const std::string& only);

}  // namespace volley::bench
