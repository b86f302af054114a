#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/address.h"
#include "config/model.h"
#include "daemon/road.h"

namespace volley::daemon {

/// Finds out the MAC addresses that streams say "resolve" for: asks by ARP or neighbour discovery on the port
/// that sends them, and writes the answers into the streams' packets. Control's.
class NextHops {
  public:
    explicit NextHops(Road& road) : road_(road) {}

    /// Before a run: what was learned earlier may have changed.
    void forget();
    /// Fills in every packet of the model that asks for its next hop. Waits `patience` at most, for answers
    /// that are not known yet, and calls rest() meanwhile, which lets others have a moment and says whether
    /// to go on. False: it said no. What the model does not ask for is forgotten, so that reloads may name
    /// any number of addresses one after another.
    /// Throws dpdk::Error that names who has not answered on which port.
    bool resolve(config::Model& model, Duration patience, const std::function<bool()>& rest);

  private:
    struct Hop {
        std::uint32_t port = 0;
        config::Address address;
        std::string stream;  ///< the first that needs it
        worker::Neighbour* neighbour = nullptr;
    };
    struct Wanted {
        packet::PacketModel* packet = nullptr;
        std::uint32_t port = 0;
        config::Address address;
        const std::string* stream = nullptr;
        std::size_t hop = 0;
    };
    static std::vector<Wanted> wanted_by(config::Model& model);
    void keep_only(const std::vector<Wanted>& wanted);
    std::size_t hop_of(std::uint32_t port, const config::Address& address, const std::string& stream);
    [[nodiscard]] std::vector<const Hop*> unanswered() const;
    bool wait_for_answers(Duration patience, const std::function<bool()>& rest);

    Road& road_;
    std::vector<Hop> hops_;
};

}  // namespace volley::daemon
