#include "traffic/source_check.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <variant>

#include "config/load.h"
#include "packet/signature.h"
#include "traffic/source.h"

namespace volley::traffic {
namespace {

void check_stream(const config::Model& model, const config::Stream& stream, config::Report& report) {
    const std::string place = stream.pointer + "/packet";
    const config::Port* const port = find_port(model, stream.port);
    if (port == nullptr) return;  // refused before
    std::vector<std::uint32_t> workers = stream.workers;
    if (workers.empty() && port->tx) {
        workers.resize(port->tx->lcores.size());
        std::iota(workers.begin(), workers.end(), 0U);
    }
    const auto signing = stream.is_signed() ? std::make_shared<packet::Signing>() : nullptr;
    auto built = build_source(stream, port->mac, workers, signing);
    if (auto* problems = std::get_if<std::vector<packet::Problem>>(&built)) {
        for (packet::Problem& problem : *problems) {
            report.problems.push_back({report.file, 0, 0, place + problem.pointer, std::move(problem.text)});
        }
        return;
    }
    auto& source = std::get<Source>(built);
    std::string reason = too_long(*port, *source.packet);
    if (!reason.empty()) report.problems.push_back({report.file, 0, 0, place, std::move(reason)});
    if (std::string unsent = unsent_cpus(stream, *port, source); !unsent.empty())
        source.warnings.push_back(std::move(unsent));
    for (std::string& warning : source.warnings) report.warnings.push_back(std::move(warning));
}

}  // namespace

config::Report check_file(const std::string& path, const std::vector<std::string>& sets) {
    config::Report report = config::check_file(path, sets);
    if (!report.valid()) return report;
    const config::Model model = config::load(path, sets);
    for (const config::Stream& stream : model.streams) {
        if (stream.source.any()) check_stream(model, stream, report);
    }
    config::locate_in(path, sets, report.problems);
    return report;
}

}  // namespace volley::traffic
