#include "config/decode_source.h"

#include <array>
#include <string>
#include <string_view>

#include "base/nearest.h"
#include "config/print.h"
#include "config/value.h"

namespace volley::config {
namespace {

using packet::FieldInfo;
using packet::HeaderKind;
using packet::LayerField;

constexpr std::array<std::string_view, 2> timings{"rate", "recorded"};
constexpr std::array<std::string_view, 2> orders{"sequence", "random"};

std::string no_such_field(HeaderKind kind, std::string_view name) {
    std::vector<std::string_view> names;
    for (const FieldInfo& field : packet::all_fields()) {
        if (field.header == kind && field.bit_width != 0) names.push_back(field.name);
    }
    std::string text = std::string(packet::name_of(kind)) + " has no field " + quote(name);
    const auto close = nearest(name, names);
    return close.empty() ? text : text + "; did you mean " + quote(close) + "?";
}

// "ipv4.2.src" is field src of layer "ipv4.2".
void decode_rewrite(Decoder& decoder, const Member& member, const std::string& pointer, PcapSource& out) {
    const std::string_view key = member.key;
    const std::size_t dot = key.rfind('.');
    const std::string_view layer = key.substr(0, dot == std::string_view::npos ? 0 : dot);
    const std::string_view kind_name = layer.substr(0, layer.find('.'));
    const HeaderKind* kind = packet::find_header(kind_name);
    if (kind == nullptr) {
        decoder.wrong(
            member.mark, pointer,
            quote(key) + " names no field; write layer and field, such as \"eth.dst\" or \"ipv4.2.src\"");
        return;
    }
    const FieldInfo* field = packet::find_field(*kind, key.substr(dot + 1));
    if (field == nullptr || field->bit_width == 0) {
        decoder.wrong(member.mark, pointer, no_such_field(*kind, key.substr(dot + 1)));
        return;
    }
    auto program = decode_value(decoder, {member.value, pointer}, spec_of(*field));
    if (!program) return;
    if (!program->nest.empty() || program->kind == packet::Program::Kind::variable) {
        decoder.wrong({member.value, pointer}, "a rewrite takes no \"nest\" and no \"variable\"");
        return;
    }
    out.rewrite.push_back({std::string(layer), field, std::move(*program)});
}

void decode_rewrites(Decoder& decoder, const At& at, PcapSource& out) {
    const auto* members = at.node.object();
    if (members == nullptr) {
        decoder.mismatch(at, "an object such as {\"eth.dst\": \"02:00:00:00:00:02\"}");
        return;
    }
    for (const Member& member : *members) {
        decode_rewrite(decoder, member, child_pointer(at.pointer, member.key), out);
    }
}

Node encode_rewrites(const PcapSource& pcap) {
    Node::Object members;
    for (const LayerField& rewrite : pcap.rewrite) {
        members.push_back({rewrite.layer + "." + std::string(rewrite.field->name),
                           {},
                           encode_value(rewrite.program, spec_of(*rewrite.field))});
    }
    return {std::move(members), {}};
}

const std::array<Row<PcapSource>, 7> pcap_rows{{
    {{"file", "path", "required", "", Effect::live, "pcap or pcapng file of Ethernet frames"},
     [](Decoder& d, const At& at, PcapSource& p) { d.path(at, p.file); },
     [](const PcapSource& p) { return to_node(p.file); }},
    {{"timing", "\"rate\" or \"recorded\"", "\"rate\"", "", Effect::live,
      "\"rate\": the stream's rate; \"recorded\": the gaps of the file"},
     [](Decoder& d, const At& at, PcapSource& p) {
         std::string text;
         d.choice(at, timings, text);
         p.timing = text == timings[1] ? Timing::recorded : Timing::rate;
     },
     [](const PcapSource& p) { return to_node(std::string(timings[static_cast<std::size_t>(p.timing)])); }},
    {{"speed", "number 0.001..1000", "1.0", "", Effect::live, "how much faster than recorded"},
     [](Decoder& d, const At& at, PcapSource& p) { d.real(at, 0.001, 1000, p.speed); },
     [](const PcapSource& p) { return to_node(p.speed); }},
    {{"loop", "integer from 0", "1", "", Effect::live, "times that the file is sent; 0: without end"},
     [](Decoder& d, const At& at, PcapSource& p) { d.integer(at, 0, UINT32_MAX, p.loop); },
     [](const PcapSource& p) { return to_node(p.loop); }},
    {{"pad", "boolean", "false", "", Effect::live,
      "fill up frames that were captured in part with zeros; else such a file is refused"},
     [](Decoder& d, const At& at, PcapSource& p) { d.read(at, p.pad); },
     [](const PcapSource& p) { return to_node(p.pad); }},
    {{"memory_mib", "integer 1..65536", "1024", "MiB", Effect::live,
      "with recorded timing, a larger file is not held in memory but read while it is sent, through a window "
      "of this size"},
     [](Decoder& d, const At& at, PcapSource& p) { d.integer(at, 1, 65'536, p.memory_mib); },
     [](const PcapSource& p) { return to_node(p.memory_mib); }},
    {{"rewrite", "object", "{}", "", Effect::live,
      "values for named fields such as \"ipv4.dst\", with the checksums that cover them"},
     decode_rewrites,
     encode_rewrites},
}};
const Table<PcapSource> pcap_table{"streams[].packet.pcap", pcap_rows};

}  // namespace

void decode_pcap(Decoder& decoder, const At& at, PacketDraft& out) {
    PcapSource& pcap = out.source.pcap.emplace();
    if (at.node.text() != nullptr) {
        decoder.path(at, pcap.file);
    } else if (at.node.object() != nullptr) {
        decode_object(decoder, at, pcap_table, pcap);
    } else {
        decoder.mismatch(at, "a path, or an object with \"file\"");
    }
}

Node encode_pcap(const PacketDraft& packet) {
    return packet.source.pcap ? encode_object(pcap_table, *packet.source.pcap) : Node{};
}

void decode_packets(Decoder& decoder, const At& at, PacketDraft& out) {
    const auto* array = at.node.array();
    if (array == nullptr || array->empty()) {
        decoder.mismatch(at, "an array of at least one packet");
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        const At item{(*array)[i], child_pointer(at.pointer, i)};
        PacketDraft draft;
        decode_object(decoder, item, packet_table(), draft);
        if (draft.source.any()) {
            decoder.wrong(
                item,
                "a packet of \"packets\" is a header stack; files and further \"packets\" are not for it");
        }
        out.source.packets.push_back(std::move(draft.model));
    }
}

Node encode_packets(const PacketDraft& packet) {
    if (packet.source.packets.empty()) return {};
    Node::Array items;
    for (const packet::PacketModel& model : packet.source.packets) {
        items.push_back(encode_object(packet_table(), PacketDraft{model, {}, true}));
    }
    return {std::move(items), {}};
}

void decode_order(Decoder& decoder, const At& at, PacketDraft& out) {
    std::string text;
    decoder.choice(at, orders, text);
    out.source.order = text == orders[1] ? packet::Order::random : packet::Order::sequence;
}

Node encode_order(const PacketDraft& packet) {
    return to_node(std::string(orders[static_cast<std::size_t>(packet.source.order)]));
}

void append_source_keys(std::vector<KeyInfo>& out) {
    append_keys(pcap_table, out);
}

}  // namespace volley::config
