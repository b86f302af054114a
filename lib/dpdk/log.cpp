#include "dpdk/log.h"

#include <rte_log.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <mutex>

namespace volley::dpdk {
namespace {

struct Router {
    std::mutex mutex;
    std::string partial;
    LogListener listener;
    FILE* stream = nullptr;
};

Router& router() {
    static auto* const instance = new Router;  // outlives every thread that may still log at exit
    return *instance;
}

// DPDK writes no level into the stream; rte_log_cur_msg_loglevel gives it while the message is being written.
void forward(std::string_view line, int level) {
    // Said by every process that registers no command of DPDK's old telemetry: nothing for the operator to
    // do.
    if (line.find("No legacy callbacks") != std::string_view::npos) level = static_cast<int>(RTE_LOG_DEBUG);
    if (level <= static_cast<int>(RTE_LOG_ERR)) {
        spdlog::error("dpdk: {}", line);
    } else if (level == static_cast<int>(RTE_LOG_WARNING)) {
        spdlog::warn("dpdk: {}", line);
    } else {
        spdlog::debug("dpdk: {}", line);
    }
}

ssize_t write_cookie(void*, const char* data, size_t size) {
    Router& r = router();
    const std::lock_guard lock(r.mutex);
    const int level = rte_log_cur_msg_loglevel();
    r.partial.append(data, size);
    for (std::size_t end = r.partial.find('\n'); end != std::string::npos; end = r.partial.find('\n')) {
        const std::string line = r.partial.substr(0, end);
        r.partial.erase(0, end + 1);
        if (line.empty()) continue;
        if (r.listener) r.listener(line);
        forward(line, level);
    }
    return static_cast<ssize_t>(size);
}

}  // namespace

void route_log() {
    Router& r = router();
    if (r.stream != nullptr) return;
    cookie_io_functions_t functions{};
    functions.write = write_cookie;
    r.stream = fopencookie(nullptr, "w", functions);
    if (r.stream == nullptr) return;
    setvbuf(r.stream, nullptr, _IONBF, 0);
    rte_openlog_stream(r.stream);
}

void restore_log() {
    Router& r = router();
    rte_openlog_stream(nullptr);
    if (r.stream != nullptr) fclose(r.stream);
    r.stream = nullptr;
}

void set_log_listener(LogListener listener) {
    Router& r = router();
    const std::lock_guard lock(r.mutex);
    r.listener = std::move(listener);
}

}  // namespace volley::dpdk
