#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace volley::dpdk {

/// Receives every complete line that DPDK logs, without its newline. Called under the stream's lock, from any
/// thread.
using LogListener = std::function<void(std::string_view line)>;

/// Sends DPDK's log through spdlog's default logger: lines that name an error as warnings, the rest at debug
/// level. The EAL opens its own stream at start unless this was called before.
void route_log();
/// Back to stderr; needed before the program's own logger goes away.
void restore_log();
/// Sees DPDK's lines as they come (nullptr: nobody): how the ixgbe TX path is confirmed.
void set_log_listener(LogListener listener);

}  // namespace volley::dpdk
