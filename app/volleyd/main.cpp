#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

#include "config/load.h"
#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "dpdk/error.h"
#include "service/error.h"
#include "telemetry/file_sink.h"
#include "traffic/source_check.h"
#include "volleyd/options.h"

// A map of the program: command line, configuration, then the daemon, whose members stand in the order of the
// road. Exit codes are sysexits(3), as listed by --help.
namespace {

constexpr int exit_data = 65;
constexpr int exit_no_input = 66;
constexpr int exit_unavailable = 69;
constexpr int exit_internal = 70;
constexpr int exit_no_permission = 77;
constexpr int exit_host_configuration = 78;

int exit_code_of(const volley::dpdk::Error& error) {
    switch (error.code()) {
        case EPERM:
        case EACCES:
            return exit_no_permission;
        case EINVAL:
            return exit_host_configuration;
        default:
            return exit_unavailable;
    }
}

int run(const volley::app::CommandLine& line) {
    const volley::config::Model model = volley::config::load(line.config, line.sets);
    if (line.dump_config) {
        std::puts(volley::config::dump_config(model).c_str());
        return 0;
    }
    if (line.check) {
        const volley::config::Report report = volley::traffic::check_file(line.config, line.sets);
        if (!report.valid()) throw volley::config::Error(report.problems);
        for (const std::string& warning : report.warnings)
            std::fprintf(stderr, "warning: %s\n", warning.c_str());
        std::printf("%s: ok\n", line.config.c_str());
        return 0;
    }
    if (!line.report.empty()) volley::telemetry::check_whole_file(line.report);
    volley::daemon::Daemon daemon({line.config, line.sets, line.report, line.live, VOLLEY_VERSION}, model);
    return daemon.run();
}

}  // namespace

int main(int argc, char** argv) {
    volley::daemon::block_signals();
    int exit_code = 0;
    const auto line = volley::app::parse_command_line(argc, argv, exit_code);
    if (!line) return exit_code;
    if (line->version) {
        std::fputs(volley::app::version_text().c_str(), stdout);
        return 0;
    }
    volley::app::set_up_logging(*line);
    try {
        return run(*line);
    } catch (const volley::daemon::StopAsked& stop) {
        spdlog::info("{}", stop.what());
        return 0;
    } catch (const volley::config::Error& error) {
        for (const auto& problem : error.problems)
            std::fprintf(stderr, "%s\n", volley::config::to_line(problem).c_str());
        return exit_data;
    } catch (const volley::config::FileError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return exit_no_input;
    } catch (const volley::dpdk::Error& error) {
        spdlog::critical("{}", error.what());
        return exit_code_of(error);
    } catch (const std::system_error& error) {  // a socket, file or folder that the host does not let us have
        spdlog::critical("{}", error.what());
        return error.code() == std::errc::permission_denied ? exit_no_permission : exit_host_configuration;
    } catch (const volley::service::SetupError& error) {
        spdlog::critical("{}", error.what());
        return exit_host_configuration;
    } catch (const std::exception& error) {
        spdlog::critical("{}", error.what());
        return exit_internal;
    }
}
