#include "packet/assemble.h"

#include <algorithm>

#include "packet/prf.h"

namespace volley::packet {
namespace {

constexpr std::uint64_t ordered_period = 4096;

void fill_payload(std::vector<std::uint8_t>& image, std::size_t at, const Payload& payload) {
    if (payload.kind == Payload::Kind::bytes) {
        const auto length = std::min(payload.bytes.size(), image.size() - at);
        std::copy_n(payload.bytes.begin(), length, image.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (payload.kind == Payload::Kind::fill && !payload.bytes.empty()) {
        for (std::size_t i = at; i < image.size(); ++i)
            image[i] = payload.bytes[(i - at) % payload.bytes.size()];
    }
}

template <class T>
Array<T> array(const std::vector<T>& items) {
    return {items.data(), static_cast<std::uint32_t>(items.size())};
}

void connect(Assembly& out) {
    auto& plan = out.plan;
    plan.size = out.lengths.size() > 1 ? &out.columns.back() : nullptr;
    plan.size_in_order = !out.size_order.empty();
    plan.lengths = out.lengths.data();
    plan.fixed_length = out.lengths.size() > 1 ? std::uint16_t{0} : out.lengths.front();
    plan.sums = array(out.sums);
    plan.narrow = array(out.narrow);
    plan.wide = array(out.wide);
    plan.by_size = array(out.by_size);
    plan.payload = out.payload.empty() ? nullptr : out.payload.data();
    plan.crcs = array(out.crcs);
    plan.checksums = array(out.checksums);
    plan.columns = out.columns.data();
    plan.wide_parts = out.wide_parts.data();
    plan.targets = out.targets.data();
    out.constant = plan.size == nullptr && out.narrow.empty() && out.wide.empty() && out.payload.empty();
}

/// Sizes that repeat after few packets, as mixes do, have their tables in the order of packets: reading on in
/// order is cheaper than looking each packet's variant up.
void set_size_order(Assembly& out, const Sizes& sizes) {
    out.lengths = sizes.lengths;
    const std::uint64_t period = sizes.variant.period();
    if (sizes.lengths.size() == 1 || period == 0 || period > ordered_period) return;
    out.lengths.clear();
    for (std::uint64_t i = 0; i < period + table_slack; ++i) {
        out.size_order.push_back(static_cast<std::uint16_t>(sizes.variant.at(i) - sizes.variant_base));
        out.lengths.push_back(sizes.lengths[out.size_order.back()]);
    }
}

/// The addresses of the outermost Ethernet header, and of the outermost IP header the time to live and the
/// checksum that goes with it.
std::vector<std::pair<std::uint16_t, std::uint16_t>> routed_bytes(const Layout& layout) {
    std::vector<std::pair<std::uint16_t, std::uint16_t>> out;
    const auto add = [&](std::uint32_t at, std::uint16_t length) {
        out.emplace_back(static_cast<std::uint16_t>(at), length);
    };
    for (const Layer& layer : layout.layers) {
        if (layer.kind == HeaderKind::eth && out.empty()) add(layer.offset, 12);
        if (layer.kind == HeaderKind::ipv4) {
            add(layer.offset + 8, 1);
            add(layer.offset + 10, 2);
            break;
        }
        if (layer.kind == HeaderKind::ipv6) {
            add(layer.offset + 7, 1);
            break;
        }
    }
    return out;
}

}  // namespace

std::unique_ptr<Assembly> assemble(const PacketModel& model, Layout layout, const Sizes& sizes,
                                   const Signing* signing, std::vector<Problem>& problems) {
    auto out = std::make_unique<Assembly>();
    if (signing != nullptr) {
        out->trailer = signature_bytes;
        out->trailer_sum = signing->trailer_sum();
    }
    out->routed = routed_bytes(layout);
    const std::size_t headers = layout.bytes.size();
    const auto& payload = model.payload;
    const std::size_t given = payload.kind == Payload::Kind::bytes ? payload.bytes.size() : 0;
    set_size_order(*out, sizes);
    out->image = layout.bytes;
    // Without a frame size the content ends with what was given, and the rest is padding; a trailer ends
    // both.
    const std::size_t end = model.frame_size || signing != nullptr ? sizes.lengths.back() : headers + given;
    out->image.resize(end);
    fill_payload(out->image, headers, payload);
    if (payload.kind == Payload::Kind::random && end > headers) {
        static constexpr char name[] = "payload";
        out->payload.push_back({static_cast<std::uint16_t>(headers),
                                key_of(payload.seed, name, sizeof name - 1),
                                {},
                                static_cast<std::uint16_t>(out->trailer)});
    }
    out->image.resize(sizes.lengths.back());
    add_cells(*out, layout, problems);
    if (!problems.empty()) return out;
    add_sums(*out, layout, sizes, static_cast<std::uint32_t>(end), problems);
    if (sizes.lengths.size() > 1) {
        out->columns.push_back(make_column(sizes.variant, {sizes.variant_base, 0, 0xffffffff}, out->storage));
        if (!out->size_order.empty()) out->columns.back().cycle = divider(sizes.variant.period());
    }
    connect(*out);
    return out;
}

}  // namespace volley::packet
