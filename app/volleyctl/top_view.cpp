#include "volleyctl/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

namespace volley::ctl {
namespace {

using nlohmann::json;

json at(const json& from, const std::string& pointer) {
    const json::json_pointer where(pointer);
    return from.contains(where) ? from.at(where) : json(nullptr);
}

std::string text_of(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
}

std::string scaled(const json& value) {
    if (!value.is_number()) return "-";
    const auto number = value.get<double>();
    char text[32];
    for (const auto& [unit, size] : {std::pair{"G", 1e9}, std::pair{"M", 1e6}, std::pair{"k", 1e3}}) {
        if (std::abs(number) < size) continue;
        std::snprintf(text, sizeof(text), "%.4g%s", number / size, unit);
        return text;
    }
    std::snprintf(text, sizeof(text), "%.4g", number);
    return text;
}

std::string nanoseconds(const json& value) {
    if (!value.is_number()) return "-";
    const auto ns = value.get<double>();
    char text[32];
    for (const auto& [unit, size] : {std::pair{"s", 1e9}, std::pair{"ms", 1e6}, std::pair{"us", 1e3}}) {
        if (ns < size) continue;
        std::snprintf(text, sizeof(text), "%.3g%s", ns / size, unit);
        return text;
    }
    std::snprintf(text, sizeof(text), "%.0fns", ns);
    return text;
}

std::string count(const json& value) {
    return value.is_number() ? value.dump() : "-";
}

// Columns that the terminal needs: every UTF-8 sequence counts as one, which holds for names of one-column
// letters.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string cut(const std::string& text, std::size_t width) {
    std::size_t columns = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U) continue;
        if (columns++ == width) return text.substr(0, i);
    }
    return text;
}

// A name that does not fit ends with a mark: two that begin alike are not taken for one.
std::string left(const std::string& text, std::size_t width) {
    const std::string out = width_of(text) <= width ? text : cut(text, width - 1) + "~";
    return out + std::string(width - width_of(out), ' ');
}

// A figure that does not fit is marked: half a number is a wrong one.
std::string right(const std::string& text, std::size_t width) {
    const std::size_t needed = width_of(text);
    if (needed > width) return std::string(width - 1, ' ') + "#";
    return std::string(width - needed, ' ') + text;
}

std::string elapsed(const json& ns) {
    if (!ns.is_number()) return "-";
    const auto seconds = static_cast<unsigned long long>(ns.get<double>() / 1e9);
    char text[32];
    std::snprintf(text, sizeof(text), "%02llu:%02llu:%02llu", seconds / 3600, seconds / 60 % 60,
                  seconds % 60);
    return text;
}

struct Column {
    const char* title;
    const char* pointer;
    std::size_t width;
    std::string (*text)(const json&);
    bool bad_if_positive = false;
};

constexpr std::size_t least_name_width = 14;
constexpr std::size_t low_screen = 16;  // rows below which nothing is left blank

/// As many of the columns as fit, from the first on; what they leave is room for names.
struct Layout {
    std::vector<Column> columns;
    std::size_t name_width = least_name_width;
};

Layout layout(const std::vector<Column>& all, const json& items, std::size_t columns) {
    Layout out;
    std::size_t used = least_name_width;
    for (const Column& column : all) {
        if (used + 1 + column.width > columns) break;
        used += 1 + column.width;
        out.columns.push_back(column);
    }
    if (!items.is_array() || used >= columns) return out;
    for (const json& item : items)
        out.name_width = std::max(out.name_width, width_of(text_of(at(item, "/name"))));
    out.name_width = std::min(out.name_width, least_name_width + columns - used);
    return out;
}

const std::vector<Column>& port_columns() {
    static const std::vector<Column> all{
        {"TX pps", "/tx/pps", 8, scaled},         {"L2 bps", "/tx/l2_bps", 8, scaled},
        {"L1 bps", "/tx/l1_bps", 8, scaled},      {"RX pps", "/rx/pps", 8, scaled},
        {"missed", "/rx/missed", 8, count, true}, {"unsent", "/tx/unsent", 7, count, true},
        {"RX L1", "/rx/l1_bps", 8, scaled},       {"TX packets", "/tx/packets", 16, count},
        {"RX packets", "/rx/packets", 16, count}, {"unmatched", "/rx/unmatched", 12, count},
        {"TX path", "/tx_path", 10, text_of}};
    return all;
}

const std::vector<Column>& stream_columns() {
    static const std::vector<Column> all{{"state", "/state", 8, text_of},
                                         {"pps", "/tx/pps", 8, scaled},
                                         {"target", "/target_pps", 8, scaled},
                                         {"late p99", "/lateness_ns/p99", 8, nanoseconds},
                                         {"lost", "/rx/lost", 7, count, true},
                                         {"lat p50", "/rx/latency_ns/p50", 7, nanoseconds},
                                         {"lat p99", "/rx/latency_ns/p99", 7, nanoseconds},
                                         {"short", "/shortfall_packets", 8, count, true},
                                         {"err ppm", "/rate_error_ppm", 9, scaled},
                                         {"L1 bps", "/tx/l1_bps", 8, scaled},
                                         {"TX packets", "/tx/packets", 16, count},
                                         {"RX packets", "/rx/packets", 16, count},
                                         {"corrupt", "/rx/corrupted", 8, count, true},
                                         {"reorder", "/rx/reordered", 8, count, true},
                                         {"dup", "/rx/duplicates", 8, count, true}};
    return all;
}

Row heading(const std::string& first, const Layout& fit) {
    std::string text = left(first, fit.name_width);
    for (const Column& column : fit.columns) text += " " + right(column.title, column.width);
    return {{text, Style::head}};
}

Row cells(const json& item, const Layout& fit, Style style) {
    Row out{{left(text_of(at(item, "/name")), fit.name_width), style}};
    for (const Column& column : fit.columns) {
        const json value = at(item, column.pointer);
        const bool bad = column.bad_if_positive && value.is_number() && value.get<double>() > 0;
        out.push_back({" " + right(column.text(value), column.width),
                       bad && style == Style::plain ? Style::bad : style});
    }
    return out;
}

// The run's id stands there whole or not at all.
Row title(const TopState& state, std::size_t columns) {
    const std::string name = "Volley " + state.name + "  ";
    const std::string now = text_of(at(state.line, "/state"));
    const std::string run = "  run " + text_of(at(state.line, "/run_id"));
    std::string rest = "  " + elapsed(at(state.line, "/duration_ns")) + "  generation " +
                       text_of(at(state.line, "/generation"));
    if (width_of(name + now + rest + run) <= columns) rest += run;
    return {{name, Style::title},
            {now, state.connection.empty() ? Style::good : Style::bad},
            {rest, Style::plain}};
}

Row notice(const TopState& state) {
    if (!state.connection.empty()) return {{state.connection, Style::bad}};
    if (!state.message.empty()) return {{state.message, Style::plain}};
    const json warnings = at(state.line, "/warnings");
    if (!warnings.is_array() || warnings.empty()) return {};
    const std::string more =
        warnings.size() > 1 ? " (and " + std::to_string(warnings.size() - 1) + " more)" : "";
    return {{"warning: " + text_of(warnings.front()) + more, Style::bad}};
}

void add_ports(std::vector<Row>& out, const TopState& state, std::size_t most, std::size_t columns) {
    const json ports = at(state.line, "/ports");
    if (!ports.is_array()) return;
    constexpr std::size_t link_width = 9;
    const Layout fit = layout(port_columns(), ports, columns - link_width - 1);
    const bool all = ports.size() <= most;
    Row head =
        heading(all ? "PORT" : "PORT " + std::to_string(most) + " of " + std::to_string(ports.size()), fit);
    head.front().text.insert(fit.name_width, " " + right("link", link_width));
    out.push_back(head);
    for (std::size_t p = 0; p < ports.size() && p < most; ++p) {
        const bool up = at(ports[p], "/link/up") == true;
        Row row = cells(ports[p], fit, Style::plain);
        const json speed = at(ports[p], "/link/speed_bps");
        const std::string link = !up ? "down" : speed.is_number() ? scaled(speed) + "bps" : "up";
        row.insert(row.begin() + 1, {" " + right(link, link_width), up ? Style::good : Style::bad});
        out.push_back(row);
    }
}

std::string busy_text(const json& worker) {
    const json busy = at(worker, "/busy_ratio");
    return text_of(at(worker, "/name")) + " " +
           (busy.is_number() ? std::to_string(std::lround(busy.get<double>() * 100)) + "%" : "-");
}

std::string worker_text(const json& worker) {
    std::string out = busy_text(worker);
    if (const json ring = at(worker, "/ring"); ring.is_object())
        out += " ring " + text_of(at(ring, "/occupancy")) + "/" + text_of(at(ring, "/capacity"));
    if (const json pool = at(worker, "/mempool"); pool.is_object())
        out += " pool " + text_of(at(pool, "/free")) + "/" + text_of(at(pool, "/size"));
    return out;
}

// The workers in rows, none cut.
std::vector<std::string> worker_rows(const json& workers, std::string (*text_of_one)(const json&),
                                     std::size_t columns) {
    const std::string begin = "busy:";
    std::vector<std::string> rows{begin};
    for (const json& worker : workers) {
        const std::string text = "  " + text_of_one(worker);
        if (rows.back().size() > begin.size() && width_of(rows.back()) + width_of(text) > columns)
            rows.emplace_back(begin.size(), ' ');
        rows.back() += text;
    }
    return rows;
}

// With rings and pools where there is room for all workers, else how busy they are.
void add_workers(std::vector<Row>& out, const TopState& state, std::size_t most, std::size_t columns) {
    const json workers = at(state.line, "/workers");
    if (!workers.is_array()) return;
    std::vector<std::string> rows = worker_rows(workers, worker_text, columns);
    if (rows.size() > most || width_of(rows.front()) > columns)
        rows = worker_rows(workers, busy_text, columns);
    if (rows.size() > most) {
        constexpr std::string_view more = " ...";
        rows.resize(most);
        rows.back() = cut(rows.back(), columns - std::min(columns, more.size()));
        rows.back() += more;
    }
    for (std::string& row : rows) out.push_back({{std::move(row), Style::plain}});
}

// Number of the selected stream among those that are here.
std::size_t selected_here(const TopState& state, std::size_t here) {
    if (here == 0) return 0;
    const std::size_t selected = state.selected - std::min(state.selected, state.first);
    return std::min(selected, here - 1);
}

std::string where(const TopState& state, std::size_t rows) {
    const std::size_t here = state.streams.is_array() ? state.streams.size() : 0;
    const std::size_t from = rows == 0 ? 0 : (state.first + selected_here(state, here)) / rows * rows;
    const std::size_t to = std::min(from + rows, state.total);
    std::string out = std::to_string(state.total) + (state.total == 1 ? " stream" : " streams");
    if (to > from && to - from < state.total)
        out += ", " + std::to_string(from + 1) + " to " + std::to_string(to) + " shown";
    if (state.filter != "*") out += ", filter " + state.filter;
    out += ", by " + sort_keys()[state.sort].name;
    if (state.sort != 0 && here < state.total) out += " among the first " + std::to_string(here);
    return out;
}

void add_streams(std::vector<Row>& out, const TopState& state, std::size_t rows, std::size_t columns) {
    const Layout fit = layout(stream_columns(), state.streams, columns);
    const std::vector<json> streams = sorted_streams(state);
    out.push_back(heading("STREAM", fit));
    if (rows == 0) return;
    const std::size_t selected = state.first + selected_here(state, streams.size());
    const std::size_t from = selected / rows * rows;
    for (std::size_t i = std::max(from, state.first); i < state.first + streams.size() && i < from + rows;
         ++i)
        out.push_back(cells(streams[i - state.first], fit, i == selected ? Style::selected : Style::plain));
}

std::string footer(const TopState& state, std::size_t columns) {
    if (!state.prompt.empty()) return state.prompt;
    const std::string keys =
        state.may_change ? "q quit  s start  x stop  p pause/resume  r rate  c clear  / filter  o sort"
                         : "q quit  / filter  o sort  read only";
    return columns > width_of(keys) ? keys : "q quit s/x start/stop p pause r rate / o";
}

// Everything above the table of streams.
std::vector<Row> above_streams(const TopState& state, std::size_t rows, std::size_t columns) {
    const bool low = rows < low_screen;
    std::vector<Row> out{title(state, columns)};
    if (Row told = notice(state); !low || !told.empty()) out.push_back(std::move(told));
    add_ports(out, state, std::max<std::size_t>(1, rows / 5), std::max<std::size_t>(columns, 40));
    add_workers(out, state, std::max<std::size_t>(1, rows / 8), columns);
    out.emplace_back();
    return out;
}

void clip(std::vector<Row>& rows, std::size_t columns) {
    for (Row& row : rows) {
        std::size_t used = 0;
        for (Piece& piece : row) {
            piece.text = cut(piece.text, columns - used);
            used += width_of(piece.text);
        }
    }
}

}  // namespace

const std::vector<SortKey>& sort_keys() {
    static const std::vector<SortKey> keys{{"order", ""},        {"name", "/name"},
                                           {"pps", "/tx/pps"},   {"lateness", "/lateness_ns/p99"},
                                           {"loss", "/rx/lost"}, {"latency", "/rx/latency_ns/p99"}};
    return keys;
}

std::vector<json> sorted_streams(const TopState& state) {
    std::vector<json> out;
    if (state.streams.is_array()) out.assign(state.streams.begin(), state.streams.end());
    const SortKey& key = sort_keys()[state.sort];
    if (key.pointer.empty()) return out;
    const auto value = [&](const json& stream) {
        const json found = at(stream, key.pointer);
        return found.is_number() ? found.get<double>() : -1.0;
    };
    std::stable_sort(out.begin(), out.end(), [&](const json& a, const json& b) {
        return key.name == "name" ? text_of(at(a, "/name")) < text_of(at(b, "/name")) : value(a) > value(b);
    });
    return out;
}

std::string selected_stream(const TopState& state) {
    const std::vector<json> streams = sorted_streams(state);
    return streams.empty() ? "" : text_of(at(streams[selected_here(state, streams.size())], "/name"));
}

std::size_t streams_shown(const TopState& state, std::size_t rows, std::size_t columns) {
    const std::size_t others = above_streams(state, rows, columns).size() + 2;  // heading and keys
    return rows > others ? rows - others : 0;
}

std::vector<Row> draw_top(const TopState& state, std::size_t rows, std::size_t columns) {
    std::vector<Row> out = above_streams(state, rows, columns);
    const std::size_t shown = streams_shown(state, rows, columns);
    out.back() = {{where(state, shown), Style::plain}};
    add_streams(out, state, shown, columns);
    out.resize(rows > 0 ? rows - 1 : 0);
    if (rows > 0) out.push_back({{footer(state, columns), Style::head}});
    clip(out, columns);
    return out;
}

}  // namespace volley::ctl
