#include <array>
#include <string>
#include <string_view>

#include "config/tables.h"
#include "packet/template.h"

namespace volley::config {
namespace {

constexpr Duration one_year{31'536'000'000'000'000};

void decode_burst(Decoder& decoder, const At& at, Stream& out) {
    const auto* text = at.node.text();
    if (text != nullptr && *text == "auto") return;
    if (at.node.number() == nullptr) {
        decoder.mismatch(at, "\"auto\" or an integer from 1 to 256");
    } else {
        decoder.integer(at, 1, packet::max_burst, out.burst);
    }
}

constexpr std::array<std::string_view, 2> split_choices{"burst", "flow"};

void decode_split(Decoder& decoder, const At& at, Stream& out) {
    std::string choice;
    decoder.choice(at, split_choices, choice);
    out.split = choice == split_choices[1] ? Split::flow : Split::burst;
}

constexpr std::array<std::string_view, 2> pacing_choices{"software", "hardware"};

void decode_pacing(Decoder& decoder, const At& at, Stream& out) {
    std::string choice;
    decoder.choice(at, pacing_choices, choice);
    out.hardware_pacing = choice == pacing_choices[1];
}

// 0 means "nothing" to one reader and "for ever" to another: neither is guessed.
void decode_count(Decoder& decoder, const At& at, std::optional<std::uint64_t>& out) {
    const auto* number = at.node.number();
    if (number != nullptr && *number == 0) {
        decoder.wrong(
            at, "0 sends nothing; say \"enabled\": false for that, or leave it out to send without end");
    } else {
        decoder.integer(at, 1, UINT64_MAX, out);
    }
}

const std::array<Row<Expect>, 2> expect_rows{{
    {{"loss", "integer from 0", "null", "packets", Effect::live,
      "packets that may be lost or corrupted; more end the run with exit code 1"},
     [](Decoder& d, const At& at, Expect& e) { d.integer(at, 0, UINT64_MAX, e.loss); },
     [](const Expect& e) { return to_node(e.loss); }},
    {{"rate_error_ppm", "integer 0..1000000", "null", "parts per million", Effect::live,
      "how far the sent packets may fall short of the rate; more ends the run with exit code 2"},
     [](Decoder& d, const At& at, Expect& e) { d.integer(at, 0, 1'000'000, e.rate_error_ppm); },
     [](const Expect& e) { return to_node(e.rate_error_ppm); }},
}};
const Table<Expect> expect_table{"streams[].expect", expect_rows};

// "all", or "1/n".
void decode_verify(Decoder& decoder, const At& at, Stream& out) {
    const auto* text = at.node.text();
    std::uint32_t part = 0;
    if (text != nullptr && *text == "all") {
        part = 1;
    } else if (text != nullptr && text->starts_with("1/") && text->size() > 2 && text->size() <= 11) {
        for (const char c : text->substr(2)) {
            if (c < '0' || c > '9') {
                part = 0;
                break;
            }
            part = part * 10 + static_cast<std::uint32_t>(c - '0');
        }
    }
    if (part == 0) {
        decoder.mismatch(at, "\"all\", or \"1/n\" for one packet in n, such as \"1/100\"");
    } else {
        out.verify = part;
    }
}

Node verify_node(const Stream& stream) {
    if (stream.verify == 0) return {};
    return to_node(stream.verify == 1 ? std::string("all") : "1/" + std::to_string(stream.verify));
}

const std::array<Row<Stream>, 25> stream_rows{{
    {{"name", "name", "required", "", Effect::live, "how telemetry and commands call the stream"},
     [](Decoder& d, const At& at, Stream& s) { d.name(at, s.name); },
     [](const Stream& s) { return to_node(s.name); }},
    {{"port", "name", "required", "", Effect::live, "the port that sends it"},
     [](Decoder& d, const At& at, Stream& s) { d.name(at, s.port); },
     [](const Stream& s) { return to_node(s.port); }},
    {{"enabled", "boolean", "true", "", Effect::live,
      "false keeps the stream in the file without sending it"},
     [](Decoder& d, const At& at, Stream& s) { d.read(at, s.enabled); },
     [](const Stream& s) { return to_node(s.enabled); }},
    {{"rate", "rate, or an object with steps or ramp", "null", "", Effect::live,
      "total over the stream's workers; null: its share by weight of the port's rate"},
     decode_stream_rate,
     encode_stream_rate},
    {{"weight", "integer 1..1000000", "1", "", Effect::live,
      "share of the port's rate, against the other streams"},
     [](Decoder& d, const At& at, Stream& s) { d.integer(at, 1, 1'000'000, s.weight); },
     [](const Stream& s) { return to_node(s.weight); }},
    {{"scale", "boolean", "true", "", Effect::live, "run.multiplier applies to this stream"},
     [](Decoder& d, const At& at, Stream& s) { d.read(at, s.scale); },
     [](const Stream& s) { return to_node(s.scale); }},
    {{"burst", "\"auto\" or integer 1..256", "\"auto\"", "packets", Effect::live,
      "packets that fall due together and are submitted together"},
     decode_burst,
     [](const Stream& s) { return s.burst ? to_node(*s.burst) : to_node(std::string("auto")); }},
    {{"count", "integer from 1", "null", "packets", Effect::live, "packets to send; null: without end"},
     [](Decoder& d, const At& at, Stream& s) { decode_count(d, at, s.count); },
     [](const Stream& s) { return to_node(s.count); }},
    {{"bytes", "integer from 1", "null", "bytes with FCS", Effect::live, "bytes to send, never exceeded"},
     [](Decoder& d, const At& at, Stream& s) { decode_count(d, at, s.bytes); },
     [](const Stream& s) { return to_node(s.bytes); }},
    {{"duration", "duration", "null", "", Effect::live,
      "sends exactly the packets that are due in this time"},
     [](Decoder& d, const At& at, Stream& s) { d.duration(at, Duration{1}, one_year, s.duration); },
     [](const Stream& s) { return to_node(s.duration); }},
    {{"start", "object", "{}", "", Effect::live, "when the stream starts"}, decode_start, encode_start},
    {{"bursts", "object", "null", "", Effect::live, "packets in groups with gaps between them; null: evenly"},
     decode_bursts,
     encode_bursts},
    {{"next", "name", "null", "", Effect::live,
      "the stream that begins when this one is over: a chain, worker by worker"},
     [](Decoder& d, const At& at, Stream& s) { d.name(at, s.next); },
     [](const Stream& s) { return s.next.empty() ? Node{} : to_node(s.next); }},
    {{"loop", "integer", "1", "", Effect::live,
      "times that the chain which begins with this stream is run; 0: without end"},
     [](Decoder& d, const At& at, Stream& s) { d.integer(at, 0, UINT64_MAX, s.loop); },
     [](const Stream& s) { return to_node(s.loop); }},
    {{"departure", "\"constant\", \"poisson\" or an object with jitter", "\"constant\"", "", Effect::live,
      "how bursts leave around their even places in time"},
     decode_departure,
     encode_departure},
    {{"pacing", "\"software\" or \"hardware\"", "\"software\"", "", Effect::live,
      "hardware: the NIC's rate limiter holds the stream's queues, which are its own"},
     decode_pacing,
     [](const Stream& s) { return to_node(std::string(pacing_choices[s.hardware_pacing ? 1 : 0])); }},
    {{"workers", "array of integers", "null", "", Effect::live,
      "which of the port's queues send it, as indices into tx.lcores; null: all"},
     [](Decoder& d, const At& at, Stream& s) { d.integers(at, 0, 65'535, s.workers); },
     [](const Stream& s) { return s.workers.empty() ? Node{} : to_node(s.workers); }},
    {{"split", "\"burst\" or \"flow\"", "\"burst\"", "", Effect::live,
      "flow: both directions of a five-tuple stay on one worker; for captures with recorded timing"},
     decode_split,
     [](const Stream& s) { return to_node(std::string(split_choices[static_cast<std::size_t>(s.split)])); }},
    {{"signature", "boolean", "false", "", Effect::live,
      "the last 16 bytes of each packet say which it is and when it left, so receivers count what is lost, "
      "doubled and reordered; latency, verify, expect_on and expect.loss imply it"},
     [](Decoder& d, const At& at, Stream& s) { d.read(at, s.signature); },
     [](const Stream& s) { return to_node(s.signature); }},
    {{"latency", "boolean", "false", "", Effect::live,
      "measures latency beside load: a queue of its own where the port has one to spare, and nothing waits "
      "behind its packets"},
     [](Decoder& d, const At& at, Stream& s) { d.read(at, s.latency); },
     [](const Stream& s) { return to_node(s.latency); }},
    {{"verify", "\"all\" or \"1/n\"", "null", "", Effect::live,
      "the receiver compares every byte of all packets, or of those whose index n divides"},
     decode_verify,
     verify_node},
    {{"expect_on", "name", "null", "", Effect::live,
      "the port at which it must arrive; null: any port that receives"},
     [](Decoder& d, const At& at, Stream& s) { d.name(at, s.expect_on.emplace()); },
     [](const Stream& s) { return to_node(s.expect_on); }},
    {{"expect", "object", "null", "", Effect::live, "what a run must reach"},
     [](Decoder& d, const At& at, Stream& s) { decode_object(d, at, expect_table, s.expect); },
     [](const Stream& s) { return s.expect == Expect{} ? Node{} : encode_object(expect_table, s.expect); }},
    {{"reverse", "name", "null", "", Effect::live,
      "port that sends the same stream the other way, as NAME.reverse: every source and destination is "
      "exchanged, and expect_on is the port of this one"},
     [](Decoder& d, const At& at, Stream& s) { d.name(at, s.reverse.emplace()); },
     [](const Stream& s) { return to_node(s.reverse); }},
    {{"packet", "object", "required", "", Effect::live, "what is sent"},
     [](Decoder& d, const At& at, Stream& s) { decode_packet(d, at, s); },
     [](const Stream& s) { return encode_packet(s); }},
}};

}  // namespace

const Table<Stream>& stream_table() {
    static const Table<Stream> table{"streams[]", stream_rows};
    return table;
}

void decode_streams(Decoder& decoder, const At& at, Model& out) {
    const auto* array = at.node.array();
    if (array == nullptr) {
        decoder.mismatch(at, "an array of streams");
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        Stream& stream = out.streams.emplace_back();
        stream.pointer = child_pointer(at.pointer, i);
        decode_object(decoder, {(*array)[i], stream.pointer}, stream_table(), stream);
    }
}

Node encode_streams(const Model& model) {
    Node::Array items;
    for (const Stream& stream : model.streams) {
        if (!stream.is_reverse) items.push_back(encode_object(stream_table(), stream));
    }
    return {std::move(items), {}};
}

void append_stream_keys(std::vector<KeyInfo>& out) {
    append_keys(stream_table(), out);
    append_schedule_keys(out);
    append_keys(expect_table, out);
}

}  // namespace volley::config
