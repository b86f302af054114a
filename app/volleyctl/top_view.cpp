#include "volleyctl/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

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

std::string left(const std::string& text, std::size_t width) {
    const std::string out = cut(text, width);
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

constexpr std::size_t name_width = 14;

// As many of the columns as fit, from the first on.
std::vector<Column> fitting(const std::vector<Column>& all, std::size_t columns) {
    std::vector<Column> out;
    std::size_t used = name_width;
    for (const Column& column : all) {
        if (used + 1 + column.width > columns) break;
        used += 1 + column.width;
        out.push_back(column);
    }
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

Row heading(const std::string& first, const std::vector<Column>& columns) {
    std::string text = left(first, name_width);
    for (const Column& column : columns) text += " " + right(column.title, column.width);
    return {{text, Style::head}};
}

Row cells(const json& item, const std::vector<Column>& columns, Style style) {
    Row out{{left(text_of(at(item, "/name")), name_width), style}};
    for (const Column& column : columns) {
        const json value = at(item, column.pointer);
        const bool bad = column.bad_if_positive && value.is_number() && value.get<double>() > 0;
        out.push_back({" " + right(column.text(value), column.width),
                       bad && style == Style::plain ? Style::bad : style});
    }
    return out;
}

Row title(const TopState& state) {
    const std::string now = text_of(at(state.line, "/state"));
    return {{"Volley " + state.name + "  ", Style::title},
            {now, state.connection.empty() ? Style::good : Style::bad},
            {"  " + elapsed(at(state.line, "/duration_ns")) + "  generation " +
                 text_of(at(state.line, "/generation")) + "  " + text_of(at(state.line, "/run_id")),
             Style::plain}};
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
    const auto fit = fitting(port_columns(), columns - link_width - 1);
    Row head = heading("PORT", fit);
    head.front().text.insert(name_width, " " + right("link", link_width));
    out.push_back(head);
    for (std::size_t p = 0; p < ports.size() && p < most; ++p) {
        const bool up = at(ports[p], "/link/up") == true;
        Row row = cells(ports[p], fit, Style::plain);
        const json speed = at(ports[p], "/link/speed_bps");
        const std::string link = !up ? "down" : speed.is_number() ? scaled(speed) + "bps" : "up";
        row.insert(row.begin() + 1, {" " + right(link, link_width), up ? Style::good : Style::bad});
        out.push_back(row);
    }
    if (ports.size() > most)
        out.push_back({{"  and " + std::to_string(ports.size() - most) + " more ports", Style::plain}});
}

std::string worker_text(const json& worker) {
    const json busy = at(worker, "/busy_ratio");
    std::string out = text_of(at(worker, "/name")) + " ";
    out += busy.is_number() ? std::to_string(static_cast<int>(std::lround(busy.get<double>() * 100))) + "%"
                            : "-";
    if (const json ring = at(worker, "/ring"); ring.is_object())
        out += " ring " + text_of(at(ring, "/occupancy")) + "/" + text_of(at(ring, "/capacity"));
    if (const json pool = at(worker, "/mempool"); pool.is_object())
        out += " pool " + text_of(at(pool, "/free")) + "/" + text_of(at(pool, "/size"));
    return out;
}

void add_workers(std::vector<Row>& out, const TopState& state, std::size_t most, std::size_t columns) {
    const json workers = at(state.line, "/workers");
    if (!workers.is_array()) return;
    std::string row = "busy:";
    std::size_t used = 0;
    for (const json& worker : workers) {
        const std::string text = "  " + worker_text(worker);
        if (width_of(row) + width_of(text) > columns) {
            out.push_back({{row, Style::plain}});
            if (++used == most) return;
            row = "     ";
        }
        row += text;
    }
    out.push_back({{row, Style::plain}});
}

void add_streams(std::vector<Row>& out, const TopState& state, std::size_t rows, std::size_t columns) {
    const auto fit = fitting(stream_columns(), columns);
    const std::vector<json> streams = sorted_streams(state);
    Row head = heading("STREAM", fit);
    out.push_back(head);
    if (rows == 0) return;
    const std::size_t selected = streams.empty() ? 0 : std::min(state.selected, streams.size() - 1);
    const std::size_t first = selected / rows * rows;
    for (std::size_t i = first; i < streams.size() && i < first + rows; ++i)
        out.push_back(cells(streams[i], fit, i == selected ? Style::selected : Style::plain));
}

std::string footer(const TopState& state) {
    if (!state.prompt.empty()) return state.prompt;
    const std::string shown =
        std::to_string(state.total) + " streams, " + state.filter + ", by " + sort_keys()[state.sort].name;
    return (state.may_change ? "q quit  s start  x stop  p pause  r rate  c clear  / filter  o sort   "
                             : "q quit  / filter  o sort  (read only)   ") +
           shown;
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
    return streams.empty() ? "" : text_of(at(streams[std::min(state.selected, streams.size() - 1)], "/name"));
}

std::vector<Row> draw_top(const TopState& state, std::size_t rows, std::size_t columns) {
    std::vector<Row> out{title(state), notice(state)};
    const std::size_t quarter = std::max<std::size_t>(1, rows / 5);
    add_ports(out, state, quarter, std::max<std::size_t>(columns, 40));
    add_workers(out, state, std::max<std::size_t>(1, rows / 8), columns);
    out.emplace_back();
    const std::size_t above = out.size() + 2;
    add_streams(out, state, rows > above ? rows - above : 0, columns);
    out.resize(rows > 0 ? rows - 1 : 0);
    if (rows > 0) out.push_back({{footer(state), Style::head}});
    clip(out, columns);
    return out;
}

}  // namespace volley::ctl
