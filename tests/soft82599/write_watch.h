#pragma once

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace volley::soft82599 {

/// Counts this thread's writes to a 32-bit register of a plain-mode port by a debug register of the CPU: a
/// count that neither the driver nor the model has a part in.
class WriteWatch {
  public:
    WriteWatch(const void* bar, std::size_t offset) {
        perf_event_attr attr{};
        attr.size = sizeof(attr);
        attr.type = PERF_TYPE_BREAKPOINT;
        attr.bp_type = HW_BREAKPOINT_W;
        attr.bp_addr = reinterpret_cast<std::uintptr_t>(bar) + offset;
        attr.bp_len = HW_BREAKPOINT_LEN_4;
        attr.exclude_kernel = 1;
        attr.exclude_hv = 1;
        fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
    }
    ~WriteWatch() {
        if (fd_ >= 0) close(fd_);
    }
    WriteWatch(const WriteWatch&) = delete;
    WriteWatch& operator=(const WriteWatch&) = delete;

    /// False where the machine lends no debug register.
    [[nodiscard]] bool works() const noexcept { return fd_ >= 0; }
    /// Since construction; ~0 when it cannot be read.
    [[nodiscard]] std::uint64_t writes() const {
        std::uint64_t count = 0;
        return read(fd_, &count, sizeof(count)) == sizeof(count) ? count : ~std::uint64_t{0};
    }

  private:
    int fd_ = -1;
};

}  // namespace volley::soft82599
