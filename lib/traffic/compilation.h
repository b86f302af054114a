#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "traffic/compile.h"
#include "traffic/rates.h"
#include "traffic/source.h"

namespace volley::traffic {

/// One compilation: its steps in order, each reading what the earlier ones wrote. Part of compile(), in four
/// sources: compile.cpp (streams and packets), compile_rates.cpp, compile_shapes.cpp (counts, bursts, time
/// lines, chains) and compile_lanes.cpp (what goes on from the plan before, phases, lanes).
class Compilation {
  public:
    Compilation(const config::Model& model, const Inputs& inputs, StreamTable& table, const Plan* previous);

    std::variant<std::unique_ptr<Plan>, std::vector<Problem>> run();

  private:
    void problem(std::string pointer, std::string text) {
        problems_.push_back({std::move(pointer), std::move(text)});
    }
    [[nodiscard]] std::uint64_t link_of(std::size_t port) const;
    /// A stream of that port measures latency and wants a queue of its own.
    [[nodiscard]] bool has_latency(const std::string& port) const;
    [[nodiscard]] bool same_receiver(const config::Stream& from, bool was_signed) const;
    /// The stream of that name in the plan before, or nullptr.
    [[nodiscard]] const StreamPlan* before(const std::string& name) const;

    void take_streams();
    void set_workers(const config::Stream& from, StreamPlan& stream);
    [[nodiscard]] std::shared_ptr<const packet::PacketTemplate> unchanged_packet(
        const config::Stream& from) const;
    void build_packet(const config::Stream& from, StreamPlan& stream);

    void set_recording(const config::Stream& from, StreamPlan& stream, const Source& source) const;
    bool go_on_feeding(const config::Stream& from, StreamPlan& stream);
    [[nodiscard]] bool same_timing(const config::Stream& from, const StreamPlan& stream,
                                   const StreamPlan& was) const;

    void set_rates();
    void set_rates_of_port(std::uint32_t port, Rational multiplier);
    void set_changing_rate(std::size_t stream, Rational multiplier);
    void refuse_rate(const config::Stream& from, const Rate* rate);
    void check_total(std::uint32_t port);
    [[nodiscard]] double wire_bps(const StreamPlan& stream) const;

    void link_chains();
    void set_counts();
    void set_shapes();
    [[nodiscard]] bool in_chain(const StreamPlan& stream) const;
    [[nodiscard]] bool looped(const StreamPlan& stream) const;
    [[nodiscard]] Leg leg_at(Rational pps, std::uint64_t packets, Duration span) const;
    void add_steps(std::size_t stream, Shape& shape) const;
    void add_ramp(std::size_t stream, Shape& shape) const;
    void add_groups(std::size_t stream, Shape& shape) const;
    void add_plain(const StreamPlan& stream, Shape& shape) const;
    void cut_shape(const StreamPlan& stream, Shape& shape) const;
    void set_burst(const config::Stream& from, StreamPlan& stream);

    void carry();
    void set_start(const config::Stream& from, StreamPlan& stream, const StreamPlan* was) const;
    void keep_routes();
    void set_phases();
    void make_lanes();

    const config::Model& model_;
    const Inputs& inputs_;
    StreamTable& table_;
    const Plan* previous_;
    std::unique_ptr<Plan> plan_;
    std::vector<const config::Stream*> from_;   ///< of each plan stream
    std::vector<std::vector<Rational>> rates_;  ///< of each: pps of steps, or of a ramp's ends
    std::unordered_map<std::string_view, const StreamPlan*> before_;
    std::unordered_map<std::string_view, const config::Stream*> models_before_;
    std::unordered_map<std::string_view, std::uint64_t> source_packets_;  ///< of captures, by stream
    std::vector<Problem> problems_;
};

std::string quoted(std::string_view text);

}  // namespace volley::traffic
