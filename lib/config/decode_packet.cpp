#include <algorithm>
#include <array>

#include "config/decode_header.h"
#include "config/decode_source.h"
#include "config/literal.h"
#include "config/print.h"
#include "config/tables.h"
#include "config/value.h"
#include "packet/sizes.h"

namespace volley::config {
namespace {

using packet::PacketModel;
using packet::Payload;
using packet::WeightedSize;

struct SizeDraft {
    std::vector<WeightedSize> sizes;
    int forms = 0;
};

const std::array<Row<WeightedSize>, 2> weighted_rows{{
    {{"size", "integer 64..9728", "required", "bytes with FCS", Effect::live, "frame size"},
     [](Decoder& d, const At& at, WeightedSize& w) { d.integer(at, fcs_bytes + 1, largest_frame, w.size); },
     [](const WeightedSize& w) { return to_node(w.size); }},
    {{"weight", "integer 1..1000000", "1", "", Effect::live, "frames of this size in a cycle"},
     [](Decoder& d, const At& at, WeightedSize& w) { d.integer(at, 1, 1'000'000, w.weight); },
     [](const WeightedSize& w) { return to_node(w.weight); }},
}};
const Table<WeightedSize> weighted_table{"streams[].packet.frame_size.weighted[]", weighted_rows};

void decode_imix(Decoder& decoder, const At& at, SizeDraft& out) {
    ++out.forms;
    std::string name;
    decoder.choice(at, packet::mix_names(), name);
    if (!name.empty()) out.sizes = packet::named_mix(name);
}

void decode_weighted(Decoder& decoder, const At& at, SizeDraft& out) {
    ++out.forms;
    const auto* array = at.node.array();
    if (array == nullptr || array->empty()) {
        decoder.mismatch(at, "an array of at least one {\"size\": …, \"weight\": …}");
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        decode_object(decoder, {(*array)[i], child_pointer(at.pointer, i)}, weighted_table,
                      out.sizes.emplace_back());
    }
}

Node encode_weighted(const SizeDraft& draft) {
    Node::Array items;
    for (const WeightedSize& size : draft.sizes) items.push_back(encode_object(weighted_table, size));
    return {std::move(items), {}};
}

const std::array<Row<SizeDraft>, 2> size_rows{{
    {{"imix", "\"simple\", \"trex\", \"tolly\" or \"rpr\"", "", "", Effect::live,
      "a well-known mix, sizes and weights: simple 64:7 570:4 1518:1, trex 64:7 594:4 1518:1, tolly 64:55 "
      "78:5 "
      "576:17 1518:23, rpr 64:50 512:15 1518:15 9218:20"},
     decode_imix,
     nullptr},
    {{"weighted", "array of objects", "", "", Effect::live,
      "sizes by weight, in an interleaved order that repeats"},
     decode_weighted,
     encode_weighted},
}};
const Table<SizeDraft> size_table{"streams[].packet.frame_size", size_rows};

void decode_frame_size(Decoder& decoder, const At& at, PacketModel& out) {
    if (find(at.node, "imix") == nullptr && find(at.node, "weighted") == nullptr) {
        if (auto program = decode_value(decoder, at, frame_size_spec())) {
            out.frame_size.emplace().program = std::move(*program);
        }
        return;
    }
    SizeDraft draft;
    decode_object(decoder, at, size_table, draft);
    if (draft.forms > 1) decoder.wrong(at, "holds \"imix\" and \"weighted\"; a frame size takes one of them");
    out.frame_size.emplace().weighted = std::move(draft.sizes);
}

Node encode_frame_size(const PacketModel& packet) {
    if (!packet.frame_size) return {};
    if (packet.frame_size->program) return encode_value(*packet.frame_size->program, frame_size_spec());
    return encode_object(size_table, SizeDraft{packet.frame_size->weighted, 1});
}

struct PayloadDraft {
    Payload payload;
    int forms = 0;
};

void payload_hex(Decoder& decoder, const At& at, PayloadDraft& out) {
    ++out.forms;
    decode_hex(decoder, at, out.payload.bytes);
}

struct Seed {
    std::uint64_t seed = 1;
};
const std::array<Row<Seed>, 1> seed_rows{{
    {{"seed", "integer", "1", "", Effect::live, "the same seed gives the same bytes"},
     [](Decoder& d, const At& at, Seed& s) { d.integer(at, 0, UINT64_MAX, s.seed); },
     [](const Seed& s) { return to_node(s.seed); }},
}};
const Table<Seed> seed_table{"streams[].packet.payload.random", seed_rows};

const std::array<Row<PayloadDraft>, 4> payload_rows{{
    {{"fill", "hexadecimal text", "", "", Effect::live, "bytes repeated to the end, such as \"0xff\""},
     payload_hex,
     [](const PayloadDraft& p) { return to_node(hex_text(p.payload.bytes)); }},
    {{"random", "object", "", "", Effect::live, "bytes that differ from packet to packet"},
     [](Decoder& d, const At& at, PayloadDraft& p) {
         ++p.forms;
         p.payload.kind = Payload::Kind::random;
         Seed seed;
         decode_object(d, at, seed_table, seed);
         p.payload.seed = seed.seed;
     },
     [](const PayloadDraft& p) { return encode_object(seed_table, Seed{p.payload.seed}); }},
    {{"hex", "hexadecimal text", "", "", Effect::live, "these bytes, then zeros"},
     [](Decoder& d, const At& at, PayloadDraft& p) {
         p.payload.kind = Payload::Kind::bytes;
         payload_hex(d, at, p);
     },
     [](const PayloadDraft& p) { return to_node(hex_text(p.payload.bytes)); }},
    {{"text", "text", "", "", Effect::live, "the bytes of this text, then zeros"},
     [](Decoder& d, const At& at, PayloadDraft& p) {
         ++p.forms;
         p.payload.kind = Payload::Kind::bytes;
         decode_bytes_of_text(d, at, p.payload.bytes);
     },
     nullptr},
}};
const Table<PayloadDraft> payload_table{"streams[].packet.payload", payload_rows};

void decode_payload(Decoder& decoder, const At& at, PacketModel& out) {
    const std::size_t before = decoder.problem_count();
    PayloadDraft draft;
    decode_object(decoder, at, payload_table, draft);
    if (draft.forms != 1 && decoder.problem_count() == before) {
        decoder.wrong(at, "a payload takes exactly one of \"fill\", \"random\", \"hex\" and \"text\"");
    }
    out.payload = std::move(draft.payload);
}

Node encode_payload(const PacketModel& packet) {
    constexpr std::array<std::size_t, 3> row_of_kind{0, 1, 2};  // fill, random, bytes as hex
    const Row<PayloadDraft>& row = payload_rows[row_of_kind[static_cast<std::size_t>(packet.payload.kind)]];
    Node::Object members;
    members.push_back({std::string(row.key.name), {}, row.encode({packet.payload, 1})});
    return {std::move(members), {}};
}

void decode_variables(Decoder& decoder, const At& at, PacketModel& out) {
    const auto* members = at.node.object();
    if (members == nullptr) {
        decoder.mismatch(at, "an object of names and values");
        return;
    }
    for (const Member& member : *members) {
        const At value{member.value, child_pointer(at.pointer, member.key)};
        std::string name;
        const Node key{member.key, member.mark};
        decoder.name({key, value.pointer}, name);
        auto program = decode_value(decoder, value, variable_spec("the variable " + quote(member.key)));
        if (program) out.variables.emplace_back(member.key, std::move(*program));
    }
}

Node encode_variables(const PacketModel& packet) {
    Node::Object members;
    for (const auto& [name, program] : packet.variables) {
        members.push_back({name, {}, encode_value(program, variable_spec(name))});
    }
    return {std::move(members), {}};
}

/// A reader or writer of the model alone, for rows of packets.
template <void (*decode)(Decoder&, const At&, PacketModel&)>
void of_model(Decoder& decoder, const At& at, PacketDraft& out) {
    decode(decoder, at, out.model);
}
template <Node (*encode)(const PacketModel&)>
Node of_model(const PacketDraft& packet) {
    return encode(packet.model);
}

const std::array<Row<PacketDraft>, 10> packet_rows{{
    {{"frame_size", "integer 64..9728, value with a program, or object", "null", "bytes with FCS",
      Effect::live,
      "frame size; null: as long as headers and raw bytes are; under 64 only with \"pad\": false"},
     of_model<decode_frame_size>,
     of_model<encode_frame_size>},
    {{"pad", "boolean", "true", "", Effect::live,
      "zero-pad frames under 64 bytes with FCS, outside IP lengths; false by itself with \"trafgen\""},
     [](Decoder& d, const At& at, PacketDraft& p) {
         d.read(at, p.model.pad);
         p.pad_given = true;
     },
     [](const PacketDraft& p) { return to_node(p.model.pad); }},
    {{"payload", "object", "{\"fill\": \"0x00\"}", "", Effect::live,
      "what follows the headers up to the frame size"},
     of_model<decode_payload>,
     of_model<encode_payload>},
    {{"variables", "object", "{}", "", Effect::live,
      "named values that several fields follow, by the packet index"},
     of_model<decode_variables>,
     of_model<encode_variables>},
    {{"headers", "array of objects", "[]", "", Effect::live,
      "the header stack from the outside in, each {\"name\": {fields}}"},
     of_model<decode_headers>,
     of_model<encode_headers>},
    {{"flows", "integer from 1", "null", "", Effect::live,
      "the most different tuples that the programs make together"},
     [](Decoder& d, const At& at, PacketDraft& p) { d.integer(at, 1, UINT64_MAX, p.model.flows); },
     [](const PacketDraft& p) { return to_node(p.model.flows); }},
    {{"pcap", "path or object", "null", "", Effect::live,
      "the frames of a pcap or pcapng file, in their order"},
     decode_pcap,
     encode_pcap},
    {{"trafgen", "path", "null", "", Effect::live, "the packets of a trafgen file, in turn"},
     [](Decoder& d, const At& at, PacketDraft& p) { d.path(at, p.source.trafgen.emplace()); },
     [](const PacketDraft& p) { return to_node(p.source.trafgen); }},
    {{"packets", "array of objects", "null", "", Effect::live,
      "several packets instead of one, each as this object is without \"pcap\", \"trafgen\" and \"packets\""},
     decode_packets,
     encode_packets},
    {{"order", "\"sequence\" or \"random\"", "\"sequence\"", "", Effect::live,
      "\"sequence\": the packets in turn, each counting its own sends; \"random\": a seeded draw each time"},
     decode_order,
     encode_order},
}};
const Table<PacketDraft> table{"streams[].packet", packet_rows};

// The keys of a header stack beside packets that come from elsewhere would say nothing.
void check_forms(Decoder& decoder, const At& at, const PacketDraft& draft) {
    const PacketSource& source = draft.source;
    const int forms = (source.pcap ? 1 : 0) + (source.trafgen ? 1 : 0) + (source.packets.empty() ? 0 : 1);
    if (forms > 1) {
        decoder.wrong(at, "takes one of \"pcap\", \"trafgen\" and \"packets\"");
        return;
    }
    PacketModel plain;
    plain.pad = draft.model.pad;
    if (!source.any()) return;
    if (draft.model != plain) {
        decoder.wrong(at,
                      "frame_size, payload, variables, headers and flows say nothing beside \"pcap\", "
                      "\"trafgen\" and \"packets\"; leave them out");
    } else if (!source.packets.empty() && !draft.model.pad) {
        decoder.wrong(at, "\"pad\" beside \"packets\" says nothing; give it to each packet");
    }
}

}  // namespace

const Table<PacketDraft>& packet_table() {
    return table;
}

void decode_packet(Decoder& decoder, const At& at, Stream& out) {
    const std::size_t before = decoder.problem_count();
    PacketDraft draft;
    decode_object(decoder, at, table, draft);
    if (decoder.problem_count() == before) check_forms(decoder, at, draft);
    if (draft.source.trafgen && !draft.pad_given) draft.model.pad = false;
    out.packet = std::move(draft.model);
    out.source = std::move(draft.source);
}

Node encode_packet(const Stream& stream) {
    return encode_object(table, PacketDraft{stream.packet, stream.source, true});
}

void append_packet_keys(std::vector<KeyInfo>& out) {
    append_keys(table, out);
    append_keys(size_table, out);
    append_keys(weighted_table, out);
    append_keys(payload_table, out);
    append_keys(seed_table, out);
    append_source_keys(out);
    append_header_keys(out);
}

}  // namespace volley::config
