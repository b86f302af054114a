#include <algorithm>
#include <limits>
#include <utility>

#include "soft82599/nic.h"

// Only in a process under ThreadSanitizer, which does not see the wire's lock: a tap is code of the test.
extern "C" [[gnu::weak]] void __tsan_acquire(void* address);
extern "C" [[gnu::weak]] void __tsan_release(void* address);

namespace volley::soft82599 {
namespace {

constexpr Pacer::Picoseconds for_ever = std::numeric_limits<Pacer::Picoseconds>::max();

}  // namespace

/// Sends the queue's next packet if it has left by `limit`.
Nic::Sent Nic::send_one(unsigned queue, Pacer::Picoseconds limit) {
    if (!tx_.ready(queue) || !tx_.gather(queue)) return Sent::nothing;
    const Pacer::Picoseconds start = pacer_.start(queue);
    const Pacer::Picoseconds end = pacer_.end(start, tx_.frame().size());
    if (end > limit) return Sent::late;
    if (Nic* far = wire_->far_end(*this); far != nullptr) {
        if (far->receive(tx_.frame()) == RxEngine::Verdict::no_descriptor) {
            tx_.count_blocked(queue);
            blocked_.set(queue);
            return Sent::blocked;
        }
    }
    blocked_.reset(queue);
    pacer_.sent(queue, start, tx_.frame().size());
    left(queue, end);
    tx_.complete(queue);
    return Sent::frame;
}

void Nic::left(unsigned queue, Pacer::Picoseconds end) {
    const std::uint64_t time_ns = end / 1000;
    if (pcap_) pcap_->write(tx_.frame(), time_ns);
    if (!tap_) return;
    if (__tsan_acquire != nullptr) __tsan_acquire(&tap_);
    tap_({tx_.frame(), static_cast<std::uint16_t>(queue), time_ns});
    if (__tsan_release != nullptr) __tsan_release(&tap_);
}

std::uint64_t Nic::drain(unsigned queue) {
    std::uint64_t packets = 0;
    while (!held() && send_one(queue, for_ever) == Sent::frame) ++packets;
    return packets;
}

std::uint64_t Nic::transmit_all() {
    std::uint64_t packets = 0;
    for (unsigned i = 0; i < reg::tx_queues; ++i) packets += drain((turn_ + i) % reg::tx_queues);
    turn_ = (turn_ + 1) % reg::tx_queues;
    return packets;
}

/// Virtual time: all queues share the wire; the one whose turn to start comes first sends.
void Nic::run_until(Pacer::Picoseconds target) {
    std::bitset<reg::tx_queues> candidates;
    for (unsigned queue = 0; queue < reg::tx_queues; ++queue) {
        candidates[queue] = tx_.ready(queue);
        if (blocked_[queue]) pacer_.available(queue);  // the wire was idle meanwhile: no catching up
    }
    while (const auto queue = next_queue(candidates)) {
        if (pacer_.start(*queue) >= target) break;
        const Sent sent = send_one(*queue, target);
        if (sent == Sent::late) break;
        if (sent == Sent::frame) turn_ = (*queue + 1) % reg::tx_queues;
        if (sent != Sent::frame) candidates.reset(*queue);
    }
    pacer_.set_now(target);
}

std::optional<unsigned> Nic::next_queue(const std::bitset<reg::tx_queues>& candidates) const {
    std::optional<unsigned> best;
    if (candidates.none()) return best;
    for (unsigned i = 0; i < reg::tx_queues; ++i) {
        const unsigned queue = (turn_ + i) % reg::tx_queues;
        if (candidates[queue] && (!best || pacer_.start(queue) < pacer_.start(*best))) best = queue;
    }
    return best;
}

/// The far end got descriptors, or its receiver changed. In virtual and plain mode the next advance() or
/// pump() sends.
void Nic::transmit_waiting() {
    if (options_.mode == Mode::trap && blocked_.any()) transmit_all();
}

void Nic::retry_sender() {
    if (Nic* sender = wire_->far_end(*this); sender != nullptr) sender->transmit_waiting();
}

RxEngine::Verdict Nic::receive(Bytes frame) {
    return take_pause(frame) ? RxEngine::Verdict::discarded : rx_.deliver(frame);
}

/// MAC control frame with the PAUSE opcode, IEEE 802.3 annex 31B. True when it goes no further.
bool Nic::take_pause(Bytes frame) {
    constexpr std::uint8_t address[] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x01};
    const bool is_pause = frame.size() >= 18 && load_be16(frame, 12) == 0x8808 && load_be16(frame, 14) == 1 &&
                          std::equal(std::begin(address), std::end(address), frame.begin());
    if (!is_pause) return false;
    pause(load_be16(frame, 16));
    const std::uint32_t mflcn = registers_.load(reg::mflcn);
    return (mflcn & reg::mflcn_pass_control) == 0 || (mflcn & reg::mflcn_discard_pause) != 0;
}

void Nic::pause(std::uint16_t quanta) {
    statistics_.add(quanta != 0 ? stat::xoff_received : stat::xon_received, 1);
    ++rx_.port_counters().pause_received;
    if ((registers_.load(reg::mflcn) & reg::mflcn_obey_pause) == 0) return;
    pacer_.pause(quanta);
    resume_ = quanta == 0;
}

/// What a frame set off while others were moving, done when they stand.
void Nic::settle() {
    for (Nic* nic : wire_->ends()) {
        if (nic == nullptr || !std::exchange(nic->resume_, false)) continue;
        if (nic->options_.mode == Mode::trap) nic->transmit_all();
    }
}

void Nic::light_changed() {
    if (!link_.set_up(wire_->light())) return;
    interrupts_.raise(reg::cause_link);
    if (!link_.up()) return;
    for (unsigned queue = 0; queue < reg::tx_queues; ++queue) pacer_.available(queue);
    resume_ = true;
}

void Nic::everyone_checks_light() {
    for (Nic* nic : wire_->ends()) {
        if (nic != nullptr) nic->light_changed();
    }
    settle();
}

}  // namespace volley::soft82599
