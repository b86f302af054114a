#include "daemon/receivers.h"

#include <algorithm>

namespace volley::daemon {
namespace {

const config::Stream* find_stream(const config::Model& model, const std::string& name) {
    const auto found = std::find_if(model.streams.begin(), model.streams.end(),
                                    [&](const config::Stream& stream) { return stream.name == name; });
    return found == model.streams.end() ? nullptr : &*found;
}

}  // namespace

void Receivers::hand_over(const Road& road, std::size_t worker, std::unique_ptr<Table> table) {
    Worker& of = workers_[worker];
    table->table.number = number_;
    of.earlier = std::move(of.current);
    of.current = std::move(table);
    road.receivers()[worker]->worker.offer(&of.current->table);
}

void Receivers::offer(const Road& road, const traffic::Plan& plan, const config::Model& model,
                      std::uint16_t salt, bool begins_run, std::uint64_t now_ns) {
    workers_.resize(road.receivers().size());
    ++number_;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        hand_over(road, w,
                  make_table(workers_[w], road.receivers()[w]->port, plan, model, salt, begins_run, now_ns));
    }
}

void Receivers::hold(const Road& road) {
    workers_.resize(road.receivers().size());
    ++number_;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        auto table = std::make_unique<Table>();
        table->table.hold = true;
        hand_over(road, w, std::move(table));
    }
}

void Receivers::listen(const Road& road) {
    workers_.resize(road.receivers().size());
    ++number_;
    for (std::size_t w = 0; w < workers_.size(); ++w) hand_over(road, w, std::make_unique<Table>());
}

bool Receivers::adopted(const Road& road, std::string* laggard) {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        const worker::RxLane& lane = *road.receivers()[w];
        if (lane.worker.adopted() != number_) {
            if (laggard != nullptr) {
                *laggard =
                    "receiver " + std::to_string(lane.index) + " of port " + road.ports()[lane.port]->name();
            }
            return false;
        }
    }
    for (Worker& worker : workers_) worker.earlier.reset();
    return true;
}

void Receivers::visit(StreamSlot slot,
                      const std::function<void(std::size_t, const worker::StreamRx&)>& each) const {
    const std::lock_guard lock(mutex_);
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        const auto& rows = workers_[w].rows;
        if (slot.value < rows.size() && rows[slot.value] != nullptr) each(w, *rows[slot.value]);
    }
}

std::unique_ptr<Receivers::Table> Receivers::make_table(Worker& worker, std::uint32_t port,
                                                        const traffic::Plan& plan, const config::Model& model,
                                                        std::uint16_t salt, bool begins_run,
                                                        std::uint64_t now_ns) {
    auto out = std::make_unique<Table>();
    out->table.begins_run = begins_run;
    const Table* const previous = begins_run ? nullptr : worker.current.get();
    std::uint32_t slots = previous != nullptr ? static_cast<std::uint32_t>(previous->now.size()) : 0;
    for (const traffic::StreamPlan& stream : plan.streams) slots = std::max(slots, stream.slot.value + 1);
    out->table.streams.resize(slots);
    out->now.resize(slots);
    out->before.resize(slots);
    {
        const std::lock_guard lock(mutex_);
        worker.rows.resize(std::max<std::size_t>(worker.rows.size(), slots));
    }
    for (const traffic::StreamPlan& stream : plan.streams) {
        const config::Stream* const from = find_stream(model, stream.name);
        if (stream.signing == nullptr || from == nullptr) continue;
        if (from->expect_on && *from->expect_on != model.ports[port].name) continue;
        out->table.salt = salt;  // without a signed stream no packet has to be looked at
        add_stream(worker, *out, stream, *from, previous, now_ns);
    }
    // What the reload has ended may still arrive.
    if (previous != nullptr && previous->table.salt != 0) out->table.salt = salt;
    for (std::uint32_t slot = 0; previous != nullptr && slot < previous->now.size(); ++slot) {
        const auto& old = previous->now[slot];
        if (old == nullptr || old == out->now[slot]) continue;
        out->before[slot] = old;
        out->table.streams[slot].set_before(previous->table.streams[slot].now);
        if (out->table.streams[slot].before.verification != nullptr) {
            out->verifications.push_back(
                std::make_unique<worker::Verification>(*out->table.streams[slot].before.verification));
            out->table.streams[slot].before.verification = out->verifications.back().get();
        }
    }
    return out;
}

void Receivers::add_stream(Worker& worker, Table& out, const traffic::StreamPlan& stream,
                           const config::Stream& from, const Table* previous, std::uint64_t now_ns) {
    const std::uint32_t slot = stream.slot.value;
    const bool goes_on = stream.carried && previous != nullptr && slot < previous->now.size() &&
                         previous->now[slot] != nullptr;
    std::shared_ptr<worker::RxStream>& life = out.now[slot];
    if (goes_on) {
        life = previous->now[slot];
    } else {
        if (worker.rows[slot] == nullptr) {
            auto row = std::make_unique<worker::StreamRx>();
            const std::lock_guard lock(mutex_);
            worker.rows[slot] = std::move(row);
        }
        worker::SentAs sent;
        sent.slot = slot;
        sent.generation = stream.signing->generation;
        sent.lanes = static_cast<std::uint32_t>(stream.workers.size());
        sent.burst = stream.burst;
        life = std::make_shared<worker::RxStream>(sent, now_ns, *worker.rows[slot]);
    }
    out.table.streams[slot].set_now({life.get(), nullptr});
    if (from.verify == 0) return;
    auto verification = std::make_unique<worker::Verification>();
    verification->one_in = from.verify;
    verification->templates.push_back(stream.packet);
    if (goes_on && previous->table.streams[slot].now.verification != nullptr) {
        for (const auto& packet : previous->table.streams[slot].now.verification->templates) {
            if (verification->templates.size() < worker::Verification::most_templates)
                verification->templates.push_back(packet);
        }
    }
    out.table.streams[slot].now.verification = verification.get();
    out.verifications.push_back(std::move(verification));
}

}  // namespace volley::daemon
