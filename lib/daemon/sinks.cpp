#include "daemon/sinks.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "telemetry/descriptor_sink.h"
#include "telemetry/file_sink.h"
#include "telemetry/socket_sink.h"

namespace volley::daemon {
namespace {

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

void add_default_socket(std::vector<std::unique_ptr<telemetry::Sink>>& out, const std::string& name) {
    const std::string directory = runtime_directory();
    const std::string path = directory + "/" + name + ".telemetry.sock";
    try {
        std::filesystem::create_directories(directory);
        out.push_back(std::make_unique<telemetry::SocketSink>(path));
    } catch (const std::exception& error) {
        spdlog::warn("no telemetry socket: {}; set telemetry.socket to a path of your own, or to null",
                     error.what());
    }
}

}  // namespace

std::string runtime_directory() {
    const std::string service = from_environment("RUNTIME_DIRECTORY");
    if (!service.empty()) return service;
    const std::string user = from_environment("XDG_RUNTIME_DIR");
    return user.empty() ? "/run/volley" : user + "/volley";
}

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
