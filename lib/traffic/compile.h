#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/tsc.h"
#include "config/model.h"
#include "import/capture.h"
#include "packet/model.h"
#include "traffic/plan.h"
#include "traffic/stream_table.h"

namespace volley::traffic {

/// What the ports really are, in the order of Model::ports.
struct PortFacts {
    std::uint64_t link_bps = 0;        ///< 0: unknown; then the configured speed counts, if there is one
    std::optional<packet::Value> mac;  ///< fills eth.src where a stream gives none; none: the configured one
    std::uint32_t workers = 0;         ///< TX workers: 0 for a port that only receives
};

struct Inputs {
    std::vector<PortFacts> ports;
    std::uint64_t tsc_hz = 0;  ///< below 2^34
    std::uint64_t generation = 1;
    Tsc epoch = 0;  ///< the schedule's zero: a little ahead of the first plan's adoption, or its first
                    ///< packets are late
    std::uint64_t epoch_unix_ns = 0;  ///< Unix time at epoch, for starts at a time of day
    Tsc not_before = 0;      ///< streams that are new in a later plan count their start delay from here
    Tsc end = ~Tsc{0};       ///< epoch + ticks_of(run.duration); ~0: none
    std::uint16_t salt = 1;  ///< of the run's signatures, 1 to 0xfffe
    std::optional<double> multiplier;               ///< instead of run.multiplier
    const config::Model* previous_model = nullptr;  ///< of `previous`: unchanged packets keep their templates
    imports::Rest rest{};  ///< called while captures are read, for whoever waits for a sign of life
};

/// What keeps a model from becoming a plan: the place and the operator's next step.
struct Problem {
    std::string pointer;
    std::string text;
};

/// Compiles the model's enabled streams into generation N of the traffic: templates, exact rates, bursts,
/// counts, phases and lanes, with all allocation done. Streams of `previous` (nullptr: none) that keep their
/// name, port, workers and burst are carried: each lane goes on at its own index. An automatic burst never
/// ends a life: it stays as it was over several workers, and is chosen anew on one. The table gains rows only
/// if there is no problem. Control only.
std::variant<std::unique_ptr<Plan>, std::vector<Problem>> compile(const config::Model& model,
                                                                  const Inputs& inputs, StreamTable& table,
                                                                  const Plan* previous);

/// Moves the zero of a first plan, one without a previous, to `epoch`, and its end with it: compiling many
/// streams takes long, and a zero that was set before would make every stream late. Before the lanes get it.
/// A start at a time of day stays where it is.
void begin_at(Plan& plan, Tsc epoch);

}  // namespace volley::traffic
