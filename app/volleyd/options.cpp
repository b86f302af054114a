#include "volleyd/options.h"

#include <rte_version.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>

#include "volleyd/json_formatter.h"

namespace volley::app {
namespace {

constexpr int exit_usage = 64;

// systemd.exec(5): JOURNAL_STREAM names device and inode of the journal's end of stderr, if stderr goes
// there.
bool stderr_is_the_journal() {
    const char* stream = std::getenv("JOURNAL_STREAM");
    struct stat status {};
    if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

// Puts sd-daemon(3)'s "<priority>" before each line, which the journal takes off again.
class JournalFormatter : public spdlog::formatter {
  public:
    explicit JournalFormatter(std::unique_ptr<spdlog::formatter> inner) : inner_(std::move(inner)) {}

    void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
        constexpr std::array priorities{'7', '7', '6', '4', '3', '2', '6'};
        const auto level = std::min(static_cast<std::size_t>(message.level), priorities.size() - 1);
        const std::array<char, 3> prefix{'<', priorities[level], '>'};
        out.append(prefix.data(), prefix.data() + prefix.size());
        inner_->format(message, out);
    }
    [[nodiscard]] std::unique_ptr<spdlog::formatter> clone() const override {
        return std::make_unique<JournalFormatter>(inner_->clone());
    }

  private:
    std::unique_ptr<spdlog::formatter> inner_;
};

std::unique_ptr<spdlog::formatter> formatter_for(const CommandLine& line, bool journal) {
    if (line.log_format == "json") return std::make_unique<JsonFormatter>();
    // The journal has the time and the priority already.
    return std::make_unique<spdlog::pattern_formatter>(journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
}

}  // namespace

std::optional<CommandLine> parse_command_line(int argc, char** argv, int& exit_code) {
    CommandLine out;
    std::string duration;
    std::string multiplier;
    CLI::App app{"volleyd sends the traffic that a JSON file describes and reports exactly what it sent."};
    app.add_option("--config", out.config, "configuration file; see docs/configuration.md")
        ->type_name("FILE");
    app.add_flag("--check", out.check,
                 "check the file, say everything that is wrong, and exit; needs no NIC and no root");
    app.add_flag("--dump-config", out.dump_config,
                 "print the effective configuration with all defaults, and exit");
    app.add_option("--set", out.sets, "change one value of the file: /json/pointer=value; may be repeated")
        ->type_name("POINTER=VALUE")
        ->allow_extra_args(false);
    app.add_option("--duration", duration, "length of the run, such as 10s; sets /run/duration")
        ->type_name("D");
    app.add_option("--multiplier", multiplier, "factor on every scaled rate; sets /run/multiplier")
        ->type_name("X");
    app.add_option("--report", out.report, "write the report, the last line of stdout, to this file too")
        ->type_name("FILE");
    app.add_flag("--live", out.live,
                 "a line a second for people on stderr; given by itself where stderr is a terminal");
    app.add_option("--log-level", out.log_level, "trace, debug, info, warning, error, critical or off")
        ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error", "critical", "off"}))
        ->type_name("L");
    app.add_option("--log-format", out.log_format, "text or json")
        ->check(CLI::IsMember({"text", "json"}))
        ->type_name("F");
    app.add_flag("--version", out.version, "print the versions of volleyd, DPDK and compiler, and exit");
    app.footer(
        "Exit codes: 0 done; 1 an expectation was not met; 2 a rate fell short of what was expected; 64 "
        "usage; 65 wrong configuration; 66 no such file; 69 NIC or memory not "
        "available;\n"
        "70 internal error; 75 packets left unsent; 77 no permission; 78 the host's configuration.");
    try {
        app.parse(argc, argv);
        if (!out.version && out.config.empty()) throw CLI::RequiredError("--config FILE");
    } catch (const CLI::ParseError& error) {
        exit_code = app.exit(error) == 0 ? 0 : exit_usage;
        return std::nullopt;
    }
    if (!duration.empty()) out.sets.push_back("/run/duration=" + duration);
    if (!multiplier.empty()) out.sets.push_back("/run/multiplier=" + multiplier);
    return out;
}

std::string version_text() {
    return std::string("volleyd ") + VOLLEY_VERSION + "\nDPDK of the build: " + RTE_VER_PREFIX + " " +
           std::to_string(RTE_VER_YEAR) + "." + (RTE_VER_MONTH < 10 ? "0" : "") +
           std::to_string(RTE_VER_MONTH) + "." + std::to_string(RTE_VER_MINOR) +
           "\nDPDK of this run: " + rte_version() + "\ncompiler: " + __VERSION__ + "\n";
}

void set_up_logging(const CommandLine& line) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    auto logger = std::make_shared<spdlog::logger>("volleyd", sink);
    logger->set_level(spdlog::level::from_str(line.log_level));
    const bool journal = stderr_is_the_journal();
    auto formatter = formatter_for(line, journal);
    if (journal) formatter = std::make_unique<JournalFormatter>(std::move(formatter));
    logger->set_formatter(std::move(formatter));
    spdlog::set_default_logger(std::move(logger));
}

}  // namespace volley::app
