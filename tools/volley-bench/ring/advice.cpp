#include "volley-bench/ring/advice.h"

#include <algorithm>
#include <cstdio>

namespace volley::bench {
namespace {

std::optional<double> median_of(const Cell& cell) {
    if (!cell.measured || cell.measured->kept == 0) return std::nullopt;
    return cell.measured->median;
}

const TableRow* find(const Table& table, const std::string& label) {
    const auto at = std::find_if(table.rows.begin(), table.rows.end(),
                                 [&](const TableRow& row) { return row.label == label; });
    return at == table.rows.end() ? nullptr : &*at;
}

std::string fixed(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.1f", value);
    return text;
}

// A bulk queue against the one-at-a-time locked ptr_ring, the thread's question.
std::string bulk_needed(const Table& table, const TableRow& row, double reference) {
    const std::string against =
        " to beat the one-at-a-time locked ptr_ring (" + fixed(reference) + " cycles) on this machine.";
    const auto column = break_even(row, reference);
    if (!column) return row.label + " does not reach a bulk large enough" + against;
    if (*column == 0) return row.label + " needs no bulk" + against;
    return row.label + " needs bulk " + table.columns[*column] + against;
}

// ns = cycles / hz with three decimals, as the kernel prints them.
void print_type(std::string& out, const std::string& name, int cpu, unsigned bulk, const ThreadRun& run,
                std::uint64_t hz) {
    const std::uint64_t interval = run.stop - run.start;
    const std::uint64_t count = std::max<std::uint64_t>(1, run.objects);
    const auto ns = static_cast<std::uint64_t>(static_cast<double>(interval) * 1e9 / static_cast<double>(hz));
    char text[400];
    std::snprintf(
        text, sizeof(text),
        "Type:%s CPU(%d) %llu cycles(tsc) %llu.%03llu ns (step:%u) - (measurement period time:%llu.%09llu "
        "sec time_interval:%llu) - (invoke count:%llu tsc_interval:%llu)\n",
        name.c_str(), cpu, static_cast<unsigned long long>(interval / count),
        static_cast<unsigned long long>(ns / count),
        static_cast<unsigned long long>(ns % count * 1000 / count), bulk,
        static_cast<unsigned long long>(ns / 1'000'000'000),
        static_cast<unsigned long long>(ns % 1'000'000'000), static_cast<unsigned long long>(ns),
        static_cast<unsigned long long>(run.objects), static_cast<unsigned long long>(interval));
    out += text;
}

}  // namespace

std::optional<std::size_t> break_even(const TableRow& row, double reference) {
    std::optional<std::size_t> out;
    for (std::size_t c = row.cells.size(); c-- > 0;) {
        const auto median = median_of(row.cells[c]);
        if (!median || *median >= reference) break;
        out = c;
    }
    return out;
}

std::vector<std::string> advice_from(const Table& pairs) {
    std::vector<std::string> out;
    const TableRow* locked = find(pairs, "ptr_ring locked (2016)");
    const auto reference = locked == nullptr ? std::nullopt : median_of(locked->cells.at(0));
    if (reference) {
        for (const char* label : {"alf MPMC", "rte_ring MP/MC"}) {
            if (const TableRow* row = find(pairs, label)) out.push_back(bulk_needed(pairs, *row, *reference));
        }
    }
    const TableRow* ours = find(pairs, "rte_ring SP/SC");
    if (ours == nullptr) return out;
    for (std::size_t c = 0; c < pairs.columns.size(); ++c) {
        const TableRow* best = nullptr;
        for (const TableRow& row : pairs.rows) {
            const auto median = median_of(row.cells[c]);
            if (median && (best == nullptr || *median < *median_of(best->cells[c]))) best = &row;
        }
        const auto mine = median_of(ours->cells[c]);
        if (best == nullptr || best == ours || !mine) continue;
        const double other = *median_of(best->cells[c]);
        if (c == 0 || c + 1 == pairs.columns.size()) {
            out.push_back("At bulk " + pairs.columns[c] + " " + best->label +
                          " is the cheapest of all: " + fixed(other) + " cycles against " + fixed(*mine) +
                          " of rte_ring SP/SC, " + fixed(*mine / other) + " x.");
        }
    }
    return out;
}

std::string kernel_lines(const std::string& name, unsigned bulk, const PairRun& run, std::uint64_t tsc_hz) {
    std::string out;
    print_type(out, name, 0, bulk, run.enqueue, tsc_hz);
    print_type(out, name, 1, bulk, run.dequeue, tsc_hz);
    for (const auto& [side, cpu, word] :
         {std::tuple{&run.enqueue, 0, "enq fullq"}, std::tuple{&run.dequeue, 1, "deq emptyq"}}) {
        if (side->why != Stop::full && side->why != Stop::empty) continue;
        char text[120];
        std::snprintf(text, sizeof(text), "WARN: %s(CPU:%d) i:%llu\n", word, cpu,
                      static_cast<unsigned long long>(side->objects));
        out += text;
    }
    const auto truncated = [](const ThreadRun& side) {
        return static_cast<unsigned long long>(side.cycles());
    };
    char text[160];
    std::snprintf(text, sizeof(text), "Sum Type:%s Average: %llu cycles(tsc) CPUs:2 step:%u\n", name.c_str(),
                  (truncated(run.enqueue) + truncated(run.dequeue)) / 2, bulk);
    return out + text;
}

std::string posting_line(const std::string& name, unsigned bulk, double cycles) {
    char text[160];
    std::snprintf(text, sizeof(text), "%-25s CPUs:2 bulk=step:%u Average: %llu cycles(tsc)\n", name.c_str(),
                  bulk, static_cast<unsigned long long>(cycles));
    return text;
}

}  // namespace volley::bench
