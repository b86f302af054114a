#include "import/trafgen_frame.h"

#include <algorithm>
#include <numeric>

#include "packet/bits.h"
#include "packet/prf.h"
#include "packet/template.h"

namespace volley::imports {

using packet::Program;
using packet::RawChecksum;

void TrafgenFrame::check_room(std::uint64_t count, Mark place) const {
    if (count > packet::max_frame || header_.raw.size() + count > packet::max_frame) {
        fail(place, "the packet grows beyond " + std::to_string(packet::max_frame) + " bytes");
    }
}

void TrafgenFrame::add_bytes(std::uint64_t count, std::uint8_t byte, Mark place) {
    check_room(count, place);
    header_.raw.insert(header_.raw.end(), count, byte);
}

void TrafgenFrame::add_drawn(std::uint64_t count, Mark place) {
    check_room(count, place);
    const std::string name = std::to_string(number_) + "." + std::to_string(size());
    const std::uint64_t key = packet::key_of(options_.seed, name.data(), name.size());
    for (std::uint64_t i = 0; i < count; ++i)
        header_.raw.push_back(static_cast<std::uint8_t>(packet::draw(key, i)));
}

void TrafgenFrame::add_random(std::uint64_t count, Mark place) {
    check_room(count, place);
    const std::uint64_t most = count <= 64 ? 4 : 16;  // few wide programs rather than hundreds
    for (std::uint64_t left = count; left > 0;) {
        packet::RawProgram program;
        program.offset = static_cast<std::uint16_t>(size());
        program.width = static_cast<std::uint8_t>(std::min(left, most));
        program.program.kind = Program::Kind::random;
        program.program.to =
            program.width == 16 ? ~packet::Value{0} : (packet::Value{1} << (program.width * 8U)) - 1;
        program.program.seed = options_.seed + number_;
        header_.raw.resize(size() + program.width);
        left -= program.width;
        header_.programs.push_back(std::move(program));
    }
}

void TrafgenFrame::add_counter(std::uint32_t min, std::uint32_t max, std::uint32_t step, bool down,
                               Mark place) {
    if (min > max) fail(place, "the smallest value " + std::to_string(min) + " is above the largest");
    const std::uint32_t values = max - min + 1;
    packet::RawProgram program;
    program.offset = static_cast<std::uint16_t>(size());
    program.program.kind = Program::Kind::list;
    for (std::uint32_t k = 1; k <= values / std::gcd(values, step == 0 ? values : step); ++k) {
        const std::uint32_t moved = k * step % values;
        program.program.list.push_back(down ? max - moved : min + moved);
    }
    add_byte(0, place);
    header_.programs.push_back(std::move(program));
}

void TrafgenFrame::put_sum(std::uint32_t at, RawChecksum sum) {
    sum.offset = static_cast<std::uint16_t>(at);
    header_.checksums.push_back(sum);
}

void TrafgenFrame::add_sum(std::uint64_t from, std::uint64_t to, Mark place) {
    if (to < from || to >= packet::max_frame) fail(place, "a checksum runs from its first byte to its last");
    RawChecksum sum;
    sum.from = static_cast<std::uint16_t>(from);
    sum.to = static_cast<std::uint16_t>(to + 1);
    const auto at = static_cast<std::uint32_t>(size());
    add_bytes(2, 0, place);
    sum_places_.push_back(place);
    put_sum(at, sum);
}

void TrafgenFrame::add_transport_sum(std::uint64_t ip, std::uint64_t l4, std::uint8_t protocol, bool ipv6,
                                     Mark place) {
    if (ip >= packet::max_frame || l4 >= packet::max_frame) fail(place, "the offset lies beyond any packet");
    RawChecksum sum;
    sum.pseudo = ipv6 ? RawChecksum::Pseudo::ipv6 : RawChecksum::Pseudo::ipv4;
    sum.ip = static_cast<std::uint16_t>(ip);
    sum.from = static_cast<std::uint16_t>(l4);
    sum.protocol = protocol;
    const auto at = static_cast<std::uint32_t>(size());
    add_bytes(2, 0, place);
    sum_places_.push_back(place);
    put_sum(at, sum);
}

void TrafgenFrame::check_sum(RawChecksum& sum, Mark place) {
    const std::uint32_t addresses = sum.pseudo == RawChecksum::Pseudo::none   ? 0
                                    : sum.pseudo == RawChecksum::Pseudo::ipv4 ? 20
                                                                              : 40;
    if (sum.from >= size() || (addresses != 0 && sum.ip + addresses > size())) {
        fail(place, "the checksum covers bytes beyond the packet's " + std::to_string(size()));
    }
    if (sum.to && *sum.to > size()) {
        warnings_.push_back(context_.place(place) + ": the checksum is to end with byte " +
                            std::to_string(*sum.to - 1) + " and ends with the packet's last, " +
                            std::to_string(size() - 1));
        sum.to = static_cast<std::uint16_t>(size());
    }
}

/// A checksum covers a program whole or not at all.
void TrafgenFrame::split_programs() {
    std::vector<std::uint32_t> borders;
    for (const RawChecksum& sum : header_.checksums) {
        borders.push_back(sum.from);
        if (sum.to) borders.push_back(*sum.to);
        const bool v4 = sum.pseudo == RawChecksum::Pseudo::ipv4;
        if (sum.pseudo == RawChecksum::Pseudo::none) continue;
        borders.push_back(sum.ip + (v4 ? 12U : 8U));
        borders.push_back(sum.ip + (v4 ? 20U : 40U));
    }
    std::sort(borders.begin(), borders.end());
    for (std::size_t i = 0; i < header_.programs.size(); ++i) {
        const packet::RawProgram whole = header_.programs[i];
        const bool drawn = whole.bits == 0 && whole.program.kind == Program::Kind::random;
        const auto border = std::upper_bound(borders.begin(), borders.end(), whole.offset);
        if (!drawn || border == borders.end() || *border >= whole.offset + std::uint32_t{whole.width})
            continue;
        packet::RawProgram rest = whole;
        const auto first = static_cast<std::uint8_t>(*border - whole.offset);
        header_.programs[i].width = first;
        header_.programs[i].program.to = packet::low_bits(first * 8U);
        rest.offset = static_cast<std::uint16_t>(*border);
        rest.width = static_cast<std::uint8_t>(whole.width - first);
        rest.program.to = packet::low_bits(rest.width * 8U);
        header_.programs.push_back(rest);
    }
}

packet::PacketModel TrafgenFrame::finish(Mark place) {
    if (size() == 0) fail(place, "the packet is empty");
    for (std::size_t i = 0; i < sum_places_.size(); ++i) check_sum(header_.checksums[i], sum_places_[i]);
    for (std::size_t i = layers_.size(); i-- > 0;) close_layer(i, place);
    split_programs();
    header_.kind = packet::HeaderKind::raw;
    packet::PacketModel model;
    model.pad = false;
    model.headers.push_back(std::move(header_));
    return model;
}

}  // namespace volley::imports
