#include "soft82599/sfp.h"

namespace volley::soft82599 {
namespace {

constexpr std::uint32_t scl_out = 1U << 1;
constexpr std::uint32_t sda_out = 1U << 3;
constexpr std::uint32_t scl_in = 1U << 0;
constexpr std::uint32_t sda_in = 1U << 2;

}  // namespace

SfpModule::SfpModule() {
    memory_[0x00] = 3;     // identifier: SFP or SFP+
    memory_[0x03] = 0x10;  // 10GBASE-SR; byte 6 stays 0, a 1G code there would make it "multispeed fiber"
    memory_[0x25] = 0x00;  // vendor OUI: Intel
    memory_[0x26] = 0x1B;
    memory_[0x27] = 0x21;
}

std::uint32_t SfpModule::read(std::uint32_t i2cctl) const noexcept {
    const bool line = sda_ && (drive_ || !present_);
    // The driver writes back what it read, so the stored value may hold old input bits.
    return (i2cctl & ~(scl_in | sda_in)) | (scl_ ? scl_in : 0) | (line ? sda_in : 0);
}

void SfpModule::write(std::uint32_t i2cctl) noexcept {
    const bool scl = (i2cctl & scl_out) != 0;
    const bool sda = (i2cctl & sda_out) != 0;
    if (scl && scl_ && sda != sda_) {  // SDA moves while SCL is high: START or STOP
        state_ = sda ? State::idle : State::address;
        bit_ = -1;
        drive_ = true;
    } else if (scl && !scl_) {
        clock_rises(sda);
    } else if (!scl && scl_) {
        clock_falls();
    }
    scl_ = scl;
    sda_ = sda;
}

void SfpModule::clock_rises(bool sda) noexcept {
    if (state_ == State::read) {
        if (bit_ == 8) acknowledged_ = !sda;
    } else if (state_ != State::idle && bit_ >= 0 && bit_ < 8) {
        shift_ = static_cast<std::uint8_t>(shift_ << 1 | (sda ? 1 : 0));
    }
}

void SfpModule::clock_falls() noexcept {
    if (state_ == State::idle) return;
    ++bit_;
    if (state_ == State::read) {
        if (bit_ < 8) {
            drive_ = (memory_[pointer_] >> (7 - bit_) & 1) != 0;
        } else if (bit_ == 8) {
            drive_ = true;
        } else {
            bit_ = 0;
            ++pointer_;
            if (!acknowledged_) state_ = State::idle;
            drive_ = state_ == State::idle || (memory_[pointer_] >> 7 & 1) != 0;
        }
        return;
    }
    if (bit_ == 8) byte_received();
    if (bit_ == 9) byte_acknowledged();
}

void SfpModule::byte_received() noexcept {
    if (state_ == State::address) {
        reading_ = (shift_ & 1) != 0;
        if ((shift_ & 0xFE) != 0xA0) {
            state_ = State::idle;
            return;
        }
    } else {
        pointer_ = shift_;
    }
    drive_ = false;  // acknowledge
}

void SfpModule::byte_acknowledged() noexcept {
    bit_ = 0;
    drive_ = true;
    if (state_ == State::address) {
        state_ = reading_ ? State::read : State::offset;
        if (reading_) drive_ = (memory_[pointer_] >> 7 & 1) != 0;
    }
}

}  // namespace volley::soft82599
