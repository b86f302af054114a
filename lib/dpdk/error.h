#pragma once

#include <stdexcept>
#include <string>

namespace volley::dpdk {

/// A DPDK call that failed while building: what was tried, its error, and the operator's next step.
class Error : public std::runtime_error {
  public:
    /// code: positive errno value; DPDK's negative returns and rte_errno are both accepted.
    Error(const std::string& operation, int code, const std::string& next_step = {});

    [[nodiscard]] const std::string& operation() const noexcept { return operation_; }
    [[nodiscard]] int code() const noexcept { return code_; }

  private:
    std::string operation_;
    int code_;
};

}  // namespace volley::dpdk
