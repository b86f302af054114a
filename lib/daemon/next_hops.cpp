#include "daemon/next_hops.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "config/next_hop.h"
#include "dpdk/error.h"
#include "packet/text.h"

namespace volley::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds ask_again{200};
constexpr std::size_t most_named = 4;

worker::IpAddress wire(const config::Address& address) {
    return {address.bytes, address.length, 0};
}

}  // namespace

void NextHops::forget() {
    for (const Hop& hop : hops_) hop.neighbour->give_back();
    hops_.clear();
}

std::size_t NextHops::hop_of(std::uint32_t port, const config::Address& address, const std::string& stream) {
    const auto known = std::find_if(hops_.begin(), hops_.end(), [&](const Hop& hop) {
        return hop.port == port && wire(hop.address) == wire(address);
    });
    if (known != hops_.end()) return static_cast<std::size_t>(known - hops_.begin());
    worker::Neighbour* const neighbour = road_.replies()[port]->responder().add_neighbour(wire(address));
    if (neighbour == nullptr) {
        throw dpdk::Error("resolving " + to_text(address) + " on port " + road_.ports()[port]->name(), ENOSPC,
                          "a port asks for at most " + std::to_string(worker::Responder::most_neighbours) +
                              " addresses; send the others by its gateway");
    }
    hops_.push_back({port, address, stream, neighbour});
    return hops_.size() - 1;
}

std::vector<const NextHops::Hop*> NextHops::unanswered() const {
    std::vector<const Hop*> out;
    for (const Hop& hop : hops_) {
        if (hop.neighbour->mac() == 0) out.push_back(&hop);
    }
    return out;
}

bool NextHops::wait_for_answers(Duration patience, const std::function<bool()>& rest) {
    const auto begin = Clock::now();
    const auto deadline = begin + std::chrono::nanoseconds(patience.ns);
    auto next_question = begin;
    for (auto missing = unanswered(); !missing.empty(); missing = unanswered()) {
        const auto now = Clock::now();
        if (!rest()) return false;
        if (now >= deadline) {
            std::string names;
            for (std::size_t i = 0; i < std::min(missing.size(), most_named); ++i) {
                names += (i == 0 ? "" : ", ") + config::to_text(missing[i]->address) + " on port " +
                         road_.ports()[missing[i]->port]->name() + " (stream " + missing[i]->stream + ")";
            }
            if (missing.size() > most_named)
                names += " and " + std::to_string(missing.size() - most_named) + " more";
            throw dpdk::Error("resolving " + names, ETIMEDOUT,
                              "no answer in " + to_text(patience) +
                                  "; look at the address, the port's \"vlan\" and its cable, raise "
                                  "run.resolve_timeout, or give eth.dst a MAC address");
        }
        if (now < next_question) continue;
        next_question = now + ask_again;
        for (const Hop* hop : missing) road_.replies()[hop->port]->ask(wire(hop->address));
    }
    return true;
}

std::vector<NextHops::Wanted> NextHops::wanted_by(config::Model& model) {
    std::vector<Wanted> out;
    for (config::Stream& stream : model.streams) {
        const config::Port* const port = find_port(model, stream.port);
        const auto add = [&](packet::PacketModel& packet) {
            if (!config::asks_for_next_hop(packet) || !stream.enabled) return;
            std::string why;  // config has judged it already
            const auto address = config::next_hop(*port, packet, why);
            const auto number = static_cast<std::uint32_t>(port - model.ports.data());
            if (address) out.push_back({&packet, number, *address, &stream.name});
        };
        if (!stream.source.any()) add(stream.packet);
        for (packet::PacketModel& packet : stream.source.packets) add(packet);
    }
    return out;
}

void NextHops::keep_only(const std::vector<Wanted>& wanted) {
    std::set<std::pair<std::uint32_t, std::string>> places;
    for (const Wanted& each : wanted) places.emplace(each.port, to_text(each.address));
    std::erase_if(hops_, [&](const Hop& hop) {
        if (places.contains({hop.port, to_text(hop.address)})) return false;
        hop.neighbour->give_back();
        return true;
    });
}

bool NextHops::resolve(config::Model& model, Duration patience, const std::function<bool()>& rest) {
    std::vector<Wanted> wanted = wanted_by(model);
    keep_only(wanted);
    for (Wanted& each : wanted) each.hop = hop_of(each.port, each.address, *each.stream);
    const std::vector<const Hop*> asked = unanswered();
    if (!wait_for_answers(patience, rest)) return false;
    for (const Hop* hop : asked) {
        spdlog::info("next hop {} on port {} is {}", config::to_text(hop->address),
                     road_.ports()[hop->port]->name(),
                     to_text(packet::FieldType::mac, hop->neighbour->mac()));
    }
    for (const Wanted& each : wanted) config::set_next_hop(*each.packet, hops_[each.hop].neighbour->mac());
    return true;
}

}  // namespace volley::daemon
