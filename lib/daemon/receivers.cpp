#include "daemon/receivers.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace volley::daemon {

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
    const std::vector<std::vector<Expected>> expected = expected_by_port(road, model, plan);
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        hand_over(
            road, w,
            make_table(workers_[w], plan, expected[road.receivers()[w]->port], salt, begins_run, now_ns));
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

void Receivers::visit(StreamSlot slot, std::uint64_t sent,
                      const std::function<void(std::size_t, const worker::StreamRx&)>& each) const {
    const std::lock_guard lock(mutex_);
    for (std::size_t w = 0; w < workers_.size(); ++w) {
        const auto& rows = workers_[w].rows;
        if (slot.value >= rows.size() || rows[slot.value] == nullptr) continue;
        rows[slot.value]->sent.set(sent);
        each(w, *rows[slot.value]);
    }
}

std::vector<std::vector<Receivers::Expected>> Receivers::expected_by_port(const Road& road,
                                                                          const config::Model& model,
                                                                          const traffic::Plan& plan) {
    std::unordered_map<std::string_view, const config::Stream*> by_name;
    for (const config::Stream& stream : model.streams) by_name.emplace(stream.name, &stream);
    std::vector<std::vector<Expected>> out(model.ports.size());
    for (const traffic::StreamPlan& stream : plan.streams) {
        const auto found = by_name.find(stream.name);
        if (stream.signing == nullptr || found == by_name.end()) continue;
        const config::Stream& from = *found->second;
        const Expected expected{&stream, &from, road.sent(stream.slot)};
        for (std::size_t p = 0; p < out.size(); ++p) {
            if (!from.expect_on || *from.expect_on == model.ports[p].name) out[p].push_back(expected);
        }
    }
    return out;
}

// Rows of a plan's new streams lie side by side: packets of many streams touch few pages.
void Receivers::add_rows(Worker& worker, std::size_t slots, const std::vector<Expected>& expected) {
    const std::lock_guard lock(mutex_);
    worker.rows.resize(std::max(worker.rows.size(), slots), nullptr);
    const auto wants = [&](const Expected& e) { return worker.rows[e.stream->slot.value] == nullptr; };
    const auto missing = std::count_if(expected.begin(), expected.end(), wants);
    if (missing == 0) return;
    worker.blocks.push_back(std::make_unique<RowBlock<worker::StreamRx>>(static_cast<std::size_t>(missing)));
    for (const Expected& e : expected) {
        if (wants(e)) worker.rows[e.stream->slot.value] = &worker.blocks.back()->add();
    }
}

// A stream that is carried keeps its life; those that begin lie side by side, as rows do.
void Receivers::add_lives(Worker& worker, Table& out, const std::vector<Expected>& expected,
                          const Table* previous, std::uint64_t now_ns) {
    std::size_t begin = 0;
    for (const Expected& e : expected) {
        const std::uint32_t slot = e.stream->slot.value;
        if (e.stream->carried && previous != nullptr && slot < previous->now.size())
            out.now[slot] = previous->now[slot];
        if (out.now[slot] == nullptr) ++begin;
    }
    const auto block = std::make_shared<RowBlock<worker::RxStream>>(begin);
    for (const Expected& e : expected) {
        const traffic::StreamPlan& stream = *e.stream;
        const std::uint32_t slot = stream.slot.value;
        std::shared_ptr<worker::RxStream>& life = out.now[slot];
        if (life == nullptr) {
            worker::SentAs sent;
            sent.slot = slot;
            sent.generation = stream.signing->generation;
            sent.lanes = static_cast<std::uint32_t>(stream.workers.size());
            sent.burst = stream.burst;
            sent.sent_before = e.sent;
            life = {block, &block->add(sent, now_ns, *worker.rows[slot])};
        }
        out.table.streams[slot].set_now(*life, nullptr);
    }
}

// Those before are kept while the life goes on, for packets of them may be under way.
void Receivers::add_templates(Table& out, const Expected& expected, const Table* previous) {
    const std::uint32_t slot = expected.stream->slot.value;
    auto& templates = out.templates[slot];
    templates.push_back(expected.stream->packet);
    if (previous != nullptr && slot < previous->now.size() && previous->now[slot] == out.now[slot]) {
        for (const auto& packet : previous->templates[slot]) {
            if (templates.size() == worker::Verification::most_templates) break;
            if (packet != templates.front()) templates.push_back(packet);
        }
    }
    if (expected.from->verify == 0) return;
    auto verification = std::make_unique<worker::Verification>();
    verification->one_in = expected.from->verify;
    verification->templates = templates;
    out.table.streams[slot].now.verification = verification.get();
    out.verifications.push_back(std::move(verification));
}

// What the reload has ended may still arrive.
void Receivers::keep_ended(Table& out, const Table& previous) {
    for (std::uint32_t slot = 0; slot < previous.now.size(); ++slot) {
        const auto& old = previous.now[slot];
        if (old == nullptr || old == out.now[slot]) continue;
        out.before[slot] = old;
        out.table.streams[slot].set_before(previous.table.streams[slot].now);
        if (out.table.streams[slot].before.verification != nullptr) {
            out.verifications.push_back(
                std::make_unique<worker::Verification>(*out.table.streams[slot].before.verification));
            out.table.streams[slot].before.verification = out.verifications.back().get();
        }
    }
}

std::unique_ptr<Receivers::Table> Receivers::make_table(Worker& worker, const traffic::Plan& plan,
                                                        const std::vector<Expected>& expected,
                                                        std::uint16_t salt, bool begins_run,
                                                        std::uint64_t now_ns) {
    auto out = std::make_unique<Table>();
    out->table.begins_run = begins_run;
    const Table* const previous = begins_run ? nullptr : worker.current.get();
    std::size_t slots = previous != nullptr ? previous->now.size() : 0;
    for (const traffic::StreamPlan& stream : plan.streams)
        slots = std::max<std::size_t>(slots, stream.slot.value + 1);
    out->table.streams.resize(slots);
    out->now.resize(slots);
    out->before.resize(slots);
    out->templates.resize(slots);
    // Without a signed stream no packet has to be looked at, unless some of the plan before may still arrive.
    const bool looks = !expected.empty() || (previous != nullptr && previous->table.salt != 0);
    if (looks) out->table.salt = salt;
    add_rows(worker, slots, expected);
    add_lives(worker, *out, expected, previous, now_ns);
    for (const Expected& e : expected) add_templates(*out, e, previous);
    if (previous != nullptr) keep_ended(*out, *previous);
    return out;
}

}  // namespace volley::daemon
