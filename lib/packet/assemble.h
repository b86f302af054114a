#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "packet/columns.h"
#include "packet/layout.h"
#include "packet/plan.h"
#include "packet/rotation_plan.h"
#include "packet/signature.h"
#include "packet/sizes.h"

namespace volley::packet {

/// Everything that a template owns: the constant bytes and the plan that stamps the rest.
struct Assembly {
    std::vector<std::uint8_t> image;  ///< of the longest packet
    Plan plan;
    bool constant = false;
    std::uint32_t trailer = 0;      ///< bytes at the end of each packet that are written after stamping
    std::uint16_t trailer_sum = 0;  ///< what they add to a checksum that covers them, as a memory-order word
    std::vector<std::pair<std::uint16_t, std::uint16_t>> routed;  ///< bytes that a router may change

    PlanStorage storage;
    std::vector<Column> columns;  ///< of the narrow cells; the last is the size's, if it varies
    std::vector<SumStart> sums;
    std::vector<NarrowCell> narrow;
    std::vector<WideCell> wide;
    std::vector<WidePart> wide_parts;
    std::vector<VariantWrite> by_size;
    std::vector<RandomPayload> payload;
    std::vector<CrcWrite> crcs;
    std::vector<ChecksumWrite> checksums;
    std::vector<SumTarget> targets;
    std::vector<std::uint16_t> lengths;  ///< by entry of the tables that depend on the size
    std::unique_ptr<const Rotation> rotation;
    std::vector<std::uint16_t> size_order;  ///< variant of each such entry; empty: entry v is variant v
};

/// Groups the varying parts into cells and takes the constant bits of their bytes from the image. Parts of
/// wide fields whose upper bits never change shrink to what does; those bits go into the image.
void add_cells(Assembly& out, Layout& layout, std::vector<Problem>& problems);

/// Computes the checksums and lengths that are constant into the image, and adds to the plan those that are
/// not. `end` is where the content of a packet of fixed size ends; what lies behind is padding.
void add_sums(Assembly& out, const Layout& layout, const Sizes& sizes, std::uint32_t end,
              std::vector<Problem>& problems);

/// Turns laid-out headers, sizes and payload into bytes and a plan. signing: leaves room for its trailer;
/// may be nullptr. Problems are appended.
std::unique_ptr<Assembly> assemble(const PacketModel& model, Layout layout, const Sizes& sizes,
                                   const Signing* signing, std::vector<Problem>& problems);

}  // namespace volley::packet
