#include "config/validate_traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/limiter.h"
#include "config/literal.h"
#include "config/model_check.h"
#include "config/print.h"
#include "config/wire_rate.h"
#include "packet/rotation.h"
#include "packet/signature.h"
#include "packet/template.h"

namespace volley::config {
namespace {

constexpr std::uint32_t ethernet_overhead = 18;  // header and FCS, which an MTU does not count
constexpr std::uint32_t tag_bytes = 4;
constexpr std::uint64_t ten_gigabit = 10'000'000'000;  // where the file does not say, as that of an 82599

// A stream whose packet could be built.
struct Built {
    const Stream* stream;
    Rational mean_l2_bytes;
};

// VLAN tags behind the outermost Ethernet header: a port's MTU does not count them.
std::uint32_t tags_of(const packet::PacketModel& packet) {
    std::uint32_t tags = 0;
    while (tags + 1 < packet.headers.size() && packet.headers[tags + 1].kind == packet::HeaderKind::vlan)
        ++tags;
    return tags;
}

class Checker : private ModelCheck {
  public:
    using ModelCheck::ModelCheck;

    void run() {
        std::map<std::string_view, std::vector<const Stream*>> streams;
        for (const Stream& stream : model_.streams) streams[stream.port].push_back(&stream);
        for (const Port& port : model_.ports) {
            std::vector<Built> built;
            if (!port.name.empty()) {
                for (const Stream* stream : streams[port.name]) build(*stream, port, built);
            }
            check_total(port, built);
            check_limiters(port, built);
        }
    }

  private:
    /// The way back has fields that the file does not.
    static std::string direction(const Stream& stream) {
        return stream.is_reverse ? " (in " + quote(stream.name) + ", the way back)" : "";
    }

    void build(const Stream& stream, const Port& port, std::vector<Built>& out) {
        const std::string place = stream.pointer + "/packet";
        if (at_pointer(root_, place) == nullptr || decoder_.any_wrong_below(place)) return;
        if (stream.source.any()) return build_packets(stream, port, out);
        const auto signing = stream.is_signed() ? std::make_shared<packet::Signing>() : nullptr;
        auto result = packet::build(stream.packet, port.mac, signing);
        if (const auto* problems = std::get_if<std::vector<packet::Problem>>(&result)) {
            for (const packet::Problem& problem : *problems)
                wrong(place + problem.pointer, problem.text + direction(stream));
            return;
        }
        const auto& packet = *std::get<std::unique_ptr<const packet::PacketTemplate>>(result);
        check_size(stream, port, packet.longest() + fcs_bytes);
        if (stream.enabled) out.push_back({&stream, packet.mean_l2_bytes()});
    }

    // Files are read by those who send them, or check them whole: traffic::check_file.
    void build_packets(const Stream& stream, const Port& port, std::vector<Built>& out) {
        const auto signing = stream.is_signed() ? std::make_shared<packet::Signing>() : nullptr;
        std::vector<std::unique_ptr<const packet::PacketTemplate>> built;
        for (std::size_t i = 0; i < stream.source.packets.size(); ++i) {
            const std::string place = stream.pointer + "/packet/packets/" + std::to_string(i);
            auto result = packet::build(stream.source.packets[i], port.mac, signing);
            if (const auto* problems = std::get_if<std::vector<packet::Problem>>(&result)) {
                for (const packet::Problem& problem : *problems)
                    wrong(place + problem.pointer, problem.text + direction(stream));
                continue;
            }
            built.push_back(std::move(std::get<0>(result)));
        }
        if (built.empty() || built.size() != stream.source.packets.size() || !stream.enabled) return;
        const auto rotation = packet::rotate(std::move(built), stream.source.order, packet::Counting::own);
        out.push_back({&stream, rotation->mean_l2_bytes()});
    }

    void check_size(const Stream& stream, const Port& port, std::uint32_t longest) {
        const std::string place = stream.pointer + "/packet/frame_size";
        const std::uint32_t tags = tags_of(stream.packet);
        if (port.mtu && longest > *port.mtu + ethernet_overhead + tags * tag_bytes) {
            wrong(place, "frames of " + std::to_string(longest) + " bytes do not fit the mtu " +
                             std::to_string(*port.mtu) + " of port " + quote(port.name) + ", which takes " +
                             std::to_string(*port.mtu + ethernet_overhead + tags * tag_bytes) +
                             " with header" + (tags == 0 ? "" : ", tags") + " and FCS");
        }
        if (port.tx && port.tx->max_frame && longest > *port.tx->max_frame) {
            wrong(place, "frames of " + std::to_string(longest) + " bytes are longer than tx.max_frame " +
                             std::to_string(*port.tx->max_frame) + " of port " + quote(port.name));
        }
    }

    // The port's rate is shared by its streams without one; their weights are shares of packets.
    std::vector<std::pair<WireRate, const Built*>> wire_rates(const Port& port,
                                                              const std::vector<Built>& built,
                                                              std::uint64_t link_bps) const {
        std::vector<std::pair<WireRate, const Built*>> out;
        SharedRate shared;
        for (const Built& part : built) {
            if (!part.stream->rate) shared.add(part.mean_l2_bytes, part.stream->weight);
        }
        for (const Built& part : built) {
            const Stream& stream = *part.stream;
            const double factor = stream.scale ? model_.run.multiplier : 1.0;
            std::optional<WireRate> wire;
            if (stream.rate) {
                wire = wire_rate(*stream.rate, part.mean_l2_bytes, link_bps);
            } else if (port.rate) {
                wire = shared.share(*port.rate, part.mean_l2_bytes, stream.weight, link_bps);
            }
            if (wire) out.emplace_back(wire->scaled(factor), &part);
        }
        return out;
    }

    void check_total(const Port& port, const std::vector<Built>& built) {
        if (!port.speed_bps || port.oversubscribe) return;
        std::vector<std::pair<WireRate, const Stream*>> parts;
        WireRate total;
        for (const auto& [wire, part] : wire_rates(port, built, *port.speed_bps)) {
            parts.emplace_back(wire, part->stream);
            total = total + wire;
        }
        if (total.fits(*port.speed_bps)) return;
        tell_total(port, total, std::move(parts));
    }

    // A limiter of the NIC holds a queue to a whole number of Mb/s, from a floor on that follows from the
    // link.
    void check_limiters(const Port& port, const std::vector<Built>& built) {
        const std::uint64_t link = port.speed_bps.value_or(ten_gigabit);
        for (const auto& [wire, part] : wire_rates(port, built, link)) {
            const Stream& stream = *part->stream;
            const std::size_t lcores = port.tx ? port.tx->lcores.size() : 0;
            const std::size_t queues = stream.workers.empty() ? lcores : stream.workers.size();
            if (!stream.hardware_pacing || queues == 0) continue;
            const Rational mean = part->mean_l2_bytes;
            const std::uint64_t l2 =
                wire.part(mean.num, Uint128{mean.num} + Uint128{l1_overhead_bytes} * mean.den).bps();
            const std::uint32_t least = least_limit_mbps(link);
            if (l2 / queues >= least * std::uint64_t{1'000'000}) continue;
            wrong(stream.pointer + "/pacing",
                  "the rate is " + std::to_string(l2 / queues) +
                      " bit/s of frames (L2) a queue, and a NIC's " + "limiter on a link of " +
                      speed_text(link) + " starts at " + std::to_string(least) +
                      " Mbit/s, in whole steps; use fewer \"workers\", or \"software\"");
        }
    }

    void tell_total(const Port& port, WireRate total, std::vector<std::pair<WireRate, const Stream*>> parts) {
        constexpr std::size_t most_named = 3;
        std::stable_sort(parts.begin(), parts.end(),
                         [](const auto& a, const auto& b) { return b.first < a.first; });
        std::string names;
        for (std::size_t i = 0; i < std::min(parts.size(), most_named); ++i) {
            names += (i == 0 ? "" : ", ") + quote(parts[i].second->name) + " " + parts[i].first.text();
        }
        if (parts.size() > most_named) names += " and " + std::to_string(parts.size() - most_named) + " more";
        wrong(port.pointer + "/speed", "the streams of port " + quote(port.name) + " ask for " +
                                           total.text() + " on the wire (L1: " + names +
                                           ") and its link carries " + speed_text(*port.speed_bps) +
                                           "; lower a rate, or say \"oversubscribe\": true");
    }
};

}  // namespace

void check_traffic(Decoder& decoder, const Node& root, const Model& model) {
    Checker(decoder, root, model).run();
}

}  // namespace volley::config
