#include "packet/frame_window.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "packet/assemble.h"
#include "packet/rotation_plan.h"

namespace volley::packet {
namespace {

constexpr std::uint64_t mean_frame = 256;  // for as many of which there are slots

}  // namespace

FrameWindow::FrameWindow(std::uint64_t bytes)
    : bytes_(new std::uint8_t[bytes]), size_(bytes), slots_(std::bit_ceil(bytes / mean_frame + 1)) {}

// A frame lies in one piece: what is left at the end of the ring before it stays empty.
bool FrameWindow::push(std::span<const std::uint8_t> captured, std::uint32_t length,
                       std::uint64_t offset_ns) noexcept {
    const std::uint64_t index = ready_.load(std::memory_order_relaxed);
    const std::uint64_t released = released_.load(std::memory_order_acquire);
    if (index - released == slots_.size()) return false;
    const std::uint64_t begin = end_ % size_ + length <= size_ ? end_ : (end_ / size_ + 1) * size_;
    const std::uint64_t used_from = released == 0 ? 0 : slot(released - 1).end;
    if (begin + length - used_from > size_) return false;
    Slot& out = slots_[index & (slots_.size() - 1)];
    out.begin = begin % size_;
    out.end = end_ = begin + length;
    out.offset_ns = offset_ns;
    out.length = static_cast<std::uint16_t>(length);
    std::copy(captured.begin(), captured.end(), bytes_.get() + out.begin);
    std::memset(bytes_.get() + out.begin + captured.size(), 0, length - captured.size());
    ready_.store(index + 1, std::memory_order_release);  // acquired by ready()
    return true;
}

void stamp_window(const Plan& plan, std::uint64_t first, std::uint32_t count,
                  std::uint8_t* const* frames) noexcept {
    FrameWindow& window = *plan.rotation->window;
    for (std::uint32_t k = 0; k < count; ++k)
        std::memcpy(frames[k], window.bytes(first + k), window.length(first + k));
    window.release(first + count);
}

void lengths_of_window(const Plan& plan, std::uint64_t first, std::uint32_t count,
                       std::uint16_t* out) noexcept {
    for (std::uint32_t k = 0; k < count; ++k) out[k] = plan.rotation->window->length(first + k);
}

std::unique_ptr<const PacketTemplate> stream(std::shared_ptr<FrameWindow> window, std::uint16_t longest,
                                             const std::vector<std::vector<std::uint8_t>>& samples,
                                             Rational mean) {
    auto rotation = std::make_unique<Rotation>();
    rotation->window = std::move(window);
    FrameStore& store = rotation->frames;
    for (const auto& sample : samples) {
        store.offsets.push_back(store.bytes.size());
        store.lengths.push_back(static_cast<std::uint16_t>(sample.size()));
        store.bytes.insert(store.bytes.end(), sample.begin(), sample.end());
    }
    for (std::size_t i = 0; i < samples.size(); ++i)
        rotation->members.push_back({store.bytes.data() + store.offsets[i], nullptr, store.lengths[i]});
    auto assembly = std::make_unique<Assembly>();
    assembly->image.resize(longest);
    assembly->plan.rotation = rotation.get();
    assembly->rotation = std::move(rotation);
    return std::make_unique<const PacketTemplate>(std::move(assembly), mean);
}

}  // namespace volley::packet
