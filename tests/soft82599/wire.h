#pragma once

#include <array>
#include <memory>
#include <string>

#include "soft82599/lock.h"

namespace volley::soft82599 {

class Nic;
struct Options;

/// A cable with one or two ends. Its lock guards everything of the ports at its ends, so a frame moves from
/// one port's ring to the other's without a second lock.
class Wire {
  public:
    Lock lock;

    /// Joins the cable that the options name: the peer's, one that waits for this name, or a new one.
    /// Throws std::invalid_argument when the peer's cable has no free end. Never called with a wire's lock
    /// held.
    static std::shared_ptr<Wire> join(Nic& nic, const std::string& name, const Options& options);
    /// The port is about to go.
    void leave(const Nic& nic);

    // With the lock held:
    /// Where this end's frames arrive: the other end, the same end for a loop, or null for nowhere.
    [[nodiscard]] Nic* far_end(const Nic& nic) const noexcept;
    /// The cable is in, a named peer is there, and each end has its module.
    [[nodiscard]] bool light() const noexcept;
    void set_plugged(bool plugged) noexcept { plugged_ = plugged; }
    [[nodiscard]] const std::array<Nic*, 2>& ends() const noexcept { return ends_; }

  private:
    [[nodiscard]] bool has_free_end_for(const std::string& name, const std::string& peer) const;

    std::array<Nic*, 2> ends_{};
    std::array<std::string, 2> names_;
    std::string awaited_;  ///< name of a peer that an end asked for
    bool loop_ = false;
    bool plugged_ = true;
};

}  // namespace volley::soft82599
