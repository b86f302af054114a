#include "config/validate_next_hop.h"

#include <algorithm>
#include <string>

#include "config/model_check.h"
#include "config/next_hop.h"
#include "config/print.h"

namespace volley::config {
namespace {

class Checker : private ModelCheck {
  public:
    using ModelCheck::ModelCheck;

    void run() {
        for (const Port& port : model_.ports) check_gateway(port);
        for (const Stream& stream : model_.streams) {
            const Port* const port = find_port(model_, stream.port);
            if (port == nullptr) continue;
            const std::string place = stream.pointer + "/packet";
            if (!stream.source.any()) check_packet(*port, stream.packet, place);
            for (std::size_t i = 0; i < stream.source.packets.size(); ++i)
                check_packet(*port, stream.source.packets[i], child_pointer(place + "/packets", i));
        }
    }

  private:
    void check_gateway(const Port& port) {
        const auto gateway = port.gateway ? parse_address(*port.gateway) : std::nullopt;
        if (!gateway || is_neighbour(port, *gateway)) return;
        wrong(port.pointer + "/gateway", *port.gateway +
                                             " lies in no network of the port's \"addresses\", so "
                                             "it cannot be asked for; give the port an address of "
                                             "that network");
    }

    void check_packet(const Port& port, const packet::PacketModel& packet, const std::string& place) {
        for (std::size_t h = 0; h < packet.headers.size(); ++h) {
            if (!packet.headers[h].resolve) continue;
            const std::string pointer = child_pointer(place + "/headers", h) + "/eth/dst";
            std::string why;
            if (h != 0) {
                wrong(pointer, "only the first header's \"dst\" can be resolved: it alone is for the link");
            } else if (port.addresses.empty()) {
                wrong(pointer, "port " + quote(port.name) +
                                   " has no \"addresses\" from which it could ask; give it one such as "
                                   "\"10.0.0.1/24\"");
            } else if (!next_hop(port, packet, why)) {
                wrong(pointer, why);
            }
        }
    }
};

}  // namespace

void check_next_hops(Decoder& decoder, const Node& root, const Model& model) {
    Checker(decoder, root, model).run();
}

}  // namespace volley::config
