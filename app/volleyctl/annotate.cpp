#include "volleyctl/annotate.h"

#include <algorithm>

#include "import/dissect.h"
#include "packet/bits.h"
#include "packet/text.h"

namespace volley::ctl {
namespace {

constexpr std::size_t line = 16;

class Annotator {
  public:
    Annotator(const packet::Description& description, std::span<const std::uint8_t> frame,
              std::uint32_t signature)
        : description_(description), frame_(frame), signature_(signature), named_(frame.size()) {}

    std::vector<Annotation> run() {
        for (const auto& layer : description_.layers) {
            for (const auto& field : layer.fields) add_field(layer, field);
        }
        for (const auto& layer : description_.layers) {
            add_rest(layer.name, layer.offset, layer.offset + layer.length);
        }
        add_rest("payload", description_.payload_at, frame_.size() - signature_);
        add_rest("signature", frame_.size() - signature_, frame_.size());
        std::stable_sort(out_.begin(), out_.end(),
                         [](const Annotation& a, const Annotation& b) { return a.offset < b.offset; });
        return std::move(out_);
    }

  private:
    void add(std::size_t begin, std::size_t end, Annotation what) {
        what.offset = static_cast<std::uint32_t>(begin);
        what.bytes.assign(frame_.begin() + static_cast<std::ptrdiff_t>(begin),
                          frame_.begin() + static_cast<std::ptrdiff_t>(end));
        out_.push_back(std::move(what));
    }

    void add_field(const packet::DescribedLayer& layer, const packet::DescribedField& field) {
        const packet::FieldInfo& info = *field.field;
        const std::size_t begin = field.bit / 8;
        const std::size_t end = (field.bit + info.bit_width + 7U) / 8;
        if (info.bit_width == 0 || end > frame_.size()) return;
        const packet::Value value = packet::get_bits(frame_, field.bit, info.bit_width);
        std::fill(named_.begin() + static_cast<std::ptrdiff_t>(begin),
                  named_.begin() + static_cast<std::ptrdiff_t>(end), true);
        add(begin, end,
            {0, {}, layer.name, std::string(info.name), packet::to_text(info.type, value), field.program});
    }

    // What no field names, in lines.
    void add_rest(const std::string& name, std::size_t begin, std::size_t end) {
        end = std::min(end, frame_.size());
        while (begin < end) {
            if (named_[begin]) {
                ++begin;
                continue;
            }
            std::size_t stop = begin;
            while (stop < end && stop - begin < line && !named_[stop]) ++stop;
            add(begin, stop, {0, {}, name, {}, {}, {}});
            begin = stop;
        }
    }

    const packet::Description& description_;
    std::span<const std::uint8_t> frame_;
    std::uint32_t signature_;
    std::vector<bool> named_;
    std::vector<Annotation> out_;
};

}  // namespace

packet::Description describe_frame(std::span<const std::uint8_t> frame) {
    packet::Description out;
    const auto dissected = imports::dissect(frame);
    for (std::size_t i = 0; i < dissected.layers.size(); ++i) {
        const imports::FoundLayer& found = dissected.layers[i];
        packet::DescribedLayer layer{found.kind, found.name, found.offset, 0, {}};
        for (const packet::FieldInfo& field : packet::all_fields()) {
            if (field.header != found.kind) continue;
            if (const auto bit = imports::bit_of(found, field, frame)) {
                layer.fields.push_back({&field, *bit, {}});
            }
        }
        out.layers.push_back(std::move(layer));
    }
    return out;
}

std::vector<Annotation> annotate(const packet::Description& description, std::span<const std::uint8_t> frame,
                                 std::uint32_t signature) {
    return Annotator(description, frame, signature).run();
}

}  // namespace volley::ctl
