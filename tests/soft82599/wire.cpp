#include "soft82599/wire.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "soft82599/nic.h"
#include "soft82599/options.h"

namespace volley::soft82599 {
namespace {

std::mutex registry_mutex;
std::vector<std::weak_ptr<Wire>> registry;

}  // namespace

bool Wire::has_free_end_for(const std::string& name, const std::string& peer) const {
    if (loop_ || (ends_[0] != nullptr && ends_[1] != nullptr)) return false;
    const bool peer_is_here =
        std::any_of(names_.begin(), names_.end(), [&](const auto& end) { return end == peer; });
    return awaited_ == name || (!peer.empty() && peer_is_here && awaited_.empty());
}

std::shared_ptr<Wire> Wire::join(Nic& nic, const std::string& name, const Options& options) {
    const std::scoped_lock guard(registry_mutex);
    std::erase_if(registry, [](const auto& wire) { return wire.expired(); });
    std::shared_ptr<Wire> wire;
    for (const auto& known : registry) {
        const auto candidate = known.lock();
        if (!candidate) continue;
        const std::scoped_lock wire_guard(candidate->lock);
        if (!options.loop && candidate->has_free_end_for(name, options.peer)) {
            wire = candidate;
        } else if (!options.peer.empty() &&
                   std::count(candidate->names_.begin(), candidate->names_.end(), options.peer) != 0) {
            throw std::invalid_argument("peer=" + options.peer + " is connected elsewhere (give it peer=" +
                                        name + ", or no peer and no loop)");
        }
    }
    if (!wire) {
        wire = std::make_shared<Wire>();
        registry.push_back(wire);
        wire->plugged_ = true;
    }
    const std::scoped_lock wire_guard(wire->lock);
    const std::size_t end = wire->ends_[0] == nullptr ? 0 : 1;
    wire->ends_[end] = &nic;
    wire->names_[end] = name;
    wire->loop_ = options.loop;
    if (!options.peer.empty()) wire->awaited_ = wire->ends_[1 - end] == nullptr ? options.peer : "";
    if (wire->ends_[1 - end] != nullptr) wire->awaited_.clear();
    if (!options.link_up) wire->plugged_ = false;
    return wire;
}

void Wire::leave(const Nic& nic) {
    const std::scoped_lock guard(registry_mutex);
    const std::scoped_lock wire_guard(lock);
    for (std::size_t end = 0; end < ends_.size(); ++end) {
        if (ends_[end] != &nic) continue;
        ends_[end] = nullptr;
        if (ends_[1 - end] != nullptr) awaited_ = names_[end];
        names_[end].clear();
    }
}

Nic* Wire::far_end(const Nic& nic) const noexcept {
    if (loop_) return ends_[0];
    return ends_[0] == &nic ? ends_[1] : ends_[0];
}

bool Wire::light() const noexcept {
    return plugged_ && awaited_.empty() && std::all_of(ends_.begin(), ends_.end(), [](const Nic* nic) {
               return nic == nullptr || nic->has_module();
           });
}

}  // namespace volley::soft82599
