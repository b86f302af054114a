#pragma once

#include <optional>
#include <random>
#include <vector>

#include "checker.h"
#include "models.h"

namespace volley::packet {

/// Random but valid packets: nested stacks, every kind of program, every kind of size and payload.
class ModelMaker {
  public:
    explicit ModelMaker(std::uint64_t seed) : random_(seed) {}

    PacketModel make();
    std::uint64_t below(std::uint64_t limit) {
        return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(random_);
    }
    bool chance(unsigned percent) { return below(100) < percent; }

  private:
    HeaderModel extension(HeaderKind kind);
    void add_extensions(std::vector<HeaderModel>& headers);
    void add_sctp(std::vector<HeaderModel>& headers, int depth);
    void add_dns(std::vector<HeaderModel>& headers);
    void add_ethernet(std::vector<HeaderModel>& headers, int depth);
    void add_ip(std::vector<HeaderModel>& headers, int depth);
    void add_transport(std::vector<HeaderModel>& headers, bool four, int depth);
    HeaderModel plain(HeaderKind kind);
    Program program_for(unsigned width);
    Program range(unsigned width);
    void add_nesting(PacketModel& model);
    void add_size(PacketModel& model);
    std::vector<std::uint8_t> bytes(std::size_t length);
    Value value(unsigned width);

    std::mt19937_64 random_;
};

std::vector<Checker::Expected> stack_of(const PacketModel& model);

/// The plain meaning of a program, for the kinds whose values can be told from the model; nothing for random
/// draws. Nested and capped programs are resolved from the model each time.
std::optional<Value> expected_value(const PacketModel& model, const Program& program, bool flow,
                                    std::uint64_t index);

}  // namespace volley::packet
