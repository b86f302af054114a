// Packets per second of every stream, and what they come to on the wire.
#include <algorithm>
#include <cmath>
#include <map>

#include "traffic/compilation.h"

namespace volley::traffic {
namespace {

std::string bps_text(double bps) {
    return speed_text(static_cast<std::uint64_t>(std::llround(bps)));
}

bool changing(const config::Stream& from) {
    return !from.rate_steps.empty() || from.rate_ramp;
}

}  // namespace

void Compilation::set_rates() {
    const auto multiplier = decimal(inputs_.multiplier.value_or(model_.run.multiplier));
    if (!multiplier) problem("/run/multiplier", "the multiplier is a decimal from 0 on, such as 0.5");
    for (std::uint32_t port = 0; port < model_.ports.size(); ++port) {
        set_rates_of_port(port, multiplier.value_or(Rational{1, 1}));
    }
}

void Compilation::set_rates_of_port(std::uint32_t port, Rational multiplier) {
    std::vector<std::size_t> members;
    std::vector<Demand> demands;
    for (std::size_t i = 0; i < from_.size(); ++i) {
        const StreamPlan& stream = plan_->streams[i];
        if (stream.port != port || stream.packet == nullptr || from_[i]->is_recorded()) continue;
        if (changing(*from_[i])) {
            set_changing_rate(i, multiplier);
            continue;
        }
        members.push_back(i);
        demands.push_back({from_[i]->rate, from_[i]->weight, stream.mean_l2_bytes, from_[i]->scale});
    }
    const config::Port& settings = model_.ports[port];
    const std::vector<Granted> granted = grant(demands, settings.rate, link_of(port), multiplier);
    bool port_told = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
        StreamPlan& stream = plan_->streams[members[i]];
        const config::Stream& from = *from_[members[i]];
        stream.max = granted[i].max;
        stream.pps = granted[i].pps.value_or(Rational{0, 1});
        if (granted[i].max || granted[i].pps) continue;
        if (from.rate || !settings.rate) {
            refuse_rate(from, from.rate ? &*from.rate : nullptr);
        } else if (!std::exchange(port_told, true)) {
            refuse_rate(from, &*settings.rate);
        }
    }
}

void Compilation::set_changing_rate(std::size_t stream, Rational multiplier) {
    const config::Stream& from = *from_[stream];
    StreamPlan& plan = plan_->streams[stream];
    std::vector<Rate> rates;
    for (const config::RateStep& step : from.rate_steps) rates.push_back(step.rate);
    if (from.rate_ramp) rates = {from.rate_ramp->from, from.rate_ramp->to};
    plan.pps = {0, 1};
    for (const Rate& rate : rates) {
        const auto pps = packets_per_second(rate, plan.mean_l2_bytes, link_of(plan.port));
        if (!pps) {
            refuse_rate(from, &rate);
            return;
        }
        rates_[stream].push_back(from.scale ? product(*pps, multiplier) : *pps);
        if (l1_bps(rates_[stream].back(), {1, 1}) > l1_bps(plan.pps, {1, 1}))
            plan.pps = rates_[stream].back();
    }
}

void Compilation::refuse_rate(const config::Stream& from, const Rate* rate) {
    const config::Port* const port = find_port(model_, from.port);
    if (rate == nullptr) {
        problem(from.pointer + "/rate",
                "neither the stream nor its port " + quoted(port->name) + " has a rate");
        return;
    }
    problem((from.rate || changing(from) ? from.pointer : port->pointer) + "/rate",
            quoted(to_text(*rate)) + " needs the speed of the link, and that of port " + quoted(port->name) +
                " is unknown: give the port \"speed\", or the rate in pps or bps");
}

// What the stream puts on the wire: its highest rate, and of groups with gaps the mean.
double Compilation::wire_bps(const StreamPlan& stream) const {
    const bool groups =
        stream.shape != nullptr && stream.shape->rounds != 1 && stream.shape->legs.size() == 1;
    if (!groups) return stream.max ? 0 : l1_bps(stream.pps, stream.mean_l2_bytes);
    const Leg& leg = stream.shape->legs[0];
    const double seconds = static_cast<double>(leg.span.whole) / static_cast<double>(inputs_.tsc_hz);
    return seconds == 0 ? 0 : l1_bps({leg.packets, 1}, stream.mean_l2_bytes) / seconds;
}

void Compilation::check_total(std::uint32_t port) {
    const std::uint64_t speed = link_of(port);
    if (model_.ports[port].oversubscribe || speed == 0) return;
    // Streams of a chain take turns: the chain asks for what its greediest member asks for.
    std::map<std::size_t, std::pair<double, const StreamPlan*>> demands;
    for (std::size_t i = 0; i < plan_->streams.size(); ++i) {
        const StreamPlan& stream = plan_->streams[i];
        if (stream.port != port) continue;
        auto& demand = demands[stream.head == no_stream ? i : stream.head];
        demand = std::max(demand, {wire_bps(stream), &stream},
                          [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    double total = 0;
    std::vector<std::pair<double, const StreamPlan*>> parts;
    for (const auto& [head, demand] : demands) {
        total += demand.first;
        parts.push_back(demand);
    }
    const auto link = static_cast<double>(speed);
    if (total <= link * (1 + 1e-9)) return;
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string most;
    for (std::size_t i = 0; i < std::min<std::size_t>(parts.size(), 3); ++i) {
        most += (i == 0 ? "" : ", ") + parts[i].second->name + ' ' + bps_text(parts[i].first);
    }
    if (parts.size() > 3) most += ", and " + std::to_string(parts.size() - 3) + " more";
    problem(model_.ports[port].pointer, "the streams of port " + quoted(model_.ports[port].name) +
                                            " ask for " + bps_text(total) +
                                            " on the wire (L1) and its link carries " + bps_text(link) +
                                            " (" + most + "): lower a rate, or say \"oversubscribe\": true");
}

}  // namespace volley::traffic
