#pragma once

#include <spdlog/formatter.h>

#include <memory>

namespace volley::app {

/// One JSON object a log line: {"time_unix_ns", "level", "message"}; the message is escaped (RFC 8259).
class JsonFormatter : public spdlog::formatter {
  public:
    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override;
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override;
};

}  // namespace volley::app
