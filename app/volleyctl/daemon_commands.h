#pragma once

#include <CLI/App.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "volleyctl/client.h"

namespace volley::ctl {

/// Options of every verb that talks to a daemon.
void add_place(CLI::App& app, Place& place);

/// The verbs that talk to a daemon.
class DaemonCommands {
  public:
    DaemonCommands(CLI::App& app, const Place& place);
    [[nodiscard]] bool parsed() const;
    /// Runs the one that was parsed; returns the exit code.
    int run();

  private:
    CLI::App* verb(CLI::App& app, const std::string& name, const std::string& help,
                   int (DaemonCommands::*action)());
    /// A reply that is no success: tells it on stderr and returns its exit code.
    [[nodiscard]] int tell(const Reply& reply) const;
    /// Prints the body of a success, as it is for --json, else by `text`.
    int show(const Reply& reply, std::string (*text)(const std::string& body)) const;
    int show_ports(const std::string& route, std::string (*text)(const std::string& body)) const;
    [[nodiscard]] int none_named(const std::string& kind) const;
    int change(const std::string& method, const std::string& path, const std::string& body = {});
    int change_streams(const std::string& body);

    int run_once();
    int status();
    int ports();
    int streams();
    int xstats();
    int start();
    int stop();
    int pause();
    int resume();
    int rate();
    int clear();
    int reload();
    int log_level();
    int watch();
    int capture();
    int report();

    [[nodiscard]] std::string start_body() const;
    nlohmann::json configuration();

    struct Verb {
        CLI::App* app;
        int (DaemonCommands::*action)();
    };
    std::vector<Verb> verbs_;
    const Place& place_;
    std::unique_ptr<Client> client_;
    bool json_ = false;
    bool no_wait_ = false;
    std::string from_;  ///< of report; empty: the daemon
    std::string result_file_;
    std::string html_file_;
    std::string csv_file_;
    std::string junit_file_;
    std::string pattern_ = "*";
    std::vector<std::string> patterns_;
    std::string rate_;
    std::string level_;
    std::string duration_;
    std::string multiplier_;
    std::string report_file_;
    unsigned count_ = 0;
    std::string port_;  ///< of capture, as what follows
    std::string filter_;
    std::string packets_;
    std::string bytes_;
    std::string snap_;
    std::string capture_file_ = "-";
};

/// sysexits.h for an answer.
int exit_code_of(const Reply& reply);
/// "code: message; hint", with a line a problem.
std::string error_text(const Reply& reply);

}  // namespace volley::ctl
