#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "port/rig.h"
#include "soft82599/recorder.h"

namespace volley::port {
namespace {

constexpr std::uint64_t count = 200;

struct Case {
    std::string packet;
    bool ip;  ///< the device is to compute its IPv4 checksum
    bool l4;  ///< and that of UDP or TCP
};

const std::string addresses = R"("src": {"increment": {"from": "10.0.0.1", "to": "10.0.3.250"}}, )"
                              R"("dst": {"random": {"from": "10.1.0.0", "to": "10.1.255.255", "seed": 7}})";

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {R"({"frame_size": 64, "headers": [{"eth": {}}, {"ipv4": {)" + addresses +
             R"(}}, {"udp": {"src": {"increment": {"from": 1, "to": 999}}, "dst": 9}}]})",
         true, true},
        {R"({"frame_size": {"increment": {"from": 64, "to": 1518, "step": 7}},
             "headers": [{"eth": {}}, {"vlan": {"id": 5}}, {"ipv4": {)" +
             addresses + R"(}}, {"tcp": {"seq": {"increment": {"from": 1, "to": 99999}}}}]})",
         true, true},
        {R"({"frame_size": 64, "headers": [{"eth": {}}, {"ipv4": {}}, {"udp": {}}]})", true, true},
        {R"({"frame_size": 100, "headers": [{"eth": {}}, {"ipv6": {"src": {"increment": {"from": "fd00::1", "to": "fd00::ff"}}}}, {"udp": {}}]})",
         false, true},
        {R"({"headers": [{"eth": {}}, {"ipv4": {)" + addresses + R"(}}, {"udp": {"checksum": 0}}]})", true,
         false},
        {R"({"headers": [{"eth": {}}, {"ipv4": {"checksum": 4660}}, {"udp": {"checksum": 22136}}]})", false,
         false},
        {R"({"headers": [{"eth": {}}, {"ipv4": {"fragment_offset": 100}}, {"raw": {"fill": "0x00", "length": 8}}]})",
         true, false},
        {R"({"headers": [{"eth": {"type": 35020}}]})", false, false},
    };
    return all;
}

struct Sent {
    std::string path;
    std::vector<std::vector<std::uint8_t>> frames;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> asked;  ///< by case: IPv4, then UDP and TCP
};

// Each twice, so that buffers come back whose checksums the first time has left as the device wants them.
Sent sent(bool offload) {
    Rig rig(
        "id=10f7", [&](config::Port& port) { port.tx->offload = offload; }, 1514);
    const soft82599::Recorder recorder(*rig.nic);
    Sent out;
    out.path = rig.port->tx_path();
    std::vector<std::unique_ptr<const packet::PacketTemplate>> packets;
    for (const Case& c : cases()) packets.push_back(packet_of(c.packet));
    for (int round = 0; round < 2; ++round) {
        for (const auto& packet : packets) {
            const soft82599::TxQueueCounters before = rig.nic->tx_queue(0);
            rig.send({Rig::flood(*packet, 16, count)});
            const soft82599::TxQueueCounters after = rig.nic->tx_queue(0);
            out.asked.emplace_back(after.ip_checksums - before.ip_checksums,
                                   after.l4_checksums - before.l4_checksums);
        }
    }
    out.frames = recorder.frames();
    return out;
}

TEST(Offload, gives_the_bytes_of_the_template_and_leaves_alone_what_the_operator_wrote) {
    const Sent fast = sent(false);
    const Sent offloaded = sent(true);
    EXPECT_EQ(fast.path, "vector");
    EXPECT_EQ(offloaded.path, "full");
    ASSERT_EQ(fast.frames.size(), 2 * count * cases().size());
    EXPECT_EQ(fast.frames, offloaded.frames);
    for (std::size_t i = 0; i < offloaded.asked.size(); ++i) {
        const Case& c = cases()[i % cases().size()];
        EXPECT_EQ(offloaded.asked[i].first, c.ip ? count : 0) << c.packet;
        EXPECT_EQ(offloaded.asked[i].second, c.l4 ? count : 0) << c.packet;
        EXPECT_EQ(fast.asked[i].first + fast.asked[i].second, 0U);
    }
}

}  // namespace
}  // namespace volley::port
