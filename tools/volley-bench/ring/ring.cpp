#include "volley-bench/ring/ring.h"

#include <cstdio>
#include <functional>
#include <stdexcept>

#include "volley-bench/ring/advice.h"
#include "volley-bench/ring/kinds.h"

namespace volley::bench {
namespace {

/// The figures of the 2016 thread, "skb_array: array based FIFO for skbs" and the answers to it:
/// cycles(tsc) on an i7-4790K, 2 CPUs.
struct ThreadRow {
    const char* label;
    std::vector<std::pair<unsigned, double>> by_bulk;
};
const std::vector<ThreadRow>& thread_rows() {
    static const std::vector<ThreadRow> rows{
        {"the thread: skb_array", {{1, 54}}},
        {"the thread: alf MPMC", {{1, 231}, {2, 118}, {4, 48}, {8, 24}}},
        {"the thread: alf SPSC", {{1, 24}}},
    };
    return rows;
}

class RingBench {
  public:
    explicit RingBench(const RingOptions& options) : options_(options), watch_(options.short_run) {
        for (const RingKind& kind : ring_kinds()) {
            if (options_.only.empty() || kind.name.find(options_.only) != std::string::npos)
                kinds_.push_back(&kind);
        }
        if (kinds_.empty()) throw std::invalid_argument("no queue's name contains \"" + options_.only + "\"");
        result_.subcommand = "ring";
    }

    Result run() {
        const bool two = usable_cpus().size() > 1;
        same_cpu();
        if (two) {
            prefilled();
            near_empty();
            latency();
            shared();
            if (options_.all_cpus) all_cpus();
        } else {
            result_.advice.emplace_back(
                "This process may use one CPU only: the tables for two are left out.");
        }
        oversubscribed();
        result_.machine = watch_.finish();
        return std::move(result_);
    }

    [[nodiscard]] const std::string& kernel_text() const { return kernel_text_; }

  private:
    static constexpr std::size_t fewest = 3;
    static Tsc longest_cell() { return tsc_hz() / 2; }
    [[nodiscard]] unsigned repetitions() const { return options_.short_run ? 3 : options_.repetitions; }
    [[nodiscard]] std::uint64_t scaled(std::uint64_t objects) const {
        return options_.short_run ? objects / 50 : objects;
    }

    [[nodiscard]] PairSpec spec(unsigned bulk) const {
        PairSpec out;
        out.bulk = bulk;
        out.queue_size = options_.queue_size;
        out.prefill = options_.queue_size / 2;
        out.objects = scaled(200'000);
        return out;
    }

    [[nodiscard]] Table table(std::string name, std::string unit) const {
        Table out;
        out.name = std::move(name);
        out.unit = std::move(unit);
        for (const unsigned bulk : options_.bulks) out.columns.push_back(std::to_string(bulk));
        return out;
    }

    // As often as asked for, but for no more than longest_cell once there are three.
    [[nodiscard]] Cell repeat(const std::function<double()>& once) const {
        std::vector<double> samples;
        const Tsc start = tsc_now();
        while (samples.size() < repetitions() &&
               (samples.size() < fewest || tsc_now() - start < longest_cell())) {
            samples.push_back(once());
        }
        return measured(summarize(std::move(samples)));
    }

    void same_cpu() {
        Table out =
            table("One CPU, enqueue and dequeue of a bulk, by bulk", "cycles(tsc) an object for both");
        for (const RingKind* kind : kinds_) {
            TableRow row{kind->name, {}};
            for (const unsigned bulk : options_.bulks) {
                PairSpec s = spec(bulk);
                s.queue_size = 1024;
                row.cells.push_back(repeat([&] { return kind->same_cpu(s); }));
            }
            out.rows.push_back(std::move(row));
        }
        out.notes.emplace_back("The thread gives 102 cycles for skb_array (2016) here, bulk 1.");
        result_.tables.push_back(std::move(out));
    }

    void prefilled() {
        Table out =
            table("Two CPUs, half-filled queue, by bulk", "cycles(tsc) an object, mean of both sides");
        for (const RingKind* kind : kinds_) {
            TableRow row{kind->name, {}};
            for (const unsigned bulk : options_.bulks) row.cells.push_back(pair_cell(*kind, bulk));
            out.rows.push_back(std::move(row));
        }
        result_.advice = advice_from(out);
        for (const ThreadRow& known : thread_rows()) {
            TableRow row{known.label, {}};
            for (const unsigned bulk : options_.bulks) {
                Cell cell;
                for (const auto& [at, cycles] : known.by_bulk) {
                    if (at == bulk) cell = number(cycles);
                }
                row.cells.push_back(cell);
            }
            out.rows.push_back(std::move(row));
        }
        out.notes.push_back(
            "Queue " + std::to_string(options_.queue_size) + ", prefill " +
            std::to_string(options_.queue_size / 2) +
            ". Dropped: repetitions in which the two sides ran together for less than 90 % of the time, "
            "or one was off its CPU for 20 us.");
        result_.tables.push_back(std::move(out));
    }

    Cell pair_cell(const RingKind& kind, unsigned bulk) {
        std::vector<double> samples;
        unsigned dropped = 0;
        PairRun last;
        const PairSpec s = spec(bulk);
        for (unsigned i = 0; i < repetitions(); ++i) {
            const PairRun run = kind.pair(s);
            const bool kept = run.clean();
            for (const auto& [side, one] :
                 {std::pair{"enqueue", &run.enqueue}, std::pair{"dequeue", &run.dequeue}}) {
                result_.runs.push_back({kind.name, std::to_string(bulk), side, one->start, one->stop,
                                        one->objects, name_of(one->why), kept});
            }
            if (!kept) {
                ++dropped;
                continue;
            }
            samples.push_back(run.cycles());
            last = run;
        }
        const Summary summary = summarize(std::move(samples), dropped);
        if (summary.kept > 0) {
            kernel_text_ += kernel_lines(kind.thread_name, bulk, last, tsc_hz());
            kernel_text_ += posting_line(kind.thread_name, bulk, summary.median);
        }
        return measured(summary);
    }

    void near_empty() {
        Table out = table("Two CPUs, polling consumer, nearly empty queue of 4096, by bulk",
                          "cycles(tsc) an object, elapsed");
        for (const RingKind* kind : kinds_) {
            TableRow row{kind->name, {}};
            for (const unsigned bulk : options_.bulks) {
                PairSpec s = spec(bulk);
                s.queue_size = 4096;
                row.cells.push_back(repeat([&] { return kind->near_empty(s); }));
            }
            out.rows.push_back(std::move(row));
        }
        result_.tables.push_back(std::move(out));
    }

    void latency() {
        Table out;
        out.name = "One object handed over, and a look at an empty queue";
        out.unit = "cycles(tsc)";
        out.columns = {"one way, two CPUs", "empty poll"};
        for (const RingKind* kind : kinds_) {
            PairSpec s = spec(1);
            s.queue_size = 1024;
            s.objects = scaled(20'000);
            TableRow row{kind->name, {repeat([&] { return kind->one_way(s); })}};
            s.objects = scaled(200'000);
            row.cells.push_back(repeat([&] { return kind->empty_poll(s); }));
            out.rows.push_back(std::move(row));
        }
        result_.tables.push_back(std::move(out));
    }

    void shared() {
        Table out = table("Two CPUs, both enqueue and dequeue on one queue of 1024, by bulk",
                          "cycles(tsc) an object of one thread");
        fill_shared(out, 2, scaled(100'000));
        if (!out.rows.empty()) result_.tables.push_back(std::move(out));
    }

    void oversubscribed() {
        const unsigned threads = static_cast<unsigned>(usable_cpus().size()) * 2;
        Table out = table("OVERSUBSCRIBED: " + std::to_string(threads) + " threads on " +
                              std::to_string(usable_cpus().size()) + " CPUs on one queue of 1024, by bulk",
                          "elapsed cycles(tsc) an object of all threads");
        fill_shared(out, threads, scaled(200'000));
        if (!out.rows.empty()) result_.tables.push_back(std::move(out));
    }

    void fill_shared(Table& out, unsigned threads, std::uint64_t objects) {
        for (const RingKind* kind : kinds_) {
            if (kind->shared == nullptr) continue;
            TableRow row{kind->name, {}};
            for (const unsigned bulk : options_.bulks) {
                PairSpec s = spec(bulk);
                s.queue_size = 1024;
                s.objects = objects;
                s.longest = longest_cell() / fewest;
                row.cells.push_back(repeat([&] { return kind->shared(s, threads); }));
            }
            out.rows.push_back(std::move(row));
        }
        out.notes.emplace_back(
            "A cell takes about half a second at most: a repetition ends after a sixth of one, and of long "
            "ones there are three.");
    }

    // ringtest's run-on-all.sh: one side stays on the last CPU, the other visits each; then nobody is pinned.
    void all_cpus() {
        const auto cpus = static_cast<unsigned>(usable_cpus().size());
        Table out;
        out.name = "Each pair of CPUs, half-filled queue, bulk 1";
        out.unit = "cycles(tsc) an object, mean of both sides";
        for (const RingKind* kind : kinds_) out.columns.push_back(kind->name);
        for (unsigned producer = 0; producer <= cpus; ++producer) {
            if (producer + 1 == cpus) continue;
            const bool free = producer == cpus;
            TableRow row{free ? "no affinity"
                              : "CPU " + std::to_string(usable_cpus()[producer]) + " to CPU " +
                                    std::to_string(usable_cpus()[cpus - 1]),
                         {}};
            for (const RingKind* kind : kinds_) {
                PairSpec s = spec(1);
                s.producer = free ? ~0U : producer;
                s.consumer = free ? ~0U : cpus - 1;
                std::vector<double> samples;
                unsigned dropped = 0;
                for (unsigned i = 0; i < repetitions(); ++i) {
                    const PairRun run = kind->pair(s);
                    if (run.clean()) {
                        samples.push_back(run.cycles());
                    } else {
                        ++dropped;
                    }
                }
                row.cells.push_back(measured(summarize(std::move(samples), dropped)));
            }
            out.rows.push_back(std::move(row));
        }
        result_.tables.push_back(std::move(out));
    }

    const RingOptions& options_;
    MachineWatch watch_;
    std::vector<const RingKind*> kinds_;
    Result result_;
    std::string kernel_text_;
};

}  // namespace

int run_ring(const RingOptions& options) {
    for (const unsigned bulk : options.bulks) {
        if (bulk == 0 || bulk > max_bulk)
            throw std::invalid_argument("--bulk takes 1 to " + std::to_string(max_bulk));
    }
    if (options.queue_size < 256 || (options.queue_size & (options.queue_size - 1)) != 0)
        throw std::invalid_argument("--queue-size takes a power of two from 256 on");
    RingBench bench(options);
    const Result result = bench.run();
    publish(result, options.files);
    if (options.kernel_format) std::fputs(("\n" + bench.kernel_text()).c_str(), stdout);
    return 0;
}

}  // namespace volley::bench
