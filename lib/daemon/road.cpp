#include "daemon/road.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include "config/address.h"
#include "dpdk/eal.h"
#include "dpdk/error.h"
#include "traffic/pace.h"

namespace volley::daemon {
namespace {

constexpr std::chrono::seconds stop_patience{10};

}  // namespace

Road::Road(const config::Model& model) : model_(model) {
    for (const config::Port& settings : model_.ports)
        ports_.push_back(std::make_unique<port::Port>(settings));
}

Road::~Road() {
    stop();
    // A driver may give mbufs back as late as its close, so ports go before the pools.
    ports_.clear();
    loops_.clear();
    receivers_.clear();
    lanes_.clear();
    replies_.clear();
}

void Road::start(const std::vector<Longest>& longest) {
    for (std::size_t p = 0; p < ports_.size(); ++p) {
        const bool receives_more = longest[p].received > longest[p].length;
        ports_[p]->start(std::max(longest[p].length, longest[p].received),
                         receives_more ? longest[p].received_stream : longest[p].stream, longest[p].received);
    }
    for (const auto& port : ports_) {
        port->refresh_statistics();
        at_start_.push_back(port->statistics());
    }
    written_off_.resize(ports_.size());
    build_lanes(longest);
    build_receivers();
    build_replies();
    for (const auto& loop : loops_) {
        dpdk::launch(
            loop->lcore(),
            [](void* argument) {
                static_cast<worker::LcoreLoop*>(argument)->run();
                return 0;
            },
            loop.get());
    }
    launched_ = true;
}

worker::LcoreLoop& Road::loop_on(LcoreId lcore) {
    const auto found =
        std::find_if(loops_.begin(), loops_.end(), [&](const auto& loop) { return loop->lcore() == lcore; });
    if (found != loops_.end()) return **found;
    if (!dpdk::has_lcore(lcore)) {
        throw dpdk::Error("using lcore " + std::to_string(lcore.value), EINVAL, "list it in eal.lcores");
    }
    loops_.push_back(std::make_unique<worker::LcoreLoop>(lcore, dpdk::shares_cpu(lcore)));
    // One port that is to be polled keeps its lcores awake, and the dispatcher. Receivers are another matter.
    const auto lists = [&](const auto& queues) {
        return queues &&
               std::find(queues->lcores.begin(), queues->lcores.end(), lcore.value) != queues->lcores.end();
    };
    const bool polled = std::any_of(model_.ports.begin(), model_.ports.end(), [&](const config::Port& port) {
        const bool sends = lists(port.tx) || (port.tx && model_.lcores.dispatch == lcore.value);
        return (sends && port.tx->idle == "poll") || lists(port.rx);
    });
    if (!polled) loops_.back()->sleep_when_idle();
    return *loops_.back();
}

void Road::build_lanes(const std::vector<Longest>& longest) {
    const bool inline_dispatch = !model_.lcores.dispatch;
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        const auto& tx = model_.ports[p].tx;
        if (!tx) continue;
        const std::uint32_t frame =
            std::max(longest[p].length, tx->max_frame.value_or(fcs_bytes) - fcs_bytes);
        for (std::uint32_t w = 0; w < tx->lcores.size(); ++w) {
            worker::TxWorker::Settings settings;
            settings.port = ports_[p]->id();
            settings.queue = QueueId{static_cast<std::uint16_t>(w)};
            settings.flush_threshold = tx->flush_threshold;
            settings.flush_timeout = traffic::ticks_of(tx->flush_timeout, tsc_hz());
            settings.packets_per_tail_write = ports_[p]->packets_per_tail_write();
            settings.offloads = ports_[p]->tx_offloads();
            const std::string name = std::to_string(settings.port.value) + "_" + std::to_string(w);
            lanes_.push_back(
                std::make_unique<worker::TxLane>(settings, name, tx->descriptors, frame, ports_[p]->socket(),
                                                 traffic::ticks_of(worker::horizon, tsc_hz()),
                                                 inline_dispatch, ports_[p]->tx_pool(settings.queue)));
            worker::TxLane& lane = *lanes_.back();
            lane.lcore = LcoreId{tx->lcores[w]};
            lane.port = p;
            lane.index = w;
            loop_on(lane.lcore).add(lane.worker);
            if (!inline_dispatch) loop_on(LcoreId{*model_.lcores.dispatch}).add(lane.lane);
        }
    }
}

// A port's replies leave by its first TX worker, and are as long as its MTU and a tag allow.
void Road::build_replies() {
    constexpr std::uint32_t least_reply = 2048;
    constexpr std::uint32_t above_mtu = 18;
    replies_.resize(ports_.size());
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        const config::Port& port = model_.ports[p];
        if (port.addresses.empty() || !port.tx || !port.rx) continue;
        std::vector<worker::IpAddress> addresses;
        for (const std::string& text : port.addresses) {
            if (const auto address = config::parse_address(text))
                addresses.push_back({address->bytes, address->length, address->prefix});
        }
        replies_[p] = std::make_unique<worker::Replies>(
            std::to_string(ports_[p]->id().value), ports_[p]->socket(), ports_[p]->mac(), port.vlan,
            std::move(addresses), std::max(least_reply, ports_[p]->mtu() + above_mtu));
        for (const auto& lane : lanes_) {
            if (lane->port == p && lane->index == 0) lane->worker.set_replies(*replies_[p]);
        }
        for (const auto& lane : receivers_) {
            if (lane->port == p) lane->worker.set_replies(*replies_[p]);
        }
    }
}

void Road::build_receivers() {
    for (std::uint32_t p = 0; p < ports_.size(); ++p) {
        const auto& rx = model_.ports[p].rx;
        if (!rx) continue;
        for (std::uint32_t q = 0; q < rx->lcores.size(); ++q) {
            receivers_.push_back(
                std::make_unique<worker::RxLane>(ports_[p]->id(), QueueId{static_cast<std::uint16_t>(q)}));
            worker::RxLane& lane = *receivers_.back();
            lane.lcore = LcoreId{rx->lcores[q]};
            lane.port = p;
            lane.index = q;
            if (model_.evidence) {
                evidence_.push_back(std::make_unique<worker::Evidence>(model_.evidence->packets));
                lane.worker.set_evidence(*evidence_.back(), rx->lcores.size() == 1);
            }
            loop_on(lane.lcore).add(lane.worker);
        }
    }
    // An lcore rests when nothing that it does is against it.
    for (const auto& loop : loops_) {
        const auto here = [&](const auto& lane) { return lane->lcore == loop->lcore(); };
        const bool sends = std::any_of(lanes_.begin(), lanes_.end(), here) ||
                           (model_.lcores.dispatch && LcoreId{*model_.lcores.dispatch} == loop->lcore());
        const bool interrupts = std::all_of(receivers_.begin(), receivers_.end(), [&](const auto& lane) {
            return !here(lane) || ports_[lane->port]->rx_interrupts();
        });
        const bool polls = std::any_of(receivers_.begin(), receivers_.end(), [&](const auto& lane) {
            return here(lane) && model_.ports[lane->port].rx->mode == "poll";
        });
        if (!sends && !polls) loop->set_adaptive(interrupts);
    }
}

bool Road::stop_lcores(std::chrono::milliseconds patience) noexcept {
    if (!launched_) return true;
    for (const auto& loop : loops_) loop->stop();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (const auto& loop : loops_) {
        while (!loop->ended()) {
            if (std::chrono::steady_clock::now() >= deadline) return false;
            std::this_thread::yield();
        }
    }
    for (const auto& loop : loops_) dpdk::wait_lcore(loop->lcore());
    launched_ = false;
    return true;
}

void Road::stop() noexcept {
    while (!stop_lcores(stop_patience)) {
    }
    for (const auto& lane : lanes_) lane->worker.discard_pending();
    for (const auto& port : ports_) port->stop();
}

void Road::offer(traffic::Plan* plan) {
    ++turn_;
    for (const auto& lane : lanes_) {
        lane->lane.offer(plan != nullptr ? plan->lanes[lane->port][lane->index].get() : nullptr, turn_);
    }
}

bool Road::adopted(std::string* laggard) const {
    for (const auto& lane : lanes_) {
        if (lane->lane.adopted() == turn_) continue;
        if (laggard != nullptr) {
            *laggard = "worker " + std::to_string(lane->index) + " of port " + ports_[lane->port]->name();
        }
        return false;
    }
    return true;
}

std::vector<std::uint64_t> Road::emitted_before() const {
    std::vector<std::uint64_t> out;
    for (const auto& lane : lanes_) out.push_back(lane->lane.emitted_before());
    return out;
}

bool Road::finished(const std::vector<std::uint64_t>& emitted, std::string* laggard) const {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
        if (lanes_[i]->worker.bursts_done().get_acquire() >= emitted[i]) continue;
        if (laggard != nullptr) *laggard = ports_[lanes_[i]->port]->name();
        return false;
    }
    return true;
}

bool Road::emission_over() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->lane.finished(); });
}

bool Road::rings_dry() const {
    return std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) {
        return lane->worker.bursts_done().get_acquire() >= lane->lane.emitted();
    });
}

std::uint64_t Road::in_flight(std::size_t p) const {
    std::uint64_t accepted = 0;
    for (const auto& lane : lanes_) {
        if (lane->port == p) accepted += lane->worker.counters().packets.get();
    }
    if (replies_[p] != nullptr) accepted += replies_[p]->sent() + replies_[p]->asked();
    const port::Statistics now = ports_[p]->statistics();
    const std::uint64_t sent =
        now.tx_packets - at_start_[p].tx_packets + (now.tx_errors - at_start_[p].tx_errors) + written_off_[p];
    return accepted > sent ? accepted - sent : 0;
}

std::vector<std::uint64_t> Road::write_off() {
    for (std::size_t p = 0; p < ports_.size(); ++p) written_off_[p] += in_flight(p);
    return written_off_;
}

bool Road::devices_dry() const {
    for (std::size_t p = 0; p < ports_.size(); ++p) {
        if (in_flight(p) != 0) return false;
    }
    return true;
}

std::uint64_t Road::sent(StreamSlot slot) const {
    std::uint64_t packets = 0;
    for (const auto& lane : lanes_) {
        const worker::StreamTx* row = lane->worker.rows().find(slot);
        if (row != nullptr) packets += row->packets.get();
    }
    return packets;
}

std::uint64_t Road::sent() const {
    std::uint64_t packets = 0;
    for (const auto& lane : lanes_) packets += lane->worker.counters().packets.get();
    return packets;
}

bool Road::add_row(std::uint32_t port, StreamSlot slot) {
    return std::all_of(lanes_.begin(), lanes_.end(),
                       [&](const auto& lane) { return lane->port != port || lane->worker.rows().add(slot); });
}

std::uint32_t Road::data_room(std::uint32_t port) const {
    for (const auto& lane : lanes_) {
        if (lane->port == port) return lane->pool.data_room();
    }
    return 0;
}

}  // namespace volley::daemon
