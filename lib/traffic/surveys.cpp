#include "traffic/surveys.h"

#include <algorithm>
#include <ctime>

#include "base/clock.h"

namespace volley::traffic {
namespace {

constexpr std::uint64_t settled_ns = 2'000'000'000;  // no file system's times are coarser

config::PcapSource as_read(const config::PcapSource& source) {
    config::PcapSource out;
    out.file = source.file;
    out.pad = source.pad;
    out.rewrite = source.rewrite;
    return out;
}

}  // namespace

Surveys& Surveys::of_process() {
    static Surveys all;
    return all;
}

std::optional<Survey> Surveys::find(const config::PcapSource& source, bool pad,
                                    const FileIdentity& identity) const {
    const config::PcapSource read = as_read(source);
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& known) {
        return known.identity == identity && known.pad == pad && known.source == read;
    });
    return found == known_.end() ? std::nullopt : std::optional(found->survey);
}

void Surveys::keep(const config::PcapSource& source, bool pad, const FileIdentity& identity,
                   const Survey& survey) {
    const auto changed = static_cast<std::uint64_t>(std::max<std::int64_t>(identity.changed_ns, 0));
    if (changed + settled_ns > clock_ns(CLOCK_REALTIME)) return;
    const config::PcapSource read = as_read(source);
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [&](const Known& known) { return known.pad == pad && known.source == read; });
    if (known_.size() == most) known_.erase(known_.begin());
    known_.push_back({read, pad, identity, survey});
}

}  // namespace volley::traffic
