#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packet/model.h"
#include "packet/sequence.h"

namespace volley::packet {

/// Resolves the programs of one packet: variables by name, nesting to the number of packets that a value
/// lasts, the cap on flows to a period of the index. Every program is checked whether it is used or not.
class Resolver {
  public:
    /// Appends to `problems`; both arguments must outlive the resolver.
    Resolver(const PacketModel& model, std::vector<Problem>& problems);

    /// What headers[header].fields[field] holds. Meaningful only when no problem was found.
    [[nodiscard]] const Sequence& field(std::size_t header, std::size_t field) const;
    /// What headers[header].programs[program] holds.
    [[nodiscard]] const Sequence& raw_program(std::size_t header, std::size_t program) const;
    /// The frame size; nullptr when the model has no size program.
    [[nodiscard]] const Sequence* size() const;

  private:
    struct Node {
        const Program* program = nullptr;
        std::string pointer;
        std::string name;  ///< "ipv4.2.src"; what nest names, and what makes the draws of a field its own
        FieldType type = FieldType::number;
        unsigned width = 128;
        bool flow = false;  ///< counts as part of the tuple that `flows` caps
        Sequence sequence;
        enum class Nesting : std::uint8_t { unknown, in_progress, known } nesting = Nesting::unknown;
    };

    void add_variables();
    void add_fields();
    void compile(Node& node);
    void compile_range(Node& node);
    void compile_set(Node& node);
    void check_width(Node& node);
    std::uint64_t nest(Node& node);
    void cap_flows();
    void refuse(const Node& node, std::string text);

    const PacketModel& model_;
    std::vector<Problem>& problems_;
    std::vector<Node> nodes_;
    std::map<std::string, std::size_t, std::less<>> by_name_;
    std::vector<std::size_t> first_field_;    ///< by header
    std::vector<std::size_t> first_program_;  ///< by header
    std::optional<std::size_t> size_;
};

/// "ipv4", "udp", "ipv4.2": the names of the headers of a stack, in order.
std::vector<std::string> layer_names(const PacketModel& model);

/// The field tells flows apart (addresses, ports, tags, tunnel numbers), so `flows` caps its values; counters
/// within a flow (ids, sequence numbers) run on.
bool identifies_flow(const FieldInfo& field);

}  // namespace volley::packet
