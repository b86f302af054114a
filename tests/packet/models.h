#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "packet/model.h"
#include "packet/template.h"

namespace volley::packet {

inline Program literal(Value value) {
    Program program;
    program.from = value;
    return program;
}

inline Program increment(Value from, Value to, Value step = 1, std::uint64_t every = 1) {
    Program program;
    program.kind = Program::Kind::increment;
    program.from = from;
    program.to = to;
    program.step = step;
    program.every = every;
    return program;
}

inline Program decrement(Value from, Value to, Value step = 1, std::uint64_t every = 1) {
    auto program = increment(from, to, step, every);
    program.kind = Program::Kind::decrement;
    return program;
}

inline Program list(std::vector<Value> values, std::uint64_t every = 1) {
    Program program;
    program.kind = Program::Kind::list;
    program.list = std::move(values);
    program.every = every;
    return program;
}

inline Program random_of(Value from, Value to, std::uint64_t seed = 1) {
    auto program = increment(from, to);
    program.kind = Program::Kind::random;
    program.seed = seed;
    return program;
}

inline Program variable(std::string name) {
    Program program;
    program.kind = Program::Kind::variable;
    program.variable = std::move(name);
    return program;
}

using Given = std::initializer_list<std::pair<const char*, Program>>;

inline HeaderModel header(HeaderKind kind, Given fields = {}) {
    HeaderModel model;
    model.kind = kind;
    for (const auto& [name, program] : fields) {
        const auto* const field = find_field(kind, name);
        EXPECT_NE(field, nullptr) << name;
        model.fields.push_back({field, program});
    }
    return model;
}

inline HeaderModel raw_bytes(std::vector<std::uint8_t> bytes) {
    HeaderModel model;
    model.kind = HeaderKind::raw;
    model.raw = std::move(bytes);
    return model;
}

inline HeaderModel with_options(HeaderModel model, std::vector<std::uint8_t> options) {
    model.bytes.emplace_back(find_field(model.kind, "options"), std::move(options));
    return model;
}

inline PacketModel packet(std::vector<HeaderModel> headers) {
    PacketModel model;
    model.headers = std::move(headers);
    return model;
}

inline SizeModel size_of(Program program) {
    SizeModel size;
    size.program = std::move(program);
    return size;
}

inline PacketModel sized(PacketModel model, Program size) {
    model.frame_size = size_of(std::move(size));
    return model;
}

/// The template, or a test failure with every problem.
std::unique_ptr<const PacketTemplate> built(const PacketModel& model);
/// "pointer: text" of every problem; empty when the model builds.
std::vector<std::string> problems_of(const PacketModel& model);
/// Packet `index`, cut to its length.
std::vector<std::uint8_t> bytes_of(const PacketTemplate& packet, std::uint64_t index);
std::string hex(const std::vector<std::uint8_t>& bytes);

}  // namespace volley::packet
