#include "volleyctl/render_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

#include "base/units.h"
#include "config/reader.h"
#include "config/rows.h"
#include "import/pcap_writer.h"
#include "traffic/playback.h"
#include "whole_number.h"

namespace volley::ctl {
namespace {

struct Rendered {
    std::string name;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;  ///< with FCS
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
};

std::uint64_t all_packets(const std::vector<Rendered>& streams) {
    std::uint64_t packets = 0;
    for (const Rendered& stream : streams) packets += stream.packets;
    return packets;
}

std::string to_json(const std::string& file, const std::vector<Rendered>& streams) {
    config::Node::Array items;
    for (const Rendered& stream : streams) {
        config::Node::Object members;
        members.push_back({"name", {}, config::to_node(stream.name)});
        members.push_back({"packets", {}, config::to_node(stream.packets)});
        members.push_back({"l2_bytes", {}, config::to_node(stream.bytes)});
        members.push_back({"first_ns", {}, config::to_node(stream.first_ns)});
        members.push_back({"last_ns", {}, config::to_node(stream.last_ns)});
        items.push_back({std::move(members), {}});
    }
    config::Node::Object root;
    root.push_back({"file", {}, config::to_node(file)});
    root.push_back({"packets", {}, config::to_node(all_packets(streams))});
    root.push_back({"streams", {}, config::Node{std::move(items), {}}});
    return config::write_json({std::move(root), {}}, 0);
}

/// Writes at most `limit` packets of the streams that are wanted.
class Renderer {
  public:
    Renderer(const std::string& path, std::uint64_t limit) : writer_(path), left_(limit) {}

    [[nodiscard]] bool full() const { return left_ == 0; }

    void add(const traffic::TemplateBurst& burst, Rendered& stream) {
        const std::uint64_t at = burst.due - offline_epoch;
        frame_.resize(std::max<std::size_t>(frame_.size(), burst.packet->longest()));
        for (std::uint32_t k = 0; k < burst.count && left_ > 0; ++k, --left_) {
            const std::uint16_t length = burst.packet->write(burst.first_index + k, frame_.data());
            writer_.write(Duration{at}, std::span(frame_).first(length));
            if (stream.packets++ == 0) stream.first_ns = at;
            stream.bytes += length + fcs_bytes;
            stream.last_ns = at;
        }
    }

    void finish() { writer_.finish(); }

  private:
    imports::PcapWriter writer_;
    std::uint64_t left_;
    std::vector<std::uint8_t> frame_;
};

/// Nothing bounds what some stream sends.
bool endless(const Compiled& compiled) {
    if (compiled.plan->end != ~Tsc{0}) return false;
    const auto& models = compiled.model.streams;
    return std::any_of(
        compiled.plan->streams.begin(), compiled.plan->streams.end(), [&](const traffic::StreamPlan& stream) {
            const auto model = std::find_if(models.begin(), models.end(),
                                            [&](const config::Stream& s) { return s.name == stream.name; });
            const bool groups = model != models.end() && model->bursts && model->bursts->count;
            const bool bounded = stream.count != traffic::endless || stream.duration.ns != 0 || groups;
            return !bounded || stream.loops == 0;
        });
}

}  // namespace

RenderCommand::RenderCommand(CLI::App& app)
    : verb_(app.add_subcommand("render", "Write what a configuration sends into a capture file")) {
    compile_.add_to(*verb_);
    verb_->add_option("-n,--packets", packets_, "Packets to write; without it all that the run sends")
        ->transform(whole_number());
    verb_->add_option("-o,--output", out_, "Capture file (pcap, nanoseconds); - is stdout")->required();
    verb_->add_option("--port", port_, "Only what this port sends");
    verb_->add_option("--stream", stream_, "Only this stream");
    verb_->add_flag("--json", json_, "Print a JSON object instead of lines");
}

int RenderCommand::run() const {
    return guarded([this] { return render(); });
}

int RenderCommand::render() const {
    const Compiled compiled = compile_offline(compile_);
    if (!packets_ && endless(compiled)) {
        throw UsageError("the run has no end: say how many packets to write, such as -n 1000");
    }
    if (!port_.empty() && find_port(compiled.model, port_) == nullptr) {
        throw UsageError("no port is named \"" + port_ + "\"");
    }
    std::map<std::uint32_t, std::size_t> places;  // of the wanted streams, by slot
    std::vector<Rendered> streams;
    for (const traffic::StreamPlan& stream : compiled.plan->streams) {
        if (!port_.empty() && compiled.model.ports[stream.port].name != port_) continue;
        if (!stream_.empty() && stream.name != stream_) continue;
        places.emplace(stream.slot.value, streams.size());
        streams.emplace_back().name = stream.name;
    }
    if (!stream_.empty() && streams.empty())
        throw UsageError("no enabled stream is named \"" + stream_ + "\"");
    Renderer renderer(out_, packets_.value_or(~std::uint64_t{0}));
    traffic::Playback playback(*compiled.plan, compiled.link_bps, offline_hz);
    while (!renderer.full()) {
        const auto played = playback.next();
        if (!played) break;
        const auto place = places.find(played->burst.stream);
        if (place != places.end()) renderer.add(played->burst, streams[place->second]);
    }
    renderer.finish();
    std::ostream& told = out_ == "-" ? std::cerr : std::cout;
    if (json_) {
        told << to_json(out_, streams) << '\n';
        return 0;
    }
    for (const Rendered& stream : streams) {
        told << stream.name << ": " << stream.packets << " packets, " << stream.bytes << " bytes, "
             << to_text(Duration{stream.first_ns}) << " to " << to_text(Duration{stream.last_ns}) << '\n';
    }
    return 0;
}

}  // namespace volley::ctl
