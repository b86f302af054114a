#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/markup.h"
#include "volley-bench/table.h"

namespace volley::bench {
namespace {

constexpr double width = 900;
constexpr double plot_left = 70;
constexpr double plot_right = 620;
constexpr double plot_height = 320;
constexpr double title_height = 40;
constexpr double axis_height = 40;

// Okabe and Ito's palette, told apart also by the colour-blind; dashes tell a second round of it.
constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                   "#e69f00", "#56b4e9", "#000000"};

std::optional<double> value_of(const Cell& cell) {
    if (cell.measured && cell.measured->kept > 0) return cell.measured->median;
    return cell.number;
}

std::string text_at(double x, double y, const std::string& text, const char* anchor) {
    char place[160];
    std::snprintf(place, sizeof(place), "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    return place + markup_text(text) + "</text>\n";
}

// The ordinate: whole decades around all values.
struct Scale {
    double low = 0;
    double high = 0;
    double top = 0;
    [[nodiscard]] double y(double value) const {
        return top + plot_height * (high - std::log10(value)) / (high - low);
    }
};

bool find_scale(const Table& table, Scale& scale) {
    bool found = false;
    for (const TableRow& row : table.rows) {
        for (const Cell& cell : row.cells) {
            const auto value = value_of(cell);
            if (!value || !(*value > 0)) continue;
            const double l = std::log10(*value);
            scale.low = found ? std::min(scale.low, std::floor(l)) : std::floor(l);
            scale.high = found ? std::max(scale.high, std::ceil(l)) : std::ceil(l);
            found = true;
        }
    }
    if (scale.high <= scale.low) scale.high = scale.low + 1;
    return found;
}

std::string line_of(const TableRow& row, std::size_t index, const Scale& scale, double step) {
    const std::string colour = colours[index % std::size(colours)];
    std::string points;
    std::string dots;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
        const auto value = value_of(row.cells[c]);
        if (!value || !(*value > 0)) continue;
        char text[160];
        const double x = plot_left + step * (static_cast<double>(c) + 0.5);
        std::snprintf(text, sizeof(text), "%.1f,%.1f ", x, scale.y(*value));
        points += text;
        std::snprintf(text, sizeof(text), "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>", x,
                      scale.y(*value), colour.c_str());
        dots += text;
        std::snprintf(text, sizeof(text), ": %.1f</title></circle>\n", *value);
        dots += markup_text(row.label) + text;
    }
    const bool dashed = index >= std::size(colours);
    return "<polyline fill=\"none\" stroke=\"" + colour + "\"" + (dashed ? " stroke-dasharray=\"6 3\"" : "") +
           " points=\"" + points + "\"/>\n" + dots;
}

std::string plot(const Table& table, double top) {
    Scale scale;
    if (!find_scale(table, scale)) return "";
    scale.top = top + title_height;
    std::string out =
        text_at(plot_left, top + 24, table.name + (table.unit.empty() ? "" : ", " + table.unit), "start");
    for (double decade = scale.low; decade <= scale.high; ++decade) {
        const double y = scale.y(std::pow(10, decade));
        char text[160];
        std::snprintf(text, sizeof(text), "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ccc\"/>\n", plot_left, y,
                      plot_right);
        out += text;
        std::snprintf(text, sizeof(text), "%g", std::pow(10, decade));
        out += text_at(plot_left - 8, y + 4, text, "end");
    }
    const double step =
        (plot_right - plot_left) / static_cast<double>(std::max<std::size_t>(1, table.columns.size()));
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        out += text_at(plot_left + step * (static_cast<double>(c) + 0.5), scale.top + plot_height + 18,
                       table.columns[c], "middle");
    }
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
        out += line_of(table.rows[r], r, scale, step);
        char text[200];
        const double y = scale.top + 14 + 20 * static_cast<double>(r);
        std::snprintf(text, sizeof(text), "<path d=\"M%.1f %.1fh18\" stroke=\"%s\" stroke-width=\"3\"%s/>\n",
                      plot_right + 20, y - 4, colours[r % std::size(colours)],
                      r >= std::size(colours) ? " stroke-dasharray=\"6 3\"" : "");
        out += text + text_at(plot_right + 44, y, table.rows[r].label, "start");
    }
    return out;
}

// A column of that name is what its table is about: each row's beside the others'.
std::optional<std::size_t> ratio_of(const Table& table) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), "ratio");
    const auto column = static_cast<std::size_t>(found - table.columns.begin());
    const bool drawn = found != table.columns.end() &&
                       std::any_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
                           return value_of(row.cells[column]).has_value();
                       });
    return drawn ? std::optional(column) : std::nullopt;
}

// Bars from 0, with a line where the floor is, and minimum to 90th percentile at each end.
std::string bars(const Table& table, std::size_t column, double top) {
    double most = 1;
    for (const TableRow& row : table.rows) {
        if (const auto value = value_of(row.cells[column])) most = std::max(most, *value);
        if (row.cells[column].measured) most = std::max(most, row.cells[column].measured->p90);
    }
    const double left = plot_left + 110;
    const double scale = (width - 110 - left) / most;
    std::string out =
        text_at(plot_left, top + 24, table.name + (table.unit.empty() ? "" : ", " + table.unit), "start");
    char text[240];
    double y = top + title_height;
    for (const TableRow& row : table.rows) {
        const Cell& cell = row.cells[column];
        out += text_at(left - 8, y + 12, row.label, "end");
        if (const auto value = value_of(cell)) {
            std::snprintf(text, sizeof(text),
                          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" fill=\"%s\"/>\n", left,
                          y + 2, *value * scale, colours[0]);
            out += text;
            double end = *value;
            if (cell.measured) {
                end = std::max(end, cell.measured->p90);
                std::snprintf(text, sizeof(text), "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#000\"/>\n",
                              left + cell.measured->min * scale, y + 8, left + cell.measured->p90 * scale);
                out += text;
            }
            std::snprintf(text, sizeof(text), "%.2f", *value);
            out += text_at(left + end * scale + 6, y + 12, text, "start");
        }
        y += 20;
    }
    std::snprintf(text, sizeof(text), "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#d55e00\"/>\n", left + scale,
                  top + title_height, y);
    return out + text;
}

double height_of(const Table& table) {
    if (ratio_of(table))
        return title_height + 20.0 * static_cast<double>(table.rows.size()) + axis_height / 2;
    return title_height + std::max(plot_height, 20.0 * static_cast<double>(table.rows.size())) + axis_height;
}

}  // namespace

std::string to_svg(const Result& result) {
    std::string body;
    double top = 30;
    for (const Table& table : result.tables) {
        const auto ratio = ratio_of(table);
        const std::string drawn = ratio ? bars(table, *ratio, top) : plot(table, top);
        if (drawn.empty()) continue;
        body += drawn;
        top += height_of(table);
    }
    char head[200];
    std::snprintf(
        head, sizeof(head),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        width, top);
    return head +
           text_at(
               10, 20,
               "volley-bench " + result.subcommand + ", " + result.machine.host + ", " + result.machine.time,
               "start") +
           body + "</svg>\n";
}

}  // namespace volley::bench
