#pragma once

namespace volley {

/// 128-bit unsigned integer of both compilers; __extension__ keeps -Wpedantic quiet in this one place.
__extension__ typedef unsigned __int128 Uint128;

}  // namespace volley
