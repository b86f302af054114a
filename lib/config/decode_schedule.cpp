// When a stream sends: rates that change, starts, groups with gaps, departures.
#include <array>
#include <string>

#include "config/tables.h"

namespace volley::config {
namespace {

constexpr Duration one_year{31'536'000'000'000'000};

// A step or an end of a ramp may be 0, but not "max", which has no place on a time line.
void decode_finite_rate(Decoder& decoder, const At& at, Rate& out) {
    const std::string* text = at.node.text();
    std::string why;
    const auto rate = text == nullptr ? std::nullopt : parse_rate(*text, why);
    if (text == nullptr) {
        decoder.mismatch(at, "a text with a unit such as \"10Gbps\", \"50%\" or \"1.2Mpps\"");
    } else if (!rate) {
        decoder.wrong(at, why);
    } else if (rate->kind == Rate::Kind::max) {
        decoder.wrong(at, "\"max\" cannot be one of several rates; say \"100%\"");
    } else {
        out = *rate;
    }
}

constexpr std::string_view finite_rate = "rate but \"max\", or \"0%\"";

const std::array<Row<RateStep>, 2> step_rows{{
    {{"rate", finite_rate, "required", "", Effect::live, "rate of the step"},
     [](Decoder& d, const At& at, RateStep& s) { decode_finite_rate(d, at, s.rate); },
     [](const RateStep& s) { return to_node(s.rate); }},
    {{"for", "duration", "null", "", Effect::live, "how long; null: without end, in the last step"},
     [](Decoder& d, const At& at, RateStep& s) { d.duration(at, Duration{1}, one_year, s.span); },
     [](const RateStep& s) { return s.span.ns == 0 ? Node{} : to_node(s.span); }},
}};
const Table<RateStep> step_table{"streams[].rate.steps[]", step_rows};

const std::array<Row<RateRamp>, 3> ramp_rows{{
    {{"from", finite_rate, "required", "", Effect::live, "rate at the begin"},
     [](Decoder& d, const At& at, RateRamp& r) { decode_finite_rate(d, at, r.from); },
     [](const RateRamp& r) { return to_node(r.from); }},
    {{"to", finite_rate, "required", "", Effect::live, "rate at the end and, without a chain, from there on"},
     [](Decoder& d, const At& at, RateRamp& r) { decode_finite_rate(d, at, r.to); },
     [](const RateRamp& r) { return to_node(r.to); }},
    {{"for", "duration", "required", "", Effect::live, "how long the rate takes from one to the other"},
     [](Decoder& d, const At& at, RateRamp& r) { d.duration(at, Duration{1}, one_year, r.span); },
     [](const RateRamp& r) { return to_node(r.span); }},
}};
const Table<RateRamp> ramp_table{"streams[].rate.ramp", ramp_rows};

void decode_steps(Decoder& decoder, const At& at, Stream& out) {
    const auto* array = at.node.array();
    if (array == nullptr || array->empty()) {
        decoder.mismatch(at, "an array of at least one {\"rate\": \"10%\", \"for\": \"10s\"}");
        return;
    }
    for (std::size_t i = 0; i < array->size(); ++i) {
        const At step{(*array)[i], child_pointer(at.pointer, i)};
        decode_object(decoder, step, step_table, out.rate_steps.emplace_back());
        if (i + 1 == array->size() || out.rate_steps.back().span.ns != 0) continue;
        if (find(step.node, "for") == nullptr || find(step.node, "for")->is_null()) {
            decoder.wrong(step, "\"for\" is missing: only the last step may go on without end");
        }
    }
}

const std::array<Row<Stream>, 2> rate_rows{{
    {{"steps", "array of objects", "", "", Effect::live, "one rate after the other"},
     decode_steps,
     [](const Stream& s) {
         Node::Array items;
         for (const RateStep& step : s.rate_steps) items.push_back(encode_object(step_table, step));
         return Node{std::move(items), {}};
     }},
    {{"ramp", "object", "", "", Effect::live, "a rate that changes evenly"},
     [](Decoder& d, const At& at, Stream& s) { decode_object(d, at, ramp_table, s.rate_ramp.emplace()); },
     [](const Stream& s) { return encode_object(ramp_table, *s.rate_ramp); }},
}};
const Table<Stream> rate_table{"streams[].rate", rate_rows};

Node object_of(std::string key, Node value) {
    Node::Object members;
    members.push_back({std::move(key), {}, std::move(value)});
    return {std::move(members), {}};
}

void decode_at(Decoder& decoder, const At& at, Stream& out) {
    const std::string* text = at.node.text();
    std::string why;
    if (text == nullptr) {
        decoder.mismatch(at, "a time such as \"2026-07-01T12:00:00Z\"");
    } else if (const auto time = parse_time(*text, why)) {
        out.start_at = *time;
    } else {
        decoder.wrong(at, why);
    }
}

const std::array<Row<Stream>, 2> start_rows{{
    {{"delay", "duration", "\"0s\"", "", Effect::live,
      "wait from the start of the run to the stream's first packet"},
     [](Decoder& d, const At& at, Stream& s) { d.duration(at, Duration{0}, one_year, s.start_delay); },
     [](const Stream& s) { return to_node(s.start_delay); }},
    {{"at", "time by RFC 3339", "null", "", Effect::live,
      "instead of delay: when the first packet is due; a stream whose time is past joins its schedule at "
      "once"},
     decode_at,
     [](const Stream& s) { return s.start_at ? to_node(time_text(*s.start_at)) : Node{}; }},
}};
const Table<Stream> start_table{"streams[].start", start_rows};

const std::array<Row<Bursts>, 3> bursts_rows{{
    {{"packets", "integer from 1", "required", "", Effect::live, "packets of a group, at the stream's rate"},
     [](Decoder& d, const At& at, Bursts& b) { d.integer(at, 1, UINT32_MAX, b.packets); },
     [](const Bursts& b) { return to_node(b.packets); }},
    {{"gap", "duration", "required", "", Effect::live,
      "time from the end of a group to the begin of the next"},
     [](Decoder& d, const At& at, Bursts& b) { d.duration(at, Duration{0}, one_year, b.gap); },
     [](const Bursts& b) { return to_node(b.gap); }},
    {{"count", "integer from 1", "null", "groups", Effect::live, "groups to send; null: without end"},
     [](Decoder& d, const At& at, Bursts& b) { d.integer(at, 1, UINT32_MAX, b.count); },
     [](const Bursts& b) { return to_node(b.count); }},
}};
const Table<Bursts> bursts_table{"streams[].bursts", bursts_rows};

const std::array<Row<Stream>, 1> departure_rows{{
    {{"jitter", "duration", "required", "", Effect::live,
      "each burst leaves later by a random part of this time"},
     [](Decoder& d, const At& at, Stream& s) { d.duration(at, Duration{1}, one_year, s.jitter); },
     [](const Stream& s) { return to_node(s.jitter); }},
}};
const Table<Stream> departure_table{"streams[].departure", departure_rows};

}  // namespace

void decode_stream_rate(Decoder& decoder, const At& at, Stream& out) {
    if (at.node.object() == nullptr) {
        decoder.rate(at, out.rate);
        return;
    }
    decode_object(decoder, at, rate_table, out);
    const bool both = find(at.node, "steps") != nullptr && find(at.node, "ramp") != nullptr;
    if (both || at.node.object()->empty())
        decoder.wrong(at, "a rate that changes holds \"steps\" or \"ramp\"");
}

Node encode_stream_rate(const Stream& stream) {
    if (!stream.rate_steps.empty()) return object_of("steps", rate_rows[0].encode(stream));
    if (stream.rate_ramp) return object_of("ramp", rate_rows[1].encode(stream));
    return to_node(stream.rate);
}

void decode_start(Decoder& decoder, const At& at, Stream& out) {
    decode_object(decoder, at, start_table, out);
    if (out.start_at && out.start_delay.ns != 0)
        decoder.wrong(at, "holds \"delay\" and \"at\"; a start takes one of them");
}

Node encode_start(const Stream& stream) {
    return encode_object(start_table, stream);
}

void decode_bursts(Decoder& decoder, const At& at, Stream& out) {
    decode_object(decoder, at, bursts_table, out.bursts.emplace());
}

Node encode_bursts(const Stream& stream) {
    return stream.bursts ? encode_object(bursts_table, *stream.bursts) : Node{};
}

void decode_departure(Decoder& decoder, const At& at, Stream& out) {
    const std::string* text = at.node.text();
    if (at.node.object() != nullptr) {
        out.departure = Departure::jitter;
        decode_object(decoder, at, departure_table, out);
    } else if (text != nullptr && *text == "poisson") {
        out.departure = Departure::poisson;
    } else if (text == nullptr || *text != "constant") {
        decoder.mismatch(at, "\"constant\", \"poisson\" or {\"jitter\": \"1us\"}");
    }
}

Node encode_departure(const Stream& stream) {
    if (stream.departure == Departure::jitter) return encode_object(departure_table, stream);
    return to_node(std::string(stream.departure == Departure::poisson ? "poisson" : "constant"));
}

void append_schedule_keys(std::vector<KeyInfo>& out) {
    append_keys(rate_table, out);
    append_keys(step_table, out);
    append_keys(ramp_table, out);
    append_keys(start_table, out);
    append_keys(bursts_table, out);
    append_keys(departure_table, out);
}

}  // namespace volley::config
