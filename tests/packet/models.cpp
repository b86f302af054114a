#include "models.h"

#include <array>
#include <cstdio>

namespace volley::packet {

std::unique_ptr<const PacketTemplate> built(const PacketModel& model) {
    auto result = build(model);
    if (auto* const good = std::get_if<0>(&result)) return std::move(*good);
    for (const auto& problem : std::get<1>(result)) ADD_FAILURE() << problem.pointer << ": " << problem.text;
    return nullptr;
}

std::vector<std::string> problems_of(const PacketModel& model) {
    std::vector<std::string> lines;
    const auto result = build(model);
    if (const auto* const bad = std::get_if<1>(&result)) {
        for (const auto& problem : *bad) lines.push_back(problem.pointer + ": " + problem.text);
    }
    return lines;
}

std::vector<std::uint8_t> bytes_of(const PacketTemplate& packet, std::uint64_t index) {
    std::vector<std::uint8_t> bytes(packet.longest());
    bytes.resize(packet.write(index, bytes.data()));
    return bytes;
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
    std::string text;
    for (const auto byte : bytes) {
        std::array<char, 3> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", byte);
        text += digits.data();
    }
    return text;
}

}  // namespace volley::packet
