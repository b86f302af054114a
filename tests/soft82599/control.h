#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

/// What a test in the same process may ask of a soft 82599. It needs no symbol of the model at link time:
/// everything goes through the virtual functions of Port, so it works with a model that the EAL loaded as a
/// plugin.
namespace volley::soft82599 {

enum class DeviceId : std::uint16_t { sfp = 0x10FB, kx4 = 0x10F7 };
enum class Mode : std::uint8_t {
    trap,          ///< a tail write transmits at once, in the driver's thread
    virtual_time,  ///< the wire moves only with advance()
    plain,         ///< tail writes are plain stores, the wire moves only with pump()
};
enum class LinkSpeed : std::uint8_t { ten_gigabit, one_gigabit, unknown };
/// Each is counted in the register that the datasheet names, and the frame is discarded.
enum class RxError : std::uint8_t {
    crc,
    illegal_byte,
    error_byte,
    length,
    undersize,
    oversize,
    fragment,
    jabber
};

struct TxQueueCounters {
    std::uint64_t tail_writes =
        0;  ///< TDT writes, without the zeros that initialise the ring; none in plain mode
    std::uint64_t packets = 0, bytes = 0;  ///< sent; bytes with padding, without FCS
    std::uint64_t descriptors = 0, reports = 0,
                  contexts = 0;  ///< taken; with RS, hence written back; context
    std::uint64_t ip_checksums = 0, l4_checksums = 0, vlan_tags = 0;  ///< inserted
    std::uint64_t largest_batch = 0;         ///< most descriptors behind one tail write
    std::uint64_t segmentation_refused = 0;  ///< packets dropped for asking TCP segmentation
    std::uint64_t bad_descriptors = 0;  ///< packets dropped for what the model cannot do or the chip forbids
    std::uint64_t blocked = 0;          ///< times that the peer had no RX descriptor
};
struct RxQueueCounters {
    std::uint64_t packets = 0, bytes = 0;  ///< stored; bytes without FCS
    std::uint64_t missed = 0;              ///< dropped for want of descriptors
};
struct PortCounters {
    std::uint64_t filtered = 0;      ///< RX: not our address or VLAN
    std::uint64_t receiver_off = 0;  ///< RX: receiver or queue not enabled
    std::uint64_t errors = 0;        ///< RX: bad frames
    std::uint64_t pause_received = 0;
};

struct WireFrame {
    std::span<const std::uint8_t> bytes;  ///< as on the wire, without FCS; valid during the call
    std::uint16_t queue;                  ///< TX queue
    std::uint64_t time_ns;                ///< end of the frame in the port's own wire time
};

/// One soft port. All functions may be called from any thread unless they say otherwise.
class Port {
  public:
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    [[nodiscard]] virtual const std::string& name() const = 0;         ///< "net_soft82599_0"
    [[nodiscard]] virtual const std::string& device_name() const = 0;  ///< name of the ethdev, "8259:99:00.0"
    [[nodiscard]] virtual TxQueueCounters tx_queue(unsigned queue) const = 0;
    [[nodiscard]] virtual RxQueueCounters rx_queue(unsigned queue) const = 0;
    [[nodiscard]] virtual PortCounters counters() const = 0;
    [[nodiscard]] virtual std::uint64_t interrupts(
        unsigned vector) const = 0;  ///< delivered on an MSI-X vector
    /// A register as the model holds it, without side effects and without statistics.
    [[nodiscard]] virtual std::uint32_t peek(std::uint32_t offset) const = 0;
    /// The BAR as the driver sees it; in plain mode its TX pages (0x6000-0x7FFF) are ordinary memory.
    [[nodiscard]] virtual const void* bar() const = 0;
    /// Adds to a statistics register, to bring it near its end.
    virtual void add_statistic(std::uint32_t offset, std::uint64_t n) = 0;

    /// Sees every frame that this port sends, in whichever thread sends it, with the wire locked: it must not
    /// touch the port. It replaces the one before; an empty function ends it.
    virtual void set_tap(std::function<void(const WireFrame&)> tap) = 0;
    /// A frame arrives from outside. False when it was not stored.
    virtual bool inject(std::span<const std::uint8_t> frame) = 0;

    /// Moves the port's time; in virtual mode the TX queues send what fits into it at the link speed,
    /// together and each at its own limiter's rate.
    virtual void advance(std::uint64_t ns) = 0;
    [[nodiscard]] virtual std::uint64_t now_ns() const = 0;
    /// Plain mode: sends everything behind the tails, and returns how many packets that was.
    virtual std::uint64_t pump() = 0;

    // Faults
    virtual void set_link(bool up) = 0;                         ///< the cable, hence both of its ends
    virtual void set_speed(LinkSpeed speed) = 0;                ///< of this end
    virtual void set_module(bool present) = 0;                  ///< the SFP module (id 10fb)
    virtual void set_tx_stuck(unsigned queue, bool stuck) = 0;  ///< descriptors are not taken
    virtual void set_lossless(
        bool lossless) = 0;  ///< false: a frame without an RX descriptor is missed, not waited for
    virtual void set_rx_overrun(bool overrun) = 0;                     ///< every frame is missed
    virtual void corrupt_rx(RxError error, std::uint64_t frames) = 0;  ///< the next frames arrive bad
    /// A PAUSE frame arrives: quanta of 512 bit times (XOFF), or 0 (XON). It holds the transmitter only if
    /// the driver enabled flow control, until advance() has moved the port's time past it.
    virtual void receive_pause(std::uint16_t quanta) = 0;

  protected:
    Port() = default;
    virtual ~Port() = default;
};

/// The plugin's one exported function: the port of that vdev name, or null. The port lives until its vdev is
/// removed.
extern "C" Port* volley_soft82599_find(const char* name);

/// As above for a program that is not linked with the model: finds the plugin that the EAL loaded.
inline Port* find_in_plugin(const char* name) {
    void* plugin = dlopen("libsoft82599.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (plugin == nullptr) return nullptr;
    void* symbol = dlsym(plugin, "volley_soft82599_find");
    dlclose(plugin);  // the EAL holds its own reference
    return symbol == nullptr ? nullptr : reinterpret_cast<Port* (*)(const char*)>(symbol)(name);
}

}  // namespace volley::soft82599
