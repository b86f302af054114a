#include "volley-bench/tx_cases.h"

#include <functional>
#include <stdexcept>
#include <utility>

#include "packet/rotation.h"
#include "packet/signature.h"
#include "packet/sizes.h"

namespace volley::bench {
namespace {

using packet::HeaderKind;
using packet::PacketModel;
using packet::Program;
using packet::Value;

constexpr Value source = 0x0a000001;
constexpr Value destination = 0x0a010001;
constexpr std::size_t rotation_members = 10'000;

Program literal(Value value) {
    Program out;
    out.from = value;
    return out;
}

Program range(Program::Kind kind, Value from, Value to) {
    Program out;
    out.kind = kind;
    out.from = from;
    out.to = to;
    return out;
}

packet::SizeModel size_of(std::uint32_t bytes) {
    packet::SizeModel out;
    out.program = literal(bytes);
    return out;
}

/// What the four fields that tell flows apart hold, and how UDP's checksum is sent.
struct Tuple {
    Program src = literal(source);
    Program dst = literal(destination);
    Program src_port = literal(1024);
    Program dst_port = literal(9);
    bool udp_checksum = true;
};

/// Ethernet, IPv4 and UDP in `bytes` with FCS.
PacketModel udp(const Tuple& tuple, std::uint32_t bytes = 64) {
    PacketModel out;
    out.frame_size = size_of(bytes);
    const auto header = [&](HeaderKind kind, std::vector<std::pair<const char*, Program>> fields) {
        packet::HeaderModel model;
        model.kind = kind;
        for (auto& [name, program] : fields)
            model.fields.push_back({packet::find_field(kind, name), std::move(program)});
        out.headers.push_back(std::move(model));
    };
    header(HeaderKind::eth, {});
    header(HeaderKind::ipv4, {{"src", tuple.src}, {"dst", tuple.dst}});
    header(HeaderKind::udp, {{"src", tuple.src_port}, {"dst", tuple.dst_port}});
    if (!tuple.udp_checksum) {
        out.headers.back().fields.push_back({packet::find_field(HeaderKind::udp, "checksum"), literal(0)});
    }
    return out;
}

Tuple stepping(unsigned fields) {
    constexpr auto kind = Program::Kind::increment;
    Tuple out;
    if (fields > 0) out.src = range(kind, source, source + 253);
    if (fields > 1) out.dst = range(kind, destination, destination + 253);
    if (fields > 2) out.src_port = range(kind, 1024, 65535);
    if (fields > 3) out.dst_port = range(kind, 1, 1000);
    return out;
}

Tuple drawn() {
    constexpr auto kind = Program::Kind::random;
    return {range(kind, source, source + 0xffff), range(kind, destination, destination + 0xffff),
            range(kind, 1024, 65535), range(kind, 1, 1000)};
}

PacketModel field_1() {
    Tuple tuple = stepping(1);
    tuple.udp_checksum = false;
    return udp(tuple);
}

PacketModel imix() {
    PacketModel out = udp({});
    out.frame_size = packet::SizeModel{std::nullopt, packet::named_mix("simple")};
    return out;
}

std::unique_ptr<const packet::PacketTemplate> compiled(const PacketModel& model, bool is_signed = false) {
    auto built =
        packet::build(model, std::nullopt, is_signed ? std::make_shared<packet::Signing>() : nullptr);
    if (auto* problems = std::get_if<1>(&built)) throw std::runtime_error(problems->front().text);
    return std::move(std::get<0>(built));
}

/// Packets that differ in their destination, in turn.
std::unique_ptr<const packet::PacketTemplate> rotation() {
    std::vector<std::unique_ptr<const packet::PacketTemplate>> members;
    for (std::size_t i = 0; i < rotation_members; ++i) {
        Tuple tuple;
        tuple.dst = literal(destination + i);
        members.push_back(compiled(udp(tuple)));
    }
    return packet::rotate(std::move(members), packet::Order::sequence, packet::Counting::own);
}

}  // namespace

std::vector<TxCase> tx_cases(const std::string& only) {
    using Packet = std::unique_ptr<const packet::PacketTemplate>;
    std::vector<TxCase> out;
    const auto add = [&](const std::string& name, const std::vector<std::uint32_t>& bursts, bool dispatched,
                         const std::function<Packet()>& make) {
        if (only.empty() || only == name) out.push_back({name, make(), bursts, dispatched});
    };
    for (const bool dispatched : {false, true}) {
        const std::string tail = dispatched ? "_dispatch" : "";
        const std::vector<std::uint32_t> all{1, 8, 32, 64};
        add("constant" + tail, all, dispatched, [] { return compiled(udp({})); });
        add("two_fields" + tail, all, dispatched, [] { return compiled(udp(stepping(2))); });
        add("signature" + tail, all, dispatched, [] { return compiled(udp({}), true); });
    }
    add("field_1", {32}, false, [] { return compiled(field_1()); });
    add("tuple_4", {32}, false, [] { return compiled(udp(stepping(4))); });
    add("imix", {32}, false, [] { return compiled(imix()); });
    add("tuple_random", {32}, false, [] { return compiled(udp(drawn())); });
    add("constant_1518", {32}, false, [] { return compiled(udp({}, 1518)); });
    add("templates_10k", {32}, false, rotation);
    return out;
}

}  // namespace volley::bench
