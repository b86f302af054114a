#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "volley-bench/machine.h"

namespace volley::bench {

/// What repetitions of one measurement gave. Spoiled: fewer than half of the repetitions could be kept, or
/// the 90th percentile lies above 1.5 x the median, so the machine was measured and not the code.
struct Summary {
    double min = 0;
    double median = 0;
    double p90 = 0;
    unsigned kept = 0;
    unsigned dropped = 0;
    [[nodiscard]] bool spoiled() const { return kept < dropped || kept == 0 || p90 > 1.5 * median; }
};

/// Order statistics of the kept samples; all zero without any.
Summary summarize(std::vector<double> samples, unsigned dropped = 0);

/// A cell is measured, or a plain number (the posting's own figure, a ratio), or words, or nothing.
struct Cell {
    std::optional<Summary> measured;
    std::optional<double> number;
    std::string text;
};
Cell measured(Summary summary);
Cell number(double value);
Cell words(std::string text);

struct TableRow {
    std::string label;
    std::vector<Cell> cells;  ///< as many as the table has columns
};

struct Table {
    std::string name;
    std::string unit;  ///< of measured cells, such as "cycles(tsc) an object"
    std::vector<std::string> columns;
    std::vector<TableRow> rows;
    std::vector<std::string> notes;  ///< sentences below the table
};

/// One thread's part in one repetition, for whoever wants to judge for himself; in the JSON only.
struct RawRun {
    std::string row;
    std::string column;
    std::string side;
    std::uint64_t tsc_start = 0;
    std::uint64_t tsc_stop = 0;
    std::uint64_t objects = 0;
    std::string stop;  ///< why it ended
    bool kept = true;
};

/// One run of a subcommand: where it ran, what it found.
struct Result {
    std::string subcommand;
    Machine machine;
    std::vector<Table> tables;
    std::vector<std::string> advice;
    std::vector<RawRun> runs;
};

/// Adds what is not among them yet.
void say_once(std::vector<std::string>& advice, const std::string& sentence);

struct OutputFiles {
    std::string json;
    std::string csv;
    std::string svg;
};

/// Measured cells as "min median p90", spoiled ones with a trailing '!', which the last line explains.
std::string to_text(const Result& result);
/// One line a cell: table,row,column,min,median,p90,kept,dropped,spoiled,value.
std::string to_csv(const Result& result);
/// schema 1; to_result() reads it back.
std::string to_json(const Result& result);
/// Throws std::invalid_argument with the file's name when it is not such a document.
Result read_json(const std::string& file);
/// A plot a table: medians over the columns, one line a row, logarithmic ordinate; where there is a column
/// "ratio", a bar of it a row.
std::string to_svg(const Result& result);

/// Writes nothing when file is empty. Throws std::runtime_error naming the file.
void write_file(const std::string& file, const std::string& text);

/// Text to stdout, the others into the files named. Throws std::runtime_error naming the file.
void publish(const Result& result, const OutputFiles& files);

}  // namespace volley::bench
