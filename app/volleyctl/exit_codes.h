#pragma once

namespace volley::ctl {

/// Exit codes of the contract: below 64 what a run or a comparison found, then sysexits.h.
inline constexpr int exit_differs = 1;       ///< of config diff
inline constexpr int exit_not_expected = 1;  ///< of a run
inline constexpr int exit_rate_missed = 2;
inline constexpr int exit_usage = 64;
inline constexpr int exit_bad_content = 65;
inline constexpr int exit_no_input = 66;
inline constexpr int exit_unavailable = 69;
inline constexpr int exit_internal = 70;
inline constexpr int exit_try_again = 75;
inline constexpr int exit_no_permission = 77;

}  // namespace volley::ctl
