#include "volley-bench/ring/kinds.h"

#include <algorithm>

#include "volley-bench/ring/queues.h"

namespace volley::bench {
namespace {

template <typename Q>
RingKind kind(std::string name, Sharing sharing, std::string thread_name) {
    RingKind out;
    out.name = std::move(name);
    out.sharing = sharing;
    out.thread_name = std::move(thread_name);
    out.same_cpu = &run_same_cpu<Q>;
    out.pair = &run_pair<Q>;
    out.near_empty = &run_near_empty<Q>;
    out.one_way = &run_one_way<Q>;
    out.empty_poll = &run_empty_poll<Q>;
    if (sharing == Sharing::mpmc) out.shared = &run_shared<Q>;
    return out;
}

constexpr Tsc gaps_per_second = 50'000;  // a gap of 20 µs: the scheduler, not a cache miss

}  // namespace

const char* name_of(Stop stop) {
    switch (stop) {
        case Stop::done:
            return "done";
        case Stop::full:
            return "full";
        case Stop::empty:
            return "empty";
        case Stop::told:
            break;
    }
    return "told";
}

double PairRun::overlap() const {
    const Tsc first = std::min(enqueue.start, dequeue.start);
    const Tsc last = std::max(enqueue.stop, dequeue.stop);
    const Tsc from = std::max(enqueue.start, dequeue.start);
    const Tsc to = std::min(enqueue.stop, dequeue.stop);
    if (to <= from || last <= first) return 0;
    return static_cast<double>(to - from) / static_cast<double>(last - first);
}

bool PairRun::clean() const {
    const Tsc gap = tsc_hz() / gaps_per_second;
    return overlap() >= 0.9 && enqueue.worst_gap < gap && dequeue.worst_gap < gap && enqueue.objects > 0 &&
           dequeue.objects > 0;
}

const std::vector<RingKind>& ring_kinds() {
    using enum Zeroing;
    using enum Locking;
    static const std::vector<RingKind> kinds{
        kind<RteRing<RteSync::sp_sc>>("rte_ring SP/SC", Sharing::spsc, "rte_ring SP/SC"),
        kind<RteRing<RteSync::mp_mc>>("rte_ring MP/MC", Sharing::mpmc, "rte_ring MP/MC"),
        kind<RteRing<RteSync::sp_mc>>("rte_ring SP/MC", Sharing::spmc, "rte_ring SP/MC"),
        kind<RteRing<RteSync::rts>>("rte_ring RTS", Sharing::mpmc, "rte_ring RTS"),
        kind<RteRing<RteSync::hts>>("rte_ring HTS", Sharing::mpmc, "rte_ring HTS"),
        kind<PtrRing<SpinLock, eager, per_object>>("ptr_ring locked (2016)", Sharing::mpmc, "skb_array"),
        kind<PtrRing<SpinLock, batched, per_call>>("ptr_ring locked, batched", Sharing::mpmc,
                                                   "ptr_ring batched"),
        kind<PtrRing<NoLock, eager, per_call>>("ptr_ring no lock, eager", Sharing::spsc, "ptr_ring eager"),
        kind<PtrRing<NoLock, batched, per_call>>("ptr_ring no lock, batched", Sharing::spsc, "ptr_ring lazy"),
        kind<AlfQueue<true>>("alf MPMC", Sharing::mpmc, "alf_queue MPMC"),
        kind<AlfQueue<false>>("alf SPSC", Sharing::spsc, "alf_queue SPSC"),
        kind<CachedSpsc>("cached-index SPSC", Sharing::spsc, "cached-index SPSC"),
    };
    return kinds;
}

}  // namespace volley::bench
