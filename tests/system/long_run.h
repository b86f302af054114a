#pragma once

#include "system/volleyd.h"

namespace volley::test {

/// 10 kpps and 1 Mpps (a tenth in a build with a sanitizer) by one worker for that long.
json rates_config(unsigned seconds, const std::string& device);

/// Of a run of that configuration: every packet of its time was sent, or is told as missing. From a minute
/// on: the long-run rate, by packets and by the clock that told their time, is within 1 ppm of
/// CLOCK_MONOTONIC_RAW.
void expect_rates(const json& report, unsigned seconds);

}  // namespace volley::test
