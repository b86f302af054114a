#include "packet/columns.h"

namespace volley::packet {
namespace {

/// A sequence that repeats within this many packets is tabled whole: no arithmetic is cheaper than that.
constexpr std::uint64_t tabled_period = 512;

constexpr Value two_to_32 = Value{1} << 32;

std::uint32_t placed(const Sequence& sequence, const Placement& placement, Value value) {
    const Value bits = (sequence.transformed(value) - placement.minus) & placement.mask;
    return static_cast<std::uint32_t>(bits << placement.left);
}

/// Value number k is start + k * step in 32 bits, then masked. A right shift, a variable's own transform and
/// a subtraction behind a mask are not of that form.
bool affine(const Sequence& sequence, const Placement& placement) {
    const auto& outer = sequence.outer;
    return sequence.inner == Sequence::Transform{} && outer.shift >= 0 &&
           (placement.minus == 0 || (outer.shift == 0 && outer.mask == Sequence::Transform{}.mask));
}

void set_affine(Column& column, const Sequence& sequence, const Placement& placement) {
    const auto& outer = sequence.outer;
    const int shift = outer.shift + static_cast<int>(placement.left);
    if (shift < 128) {
        column.start = static_cast<std::uint32_t>((sequence.from + outer.add - placement.minus) << shift);
        column.step = static_cast<std::uint32_t>(sequence.step << shift);
    }
    column.mask = static_cast<std::uint32_t>((outer.mask & placement.mask) << placement.left);
    column.wrap = static_cast<std::uint32_t>(sequence.cycle) * column.step;
}

const std::uint32_t* add_table(std::vector<std::uint32_t> table, PlanStorage& storage) {
    const std::size_t cycle = table.size();
    table.reserve(cycle + table_slack);
    for (std::uint32_t i = 0; i < table_slack; ++i) table.push_back(table[i]);
    return storage.tables.emplace_back(std::move(table)).data();
}

bool make_table(Column& column, const Sequence& sequence, const Placement& placement, PlanStorage& storage) {
    const std::uint64_t period = sequence.period();
    std::vector<std::uint32_t> table;
    if (period != 0 && period <= tabled_period) {
        for (std::uint64_t i = 0; i < period; ++i)
            table.push_back(placed(sequence, placement, sequence.number(sequence.position(i))));
        column.kind = Column::Kind::table;
        column.flow = {};
        column.every = {};
        column.cycle = divider(period);
    } else if (sequence.kind == Sequence::Kind::list) {
        for (const Value value : sequence.list) table.push_back(placed(sequence, placement, value));
        column.kind = sequence.every == 1 ? Column::Kind::table : Column::Kind::stepped_table;
    } else if (sequence.kind == Sequence::Kind::random && !sequence.list.empty() && sequence.every == 1) {
        for (const Value value : sequence.list) table.push_back(placed(sequence, placement, value));
        column.kind = Column::Kind::random_table;
        column.range = sequence.list.size();
    } else {
        return false;
    }
    column.table = add_table(std::move(table), storage);
    return true;
}

}  // namespace

Divider divider(std::uint64_t divisor) {
    return {divisor, divisor == 0 ? 0 : ~std::uint64_t{0} / divisor};
}

Column make_column(const Sequence& sequence, const Placement& placement, PlanStorage& storage) {
    Column column;
    column.flow = divider(sequence.flow_packets);
    column.every = divider(sequence.every);
    column.cycle = divider(sequence.cycle);
    column.key = sequence.key;
    if (make_table(column, sequence, placement, storage)) return column;
    if (affine(sequence, placement)) {
        if (sequence.kind == Sequence::Kind::linear) {
            set_affine(column, sequence, placement);
            const bool wraps_once = sequence.cycle == 0 || sequence.cycle >= chunk;
            column.kind = sequence.every == 1 && wraps_once ? Column::Kind::linear
                          : sequence.every >= chunk         ? Column::Kind::slow
                                                            : Column::Kind::stepped;
            return column;
        }
        if (sequence.kind == Sequence::Kind::random && sequence.set == 0 && sequence.every == 1 &&
            sequence.last < two_to_32) {
            set_affine(column, sequence, placement);
            column.kind = Column::Kind::random;
            column.range = static_cast<std::uint64_t>(sequence.last) + 1;
            return column;
        }
    }
    column.kind = Column::Kind::computed;
    column.sequence = &storage.sequences.emplace_back(sequence);
    column.minus = placement.minus;
    column.left = placement.left;
    column.mask = static_cast<std::uint32_t>(placement.mask << placement.left);
    column.flow = {};
    return column;
}

}  // namespace volley::packet
