#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "volley-bench/table.h"

namespace volley::bench {
namespace {

using nlohmann::ordered_json;

ordered_json encode(const Cell& cell) {
    if (cell.measured) {
        const Summary& s = *cell.measured;
        return {{"min", s.min},   {"median", s.median},   {"p90", s.p90},
                {"kept", s.kept}, {"dropped", s.dropped}, {"spoiled", s.spoiled()}};
    }
    if (cell.number) return *cell.number;
    return cell.text;
}

Cell decode_cell(const ordered_json& json) {
    if (json.is_number()) return number(json.get<double>());
    if (json.is_string()) return words(json.get<std::string>());
    Summary s;
    s.min = json.at("min");
    s.median = json.at("median");
    s.p90 = json.at("p90");
    s.kept = json.at("kept");
    s.dropped = json.at("dropped");
    return measured(s);
}

ordered_json encode(const Machine& m) {
    return {{"host", m.host},
            {"cpu", m.cpu},
            {"cpus", m.cpus},
            {"relation", m.relation},
            {"tsc_hz", m.tsc_hz},
            {"core_cycles_per_tsc", m.core_per_tsc},
            {"line_transfer_cycles", {{"min", m.line_min}, {"max", m.line_max}}},
            {"load", m.load},
            {"steal_percent", m.steal_percent},
            {"scheduler", m.scheduler},
            {"time", m.time}};
}

Machine decode_machine(const ordered_json& json) {
    Machine m;
    m.host = json.at("host");
    m.cpu = json.at("cpu");
    m.cpus = json.at("cpus");
    m.relation = json.at("relation");
    m.tsc_hz = json.at("tsc_hz");
    m.core_per_tsc = json.at("core_cycles_per_tsc");
    m.line_min = json.at("line_transfer_cycles").at("min");
    m.line_max = json.at("line_transfer_cycles").at("max");
    m.load = json.at("load");
    m.steal_percent = json.at("steal_percent");
    m.scheduler = json.at("scheduler");
    m.time = json.at("time");
    return m;
}

}  // namespace

std::string to_json(const Result& result) {
    ordered_json tables = ordered_json::array();
    for (const Table& table : result.tables) {
        ordered_json rows = ordered_json::array();
        for (const TableRow& row : table.rows) {
            ordered_json cells = ordered_json::array();
            for (const Cell& cell : row.cells) cells.push_back(encode(cell));
            rows.push_back({{"label", row.label}, {"cells", std::move(cells)}});
        }
        tables.push_back({{"name", table.name},
                          {"unit", table.unit},
                          {"columns", table.columns},
                          {"rows", std::move(rows)},
                          {"notes", table.notes}});
    }
    ordered_json runs = ordered_json::array();
    for (const RawRun& run : result.runs) {
        runs.push_back({{"row", run.row},
                        {"column", run.column},
                        {"side", run.side},
                        {"tsc_start", run.tsc_start},
                        {"tsc_stop", run.tsc_stop},
                        {"objects", run.objects},
                        {"stop", run.stop},
                        {"kept", run.kept}});
    }
    const ordered_json out = {{"schema", 1},
                              {"subcommand", result.subcommand},
                              {"machine", encode(result.machine)},
                              {"tables", std::move(tables)},
                              {"advice", result.advice},
                              {"runs", std::move(runs)}};
    return out.dump(1) + "\n";
}

Result read_json(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::invalid_argument(file + ": cannot be read");
    try {
        const ordered_json json = ordered_json::parse(in);
        Result out;
        if (json.at("schema") != 1) throw std::runtime_error("schema is not 1");
        out.subcommand = json.at("subcommand");
        out.machine = decode_machine(json.at("machine"));
        for (const ordered_json& table : json.at("tables")) {
            Table t;
            t.name = table.at("name");
            t.unit = table.at("unit");
            t.columns = table.at("columns").get<std::vector<std::string>>();
            for (const ordered_json& row : table.at("rows")) {
                TableRow r;
                r.label = row.at("label");
                for (const ordered_json& cell : row.at("cells")) r.cells.push_back(decode_cell(cell));
                if (r.cells.size() != t.columns.size())
                    throw std::runtime_error("row \"" + r.label + "\" has not one cell a column");
                t.rows.push_back(std::move(r));
            }
            out.tables.push_back(std::move(t));
        }
        return out;
    } catch (const std::exception& error) {
        throw std::invalid_argument(file + ": not a result of volley-bench --json: " + error.what());
    }
}

}  // namespace volley::bench
