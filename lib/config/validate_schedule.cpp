#include "config/validate_schedule.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "config/model_check.h"
#include "config/print.h"

namespace volley::config {
namespace {

bool changes(const Stream& stream) {
    return !stream.rate_steps.empty() || stream.rate_ramp;
}

// Something after which the stream is over by itself.
bool ends(const Stream& stream) {
    if (stream.count || stream.bytes || stream.duration || stream.rate_ramp) return true;
    if (!stream.rate_steps.empty()) return stream.rate_steps.back().span.ns != 0;
    return stream.bursts && stream.bursts->count;
}

class Checker : private ModelCheck {
  public:
    using ModelCheck::ModelCheck;

    void run() {
        for (const Stream& stream : model_.streams) {
            check_alone(stream);
            stream.is_recorded() ? check_recorded(stream) : check_timed(stream);
        }
        link();
        for (const Stream& stream : model_.streams) check_chain(stream);
    }

  private:
    void check_alone(const Stream& stream) {
        if (stream.bursts && changes(stream)) {
            wrong(stream.pointer + "/bursts", "groups go with one rate only, not with steps or a ramp");
        }
        if (stream.departure != Departure::constant) {
            const bool paced = !stream.bursts && !changes(stream) && stream.loop == 1 && stream.next.empty();
            const bool max = stream.rate && stream.rate->kind == Rate::Kind::max;
            if (!paced || max) {
                wrong(stream.pointer + "/departure",
                      "random departures go with one finite rate only: not with max, steps, a ramp, bursts, "
                      "next or loop");
            }
        }
        if (stream.duration && (stream.count || stream.bytes) && stream.rate &&
            stream.rate->kind == Rate::Kind::max && (stream.loop != 1 || !stream.next.empty())) {
            wrong(
                stream.pointer + "/duration",
                "a stream at max in a chain or loop ends by its count or by its duration; give one of them");
        }
    }

    [[nodiscard]] std::size_t workers_of(const Stream& stream) const {
        if (!stream.workers.empty()) return stream.workers.size();
        const Port* const port = find_port(model_, stream.port);
        return port != nullptr && port->tx ? port->tx->lcores.size() : 1;
    }

    // The file says when each packet leaves, so nothing else may.
    void check_recorded(const Stream& stream) {
        const auto refuse = [&](bool given, std::string_view key, std::string_view instead) {
            if (!given) return;
            wrong(stream.pointer + "/" + std::string(key),
                  "with \"timing\": \"recorded\" the file says when each packet leaves; " +
                      std::string(instead));
        };
        refuse(stream.rate || changes(stream), "rate",
               "leave the rate out and say \"speed\" in \"pcap\", or \"timing\": \"rate\"");
        refuse(stream.bursts.has_value(), "bursts", "leave \"bursts\" out");
        refuse(stream.burst.has_value(), "burst", "leave \"burst\" out");
        refuse(stream.departure != Departure::constant, "departure", "leave \"departure\" out");
        refuse(stream.hardware_pacing, "pacing", "a limiter of the NIC holds one rate; say \"software\"");
        refuse(!stream.next.empty(), "next", "it has no place in a chain; leave \"next\" out");
        refuse(stream.loop != 1, "loop", "say \"loop\" in \"pcap\"");
        refuse(stream.source.order != packet::Order::sequence, "packet/order", "leave \"order\" out");
        if (stream.is_signed() && workers_of(stream) > 1) {
            wrong(
                stream.pointer + "/split",
                "a receiver follows the lanes of a signed stream by the index of its packets, which "
                "\"split\": "
                "\"flow\" does not spread evenly; send it by one worker, such as \"workers\": [0], or leave "
                "signature and what implies it out");
        }
        if (workers_of(stream) < 2 || (model_.lcores.dispatch && stream.split == Split::flow)) return;
        wrong(stream.pointer + (stream.workers.empty() ? "" : "/workers"),
              "over several workers, packets keep their recorded times and those of a flow their order only "
              "on one time line: give \"lcores\" a \"dispatch\" lcore and the stream \"split\": \"flow\", or "
              "send it by one worker, such as \"workers\": [0]");
    }

    void check_timed(const Stream& stream) {
        if (stream.split == Split::burst) return;
        wrong(stream.pointer + "/split",
              "flows stay on one worker in captures with \"timing\": \"recorded\"; otherwise leave \"split\" "
              "out, and give \"workers\" one worker where packets must keep their order");
    }

    // Who comes before whom; what is wrong with the links themselves.
    void link() {
        std::map<std::string_view, const Stream*> by_name;
        for (const Stream& stream : model_.streams) by_name.emplace(stream.name, &stream);
        for (const Stream& stream : model_.streams) {
            if (stream.next.empty()) continue;
            const std::string pointer = stream.pointer + "/next";
            const auto next = by_name.find(stream.next);
            if (next == by_name.end()) {
                unknown(stream, pointer);
            } else if (next->second->is_recorded()) {
                wrong(pointer, "stream " + quote(stream.next) +
                                   " keeps the times of its capture, so it has no place in a chain");
            } else if (next->second->port != stream.port) {
                wrong(pointer, "stream " + quote(stream.next) + " is on port " + quote(next->second->port) +
                                   "; a chain stays on one port");
            } else if (next->second->workers != stream.workers) {
                wrong(pointer,
                      "stream " + quote(stream.next) + " has other workers; those of a chain are the same");
            } else if (!before_.emplace(next->second, &stream).second) {
                wrong(pointer, "stream " + quote(stream.next) + " follows " +
                                   quote(before_[next->second]->name) +
                                   " already; a stream follows one other");
            } else if (in_circle(stream)) {
                before_.erase(next->second);
                wrong(pointer, "the chain comes back to " + quote(stream.next) +
                                   "; say \"loop\": 0 in its first stream instead");
            }
        }
    }

    bool in_circle(const Stream& stream) {
        const Stream* at = &stream;
        for (auto before = before_.find(at); before != before_.end(); before = before_.find(at)) {
            at = before->second;
            if (at == &stream) return true;
        }
        return false;
    }

    void unknown(const Stream& stream, const std::string& pointer) {
        std::vector<std::string_view> names;
        for (const Stream& other : model_.streams) names.push_back(other.name);
        const auto close = nearest(stream.next, names);
        wrong(pointer, "there is no stream " + quote(stream.next) +
                           (close.empty() ? "" : "; did you mean " + quote(close) + "?"));
    }

    void check_chain(const Stream& stream) {
        const Stream* head = &stream;
        for (auto before = before_.find(head); before != before_.end(); before = before_.find(head))
            head = before->second;
        if (head != &stream) {
            if (stream.loop != 1) {
                wrong(stream.pointer + "/loop",
                      "the chain begins with stream " + quote(head->name) + "; its loop counts for all");
            }
            if (stream.start_at || stream.start_delay.ns != 0) {
                wrong(stream.pointer + "/start",
                      "the stream starts when " + quote(before_[&stream]->name) + " is over");
            }
            if (stream.departure != Departure::constant) {
                wrong(stream.pointer + "/departure", "random departures do not go with chains");
            }
        }
        if ((!stream.next.empty() || head->loop != 1) && !ends(stream)) {
            wrong(stream.pointer,
                  stream.next.empty()
                      ? std::string("a loop repeats what has an end: give the stream a count, bytes, a "
                                    "duration or bursts.count")
                      : "stream " + quote(stream.next) +
                            " would never begin: give this one a count, bytes, a duration or bursts.count");
        }
    }

    std::map<const Stream*, const Stream*> before_;  ///< of each stream that follows another
};

}  // namespace

void check_schedule(Decoder& decoder, const Node& root, const Model& model) {
    Checker(decoder, root, model).run();
}

}  // namespace volley::config
