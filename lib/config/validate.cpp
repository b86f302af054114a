#include "config/validate.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "config/ixgbe_rules.h"
#include "config/lcores.h"
#include "config/model_check.h"
#include "config/print.h"
#include "config/validate_next_hop.h"
#include "config/validate_pacing.h"
#include "config/validate_schedule.h"
#include "config/validate_traffic.h"

namespace volley::config {
namespace {

class Checker : private ModelCheck {
  public:
    using ModelCheck::ModelCheck;

    void run() {
        check_ports();
        check_streams();
        check_lcores();
        check_service();
    }

  private:
    void check_ports() {
        std::map<std::string_view, const Port*> devices;
        for (const Port& port : model_.ports) {
            if (!port.name.empty() && !port_of_.try_emplace(port.name, &port).second) {
                wrong(port.pointer + "/name", "the name " + quote(port.name) + " is taken by " +
                                                  port_of_[port.name]->pointer + "; names of ports differ");
            }
            const auto device = std::string_view(port.device).substr(0, port.device.find(','));
            if (!device.empty() && !devices.try_emplace(device, &port).second) {
                wrong(port.pointer + "/device", "the device " + quote(device) + " is taken by " +
                                                    devices[device]->pointer +
                                                    "; each port needs one of its own");
            }
            if (!port.addresses.empty() && (!given(port.pointer + "/tx") || !given(port.pointer + "/rx"))) {
                wrong(port.pointer + "/addresses",
                      "port " + quote(port.name) +
                          " can answer for its addresses only with both \"tx\" and \"rx\"");
            }
            if (port.tx && ixgbe::may_be_ixgbe(port.device)) check_ixgbe(port);
        }
    }

    // What the driver would refuse at start is refused here, without it.
    void check_ixgbe(const Port& port) {
        const TxQueues& tx = *port.tx;
        const ixgbe::TxRules rules{tx.descriptors, tx.rs_thresh, tx.free_thresh, tx.offload, true};
        const auto found = ixgbe::problems(rules);
        for (const ixgbe::TxProblem& problem : found)
            wrong(port.pointer + "/tx/" + std::string(problem.key), problem.text);
        if (found.empty() && tx.require_fast_path && ixgbe::predicted(rules) == ixgbe::TxPath::full) {
            wrong(port.pointer + "/tx/require_fast_path", ixgbe::why_full(rules));
        }
    }

    void check_streams() {
        std::map<std::string_view, const Stream*> names;
        for (const Stream& stream : model_.streams) {
            if (!stream.name.empty() && !names.try_emplace(stream.name, &stream).second) {
                wrong(stream.pointer + "/name", "the name " + quote(stream.name) + " is taken by " +
                                                    names[stream.name]->pointer +
                                                    "; names of streams differ");
            }
            if (stream.reverse && (stream.source.trafgen || stream.source.pcap)) {
                wrong(stream.pointer + "/reverse",
                      "the packets of a file have no other way; give headers, or a file for each way");
            }
            if (stream.port.empty()) continue;
            if (const auto port = port_of_.find(stream.port); port != port_of_.end()) {
                check_stream_on(stream, *port->second);
            } else if (std::all_of(model_.ports.begin(), model_.ports.end(),
                                   [](const Port& p) { return !p.name.empty(); })) {
                unknown_port(stream);
            }
        }
    }

    void unknown_port(const Stream& stream) {
        std::vector<std::string_view> names;
        for (const Port& port : model_.ports) names.push_back(port.name);
        const auto close = nearest(stream.port, names);
        std::string text = "there is no port " + quote(stream.port);
        if (!close.empty()) {
            text += "; did you mean " + quote(close) + "?";
        } else if (!names.empty()) {
            text += "; the ports are";
            for (const std::string_view name : names) text += " " + quote(name);
        }
        wrong(port_place(stream), text);
    }

    static std::string port_place(const Stream& stream) {
        return stream.pointer + (stream.is_reverse ? "/reverse" : "/port");
    }

    void check_stream_on(const Stream& stream, const Port& port) {
        if (!given(port.pointer + "/tx")) {
            wrong(port_place(stream), "port " + quote(port.name) +
                                          " has no \"tx\", so it cannot send; add \"tx\": "
                                          "{\"lcores\": [2]} to " +
                                          port.pointer);
            return;
        }
        if (!stream.rate && !port.rate && !stream.is_recorded() && !given(stream.pointer + "/rate") &&
            !given(port.pointer + "/rate")) {
            wrong(stream.pointer,
                  "\"rate\" is missing: give the stream one such as \"10%\" or \"max\", or give port " +
                      quote(port.name) + " one for its streams to share");
        }
        check_receiver(stream);
        if (!port.tx || port.tx->lcores.empty()) return;
        for (std::size_t i = 0; i < stream.workers.size(); ++i) {
            if (stream.workers[i] < port.tx->lcores.size()) continue;
            wrong(child_pointer(stream.pointer + "/workers", i),
                  "port " + quote(port.name) + " has " + std::to_string(port.tx->lcores.size()) +
                      " queues (its tx.lcores), so indices go from 0 to " +
                      std::to_string(port.tx->lcores.size() - 1));
        }
    }

    void check_receiver(const Stream& stream) {
        if (stream.expect_on && !stream.expect_on->empty()) {
            const auto port = port_of_.find(*stream.expect_on);
            if (port == port_of_.end()) {
                wrong(stream.pointer + "/expect_on", "there is no port " + quote(*stream.expect_on));
            } else if (!given(port->second->pointer + "/rx")) {
                wrong(stream.pointer + "/expect_on",
                      "port " + quote(*stream.expect_on) +
                          " has no \"rx\", so it cannot receive; add \"rx\": {\"lcores\": [2]} to " +
                          port->second->pointer);
            }
        } else if (stream.expect.loss &&
                   std::none_of(model_.ports.begin(), model_.ports.end(),
                                [&](const Port& port) { return given(port.pointer + "/rx"); })) {
            wrong(stream.pointer + "/expect/loss",
                  "no port has \"rx\", so every packet would count as lost; add \"rx\": {\"lcores\": [2]} to "
                  "the port that receives it");
        }
    }

    // Whether the file says something other than null there, right or wrong.
    bool given(std::string_view pointer) const {
        const Node* node = at_pointer(root_, pointer);
        return node != nullptr && !node->is_null();
    }

    void check_lcores() {
        const Lcores& lcores = model_.lcores;
        std::map<std::uint32_t, std::string> roles;
        const auto role = [&](std::uint32_t lcore, const std::string& name) {
            const auto [at, fresh] = roles.try_emplace(lcore, name);
            if (fresh) return;
            wrong("/lcores/" + name, "lcore " + std::to_string(lcore) + " is the " + at->second +
                                         " lcore already; each needs one of its own");
        };
        role(lcores.control, "control");
        role(lcores.stats, "stats");
        if (lcores.dispatch) role(*lcores.dispatch, "dispatch");
        for_each_worker([&](std::uint32_t lcore, const std::string& pointer) {
            const auto taken = roles.find(lcore);
            if (taken == roles.end()) return;
            wrong(pointer, "lcore " + std::to_string(taken->first) + " is the " + taken->second +
                               " lcore (lcores." + taken->second + "); a worker needs one of its own");
        });
        check_map(roles);
    }

    // Whoever can reach an open port could read and steer the machine.
    void check_service() {
        const Service& service = model_.service;
        if (!service.http || is_loopback(*service.http)) return;
        if (given("/service/tls") && given("/service/tokens")) return;
        wrong("/service/http", "other machines can reach " + quote(to_text(*service.http)) +
                                   ", which needs \"tls\" and \"tokens\" beside it; without them give \":" +
                                   std::to_string(service.http->port) + "\" for this machine alone");
    }

    // Every lcore in use stands in eal.lcores, when that is given.
    void check_map(const std::map<std::uint32_t, std::string>& roles) {
        std::string ignored;
        if (model_.eal.lcores.empty()) return;
        const auto map = parse_lcores(model_.eal.lcores, ignored);
        if (!map) return;
        const auto need = [&](std::uint32_t lcore, const std::string& pointer) {
            if (map->count(lcore) > 0) return;
            wrong(pointer, "lcore " + std::to_string(lcore) + " is not in eal.lcores " +
                               quote(model_.eal.lcores) + "; add it there, as in \"" + std::to_string(lcore) +
                               "@" + std::to_string(lcore) + "\"");
        };
        for (const auto& [lcore, name] : roles) need(lcore, "/lcores/" + name);
        for_each_worker(need);
    }

    template <class Each>
    void for_each_worker(Each&& each) {
        for (const Port& port : model_.ports) {
            if (port.tx) {
                for (std::size_t i = 0; i < port.tx->lcores.size(); ++i)
                    each(port.tx->lcores[i], child_pointer(port.pointer + "/tx/lcores", i));
            }
            if (port.rx) {
                for (std::size_t i = 0; i < port.rx->lcores.size(); ++i)
                    each(port.rx->lcores[i], child_pointer(port.pointer + "/rx/lcores", i));
            }
        }
    }

    std::map<std::string_view, const Port*> port_of_;  ///< by name, the first of that name
};

}  // namespace

void check(Decoder& decoder, const Node& root, const Model& model) {
    Checker(decoder, root, model).run();
    check_schedule(decoder, root, model);
    check_pacing(decoder, root, model);
    check_traffic(decoder, root, model);
    check_next_hops(decoder, root, model);
}

}  // namespace volley::config
