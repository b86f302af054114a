#include <mutex>

#include "soft82599/nic.h"

namespace volley::soft82599 {
namespace {

bool is_rx_queue(reg::Offset offset) {
    return (offset >= 0x1000 && offset < 0x2000) || (offset >= 0xD000 && offset < 0xE000);
}

}  // namespace

Nic::Nic(std::string name, Options options)
    : name_(std::move(name)),
      options_(std::move(options)),
      eeprom_(options_.mac),
      link_(options_.id),
      interrupts_(registers_),
      pacer_(options_.limiter_overhead),
      tx_(registers_, statistics_, name_.c_str()),
      rx_(registers_, statistics_, interrupts_) {
    sfp_.set_present(options_.module_present);
    rx_.set_lossless(options_.lossless);
    if (!options_.pcap.empty()) pcap_ = std::make_unique<PcapWriter>(options_.pcap);
    if (options_.mode == Mode::plain) registers_.open_tx_pages();
    reset();
    wire_ = Wire::join(*this, name_, options_);
    const std::scoped_lock guard(wire_->lock);
    everyone_checks_light();
}

Nic::~Nic() {
    wire_->leave(*this);
    const std::scoped_lock guard(wire_->lock);
    everyone_checks_light();
}

void Nic::set_interrupt_sink(std::function<void(unsigned vector)> sink) {
    const std::scoped_lock guard(wire_->lock);
    interrupts_.set_sink(std::move(sink));
}

/// CTRL.RST or LNK_RST. The two semaphore registers survive it (datasheet 4.2.1.6).
void Nic::reset() {
    const std::uint32_t swsm = registers_.load(reg::swsm);
    const std::uint32_t sw_fw_sync = registers_.load(reg::sw_fw_sync);
    registers_.clear();
    registers_.store(reg::swsm, swsm);
    registers_.store(reg::sw_fw_sync, sw_fw_sync);
    registers_.store(reg::eec, reg::eec_present_auto_read);
    registers_.store(reg::hlreg0, 1U | reg::hlreg0_strip_crc | reg::hlreg0_pad);
    registers_.store(reg::maxfrs, 1518U << 16);
    registers_.store(reg::vlnctrl, 0x8100);
    registers_.store(reg::dmatxctl, 0x8100U << 16);
    registers_.store(reg::msrwd, 0xFFFF'0000);  // no PHY answers
    const MacAddress& mac = eeprom_.mac();
    registers_.store(reg::ral0, static_cast<std::uint32_t>(mac[0] | mac[1] << 8 | mac[2] << 16) |
                                    static_cast<std::uint32_t>(mac[3]) << 24);
    registers_.store(reg::rah0, static_cast<std::uint32_t>(mac[4] | mac[5] << 8) | reg::rah_valid);
    link_.reset(registers_);
    statistics_.clear();
    interrupts_.reset();
    tx_.reset();
    pacer_.reset_limiters();
    blocked_.reset();
}

std::uint32_t Nic::read(reg::Offset offset) {
    const std::scoped_lock guard(wire_->lock);
    if (statistics_.covers(offset)) return statistics_.read(offset);
    if (Interrupts::covers(offset)) return interrupts_.read(offset);
    return read_special(offset);
}

std::uint32_t Nic::read_special(reg::Offset offset) {
    const std::uint32_t value = registers_.load(offset);
    switch (offset) {
        case reg::status:  // with LAN id 0; GIO master stops at once when asked to
            return (registers_.load(reg::ctrl) & reg::ctrl_gio_disable) != 0 ? 0 : reg::status_gio_master;
        case reg::esdp:
            return has_module() ? value | reg::esdp_sdp2 : value & ~reg::esdp_sdp2;
        case reg::i2cctl:
            return options_.id == DeviceId::sfp ? sfp_.read(value) : value;
        case reg::rdrxctl:
            return value | reg::rdrxctl_dma_init_done;
        case reg::links:
            return link_.links_register();
        case reg::rttbcnrc:
            return pacer_.limiter(registers_.load(reg::rttdqsel) % reg::tx_queues);
        case reg::sectxstat:
        case reg::secrxstat:
            return 1;    // ready
        case reg::swsm:  // SMBI is taken by the read that finds it free
            registers_.store(offset, value | 1);
            return value;
        case reg::fdirctrl:
            return value | 1U << 3;  // INIT_DONE
        default:
            return value;
    }
}

void Nic::write(reg::Offset offset, std::uint32_t value) {
    const std::scoped_lock guard(wire_->lock);
    if (statistics_.covers(offset) || offset == reg::status || offset == reg::links) return;
    if (Interrupts::covers(offset)) {
        interrupts_.write(offset, value);
    } else if (!write_queue(offset, value)) {
        write_special(offset, value);
    }
    settle();
}

void Nic::write_special(reg::Offset offset, std::uint32_t value) {
    switch (offset) {
        case reg::ctrl:
            if ((value & (reg::ctrl_reset | reg::ctrl_link_reset)) != 0) {
                reset();
                value &= ~(reg::ctrl_reset | reg::ctrl_link_reset);
            }
            break;
        case reg::i2cctl:
            sfp_.write(value);
            break;
        case reg::eec:
            value &= ~reg::eec_grant;
            value |= reg::eec_present_auto_read | ((value & reg::eec_request) != 0 ? reg::eec_grant : 0);
            break;
        case reg::eerd:
            if ((value & 1) != 0) value = eeprom_.read_command(value);
            break;
        case reg::msca:
            value &= ~(1U << 30);  // the MDI command is done
            break;
        case reg::msrwd:
            value |= 0xFFFF'0000;
            break;
        case reg::autoc:
            value &= ~reg::autoc_restart;
            break;
        case reg::rttbcnrm:
            pacer_.set_window(value);
            break;
        case reg::rttbcnrc:
            pacer_.set_limiter(registers_.load(reg::rttdqsel) % reg::tx_queues, value);
            break;
        case reg::fdircmd:
            value &= ~3U;
            break;
        default:
            break;
    }
    registers_.store(offset, value);
    if (offset == reg::rxctrl) retry_sender();
}

/// Registers of one TX or RX queue with an effect; false for all others.
bool Nic::write_queue(reg::Offset offset, std::uint32_t value) {
    if (offset >= reg::tx_first && offset < reg::tx_end) {
        write_tx_queue((offset - reg::tx_first) / 0x40, offset, value);
        return true;
    }
    const reg::Offset within = offset % 0x40;
    if (!is_rx_queue(offset) || (within != reg::tail && within != reg::control)) return false;
    registers_.store(offset, within == reg::control ? value & ~reg::control_flush : value);
    retry_sender();
    return true;
}

void Nic::write_tx_queue(unsigned queue, reg::Offset offset, std::uint32_t value) {
    switch (offset % 0x40) {
        case reg::tail: {
            const reg::Offset head = reg::tx_queue(queue) + reg::head;
            if (registers_.load(head) == registers_.load(offset)) pacer_.available(queue);
            tx_.tail_written(queue, value);
            if (options_.mode == Mode::trap) drain(queue);
            break;
        }
        case reg::control:
            registers_.store(offset, value & ~reg::control_flush);
            break;
        default:
            registers_.store(offset, value);
    }
}

}  // namespace volley::soft82599
