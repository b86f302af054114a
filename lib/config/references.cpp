#include "config/references.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "config/print.h"
#include "config/value.h"

namespace volley::config {
namespace {

using packet::HeaderModel;
using packet::PacketModel;
using packet::Program;
using Kind = Program::Kind;

// A program, its place, and its name as "nest" writes it: "ipv4.src", "ipv4.2.src", or a variable's name.
struct Named {
    std::string name;
    std::string pointer;  // below the packet
    const Program* program;
    ValueSpec spec;
};

std::vector<Named> all_programs(const At& at, const PacketModel& packet) {
    std::vector<Named> out;
    for (const auto& [name, program] : packet.variables) {
        out.push_back(
            {name, child_pointer(at.pointer + "/variables", name), &program, variable_spec(quote(name))});
    }
    std::map<packet::HeaderKind, unsigned> seen;
    for (const HeaderModel& header : packet.headers) {
        const std::string layer(packet::name_of(header.kind));
        const unsigned number = ++seen[header.kind];
        const std::string prefix = number == 1 ? layer : layer + "." + std::to_string(number);
        for (const auto& value : header.fields) {
            out.push_back({prefix + "." + std::string(value.field->name),
                           header.pointer + "/" + layer + "/" + std::string(value.field->name),
                           &value.program, spec_of(*value.field)});
        }
    }
    if (packet.frame_size && packet.frame_size->program) {
        out.push_back({"", at.pointer + "/frame_size", &*packet.frame_size->program, frame_size_spec()});
    }
    return out;
}

class Checker {
  public:
    Checker(Decoder& decoder, const At& at, const PacketModel& packet)
        : decoder_(decoder), at_(at), packet_(packet), programs_(all_programs(at, packet)) {}

    void check() {
        for (const Named& named : programs_) {
            if (named.program->kind == Kind::variable) check_variable(named);
            if (!named.program->nest.empty()) check_nest(named);
        }
    }

  private:
    void wrong(const std::string& pointer, std::string text) {
        decoder_.wrong(locate(at_.node, std::string_view(pointer).substr(at_.pointer.size())), pointer,
                       std::move(text));
    }
    void check_variable(const Named& named) {
        const std::string pointer = named.pointer + "/variable";
        const std::string& wanted = named.program->variable;
        const auto found = std::find_if(packet_.variables.begin(), packet_.variables.end(),
                                        [&](const auto& v) { return v.first == wanted; });
        if (found == packet_.variables.end()) {
            std::vector<std::string_view> names;
            for (const auto& variable : packet_.variables) names.push_back(variable.first);
            const auto close = nearest(wanted, names);
            wrong(pointer,
                  "there is no variable " + quote(wanted) +
                      (close.empty() ? " in packet.variables" : "; did you mean " + quote(close) + "?"));
        } else if (named.spec.untyped) {
            wrong(pointer,
                  "a variable does not follow another one; give the field that needs it the program");
        } else if (found->second.kind != Kind::variable && !named.program->mask) {
            const auto [low, high] = bounds_of(found->second);
            for (const packet::Value bound :
                 {transformed(found->second, low), transformed(found->second, high)}) {
                const packet::Value value = transformed(*named.program, bound);
                if (value >= named.spec.low && value <= named.spec.high) continue;
                wrong(pointer, "the variable reaches " + literal_text(named.spec.type, value) + "; " +
                                   named.spec.name + " goes from " +
                                   literal_text(named.spec.type, named.spec.low) + " to " +
                                   literal_text(named.spec.type, named.spec.high) + ": give it a mask");
                break;
            }
        }
    }
    void check_nest(const Named& named) {
        const Kind kind = named.program->kind;
        const std::string pointer = kind == Kind::list
                                        ? named.pointer + "/nest"
                                        : named.pointer + "/" + std::string(key_of(kind)) + "/nest";
        const std::string& wanted = named.program->nest;
        if (wanted == named.name)
            return wrong(pointer, quote(wanted) + " is this field itself; name another one");
        const auto found = std::find_if(programs_.begin(), programs_.end(), [&](const Named& other) {
            return !other.name.empty() && other.name == wanted;
        });
        if (found == programs_.end()) {
            std::vector<std::string_view> names;
            for (const Named& other : programs_) {
                if (!other.name.empty() && !other.program->constant()) names.push_back(other.name);
            }
            const auto close = nearest(wanted, names);
            wrong(pointer, "no field " + quote(wanted) + " with a program in this packet" +
                               (close.empty() ? "" : "; did you mean " + quote(close) + "?"));
        } else if (found->program->constant()) {
            wrong(pointer, quote(wanted) + " never changes, so it has no cycle to nest in");
        } else if (returns_to(named, *found)) {
            wrong(pointer, quote(wanted) + " nests in this field in turn; break the circle");
        }
    }
    // Whether following "nest" from `next` comes back to `start`.
    bool returns_to(const Named& start, const Named& next) const {
        const Named* at = &next;
        for (std::size_t hops = 0; hops <= programs_.size(); ++hops) {
            if (at == &start) return true;
            const auto found = std::find_if(programs_.begin(), programs_.end(), [&](const Named& other) {
                return !other.name.empty() && other.name == at->program->nest;
            });
            if (at->program->nest.empty() || found == programs_.end()) return false;
            at = &*found;
        }
        return false;
    }

    Decoder& decoder_;
    const At& at_;
    const PacketModel& packet_;
    std::vector<Named> programs_;
};

}  // namespace

void check_references(Decoder& decoder, const At& at, const PacketModel& packet) {
    Checker(decoder, at, packet).check();
}

}  // namespace volley::config
