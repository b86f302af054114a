#include "daemon/steering.h"

#include <spdlog/spdlog.h>

#include "config/load.h"
#include "telemetry/unix_listener.h"

namespace volley::daemon {
namespace {

service::Api::Options api_options(const config::Model& model, const std::string& version) {
    service::Api::Options out;
    out.name = model.name;
    out.version = version;
    if (model.service.tokens && model.service.http) out.tokens = service::Tokens::load(*model.service.tokens);
    out.loopback_only = !model.service.http || config::is_loopback(*model.service.http);
    out.stale_ns = std::max(out.stale_ns, 3 * model.telemetry.interval.ns);
    return out;
}

}  // namespace

Steering::Steering(const config::Model& model, const std::string& version,
                   const telemetry::StatsLoop& stats) {
    if (model.service.http) tokens_file_ = model.service.tokens;
    service::Api::Sources sources;
    sources.latest = [&stats] { return stats.latest(); };
    sources.latest_report = [&stats] { return stats.latest_report(); };
    sources.configuration = [this] { return configuration_.load(); };
    api_ = std::make_unique<service::Api>(api_options(model, version), std::move(sources), mailbox_);
    publish(model);  // before anybody can ask for it
    serve(model);
}

Steering::~Steering() {
    mailbox_.close();
    server_.reset();
}

void Steering::publish(const config::Model& model) {
    configuration_.store(service::make_configuration(config::dump_config(model) + "\n"));
}

std::function<void()> Steering::read_secrets_again() {
    if (server_ == nullptr) return [] {};
    std::optional<service::Tokens> tokens;
    if (tokens_file_) tokens = service::Tokens::load(*tokens_file_);
    return [this, renew_tls = server_->read_tls_again(), tokens] {
        renew_tls();
        if (tokens) server_->post([this, tokens] { api_->use(*tokens); });
    };
}

void Steering::serve(const config::Model& model) {
    const config::Service& wanted = model.service;
    service::Server::Options options;
    if (wanted.http) {
        options.tcp_address = wanted.http->address;
        options.tcp_port = wanted.http->port;
        if (wanted.tls)
            options.tls = {wanted.tls->certificate, wanted.tls->key, wanted.tls->client_ca.value_or("")};
    }
    if (wanted.unix_socket && *wanted.unix_socket != "auto") {
        options.unix_path = *wanted.unix_socket;
    } else if (wanted.unix_socket) {
        const auto no_socket =
            [&](const std::exception& error) {  // nobody asked for it: its lack ends nothing
                spdlog::warn("no control socket: {}; set service.unix to a path of your own, or to null",
                             error.what());
                options.unix_path.clear();
            };
        try {
            options.unix_path = telemetry::auto_socket_path(model.name, "control");
            telemetry::UnixListener probe(options.unix_path);
        } catch (const std::system_error& error) {
            // Who steers NAME must not reach another one than he thinks.
            if (error.code() == std::errc::address_in_use) throw;
            no_socket(error);
        } catch (const std::exception& error) {
            no_socket(error);
        }
    }
    if (options.unix_path.empty() && options.tcp_address.empty()) return;
    server_ = std::make_unique<service::Server>(options, *api_);
    if (!options.unix_path.empty()) spdlog::info("control socket {}", options.unix_path);
    if (wanted.http) {
        spdlog::info("serving {}://{}", wanted.tls ? "https" : "http",
                     to_text(config::Endpoint{wanted.http->address, server_->tcp_port()}));
    }
}

}  // namespace volley::daemon
