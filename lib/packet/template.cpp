#include "packet/template.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "packet/assemble.h"
#include "packet/layout.h"
#include "packet/resolve.h"
#include "packet/signature.h"
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

decltype(Executor::stamp) stamp_of(const Assembly& assembly) {
    if (!assembly.rotation) return executor().stamp;
    return assembly.rotation->window ? stamp_window : stamp_rotation;
}

decltype(Executor::lengths) lengths_of(const Assembly& assembly) {
    if (!assembly.rotation) return executor().lengths;
    return assembly.rotation->window ? lengths_of_window : lengths_of_rotation;
}

/// Ids are compared with what a buffer remembers, so none may come twice; 2^32 templates are more than a
/// process that reloads once a second builds in a century.
std::uint32_t next_content_id() {
    static std::atomic<std::uint32_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The signature stands behind all that the model gives, at the end of a frame that no link pads. Without a
/// frame size the frame has grown by it already.
void check_room(std::uint32_t shortest, std::size_t content, std::size_t grown,
                std::vector<Problem>& problems) {
    const std::size_t needed = std::max<std::size_t>(content + signature_bytes, 60);
    if (shortest >= needed) return;
    problems.push_back(
        {grown != 0 ? "/headers" : "/frame_size",
         "frames of " + std::to_string(shortest + fcs_bytes) +
             " bytes have no room for the signature: it takes 16 bytes behind headers and payload, so give "
             "frame_size " +
             std::to_string(needed + fcs_bytes) + " or more"});
}

/// What a CRC of SCTP and its chunks ask of the packet.
void check_crcs(const Layout& layout, const Sizes& sizes, const PacketModel& model, bool is_signed,
                std::vector<Problem>& problems) {
    for (const auto& crc : layout.crcs) {
        if (!is_signed || crc.to != to_the_end) continue;
        problems.push_back({crc.pointer,
                            "the signature is written behind the CRC32c that covers it: give "
                            "checksum, or leave signature and latency out"});
    }
    if (!layout.whole_words_from) return;
    const std::size_t given = model.payload.kind == Payload::Kind::bytes ? model.payload.bytes.size() : 0;
    const auto whole = [&](std::size_t end) { return (end - *layout.whole_words_from) % 4 == 0; };
    const bool fits = model.frame_size ? std::all_of(sizes.taken.begin(), sizes.taken.end(), whole)
                                       : whole(layout.bytes.size() + given);
    if (fits) return;
    problems.push_back({model.frame_size ? "/frame_size" : "/headers",
                        "chunks of sctp are whole 4 bytes (RFC 9260 section 3.2): give sizes that end so, "
                        "or sctp_data its length"});
}

}  // namespace

PacketTemplate::PacketTemplate(std::unique_ptr<const Assembly> assembly, Rational mean,
                               std::shared_ptr<const Signing> signing)
    : assembly_(std::move(assembly)),
      image_(assembly_->image),
      stamp_(stamp_of(*assembly_)),
      lengths_(lengths_of(*assembly_)),
      signing_(std::move(signing)),
      mean_(mean),
      content_id_(next_content_id()),
      fixed_length_(assembly_->plan.fixed_length),
      constant_(assembly_->constant) {}

PacketTemplate::~PacketTemplate() = default;

std::span<const std::pair<std::uint16_t, std::uint16_t>> PacketTemplate::routed() const noexcept {
    return assembly_->routed;
}

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
    std::uint16_t length = 0;
    lengths(index, 1, &length);  // before stamp(), which may let go of the frame
    stamp(index, 1, &frame);
    if (signing_ != nullptr) {
        const std::uint16_t sum = assembly_->trailer_sum;
        std::memset(frame + length - signature_bytes, 0, signature_bytes);
        std::memcpy(frame + length - signature_bytes, &sum, sizeof sum);
    }
    return length;
}

std::variant<std::unique_ptr<const PacketTemplate>, std::vector<Problem>> build(
    const PacketModel& model, std::optional<Value> port_mac, std::shared_ptr<const Signing> signing) {
    std::vector<Problem> problems;
    const Resolver resolver(model, problems);
    auto layout = lay_out(model, resolver, port_mac, problems);
    if (model.payload.kind == Payload::Kind::fill && model.payload.bytes.empty()) {
        problems.push_back({"/payload", "the fill pattern is empty; give at least one byte"});
    }
    const std::size_t given = model.payload.kind == Payload::Kind::bytes ? model.payload.bytes.size() : 0;
    const std::size_t trailer = signing != nullptr && !model.frame_size ? signature_bytes : 0;
    const auto sizes = resolve_sizes(model, resolver.size(), layout.bytes.size(), given + trailer, problems);
    if (!problems.empty()) return problems;
    if (signing != nullptr) check_room(sizes.lengths.front(), layout.bytes.size() + given, trailer, problems);
    check_crcs(layout, sizes, model, signing != nullptr, problems);
    if (!problems.empty()) return problems;
    auto assembly = assemble(model, std::move(layout), sizes, signing.get(), problems);
    if (!problems.empty()) return problems;
    return std::make_unique<const PacketTemplate>(std::move(assembly), sizes.mean_l2_bytes,
                                                  std::move(signing));
}

}  // namespace volley::packet
