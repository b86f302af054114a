#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/row_block.h"
#include "config/model.h"
#include "daemon/road.h"
#include "traffic/plan.h"
#include "worker/rx_table.h"

namespace volley::daemon {

/// What the RX workers know of the streams: rows of counters, which outlive plans, the life of each stream as
/// each worker sees it, and the tables in which they look packets up. Control makes and frees everything;
/// workers get a table for each plan, before the lanes that send get the plan.
class Receivers {
  public:
    /// Makes the tables for a plan that begins a run (nothing of an earlier one is ours any more) or follows
    /// another, and offers them. now_ns: on the clock of TX times, before any packet of the plan is signed.
    void offer(const Road& road, const traffic::Plan& plan, const config::Model& model, std::uint16_t salt,
               bool begins_run, std::uint64_t now_ns);
    /// Takes nothing from the queues until the next offer().
    void hold(const Road& road);
    /// Before the first run, and between runs: packets are taken and none is ours.
    void listen(const Road& road);
    /// Every worker works with what was offered last; then earlier tables and lives are freed. Names one that
    /// does not in `laggard`.
    [[nodiscard]] bool adopted(const Road& road, std::string* laggard = nullptr);

    /// The stats lcore: calls each(worker, row) for every RX worker that has a row of that stream, and tells
    /// the row how many packets the senders have sent of it so far.
    void visit(StreamSlot slot, std::uint64_t sent,
               const std::function<void(std::size_t worker, const worker::StreamRx& row)>& each) const;

  private:
    struct Table {
        worker::RxTable table;
        std::vector<std::shared_ptr<worker::RxStream>> now;  ///< by slot; keeps what the table points to
        std::vector<std::shared_ptr<worker::RxStream>> before;
        /// By slot, of signed streams: its templates in this life, the youngest first. Kept whether or not
        /// anything is verified, for it may be from the next plan on.
        std::vector<std::vector<std::shared_ptr<const packet::PacketTemplate>>> templates;
        std::vector<std::unique_ptr<worker::Verification>> verifications;
    };
    /// What one RX worker has.
    struct Worker {
        std::vector<worker::StreamRx*> rows;                              ///< by slot
        std::vector<std::unique_ptr<RowBlock<worker::StreamRx>>> blocks;  ///< which hold them
        std::unique_ptr<Table> current;
        std::unique_ptr<Table> earlier;  ///< until current is adopted
    };

    /// A signed stream of a plan that a port may get.
    struct Expected {
        const traffic::StreamPlan* stream;
        const config::Stream* from;
        std::uint64_t sent;  ///< packets of it so far
    };
    [[nodiscard]] static std::vector<std::vector<Expected>> expected_by_port(const Road& road,
                                                                             const config::Model& model,
                                                                             const traffic::Plan& plan);
    std::unique_ptr<Table> make_table(Worker& worker, const traffic::Plan& plan,
                                      const std::vector<Expected>& expected, std::uint16_t salt,
                                      bool begins_run, std::uint64_t now_ns);
    void add_rows(Worker& worker, std::size_t slots, const std::vector<Expected>& expected);
    static void add_lives(Worker& worker, Table& out, const std::vector<Expected>& expected,
                          const Table* previous, std::uint64_t now_ns);
    static void add_templates(Table& out, const Expected& expected, const Table* previous);
    static void keep_ended(Table& out, const Table& previous);
    void hand_over(const Road& road, std::size_t worker, std::unique_ptr<Table> table);

    mutable std::mutex mutex_;     ///< guards rows against the stats lcore; the data path never sees it
    std::vector<Worker> workers_;  ///< as Road::receivers()
    std::uint64_t number_ = 0;     ///< tables offered so far
};

}  // namespace volley::daemon
