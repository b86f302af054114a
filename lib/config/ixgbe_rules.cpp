#include "config/ixgbe_rules.h"

#include <algorithm>
#include <array>
#include <fstream>

namespace volley::config::ixgbe {
namespace {

constexpr std::uint32_t fast_rs_thresh = 32;  // DEFAULT_TX_RS_THRESH
constexpr std::uint32_t least_descriptors = 32;
constexpr std::uint32_t most_descriptors = 4096;
constexpr std::uint32_t descriptor_multiple = 8;  // 128 bytes of 16-byte descriptors

// Intel's 82599, X540 and X550 families, as the driver's own table has them.
constexpr std::uint32_t intel = 0x8086;
constexpr std::array<std::uint32_t, 33> device_ids{
    0x10f7, 0x1514, 0x1517, 0x10f8, 0x10f9, 0x10fb, 0x1507, 0x152a, 0x1529, 0x154d, 0x154a,
    0x1558, 0x1557, 0x10fc, 0x151c, 0x000c, 0x1528, 0x1560, 0x1563, 0x15d1, 0x15aa, 0x15ab,
    0x15ac, 0x15ad, 0x15ae, 0x15b0, 0x15c2, 0x15c3, 0x15c4, 0x15c6, 0x15c7, 0x15c8, 0x15ce};

std::string number(std::uint32_t value) {
    return std::to_string(value);
}

// "0x8086\n"; 0 where there is no such file.
std::uint32_t hexadecimal_in(const std::string& file) {
    std::ifstream in(file);
    std::uint32_t value = 0;
    in >> std::hex >> value;
    return value;
}

}  // namespace

std::string_view name_of(TxPath path) {
    switch (path) {
        case TxPath::vector:
            return "vector";
        case TxPath::simple:
            return "simple";
        case TxPath::full:
            return "full";
    }
    return "unknown";
}

std::vector<TxProblem> problems(const TxRules& rules) {
    std::vector<TxProblem> out;
    const std::uint32_t n = rules.descriptors;
    if (n < least_descriptors || n > most_descriptors || n % descriptor_multiple != 0) {
        out.push_back({"descriptors",
                       "tx.descriptors is " + number(n) + "; ixgbe takes multiples of 8 from 32 to 4096"});
        return out;  // what follows compares with it
    }
    if (rules.rs_thresh == 0 || rules.rs_thresh > fast_rs_thresh) {
        out.push_back({"rs_thresh", "tx.rs_thresh is " + number(rules.rs_thresh) +
                                        "; ixgbe takes 1 to 32, and only 32 gives the fast path"});
        return out;
    }
    if (rules.rs_thresh > rules.free_thresh) {
        out.push_back({"rs_thresh", "tx.rs_thresh " + number(rules.rs_thresh) + " is above tx.free_thresh " +
                                        number(rules.free_thresh) + "; raise tx.free_thresh to " +
                                        number(rules.rs_thresh) + " or more"});
    }
    if (rules.free_thresh + 3 >= n) {
        out.push_back({"free_thresh", "tx.free_thresh " + number(rules.free_thresh) + " is too large for " +
                                          number(n) + " descriptors; it must be below " + number(n - 3)});
    }
    if (rules.rs_thresh + rules.free_thresh > n) {
        out.push_back({"free_thresh", "tx.rs_thresh " + number(rules.rs_thresh) + " + tx.free_thresh " +
                                          number(rules.free_thresh) + " is more than tx.descriptors " +
                                          number(n) + "; raise tx.descriptors"});
    }
    if (n % rules.rs_thresh != 0) {
        out.push_back({"descriptors", "tx.descriptors " + number(n) + " is no multiple of tx.rs_thresh " +
                                          number(rules.rs_thresh)});
    }
    return out;
}

std::string why_full(const TxRules& rules) {
    if (rules.offload) return "tx.offload asks the device for checksums, and any offload is the full path";
    if (rules.rs_thresh < fast_rs_thresh) {
        return "tx.rs_thresh is " + number(rules.rs_thresh) + ", and only 32 gives the fast path";
    }
    return {};
}

TxPath predicted(const TxRules& rules) {
    if (!why_full(rules).empty()) return TxPath::full;
    return rules.simd ? TxPath::vector : TxPath::simple;
}

std::uint32_t packets_per_tail_write(TxPath path) {
    return path == TxPath::full ? 0 : fast_rs_thresh;
}

bool may_be_ixgbe(std::string_view device, const std::string& sysfs) {
    std::string address(device.substr(0, device.find(',')));
    if (address.starts_with("net_soft82599")) return true;
    if (address.find(':') == std::string::npos) return false;
    if (std::count(address.begin(), address.end(), ':') == 1) address.insert(0, "0000:");
    std::transform(address.begin(), address.end(), address.begin(),
                   [](char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; });
    const std::string folder = sysfs + "/bus/pci/devices/" + address + "/";
    const std::uint32_t vendor = hexadecimal_in(folder + "vendor");
    if (vendor == 0) return true;
    const std::uint32_t id = hexadecimal_in(folder + "device");
    return vendor == intel && std::find(device_ids.begin(), device_ids.end(), id) != device_ids.end();
}

}  // namespace volley::config::ixgbe
