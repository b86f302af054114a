// TSC cycles per packet inside stamp(), least and median of many short rounds, for each instruction set. Not
// a test: run it by hand on a quiet machine. Frames lie as in a mempool, so that stores go to the
// second-level cache.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/tsc.h"
#include "models.h"
#include "packet/plan.h"
#include "packet/sizes.h"

namespace volley::packet {
namespace {

using enum HeaderKind;

constexpr std::size_t frames_in_pool = 512;
constexpr std::size_t stride = 2432;  // an mbuf with its data room
constexpr int rounds = 301;
constexpr std::uint32_t bursts_in_round = 400;

struct Case {
    std::string name;
    PacketModel model;
};

PacketModel udp4(Given ip, Given ports) {
    return sized(packet({header(eth), header(ipv4, ip), header(udp, ports)}), literal(64));
}

std::vector<Case> cases() {
    const auto src = increment(0x0a000001, 0x0a0000fe);
    const auto dst = increment(0x30000001, 0x3000ffff);
    std::vector<Case> all;
    all.push_back({"field_1", udp4({{"src", src}}, {{"checksum", literal(0)}})});
    all.push_back({"two_fields", udp4({{"src", src}, {"dst", dst}}, {})});
    all.push_back({"tuple_4", udp4({{"src", src}, {"dst", dst}},
                                   {{"src", increment(1024, 65535)}, {"dst", increment(1, 1000)}})});
    all.push_back(
        {"tuple_random", udp4({{"src", random_of(0x0a000000, 0x0affffff)}, {"dst", random_of(1, 100000)}},
                              {{"src", random_of(1024, 65535)}, {"dst", random_of(1, 1000)}})});
    all.push_back({"flow_every_10", udp4({{"src", increment(1, 60000, 1, 10)}}, {})});
    all.push_back({"list_20000", udp4({{"dst", list(std::vector<Value>(20000, 7))}}, {})});
    all.back().model.headers[1].fields[0].program.list[5] = 8;
    auto imix = packet({header(eth), header(ipv4), header(udp)});
    imix.frame_size = SizeModel{{}, named_mix("simple")};
    all.push_back({"imix", imix});
    imix.headers[1] = header(ipv4, {{"src", src}});
    all.push_back({"imix_field", imix});
    all.push_back(
        {"size_random", sized(packet({header(eth), header(ipv4), header(udp)}), random_of(64, 1518))});
    all.push_back(
        {"mac_range", sized(packet({header(eth, {{"src", increment(0x020000000000, 0x02ffffffffff)}}),
                                    header(ipv4), header(udp)}),
                            literal(64))});
    all.push_back({"ipv6_range",
                   sized(packet({header(eth), header(ipv6, {{"src", increment(1, 100000)}}), header(udp)}),
                         literal(82))});
    auto payload = udp4({}, {});
    payload.payload.kind = Payload::Kind::random;
    all.push_back({"random_payload_18", payload});
    auto vxlan_model = packet({header(eth), header(ipv4), header(udp), header(vxlan), header(eth),
                               header(ipv4, {{"src", src}}), header(udp)});
    all.push_back({"vxlan_inner", sized(vxlan_model, literal(128))});
    return all;
}

void measure(const Case& item, const Executor& isa, std::uint32_t burst) {
    const auto packet = built(item.model);
    if (packet == nullptr) std::abort();
    static std::vector<std::uint8_t> pool(frames_in_pool * stride);
    std::vector<std::uint8_t*> frames;
    for (std::size_t i = 0; i < frames_in_pool; ++i) {
        frames.push_back(pool.data() + i * stride + 128);
        std::memcpy(frames.back(), packet->image().data(), packet->longest());
    }
    std::vector<double> cycles;
    std::uint64_t first = 0;
    std::size_t at = 0;
    for (int round = 0; round < rounds; ++round) {
        const Tsc start = tsc_now();
        for (std::uint32_t b = 0; b < bursts_in_round; ++b) {
            isa.stamp(packet->plan(), first, burst, frames.data() + at);
            first += burst;
            at = at + 2 * burst > frames_in_pool ? 0 : at + burst;
        }
        cycles.push_back(static_cast<double>(tsc_now() - start) / bursts_in_round / burst);
    }
    std::sort(cycles.begin(), cycles.end());
    std::printf("%-18s %-9s burst %3u  %6.1f / %6.1f\n", item.name.c_str(), isa.name, burst, cycles[0],
                cycles[rounds / 2]);
}

}  // namespace
}  // namespace volley::packet

int main(int argc, char** argv) {
    using namespace volley::packet;
    const std::string wanted = argc > 1 ? argv[1] : "";
    const auto burst = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 32U;
    const auto isas = executors();
    for (const auto& item : cases()) {
        if (item.name.find(wanted) == std::string::npos) continue;
        for (std::uint32_t i = 0; i < isas.count; ++i) measure(item, isas.data[i], burst);
    }
}
