#include "packet/domain.h"

namespace volley::packet {
namespace {

constexpr std::size_t longest_label = 63;
constexpr std::size_t longest_name = 255;

}  // namespace

std::optional<std::vector<std::uint8_t>> domain_labels(std::string_view text, std::string& why) {
    if (text.ends_with('.')) text.remove_suffix(1);
    std::vector<std::uint8_t> out;
    while (!text.empty()) {
        const std::string_view label = text.substr(0, text.find('.'));
        if (label.empty() || label.size() > longest_label) {
            why = label.empty() ? "has an empty label; put one dot between labels"
                                : "has a label of " + std::to_string(label.size()) + " bytes; the most is 63";
            return std::nullopt;
        }
        out.push_back(static_cast<std::uint8_t>(label.size()));
        out.insert(out.end(), label.begin(), label.end());
        text.remove_prefix(label.size());
        if (text.empty()) break;
        text.remove_prefix(1);
        if (text.empty()) {
            why = "ends with two dots";
            return std::nullopt;
        }
    }
    out.push_back(0);
    if (out.size() > longest_name) {
        why = "takes " + std::to_string(out.size()) + " bytes as labels; the most is 255";
        return std::nullopt;
    }
    return out;
}

std::string domain_text(std::span<const std::uint8_t> labels) {
    std::string out;
    while (!labels.empty() && labels[0] != 0 && labels[0] < labels.size()) {
        if (!out.empty()) out += '.';
        out.append(labels.begin() + 1, labels.begin() + 1 + labels[0]);
        labels = labels.subspan(labels[0] + std::size_t{1});
    }
    return out.empty() ? "." : out;
}

}  // namespace volley::packet
