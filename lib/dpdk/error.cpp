#include "dpdk/error.h"

#include <cstdlib>
#include <system_error>

namespace volley::dpdk {
namespace {

std::string text(const std::string& operation, int code, const std::string& next_step) {
    std::string out = operation + ": " + std::generic_category().message(std::abs(code));
    if (!next_step.empty()) out += ": " + next_step;
    return out;
}

}  // namespace

Error::Error(const std::string& operation, int code, const std::string& next_step)
    : std::runtime_error(text(operation, code, next_step)), operation_(operation), code_(std::abs(code)) {}

}  // namespace volley::dpdk
