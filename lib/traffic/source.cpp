#include "traffic/source.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <system_error>
#include <utility>

#include "base/units.h"
#include "import/capture.h"
#include "import/flows.h"
#include "import/rewrite.h"
#include "import/trafgen.h"
#include "packet/defaults.h"
#include "packet/frame_window.h"
#include "packet/plan.h"
#include "packet/rotation.h"
#include "packet/rotation_plan.h"
#include "packet/signature.h"

namespace volley::traffic {
namespace {

using Problems = std::vector<packet::Problem>;
using Templates = std::vector<std::unique_ptr<const packet::PacketTemplate>>;
using Signing = std::shared_ptr<const packet::Signing>;

constexpr std::uint32_t shortest = 60;           // bytes without FCS that Ethernet pads to
constexpr std::uint32_t ethernet_overhead = 18;  // header and FCS, which an MTU does not count
constexpr std::uint32_t tag_bytes = 4;

/// The longest frame of each member, or of the template itself.
std::vector<std::span<const std::uint8_t>> members_of(const packet::PacketTemplate& packet) {
    const packet::Rotation* rotation = packet.plan().rotation;
    if (rotation == nullptr) return {packet.image()};
    std::vector<std::span<const std::uint8_t>> members;
    for (const auto& member : rotation->members) members.emplace_back(member.bytes, member.length);
    return members;
}

/// Builds the models of one stream; problems get `place(i)` before their pointers.
template <class Place>
Templates build_all(const std::vector<packet::PacketModel>& models, std::optional<packet::Value> mac,
                    const Signing& signing, Place&& place, Problems& problems) {
    Templates built;
    for (std::size_t i = 0; i < models.size(); ++i) {
        auto result = packet::build(models[i], mac, signing);
        if (auto* found = std::get_if<Problems>(&result)) {
            for (packet::Problem& problem : *found) {
                problems.push_back({place(i) + problem.pointer, std::move(problem.text)});
            }
        } else {
            built.push_back(std::move(std::get<0>(result)));
        }
    }
    return built;
}

std::unique_ptr<const packet::PacketTemplate> one_or_rotation(Templates members, packet::Order order,
                                                              packet::Counting counting,
                                                              const Signing& signing) {
    if (members.size() == 1) return std::move(members.front());
    return packet::rotate(std::move(members), order, counting, signing);
}

// The trailer of a signed frame stands behind all that a file gives, and no checksum of the file covers it. A
// link must not pad what comes behind it.
void make_room_for_trailer(packet::PacketModel& model) {
    model.pad = true;
    for (packet::HeaderModel& header : model.headers) {
        for (packet::RawChecksum& sum : header.checksums)
            sum.to = sum.to.value_or(static_cast<std::uint16_t>(header.raw.size()));
    }
}

std::variant<Source, Problems> build_packets(const config::Stream& stream, std::optional<packet::Value> mac,
                                             const Signing& signing) {
    Problems problems;
    Templates built = build_all(
        stream.source.packets, mac, signing, [](std::size_t i) { return "/packets/" + std::to_string(i); },
        problems);
    if (!problems.empty()) return problems;
    Source source;
    source.packet = one_or_rotation(std::move(built), stream.source.order, packet::Counting::own, signing);
    return source;
}

class PcapBuilder {
  public:
    PcapBuilder(const config::Stream& stream, std::size_t workers, const Signing& signing,
                const imports::Rest& rest)
        : stream_(stream), pcap_(*stream.source.pcap), workers_(workers), signing_(signing), rest_(rest) {}

    std::variant<Source, Problems> run() {
        imports::Capture capture;
        try {
            if (pcap_.timing == config::Timing::recorded && too_large()) return feed();
            imports::CaptureOptions options;
            options.pad = pcap_.pad;
            options.rest = rest_;
            capture = imports::read_capture(pcap_.file, options);
        } catch (const imports::Error& error) {
            return Problems{{"/pcap", error.what()}};
        }
        check(capture);
        if (!problems_.empty()) return std::move(problems_);
        note(capture.frames.size(), capture.padded);
        if (pcap_.timing == config::Timing::recorded) note_times(capture);
        if (!problems_.empty()) return std::move(problems_);
        imports::all_literal(pcap_.rewrite) ? build_constant(capture) : build_varying(capture);
        if (!problems_.empty()) return std::move(problems_);
        return std::move(source_);
    }

  private:
    void problem(std::string text) { problems_.push_back({"/pcap", std::move(text)}); }

    [[nodiscard]] bool too_large() const {
        std::error_code none;
        const auto size = std::filesystem::file_size(pcap_.file, none);
        return !none && size > std::uint64_t{pcap_.memory_mib} << 20U;
    }

    // What takes another look at a frame than the one of its turn cannot be had.
    void check_fed() {
        const std::string why = pcap_.file + ": is larger than memory_mib (" +
                                std::to_string(pcap_.memory_mib) + " MiB), so it is read while it is sent, ";
        if (workers_ > 1) problem(why + "by one worker: say \"workers\": [0], or raise memory_mib");
        if (stream_.is_signed())
            problem(why + "unsigned: leave signature and what implies it out, or raise memory_mib");
        if (stream_.bytes)
            problem(why + "and its bytes are not counted ahead: say \"count\", or raise memory_mib");
        if (!imports::all_literal(pcap_.rewrite))
            problem(why + "with literal values in \"rewrite\" only; give such, or raise memory_mib");
    }

    std::variant<Source, Problems> feed() {
        check_fed();
        if (!problems_.empty()) return std::move(problems_);
        source_.feed = std::make_shared<Feed>(pcap_, stream_.packet.pad);
        const Survey& survey = source_.feed->survey(rest_);
        if (survey.packets == 0) problem(pcap_.file + ": holds no packet");
        imports::Capture first;
        if (!survey.samples.empty()) first.bytes = survey.samples.front();
        first.frames.push_back({0, static_cast<std::uint32_t>(first.bytes.size()), 0, 0});
        check_found(first, survey.found);
        note(survey.packets, survey.padded);
        note_times(survey.backwards, survey.span_ns == 0);
        if (!problems_.empty()) return std::move(problems_);
        source_.packet = packet::stream(source_.feed->window(), survey.longest, survey.samples,
                                        reduced(survey.l2_bytes, survey.packets));
        return std::move(source_);
    }

    void check(const imports::Capture& capture) {
        if (capture.frames.empty()) problem(pcap_.file + ": holds no packet");
        const std::uint32_t most = packet::max_frame - (signing_ == nullptr ? 0 : packet::signature_bytes);
        for (std::size_t i = 0; i < capture.frames.size(); ++i) {
            const imports::Capture::Frame& frame = capture.frames[i];
            if (frame.length <= most) continue;
            problem(imports::place_in_capture(pcap_.file, frame.place, i + 1) + "a frame of " +
                    std::to_string(frame.length) + " bytes; the most is " + std::to_string(most) +
                    " without FCS" + (signing_ == nullptr ? "" : " and signature"));
            return;
        }
    }

    void note(std::uint64_t packets, std::uint64_t padded) {
        source_.packets = packets;
        if (padded == 0) return;
        source_.warnings.push_back(pcap_.file + ": " + std::to_string(padded) +
                                   " frames were captured in part and are filled up with zeros");
    }

    void note_times(const imports::Capture& capture) {
        std::uint64_t backwards = 0;
        for (const auto& frame : capture.frames) {
            if (!source_.times_ns.empty() && frame.time_ns < source_.times_ns.back()) ++backwards;
            source_.times_ns.push_back(frame.time_ns);
        }
        const auto rises =
            std::adjacent_find(source_.times_ns.begin(), source_.times_ns.end(), std::less<>());
        note_times(backwards, rises == source_.times_ns.end());
        if (stream_.split == config::Split::flow && workers_ > 1) {
            source_.lanes = imports::flow_lanes(capture, static_cast<std::uint32_t>(workers_));
        }
    }

    void note_times(std::uint64_t backwards, bool no_gap) {
        if (backwards != 0) {
            source_.warnings.push_back(pcap_.file + ": " + std::to_string(backwards) +
                                       " frames are older than the one before them; they leave with it, and "
                                       "the gaps behind them hold");
        }
        if (pcap_.loop != 1 && no_gap) {
            problem(pcap_.file +
                    ": all packets have the same time, so a loop has no gap to keep; say "
                    "\"timing\": \"rate\", or leave \"loop\" out");
        }
    }

    void check_found(const imports::Capture& capture, const std::vector<std::uint64_t>& found) {
        for (std::size_t r = 0; r < found.size(); ++r) {
            if (found[r] != 0) continue;
            const packet::LayerField& rewrite = pcap_.rewrite[r];
            const std::string name = rewrite.layer + "." + std::string(rewrite.field->name);
            problems_.push_back({"/pcap/rewrite/" + name, pcap_.file + ": no packet has a field " + name +
                                                              "; the first one has " +
                                                              imports::layers_of(capture)});
        }
    }

    void build_constant(imports::Capture& capture) {
        if (!pcap_.rewrite.empty()) check_found(capture, imports::rewrite(capture, pcap_.rewrite));
        if (!problems_.empty()) return;
        packet::FrameStore store;
        const std::uint32_t trailer = signing_ == nullptr ? 0 : packet::signature_bytes;
        const std::uint32_t least = stream_.packet.pad || trailer != 0 ? shortest - trailer : 1;
        const bool grows = trailer != 0 || std::any_of(capture.frames.begin(), capture.frames.end(),
                                                       [&](const auto& f) { return f.length < least; });
        if (!grows) store.bytes = std::move(capture.bytes);
        for (std::size_t i = 0; i < capture.frames.size(); ++i) {
            const auto& frame = capture.frames[i];
            const std::uint32_t length = std::max(frame.length, least) + trailer;
            store.offsets.push_back(grows ? store.bytes.size() : frame.begin);
            store.lengths.push_back(static_cast<std::uint16_t>(length));
            if (!grows) continue;
            const auto bytes = capture.frame(i);
            store.bytes.insert(store.bytes.end(), bytes.begin(), bytes.end());
            store.bytes.resize(store.offsets.back() + length);
        }
        source_.packet = packet::rotate(std::move(store), stream_.source.order, signing_);
    }

    void build_varying(const imports::Capture& capture) {
        std::vector<std::uint64_t> found(pcap_.rewrite.size());
        std::vector<packet::PacketModel> models;
        for (std::size_t i = 0; i < capture.frames.size(); ++i) {
            models.push_back(imports::model_of(capture.frame(i), pcap_.rewrite, found));
            models.back().pad = stream_.packet.pad;
            if (signing_ != nullptr) make_room_for_trailer(models.back());
        }
        check_found(capture, found);
        if (!problems_.empty()) return;
        Templates built = build_all(
            models, std::nullopt, signing_, [](std::size_t) { return std::string("/pcap"); }, problems_);
        if (!problems_.empty()) return;
        source_.packet =
            one_or_rotation(std::move(built), stream_.source.order, packet::Counting::stream, signing_);
    }

    const config::Stream& stream_;
    const config::PcapSource& pcap_;
    std::size_t workers_;
    Signing signing_;
    const imports::Rest& rest_;
    Source source_;
    Problems problems_;
};

/// Worker w sends what cpu(w) names and what has no cpu(); a rotation is one for all workers of its stream.
std::vector<const imports::TrafgenPacket*> packets_for(const imports::TrafgenFile& file,
                                                       std::uint32_t worker) {
    std::vector<const imports::TrafgenPacket*> out;
    for (const imports::TrafgenPacket& packet : file.packets) {
        if (!packet.cpus || (worker >= packet.cpus->first && worker <= packet.cpus->second))
            out.push_back(&packet);
    }
    return out;
}

std::variant<Source, Problems> build_trafgen(const config::Stream& stream, std::optional<packet::Value> mac,
                                             std::span<const std::uint32_t> workers, const Signing& signing) {
    imports::TrafgenOptions options;
    options.device_mac = mac.value_or(*packet::default_of(packet::HeaderKind::eth, "src"));
    imports::TrafgenFile file;
    try {
        file = imports::read_trafgen(*stream.source.trafgen, options);
    } catch (const imports::Error& error) {
        return Problems{{"/trafgen", error.what()}};
    }
    const auto chosen = packets_for(file, workers.empty() ? 0 : workers.front());
    for (const std::uint32_t worker : workers) {
        if (packets_for(file, worker) == chosen) continue;
        return Problems{
            {"/trafgen", *stream.source.trafgen +
                             ": cpu() gives the workers of this stream different "
                             "packets; write one stream for each, with \"workers\": [0], [1], …"}};
    }
    if (chosen.empty()) {
        return Problems{{"/trafgen", *stream.source.trafgen + ": cpu() leaves no packet for worker " +
                                         std::to_string(workers.empty() ? 0 : workers.front())}};
    }
    std::vector<packet::PacketModel> models;
    for (const imports::TrafgenPacket* packet : chosen) {
        models.push_back(packet->model);
        models.back().pad = stream.packet.pad;
        if (signing != nullptr) make_room_for_trailer(models.back());
    }
    Problems problems;
    Templates built = build_all(
        models, std::nullopt, signing, [](std::size_t) { return std::string("/trafgen"); }, problems);
    for (packet::Problem& problem : problems)
        problem = {"/trafgen", *stream.source.trafgen + ": " + problem.text};
    if (!problems.empty()) return problems;
    Source source;
    source.warnings = std::move(file.warnings);
    for (const imports::TrafgenPacket& packet : file.packets) {
        if (packet.cpus) source.cpus_named = std::max(source.cpus_named, packet.cpus->first + 1);
    }
    source.packet = one_or_rotation(std::move(built), stream.source.order, packet::Counting::own, signing);
    return source;
}

}  // namespace

std::variant<Source, Problems> build_source(const config::Stream& stream,
                                            std::optional<packet::Value> port_mac,
                                            std::span<const std::uint32_t> workers,
                                            const std::shared_ptr<const packet::Signing>& signing,
                                            const imports::Rest& rest) {
    if (stream.source.trafgen) return build_trafgen(stream, port_mac, workers, signing);
    if (stream.source.pcap) return PcapBuilder(stream, workers.size(), signing, rest).run();
    if (!stream.source.packets.empty()) return build_packets(stream, port_mac, signing);
    auto built = packet::build(stream.packet, port_mac, signing);
    if (auto* problems = std::get_if<Problems>(&built)) return std::move(*problems);
    Source source;
    source.packet = std::move(std::get<0>(built));
    return source;
}

std::string too_long(const config::Port& port, const packet::PacketTemplate& packet) {
    const std::uint32_t longest = packet.longest() + fcs_bytes;
    if (port.tx && port.tx->max_frame && longest > *port.tx->max_frame) {
        return "frames of " + std::to_string(longest) + " bytes are longer than tx.max_frame " +
               std::to_string(*port.tx->max_frame) + " of port \"" + port.name + "\"";
    }
    if (!port.mtu) return {};
    for (const auto& member : members_of(packet)) {
        const std::uint32_t length = static_cast<std::uint32_t>(member.size()) + fcs_bytes;
        const std::uint32_t most = *port.mtu + ethernet_overhead + tag_bytes * outer_tags(member);
        if (length <= most) continue;
        return "frames of " + std::to_string(length) + " bytes do not fit the mtu " +
               std::to_string(*port.mtu) + " of port \"" + port.name + "\", which takes " +
               std::to_string(most) + " with header, tags and FCS";
    }
    return {};
}

std::string unsent_cpus(const config::Stream& stream, const config::Port& port, const Source& source) {
    const std::size_t workers = port.tx ? port.tx->lcores.size() : 0;
    if (source.cpus_named <= workers) return {};
    return *stream.source.trafgen + ": cpu(" + std::to_string(source.cpus_named - 1) +
           ") is sent by no worker: port \"" + port.name + "\" has " + std::to_string(workers) +
           ", cpu(0) being the first; give it more tx.lcores";
}

}  // namespace volley::traffic
