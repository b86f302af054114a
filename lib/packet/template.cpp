#include "packet/template.h"

#include <atomic>
#include <cstring>

#include "packet/assemble.h"
#include "packet/layout.h"
#include "packet/resolve.h"
#include "packet/sizes.h"

namespace volley::packet {
namespace {

/// The best code for this CPU, chosen once.
const Executor& executor() {
    static const Executor& best = []() -> const Executor& {
        const auto usable = executors();
        return usable.data[usable.count - 1];
    }();
    return best;
}

/// Ids are compared with what a buffer remembers, so none may come twice; 2^32 templates are more than a
/// process that reloads once a second builds in a century.
std::uint32_t next_content_id() {
    static std::atomic<std::uint32_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

PacketTemplate::PacketTemplate(std::unique_ptr<const Assembly> assembly, Rational mean)
    : assembly_(std::move(assembly)),
      image_(assembly_->image),
      stamp_(assembly_->rotation ? stamp_rotation : executor().stamp),
      lengths_(assembly_->rotation ? lengths_of_rotation : executor().lengths),
      mean_(mean),
      content_id_(next_content_id()),
      fixed_length_(assembly_->plan.fixed_length),
      constant_(assembly_->constant) {}

PacketTemplate::~PacketTemplate() = default;

const Plan& PacketTemplate::plan() const noexcept {
    return assembly_->plan;
}

void PacketTemplate::lengths(std::uint64_t first, std::uint32_t count, std::uint16_t* out) const noexcept {
    if (fixed_length_ == 0) return lengths_(assembly_->plan, first, count, out);
    for (std::uint32_t k = 0; k < count; ++k) out[k] = fixed_length_;
}

void PacketTemplate::stamp(std::uint64_t first, std::uint32_t count,
                           std::uint8_t* const* frames) const noexcept {
    if (!constant_) stamp_(assembly_->plan, first, count, frames);
}

std::uint16_t PacketTemplate::write(std::uint64_t index, std::uint8_t* frame) const noexcept {
    std::memcpy(frame, image_.data(), image_.size());
    stamp(index, 1, &frame);
    std::uint16_t length = 0;
    lengths(index, 1, &length);
    return length;
}

std::variant<std::unique_ptr<const PacketTemplate>, std::vector<Problem>> build(
    const PacketModel& model, std::optional<Value> port_mac) {
    std::vector<Problem> problems;
    const Resolver resolver(model, problems);
    auto layout = lay_out(model, resolver, port_mac, problems);
    if (model.payload.kind == Payload::Kind::fill && model.payload.bytes.empty()) {
        problems.push_back({"/payload", "the fill pattern is empty; give at least one byte"});
    }
    const std::size_t given = model.payload.kind == Payload::Kind::bytes ? model.payload.bytes.size() : 0;
    const auto sizes = resolve_sizes(model, resolver.size(), layout.bytes.size(), given, problems);
    if (!problems.empty()) return problems;
    auto assembly = assemble(model, std::move(layout), sizes, problems);
    if (!problems.empty()) return problems;
    return std::make_unique<const PacketTemplate>(std::move(assembly), sizes.mean_l2_bytes);
}

}  // namespace volley::packet
