#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/model.h"
#include "service/api.h"
#include "service/configuration.h"
#include "service/mailbox.h"
#include "service/server.h"
#include "telemetry/stats_loop.h"

namespace volley::daemon {

/// The control interface as control sees it: letters come in, the configuration in force goes out. What is
/// read without control's help comes from the stats loop, which must outlive this.
class Steering {
  public:
    /// Throws what the server and the tokens throw. A default socket that cannot be made is a warning only.
    Steering(const config::Model& model, const std::string& version, const telemetry::StatsLoop& stats);
    ~Steering();
    Steering(const Steering&) = delete;
    Steering& operator=(const Steering&) = delete;

    [[nodiscard]] std::optional<service::Mailbox::Letter> take() { return mailbox_.take(); }
    /// Whether a client waits for the run to be stopped.
    [[nodiscard]] bool stop_waits() { return mailbox_.holds(service::Command::Kind::stop); }
    void publish(const config::Model& model);
    /// Reads tokens and TLS files as they are now. Throws what the first reading would; what it returns takes
    /// them into use.
    [[nodiscard]] std::function<void()> read_secrets_again();
    [[nodiscard]] std::string etag() const { return configuration_.load()->etag; }

  private:
    void serve(const config::Model& model);

    std::optional<std::string> tokens_file_;
    service::Mailbox mailbox_;
    service::CurrentConfiguration configuration_;
    std::unique_ptr<service::Api> api_;
    std::unique_ptr<service::Server> server_;
};

}  // namespace volley::daemon
