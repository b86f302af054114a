#pragma once

#include <string>
#include <string_view>

#include "soft82599/control.h"
#include "soft82599/eeprom.h"

namespace volley::soft82599 {

/// The vdev's arguments, "id=10fb,mode=virtual,...". docs/soft82599.md explains them to the user.
struct Options {
    DeviceId id = DeviceId::sfp;
    Mode mode = Mode::trap;
    std::string peer;   ///< vdev name of the other end of the cable; empty: frames leave for nowhere
    bool loop = false;  ///< the cable comes back to this port
    bool link_up = true;
    bool module_present = true;
    bool lossless = true;
    std::string pcap;  ///< file for the frames that this port sends; empty: none
    MacAddress mac{};  ///< all zero: made from the port's number
    unsigned limiter_overhead =
        4;  ///< bytes that a queue's rate limiter adds to a frame: 4 (FCS) or 24 (all of L1)
};

/// Throws std::invalid_argument that says what is wrong and what would be right.
Options parse_options(std::string_view text);

/// The number in "net_soft82599_N", 0 to 31, which becomes the PCI device number. Throws
/// std::invalid_argument.
unsigned port_number(std::string_view vdev_name);

}  // namespace volley::soft82599
