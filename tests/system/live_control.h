#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "base/tsc.h"
#include "config/model.h"
#include "daemon/plans.h"
#include "daemon/road.h"
#include "dpdk/eal.h"
#include "system/volleyd.h"
#include "traffic/compile.h"

namespace volley::test {

/// What control does of a live change: compile, hand over, wait, retire.
class Control {
  public:
    /// Of one port with that many workers.
    Control(const config::Model& model, unsigned workers, bool dispatch)
        : eal_(options(model, workers, dispatch)), road_(model) {
        road_.start({{1514, "any"}});
        inputs_.ports = {{road_.ports().front()->link().speed_bps, road_.ports().front()->mac(), workers}};
        inputs_.tsc_hz = tsc_hz();
        inputs_.epoch = tsc_now() + tsc_hz() / 100;
    }

    /// A change took effect after the first tick and, but for what was emitted ahead, by the second.
    struct Change {
        Tsc begun = 0;
        Tsc adopted = 0;
    };
    Change change(const config::Model& model) {
        adopt(model);
        return {inputs_.not_before, std::max(tsc_now(), inputs_.epoch)};
    }

    void wait(const std::function<bool()>& condition) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!condition() && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        ASSERT_TRUE(condition());
    }
    /// Bursts handed to the workers so far.
    [[nodiscard]] std::uint64_t emitted() const {
        std::uint64_t out = 0;
        for (const auto& lane : road_.lanes()) out += lane->lane.emitted();
        return out;
    }
    [[nodiscard]] const daemon::Road& road() const { return road_; }
    /// What the first lane has counted for a stream of an adopted plan.
    [[nodiscard]] const worker::StreamTx& row(const std::string& stream) const {
        const auto& streams = plans_.current()->streams;
        const auto found = std::find_if(streams.begin(), streams.end(),
                                        [&](const traffic::StreamPlan& s) { return s.name == stream; });
        return *road_.lanes().front()->worker.rows().find(found->slot);
    }

  private:
    void adopt(const config::Model& model) {
        wait([&] {
            plans_.free_idle(road_);
            return !plans_.held_by(road_);
        });
        ++inputs_.generation;
        inputs_.not_before = tsc_now();
        inputs_.previous_model = plans_.current() == nullptr ? nullptr : &model_;
        auto compiled = traffic::compile(model, inputs_, table_, plans_.current());
        ASSERT_EQ(compiled.index(), 0U);
        auto plan = std::move(std::get<0>(compiled));
        for (const auto& stream : plan->streams) road_.add_row(0, stream.slot);
        traffic::Plan* const offered = plan.get();
        road_.offer(offered);
        plans_.hold(std::move(plan));
        wait([&] { return road_.adopted(); });
        plans_.adopted(road_);
        model_ = model;
    }

    static dpdk::EalOptions options(const config::Model& model, unsigned workers, bool dispatch) {
        dpdk::EalOptions out;
        out.name = model.name;
        out.lcores = model.eal.lcores;
        out.main_lcore = model.lcores.control;
        out.lcore_ids = {model.lcores.control};
        for (unsigned w = 0; w < workers; ++w) out.lcore_ids.push_back(first_worker + w);
        if (dispatch) out.lcore_ids.push_back(*model.lcores.dispatch);
        out.memory_mib = model.eal.memory_mib;
        return out;
    }

    dpdk::Eal eal_;
    traffic::StreamTable table_;
    daemon::Plans plans_;
    daemon::Road road_;  // behind the plans: its lanes read them until it has stopped
    traffic::Inputs inputs_;
    config::Model model_;
};

}  // namespace volley::test
