#include "volleyctl/explain_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <span>
#include <utility>
#include <vector>

#include "base/units.h"
#include "config/reader.h"
#include "config/rows.h"
#include "packet/describe.h"
#include "packet/plan.h"
#include "packet/rotation_plan.h"
#include "packet/signature.h"
#include "traffic/rates.h"
#include "volleyctl/annotate.h"
#include "whole_number.h"

namespace volley::ctl {
namespace {

std::string real(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

std::string fraction(Rational value) {
    if (value.den == 1) return std::to_string(value.num);
    return std::to_string(value.num) + "/" + std::to_string(value.den);
}

double approximately(Rational value) {
    return static_cast<double>(value.num) / static_cast<double>(value.den);
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) {
        std::array<char, 4> two{};
        std::snprintf(two.data(), two.size(), "%02x", byte);
        text += (text.empty() ? "" : " ") + std::string(two.data());
    }
    return text;
}

/// One stream with all that is said of it.
struct Explained {
    const config::Stream* stream = nullptr;
    const traffic::StreamPlan* plan = nullptr;
    std::uint64_t link_bps = 0;
    packet::Description description;
    std::vector<Annotation> bytes;
    std::uint64_t index = 0;
    std::size_t bytes_with_fcs = 0;
};

std::string asked_rate(const config::Stream& stream) {
    if (stream.rate) return to_text(*stream.rate);
    if (stream.rate_ramp) return "a ramp that reaches";
    if (!stream.rate_steps.empty()) return "steps, the highest";
    return "its share of the port's rate";
}

std::string rate_text(const Explained& e) {
    if (e.plan->max) return "max: what the other streams of the port leave of its link";
    if (e.plan->pps.num == 0) return "0 packets/s: sends nothing";
    const double pps = approximately(e.plan->pps);
    std::string text = asked_rate(*e.stream);
    text += " = " + fraction(e.plan->pps) + " packets/s";
    if (e.plan->pps.den != 1) text += " = " + real(pps, 3);
    return text + ", one every " + real(1e9 / pps, 3) + " ns";
}

std::string wire_text(const Explained& e) {
    const double mean = approximately(e.plan->mean_l2_bytes);
    const double pps = approximately(e.plan->pps);
    const double l1 = traffic::l1_bps(e.plan->pps, e.plan->mean_l2_bytes);
    std::string text = fraction(e.plan->mean_l2_bytes) +
                       " bytes a frame with FCS: " + real(pps * mean * 8e-6, 3) + " Mbit/s L2, " +
                       real(l1 * 1e-6, 3) + " Mbit/s L1 (20 bytes a frame more)";
    if (e.link_bps != 0) {
        text +=
            ", " + real(l1 * 100 / static_cast<double>(e.link_bps), 3) + " % of " + speed_text(e.link_bps);
    }
    return text;
}

std::string burst_text(const Explained& e) {
    std::string text = "bursts of " + std::to_string(e.plan->burst) + (e.plan->burst_auto ? " (auto)" : "");
    if (!e.plan->max && e.plan->pps.num != 0) {
        text += " every " + real(1e9 * e.plan->burst / approximately(e.plan->pps), 3) + " ns";
    }
    text += " over " + std::to_string(e.plan->workers.size()) +
            (e.plan->workers.size() == 1 ? " worker" : " workers in turn");
    if (e.plan->count != traffic::endless) {
        text += "; " + std::to_string(e.plan->count) + " packets";
        if (!e.plan->max && e.plan->pps.num != 0) {
            text += " in " + real(static_cast<double>(e.plan->count) / approximately(e.plan->pps), 6) + " s";
        }
    }
    return text;
}

std::string sizes_text(const Explained& e) {
    const packet::Rotation* rotation = e.plan->packet->plan().rotation;
    if (rotation == nullptr)
        return e.stream->source.any() ? std::to_string(e.bytes_with_fcs) : e.description.sizes;
    const auto [low, high] =
        std::minmax_element(rotation->members.begin(), rotation->members.end(),
                            [](const auto& a, const auto& b) { return a.length < b.length; });
    return std::to_string(rotation->members.size()) + " packets in " +
           (rotation->order == packet::Order::sequence ? "turn" : "random order") + ", " +
           std::to_string(low->length + fcs_bytes) + " to " + std::to_string(high->length + fcs_bytes);
}

std::string tuples_text(const packet::TupleCount& tuples) {
    if (!tuples.most) return "more than 2^64";
    return (tuples.exact ? "" : "at most ") + std::to_string(*tuples.most);
}

/// What the frame is made of. Packets in turn are shown with the programs of the one whose turn it is.
packet::Description description_of(const config::Stream& stream, std::span<const std::uint8_t> frame,
                                   std::uint64_t index) {
    const auto& packets = stream.source.packets;
    if (!packets.empty() && stream.source.order == packet::Order::sequence)
        return packet::describe(packets[index % packets.size()]);
    return stream.source.any() ? describe_frame(frame) : packet::describe(stream.packet);
}

std::string line_of(const Annotation& part) {
    std::array<char, 160> text{};
    const std::string name = part.layer + (part.field.empty() ? "" : " " + part.field);
    std::snprintf(text.data(), text.size(), "  %5u  %-48s%-24s%s", part.offset, hex(part.bytes).c_str(),
                  name.c_str(), part.value.c_str());
    std::string shown = text.data();
    if (!part.program.empty()) shown += "  <- " + part.program;
    shown.erase(shown.find_last_not_of(' ') + 1);
    return shown;
}

void print(std::ostream& out, const Explained& e, const std::string& port) {
    out << "stream \"" << e.plan->name << "\" on port \"" << port << "\"\n"
        << "  rate    " << rate_text(e) << '\n';
    if (!e.plan->max) out << "  wire    " << wire_text(e) << '\n';
    out << "  bursts  " << burst_text(e) << '\n' << "  sizes   " << sizes_text(e) << '\n';
    if (!e.stream->source.any())
        out << "  tuples  " << tuples_text(e.description.tuples) << '\n'
            << "  5-tuple " << tuples_text(e.description.five_tuples) << '\n';
    out << "  packet " << e.index << '\n';
    const Annotation* last = nullptr;
    bool repeating = false;
    for (const Annotation& part : e.bytes) {
        // Lines of payload that are alike are shown once, as hexdump does.
        const bool repeats = last != nullptr && part.field.empty() && last->field.empty() &&
                             part.layer == last->layer && part.bytes == last->bytes;
        if (!repeats) {
            out << line_of(part) << '\n';
        } else if (!std::exchange(repeating, true)) {
            out << "      *\n";
        }
        repeating = repeats;
        last = &part;
    }
}

config::Node node_of(const Explained& e, const std::string& port) {
    using config::to_node;
    config::Node::Array bytes;
    for (const Annotation& part : e.bytes) {
        config::Node::Object members;
        members.push_back({"offset", {}, to_node(part.offset)});
        members.push_back({"bytes", {}, to_node(hex(part.bytes))});
        members.push_back({"layer", {}, to_node(part.layer)});
        members.push_back({"field", {}, part.field.empty() ? config::Node{} : to_node(part.field)});
        members.push_back({"value", {}, part.field.empty() ? config::Node{} : to_node(part.value)});
        members.push_back({"program", {}, part.program.empty() ? config::Node{} : to_node(part.program)});
        bytes.push_back({std::move(members), {}});
    }
    config::Node::Object out;
    out.push_back({"name", {}, to_node(e.plan->name)});
    out.push_back({"port", {}, to_node(port)});
    out.push_back({"pps", {}, e.plan->max ? config::Node{} : to_node(fraction(e.plan->pps))});
    out.push_back({"mean_l2_bytes", {}, to_node(fraction(e.plan->mean_l2_bytes))});
    out.push_back({"burst", {}, to_node(e.plan->burst)});
    out.push_back({"workers", {}, to_node(e.plan->workers)});
    out.push_back({"sizes", {}, to_node(sizes_text(e))});
    out.push_back({"tuples", {}, to_node(e.description.tuples.most)});
    out.push_back({"tuples_exact", {}, to_node(e.description.tuples.exact)});
    out.push_back({"five_tuples", {}, to_node(e.description.five_tuples.most)});
    out.push_back({"five_tuples_exact", {}, to_node(e.description.five_tuples.exact)});
    out.push_back({"packet", {}, to_node(e.index)});
    out.push_back({"bytes", {}, config::Node{std::move(bytes), {}}});
    return {std::move(out), {}};
}

}  // namespace

ExplainCommand::ExplainCommand(CLI::App& app)
    : verb_(app.add_subcommand("explain", "Show each stream's frame byte by byte, and its arithmetic")) {
    compile_.add_to(*verb_);
    verb_->add_option("--stream", stream_, "Only this stream");
    verb_->add_option("--packet", index_, "Index of the packet that is shown; 0 without it")
        ->transform(whole_number());
    verb_->add_flag("--json", json_, "Print a JSON object instead of lines");
}

int ExplainCommand::run() const {
    return guarded([this] { return explain(); });
}

int ExplainCommand::explain() const {
    const Compiled compiled = compile_offline(compile_);
    config::Node::Array nodes;
    std::size_t shown = 0;
    for (const traffic::StreamPlan& plan : compiled.plan->streams) {
        if (!stream_.empty() && plan.name != stream_) continue;
        const auto stream = std::find_if(compiled.model.streams.begin(), compiled.model.streams.end(),
                                         [&](const config::Stream& s) { return s.name == plan.name; });
        if (stream == compiled.model.streams.end()) continue;
        Explained e;
        e.stream = &*stream;
        e.plan = &plan;
        e.link_bps = compiled.link_bps[plan.port];
        e.index = index_;
        std::vector<std::uint8_t> frame(plan.packet->longest());
        frame.resize(plan.packet->write(index_, frame.data()));
        e.description = description_of(*stream, frame, index_);
        e.bytes_with_fcs = frame.size() + fcs_bytes;
        e.bytes =
            annotate(e.description, frame, plan.packet->signing() != nullptr ? packet::signature_bytes : 0);
        const std::string& port = compiled.model.ports[plan.port].name;
        if (json_) {
            nodes.push_back(node_of(e, port));
        } else {
            if (shown != 0) std::cout << '\n';
            print(std::cout, e, port);
        }
        ++shown;
    }
    if (!stream_.empty() && shown == 0) throw UsageError("no enabled stream is named \"" + stream_ + "\"");
    if (json_) {
        config::Node::Object root;
        root.push_back({"streams", {}, config::Node{std::move(nodes), {}}});
        std::cout << config::write_json({std::move(root), {}}, 0) << '\n';
    }
    return 0;
}

}  // namespace volley::ctl
