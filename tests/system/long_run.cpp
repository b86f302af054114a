#include "system/long_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace volley::test {
namespace {

std::uint64_t pps_of(const std::string& stream) {
    return (stream == "million" ? 1'000'000U : 10'000U) / (sanitized() ? 10U : 1U);
}

}  // namespace

json rates_config(unsigned seconds, const std::string& device) {
    json streams = json::array();
    for (const char* name : {"thousands", "million"}) {
        streams.push_back({{"name", name},
                           {"port", "east"},
                           {"rate", std::to_string(pps_of(name)) + "pps"},
                           {"packet", raw_packet()}});
    }
    json config = configuration(1, false, {port("east", device)}, streams);
    config["run"]["duration"] = std::to_string(seconds) + "s";
    return config;
}

void expect_rates(const json& report, unsigned seconds) {
    expect_consistent(report);
    const double drift = report.at("clock").at("drift_ppm").get<double>();
    for (const json& stream : report.at("streams")) {
        const std::string name = stream.at("name");
        const auto sent = stream.at("tx").at("packets").get<std::uint64_t>();
        const auto given_up = stream.at("slipped_packets").get<std::uint64_t>();
        const std::uint64_t due = seconds * pps_of(name);
        const auto shortfall = stream.at("shortfall_packets").get<std::uint64_t>();
        const double error = stream.at("rate_error_ppm").get<double>();
        EXPECT_EQ(sent + shortfall, due) << name;
        EXPECT_LE(given_up, shortfall) << name;
        std::printf("%s: %llu packets in %u s, %llu missing, rate_error_ppm %.3f, clock %+.4f ppm\n",
                    name.c_str(), static_cast<unsigned long long>(sent), seconds,
                    static_cast<unsigned long long>(shortfall), error, drift);
        // A machine that stands still for 100 ms costs packets, which is told; the rate of the rest is
        // judged.
        if (seconds >= 60) {
            EXPECT_LT(std::abs((shortfall == 0 ? error : 0) + drift), 1) << name;
        }
    }
}

}  // namespace volley::test
