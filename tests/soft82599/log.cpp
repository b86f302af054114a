#include "soft82599/log.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace volley::soft82599 {

void say(const char* format, ...) noexcept {
    constexpr char prefix[] = "soft82599: ";
    constexpr std::size_t start = sizeof(prefix) - 1;
    char line[512];
    std::memcpy(line, prefix, start);
    va_list arguments;
    va_start(arguments, format);
    const int wanted = std::vsnprintf(line + start, sizeof(line) - start - 1, format, arguments);
    va_end(arguments);
    std::size_t length = start + static_cast<std::size_t>(std::max(wanted, 0));
    length = std::min(length, sizeof(line) - 2);
    line[length++] = '\n';
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line, length);
}

}  // namespace volley::soft82599
