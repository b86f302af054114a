#pragma once

#include <bitset>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "soft82599/control.h"
#include "soft82599/eeprom.h"
#include "soft82599/interrupts.h"
#include "soft82599/link.h"
#include "soft82599/options.h"
#include "soft82599/pacer.h"
#include "soft82599/pcap_writer.h"
#include "soft82599/register_file.h"
#include "soft82599/rx_engine.h"
#include "soft82599/sfp.h"
#include "soft82599/statistics.h"
#include "soft82599/tx_engine.h"
#include "soft82599/wire.h"

namespace volley::soft82599 {

/// One 82599 port: what its parts are and how a register access reaches them (nic_registers.cpp), what makes
/// frames move (nic_wire.cpp), and the test's view (nic_control.cpp). The wire's lock guards all state but
/// the register memory.
class Nic final : public Port {
  public:
    Nic(std::string name, Options options);  ///< Throws std::system_error, std::invalid_argument.
    ~Nic() override;

    // The driver's accesses, from the trap. Offsets are multiples of 4 within the BAR.
    std::uint32_t read(reg::Offset offset);
    void write(reg::Offset offset, std::uint32_t value);
    [[nodiscard]] void* bar_address() const noexcept { return registers_.bar(); }
    void set_interrupt_sink(std::function<void(unsigned vector)> sink);
    void set_device_name(std::string name) { device_name_ = std::move(name); }
    [[nodiscard]] const Options& options() const noexcept { return options_; }

    // For the wire and the port at its other end; the lock is held.
    [[nodiscard]] bool has_module() const noexcept { return options_.id != DeviceId::sfp || sfp_.present(); }
    void light_changed();
    void transmit_waiting();
    RxEngine::Verdict receive(Bytes frame);

    // Port
    [[nodiscard]] const std::string& name() const override { return name_; }
    [[nodiscard]] const std::string& device_name() const override { return device_name_; }
    [[nodiscard]] TxQueueCounters tx_queue(unsigned queue) const override;
    [[nodiscard]] RxQueueCounters rx_queue(unsigned queue) const override;
    [[nodiscard]] PortCounters counters() const override;
    [[nodiscard]] std::uint64_t interrupts(unsigned vector) const override {
        return interrupts_.fired(vector);
    }
    [[nodiscard]] std::uint32_t peek(std::uint32_t offset) const override;
    [[nodiscard]] const void* bar() const override { return registers_.bar(); }
    void add_statistic(std::uint32_t offset, std::uint64_t n) override;
    void set_tap(std::function<void(const WireFrame&)> tap) override;
    bool inject(std::span<const std::uint8_t> frame) override;
    void advance(std::uint64_t ns) override;
    [[nodiscard]] std::uint64_t now_ns() const override;
    std::uint64_t pump() override;
    void set_link(bool up) override;
    void set_speed(LinkSpeed speed) override;
    void set_module(bool present) override;
    void set_tx_stuck(unsigned queue, bool stuck) override;
    void set_lossless(bool lossless) override;
    void set_rx_overrun(bool overrun) override;
    void corrupt_rx(RxError error, std::uint64_t frames) override;
    void receive_pause(std::uint16_t quanta) override;

  private:
    void reset();
    [[nodiscard]] std::uint32_t read_special(reg::Offset offset);
    void write_special(reg::Offset offset, std::uint32_t value);
    bool write_queue(reg::Offset offset, std::uint32_t value);
    void write_tx_queue(unsigned queue, reg::Offset offset, std::uint32_t value);

    enum class Sent : std::uint8_t { frame, nothing, late, blocked };
    Sent send_one(unsigned queue, Pacer::Picoseconds limit);
    void left(unsigned queue, Pacer::Picoseconds end);
    std::uint64_t drain(unsigned queue);
    std::uint64_t transmit_all();
    void run_until(Pacer::Picoseconds target);
    std::optional<unsigned> next_queue(const std::bitset<reg::tx_queues>& candidates) const;
    [[nodiscard]] bool held() const noexcept { return !link_.up() || pacer_.paused(); }
    bool take_pause(Bytes frame);
    void pause(std::uint16_t quanta);
    void settle();
    void retry_sender();
    void everyone_checks_light();

    std::string name_;
    std::string device_name_;
    Options options_;
    RegisterFile registers_;
    Eeprom eeprom_;
    SfpModule sfp_;
    Link link_;
    Statistics statistics_;
    Interrupts interrupts_;
    Pacer pacer_;
    TxEngine tx_;
    RxEngine rx_;
    std::unique_ptr<PcapWriter> pcap_;
    std::function<void(const WireFrame&)> tap_;
    unsigned turn_ = 0;                    ///< queue that is served first when several are due
    std::bitset<reg::tx_queues> blocked_;  ///< queues that stand for want of an RX descriptor at the far end
    bool resume_ = false;                  ///< a pause ended while frames were moving
    std::shared_ptr<Wire> wire_;           ///< last: it makes the port reachable from its peer
};

}  // namespace volley::soft82599
