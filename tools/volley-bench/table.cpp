#include "volley-bench/table.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace volley::bench {
namespace {

std::string fixed(double value) {
    char text[48];
    std::snprintf(text, sizeof(text), value >= 10'000 ? "%.0f" : "%.1f", value);
    return text;
}

std::string to_text(const Cell& cell) {
    if (cell.measured) {
        const Summary& s = *cell.measured;
        if (s.kept == 0) return "- !";
        return fixed(s.min) + " " + fixed(s.median) + " " + fixed(s.p90) + (s.spoiled() ? "!" : "");
    }
    if (cell.number) return fixed(*cell.number);
    return cell.text;
}

bool any_spoiled(const Result& result) {
    for (const Table& table : result.tables) {
        for (const TableRow& row : table.rows) {
            for (const Cell& cell : row.cells) {
                if (cell.measured && cell.measured->spoiled()) return true;
            }
        }
    }
    return false;
}

void append_padded(std::string& out, const std::string& text, std::size_t width) {
    out += text;
    out.append(width > text.size() ? width - text.size() : 0, ' ');
}

std::string to_text(const Table& table) {
    std::vector<std::vector<std::string>> lines{{""}};
    lines[0].insert(lines[0].end(), table.columns.begin(), table.columns.end());
    for (const TableRow& row : table.rows) {
        lines.push_back({row.label});
        for (const Cell& cell : row.cells) lines.back().push_back(to_text(cell));
    }
    std::vector<std::size_t> widths(table.columns.size() + 1);
    for (const auto& line : lines) {
        for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], line[c].size() + 2);
    }
    std::string out = "\n" + table.name + (table.unit.empty() ? "" : ", " + table.unit) + "\n";
    for (const auto& line : lines) {
        for (std::size_t c = 0; c < line.size(); ++c) append_padded(out, line[c], widths[c]);
        out.erase(out.find_last_not_of(' ') + 1);
        out += '\n';
    }
    for (const std::string& note : table.notes) out += note + "\n";
    return out;
}

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + "\"";
}

}  // namespace

Summary summarize(std::vector<double> samples, unsigned dropped) {
    Summary out;
    out.kept = static_cast<unsigned>(samples.size());
    out.dropped = dropped;
    if (samples.empty()) return out;
    std::sort(samples.begin(), samples.end());
    const std::size_t n = samples.size();
    out.min = samples.front();
    out.median = n % 2 == 1 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    out.p90 = samples[(n * 9 + 9) / 10 - 1];
    return out;
}

Cell measured(Summary summary) {
    Cell out;
    out.measured = summary;
    return out;
}

Cell number(double value) {
    Cell out;
    out.number = value;
    return out;
}

Cell words(std::string text) {
    Cell out;
    out.text = std::move(text);
    return out;
}

void say_once(std::vector<std::string>& advice, const std::string& sentence) {
    if (std::find(advice.begin(), advice.end(), sentence) == advice.end()) advice.push_back(sentence);
}

void write_file(const std::string& file, const std::string& text) {
    if (file.empty()) return;
    std::ofstream out(file);
    out << text;
    if (!out.flush()) throw std::runtime_error("cannot write " + file);
}

std::string to_text(const Result& result) {
    std::string out = "volley-bench " + result.subcommand + "\n" + to_text(result.machine);
    for (const Table& table : result.tables) out += to_text(table);
    out += "\nMeasured cells: minimum, median, 90th percentile of the repetitions.\n";
    if (any_spoiled(result)) {
        out +=
            "!: the machine's noise spoiled it (half of the repetitions dropped, or the 90th percentile "
            "above 1.5 x the median).\n";
    }
    for (const std::string& line : result.advice) out += line + "\n";
    return out;
}

std::string to_csv(const Result& result) {
    std::string out = "table,row,column,min,median,p90,kept,dropped,spoiled,value\n";
    for (const Table& table : result.tables) {
        for (const TableRow& row : table.rows) {
            for (std::size_t c = 0; c < row.cells.size(); ++c) {
                const Cell& cell = row.cells[c];
                out += quoted(table.name) + "," + quoted(row.label) + "," + quoted(table.columns[c]) + ",";
                if (cell.measured) {
                    const Summary& s = *cell.measured;
                    char text[160];
                    std::snprintf(text, sizeof(text), "%.3f,%.3f,%.3f,%u,%u,%s,", s.min, s.median, s.p90,
                                  s.kept, s.dropped, s.spoiled() ? "true" : "false");
                    out += text;
                } else {
                    out += ",,,,,,";
                    if (cell.number) {
                        char text[48];
                        std::snprintf(text, sizeof(text), "%.6g", *cell.number);
                        out += text;
                    } else {
                        out += quoted(cell.text);
                    }
                }
                out += '\n';
            }
        }
    }
    return out;
}

void publish(const Result& result, const OutputFiles& files) {
    std::fputs(to_text(result).c_str(), stdout);
    write_file(files.json, files.json.empty() ? "" : to_json(result));
    write_file(files.csv, files.csv.empty() ? "" : to_csv(result));
    write_file(files.svg, files.svg.empty() ? "" : to_svg(result));
}

}  // namespace volley::bench
