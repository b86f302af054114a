#include "daemon/captures.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/tsc.h"
#include "dpdk/error.h"
#include "import/error.h"
#include "import/packet_filter.h"
#include "import/pcapng.h"
#include "worker/tap.h"

namespace volley::daemon {
namespace {

using Clock = std::chrono::steady_clock;
using imports::Pcapng;
using service::CaptureOrder;
using service::Outcome;
using worker::RxWorker;
using worker::Tap;

constexpr std::chrono::microseconds look{500};
constexpr std::chrono::seconds receiver_patience{5};
constexpr std::uint32_t ring_bytes = 4 << 20;  // of each receiver
constexpr std::uint32_t least_packets = 256;

/// A tap on each receiver, taken off at the end.
class Taps {
  public:
    // All are made before one is used: what throws here leaves no receiver with a tap that is gone.
    Taps(std::span<RxWorker* const> receivers, const std::shared_ptr<const imports::PacketFilter>& filter,
         std::uint32_t snap) {
        const std::uint32_t packets = std::max(least_packets, std::bit_floor(ring_bytes / snap));
        for (RxWorker* receiver : receivers)
            taps_.push_back({receiver, std::make_unique<Tap>(filter, snap, packets)});
        for (const One& one : taps_) one.receiver->set_tap(one.tap.get());
    }
    ~Taps() {
        for (One& one : taps_) {
            // A receiver that hangs in its device may yet write: its ring stays where it is.
            if (!off(one)) static_cast<void>(one.tap.release());
        }
    }
    Taps(const Taps&) = delete;
    Taps& operator=(const Taps&) = delete;

    /// The receivers look no more; what they have put so far may still be read.
    [[nodiscard]] bool close() {
        return std::all_of(taps_.begin(), taps_.end(), [](const One& one) { return off(one); });
    }
    template <class Each>
    void visit(const Each& each) {
        for (One& one : taps_) each(*one.tap);
    }

  private:
    struct One {
        RxWorker* receiver;
        std::unique_ptr<Tap> tap;
    };
    static bool off(const One& one) {
        const std::uint64_t change = one.receiver->set_tap(nullptr);
        const auto deadline = Clock::now() + receiver_patience;
        while (one.receiver->tap_changes() < change) {
            if (Clock::now() >= deadline) return false;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        return true;
    }
    std::vector<One> taps_;
};

/// The packets so far, and whether there is room for more.
class Taken {
  public:
    explicit Taken(const CaptureOrder& order) : order_(order) {}

    void take(Tap& tap) {
        Tap::Packet packet;
        while (!full() && tap.front(packet)) {
            if (bytes_.size() + packet.kept > order_.bytes) {
                full_ = true;
                return;
            }
            rows_.push_back({packet.now_ns, packet.length, packet.kept, bytes_.size()});
            bytes_.insert(bytes_.end(), packet.bytes, packet.bytes + packet.kept);
            tap.pop();
        }
    }
    [[nodiscard]] std::size_t packets() const { return rows_.size(); }
    [[nodiscard]] bool full() const { return full_ || rows_.size() >= order_.packets; }
    void render(std::string& out, std::uint64_t to_unix_ns) {
        std::stable_sort(rows_.begin(), rows_.end(),
                         [](const Row& a, const Row& b) { return a.now_ns < b.now_ns; });
        for (const Row& row : rows_) {
            Pcapng::packet(out,
                           {0, row.now_ns + to_unix_ns, row.length, {bytes_.data() + row.offset, row.kept}});
        }
    }

  private:
    struct Row {
        std::uint64_t now_ns;
        std::uint32_t length;
        std::uint32_t kept;
        std::size_t offset;
    };
    const CaptureOrder& order_;
    std::vector<Row> rows_;
    std::vector<std::uint8_t> bytes_;
    bool full_ = false;
};

}  // namespace

// Fills what is answered, and counts.
void Captures::run(const std::vector<RxWorker*>& receivers, const CaptureOrder& order, Outcome& out) {
    try {
        CaptureFile file = capture(order.port, receivers, order, stop_);
        {
            const std::lock_guard lock(mutex_);
            ++totals_.done;
            totals_.packets += file.packets;
            totals_.bytes += file.text.size();
            totals_.dropped += file.dropped;
        }
        out.content = std::make_shared<const std::string>(std::move(file.text));
        out.content_type = "application/x-pcapng";
    } catch (const imports::Error& error) {
        out.verdict = Outcome::Verdict::invalid;
        out.code = "bad_filter";
        out.message = std::string("the filter is wrong: ") + error.what();
        out.hint = "pcap-filter(7) tells its language";
        out.problems = {{"", 0, 0, "/filter", error.what()}};
    } catch (const std::exception& error) {
        out.verdict = Outcome::Verdict::unavailable;
        out.code = "unavailable";
        out.message = error.what();
    }
    const std::lock_guard lock(mutex_);
    if (!out.content) ++totals_.failed;
    --totals_.under_way;
}

CaptureFile capture(const std::string& port, std::span<RxWorker* const> receivers, const CaptureOrder& order,
                    const std::atomic<bool>& stop) {
    const auto filter = std::make_shared<const imports::PacketFilter>(order.filter);
    const TscClock clock;
    const std::uint64_t to_unix_ns = clock_ns(CLOCK_REALTIME) - clock.ns(tsc_now());
    const auto deadline = Clock::now() + std::chrono::nanoseconds(order.duration.ns);
    Taken taken(order);
    Pcapng::Counts counts;
    {
        Taps taps(receivers, filter, order.snap);
        while (!taken.full() && Clock::now() < deadline && !stop.load(std::memory_order_relaxed)) {
            taps.visit([&](Tap& tap) { taken.take(tap); });
            std::this_thread::sleep_for(look);
        }
        if (!taps.close()) {
            throw dpdk::Error("taking the capture off port " + port, ETIMEDOUT,
                              "a receiver hangs in its device; stop and start volleyd");
        }
        taps.visit([&](Tap& tap) {
            taken.take(tap);
            counts.received += tap.received();
            counts.accepted += tap.accepted();
            counts.dropped += tap.dropped();
        });
    }
    CaptureFile out{{}, taken.packets(), counts.dropped};
    Pcapng::section(out.text, "volley", {});
    Pcapng::interface(out.text, port, order.snap, order.filter);
    taken.render(out.text, to_unix_ns);
    Pcapng::statistics(out.text, 0, clock_ns(CLOCK_REALTIME), counts);
    return out;
}

Captures::~Captures() {
    stop_.store(true, std::memory_order_relaxed);
    for (const auto& one : under_way_) one->thread.join();
}

bool Captures::begin(std::uint32_t port, std::vector<RxWorker*> receivers, CaptureOrder order,
                     Outcome situation, const Answer& answer) {
    std::erase_if(under_way_, [](const auto& one) {
        if (!one->over.load(std::memory_order_acquire)) return false;
        one->thread.join();
        return true;
    });
    if (std::any_of(under_way_.begin(), under_way_.end(), [&](const auto& one) { return one->port == port; }))
        return false;
    under_way_.reserve(under_way_.size() + 1);  // nothing may throw once the thread runs
    auto one = std::make_unique<One>();
    one->port = port;
    {
        const std::lock_guard lock(mutex_);
        ++totals_.under_way;
    }
    try {
        one->thread = std::thread([this, &over = one->over, receivers = std::move(receivers),
                                   order = std::move(order), situation, answer] {
            Outcome result = situation;
            run(receivers, order, result);
            over.store(true, std::memory_order_release);  // acquired by begin(): the taps are off
            answer(std::move(result));
        });
    } catch (const std::system_error& error) {
        {
            const std::lock_guard lock(mutex_);
            ++totals_.failed;
            --totals_.under_way;
        }
        situation.verdict = Outcome::Verdict::unavailable;
        situation.code = "unavailable";
        situation.message = std::string("a capture needs a thread: ") + error.what();
        situation.hint = "raise the limit of tasks that the process may have";
        answer(std::move(situation));
        return true;
    }
    under_way_.push_back(std::move(one));
    return true;
}

}  // namespace volley::daemon
