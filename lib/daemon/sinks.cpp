#include "daemon/sinks.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "telemetry/descriptor_sink.h"
#include "telemetry/file_sink.h"
#include "telemetry/socket_sink.h"
#include "telemetry/unix_listener.h"

namespace volley::daemon {
namespace {

void add_default_socket(std::vector<std::unique_ptr<telemetry::Sink>>& out, const std::string& name) {
    try {
        out.push_back(
            std::make_unique<telemetry::SocketSink>(telemetry::auto_socket_path(name, "telemetry")));
    } catch (const std::exception& error) {
        spdlog::warn("no telemetry socket: {}; set telemetry.socket to a path of your own, or to null",
                     error.what());
    }
}

}  // namespace

std::vector<std::unique_ptr<telemetry::Sink>> make_sinks(const config::Model& model, bool live) {
    std::vector<std::unique_ptr<telemetry::Sink>> out;
    using Content = telemetry::DescriptorSink::Content;
    out.push_back(std::make_unique<telemetry::DescriptorSink>("stdout", STDOUT_FILENO, Content::json));
    if (live || isatty(STDERR_FILENO) != 0) {
        out.push_back(std::make_unique<telemetry::DescriptorSink>("live", STDERR_FILENO, Content::live));
    }
    if (model.telemetry.file) out.push_back(std::make_unique<telemetry::FileSink>(*model.telemetry.file));
    if (model.telemetry.socket == "auto") {
        add_default_socket(out, model.name);
    } else if (model.telemetry.socket) {
        out.push_back(std::make_unique<telemetry::SocketSink>(*model.telemetry.socket));
    }
    return out;
}

}  // namespace volley::daemon
