#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "soft82599/registers.h"

namespace volley::soft82599 {

/// The 128 KiB BAR as memory that is mapped twice: the model's view is readable and writable, the driver's
/// view (bar()) faults on every access so that the trap can run the model.
class RegisterFile {
  public:
    static constexpr std::size_t bytes = 0x20000;

    RegisterFile();  ///< Throws std::system_error when the kernel gives no memory.
    ~RegisterFile();
    RegisterFile(const RegisterFile&) = delete;
    RegisterFile& operator=(const RegisterFile&) = delete;

    /// Acquire and release, for in plain mode the driver stores TDT into this memory without a trap.
    [[nodiscard]] std::uint32_t load(reg::Offset offset) const noexcept {
        return std::atomic_ref(words_[offset / 4]).load(std::memory_order_acquire);
    }
    void store(reg::Offset offset, std::uint32_t value) noexcept {
        std::atomic_ref(words_[offset / 4]).store(value, std::memory_order_release);
    }
    [[nodiscard]] std::uint64_t load_pair(reg::Offset low) const noexcept {
        return load(low) | static_cast<std::uint64_t>(load(low + 4)) << 32;
    }

    void clear() noexcept;
    /// The driver's view.
    [[nodiscard]] void* bar() const noexcept { return bar_; }
    /// Plain mode: the pages of the TX queue registers (0x6000-0x7FFF) no longer trap. Throws
    /// std::system_error.
    void open_tx_pages();

  private:
    std::uint32_t* words_ = nullptr;
    void* bar_ = nullptr;
};

}  // namespace volley::soft82599
