#include "volley-bench/compare.h"

#include <algorithm>
#include <stdexcept>

namespace volley::bench {
namespace {

const Table* find(const Result& result, const std::string& name) {
    const auto at = std::find_if(result.tables.begin(), result.tables.end(),
                                 [&](const Table& table) { return table.name == name; });
    return at == result.tables.end() ? nullptr : &*at;
}

const Summary* find(const Table& table, const std::string& label, const std::string& column) {
    const auto c = std::find(table.columns.begin(), table.columns.end(), column);
    if (c == table.columns.end()) return nullptr;
    for (const TableRow& row : table.rows) {
        if (row.label != label) continue;
        const Cell& cell = row.cells[static_cast<std::size_t>(c - table.columns.begin())];
        if (cell.measured && cell.measured->kept > 0) return &*cell.measured;
    }
    return nullptr;
}

const char* verdict(const Summary& a, const Summary& b) {
    if (a.spoiled() || b.spoiled()) return "spoiled by noise";
    if (a.min <= b.p90 && b.min <= a.p90) return "within the spread";
    return b.median < a.median ? "less" : "more";
}

}  // namespace

Result compare(const Result& before, const Result& after) {
    Result out;
    out.subcommand = "compare";
    out.machine = after.machine;
    for (const Table& table : after.tables) {
        const Table* old = find(before, table.name);
        if (old == nullptr) {
            out.advice.push_back("Only the second file has the table \"" + table.name + "\".");
            continue;
        }
        Table found;
        found.name = table.name;
        found.unit = table.unit;
        found.columns = {"before", "after", "after / before", "verdict"};
        for (const TableRow& row : table.rows) {
            for (std::size_t c = 0; c < row.cells.size(); ++c) {
                const Cell& cell = row.cells[c];
                const Summary* a = find(*old, row.label, table.columns[c]);
                if (a == nullptr || !cell.measured || cell.measured->kept == 0) continue;
                char ratio[32];
                std::snprintf(ratio, sizeof(ratio), "%.3f", cell.measured->median / a->median);
                found.rows.push_back(
                    {row.label + ", " + table.columns[c],
                     {measured(*a), cell, words(ratio), words(verdict(*a, *cell.measured))}});
            }
        }
        out.tables.push_back(std::move(found));
    }
    return out;
}

int run_compare(const std::string& before, const std::string& after, const OutputFiles& files) {
    const Result a = read_json(before);
    const Result b = read_json(after);
    if (a.subcommand != b.subcommand)
        throw std::invalid_argument(before + " is of " + a.subcommand + ", " + after + " of " + b.subcommand);
    publish(compare(a, b), files);
    return 0;
}

}  // namespace volley::bench
