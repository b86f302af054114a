#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace volley {

/// Objects next to each other that stay where they are, made one after the other. For what packets touch here
/// and there: a large block asks for huge pages (madvise(2), where the kernel gives them on request), because
/// thousands of rows on pages of 4 KiB cost a TLB miss each. Used by one thread, but for the objects.
template <class T>
class RowBlock {
  public:
    /// Room for `capacity` objects. Throws std::bad_alloc.
    explicit RowBlock(std::size_t capacity) : memory_(allocate(capacity)) {}
    ~RowBlock() { std::destroy_n(memory_.get(), size_); }
    RowBlock(const RowBlock&) = delete;
    RowBlock& operator=(const RowBlock&) = delete;

    /// At most `capacity` times.
    template <class... Arguments>
    T& add(Arguments&&... arguments) {
        T* const made = new (memory_.get() + size_) T(std::forward<Arguments>(arguments)...);
        ++size_;
        return *made;
    }

  private:
    static constexpr std::size_t huge_page = std::size_t{2} << 20;

    struct Free {
        std::align_val_t alignment;
        void operator()(T* memory) const noexcept { operator delete(memory, alignment); }
    };
    using Memory = std::unique_ptr<T, Free>;

    static Memory allocate(std::size_t capacity) {
        const std::size_t bytes = capacity * sizeof(T);
        const bool large = bytes >= huge_page / 2;
        const std::align_val_t alignment{large ? huge_page : alignof(T)};
        const std::size_t whole = large ? (bytes + huge_page - 1) / huge_page * huge_page : bytes;
        Memory out(static_cast<T*>(operator new(std::max<std::size_t>(whole, 1), alignment)),
                   Free{alignment});
        if (large) madvise(out.get(), whole, MADV_HUGEPAGE);  // a wish: without it all works, slower
        return out;
    }

    Memory memory_;
    std::size_t size_ = 0;
};

}  // namespace volley
