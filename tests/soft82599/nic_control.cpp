#include <mutex>
#include <stdexcept>

#include "soft82599/nic.h"

namespace volley::soft82599 {
namespace {

void check_queue(unsigned queue) {
    if (queue >= reg::tx_queues) throw std::invalid_argument("the 82599 has queues 0 to 127");
}

}  // namespace

TxQueueCounters Nic::tx_queue(unsigned queue) const {
    check_queue(queue);
    const std::scoped_lock guard(wire_->lock);
    return tx_.counters(queue);
}

RxQueueCounters Nic::rx_queue(unsigned queue) const {
    check_queue(queue);
    const std::scoped_lock guard(wire_->lock);
    return rx_.counters(queue);
}

PortCounters Nic::counters() const {
    const std::scoped_lock guard(wire_->lock);
    return rx_.port_counters();
}

std::uint32_t Nic::peek(std::uint32_t offset) const {
    if (offset % 4 != 0 || offset >= RegisterFile::bytes) throw std::invalid_argument("no such register");
    return registers_.load(offset);
}

void Nic::add_statistic(std::uint32_t offset, std::uint64_t n) {
    const std::scoped_lock guard(wire_->lock);
    if (offset % 4 != 0 || offset >= RegisterFile::bytes || !statistics_.covers(offset)) {
        throw std::invalid_argument("not a statistics register");
    }
    statistics_.add(offset, n);
}

void Nic::set_tap(std::function<void(const WireFrame&)> tap) {
    const std::scoped_lock guard(wire_->lock);
    tap_ = std::move(tap);
}

bool Nic::inject(std::span<const std::uint8_t> frame) {
    if (frame.size() < 14 || frame.size() > longest_frame)
        throw std::invalid_argument("a frame has 14 to 16384 bytes");
    const std::scoped_lock guard(wire_->lock);
    const bool stored = receive(frame) == RxEngine::Verdict::stored;
    settle();
    return stored;
}

void Nic::advance(std::uint64_t ns) {
    const std::scoped_lock guard(wire_->lock);
    const Pacer::Picoseconds target = pacer_.now() + ns * 1000;
    if (options_.mode == Mode::virtual_time && link_.up()) {
        run_until(target);
    } else {
        pacer_.set_now(target);
        if (options_.mode == Mode::trap) transmit_all();
    }
    settle();
}

std::uint64_t Nic::now_ns() const {
    const std::scoped_lock guard(wire_->lock);
    return pacer_.now() / 1000;
}

std::uint64_t Nic::pump() {
    if (options_.mode != Mode::plain) throw std::logic_error("pump() is for mode=plain");
    const std::scoped_lock guard(wire_->lock);
    const std::uint64_t packets = transmit_all();
    settle();
    return packets;
}

void Nic::set_link(bool up) {
    const std::scoped_lock guard(wire_->lock);
    wire_->set_plugged(up);
    everyone_checks_light();
}

void Nic::set_speed(LinkSpeed speed) {
    const std::scoped_lock guard(wire_->lock);
    link_.set_speed(speed);
    pacer_.set_speed(speed);
}

void Nic::set_module(bool present) {
    const std::scoped_lock guard(wire_->lock);
    sfp_.set_present(present);
    everyone_checks_light();
}

void Nic::set_tx_stuck(unsigned queue, bool stuck) {
    check_queue(queue);
    const std::scoped_lock guard(wire_->lock);
    tx_.set_stuck(queue, stuck);
    if (stuck) return;
    pacer_.available(queue);
    if (options_.mode == Mode::trap) drain(queue);
    settle();
}

void Nic::set_lossless(bool lossless) {
    const std::scoped_lock guard(wire_->lock);
    rx_.set_lossless(lossless);
    retry_sender();
}

void Nic::set_rx_overrun(bool overrun) {
    const std::scoped_lock guard(wire_->lock);
    rx_.set_overrun(overrun);
    retry_sender();
}

void Nic::corrupt_rx(RxError error, std::uint64_t frames) {
    const std::scoped_lock guard(wire_->lock);
    rx_.corrupt(error, frames);
}

void Nic::receive_pause(std::uint16_t quanta) {
    const std::scoped_lock guard(wire_->lock);
    pause(quanta);
    settle();
}

}  // namespace volley::soft82599
