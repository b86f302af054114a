#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace volley::config {

/// Largest lcore number and CPU number that the EAL of Debian 12 takes, plus one (RTE_MAX_LCORE;
/// CPU_SETSIZE).
inline constexpr std::uint32_t most_lcores = 128;
inline constexpr std::uint32_t most_cpus = 1024;

/// Lcores of an EAL map such as "0@0,1@0", "0-3" or "(0-3)@1,4@(2,3)" (EAL option --lcores).
/// On failure returns nothing and sets `why` to what is wrong and what would be right.
std::optional<std::set<std::uint32_t>> parse_lcores(std::string_view text, std::string& why);

}  // namespace volley::config
