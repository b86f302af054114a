#include "volley-bench/volleyd.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "base/tsc.h"
#include "volley-bench/machine.h"

namespace volley::bench {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Nanoseconds on a CPU: the first word of schedstat (sched-stats.rst). The ticks of stat are samples.
std::uint64_t task_ns(const std::filesystem::path& task) {
    std::ifstream in(task / "schedstat");
    std::uint64_t ns = 0;
    in >> ns;
    return ns;
}

void add_tasks(pid_t pid, ThreadTimes& out) {
    std::error_code ignored;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
        out.emplace_back(task.path().string(), task_ns(task.path()));
        std::ifstream children(task.path() / "children");
        for (pid_t child = 0; children >> child;) add_tasks(child, out);
    }
}

// A field of the interface's line in net/dev: 1 packets received, 3 dropped, counted from the colon.
std::uint64_t counter(const std::string& interface, unsigned field) {
    std::ifstream in("/proc/self/net/dev");
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || line.substr(0, colon).find(interface) == std::string::npos)
            continue;
        std::istringstream values(line.substr(colon + 1));
        std::uint64_t value = 0;
        for (unsigned i = 0; i <= field; ++i) values >> value;
        return value;
    }
    throw std::runtime_error("no interface " + interface);
}

}  // namespace

std::string volleyd_path() {
    std::error_code ignored;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
    const auto built = self.parent_path().parent_path() / "app" / "volleyd";
    if (std::filesystem::exists(built, ignored)) return built.string();
    const auto beside = self.parent_path() / "volleyd";
    if (std::filesystem::exists(beside, ignored)) return beside.string();
    return "volleyd";
}

json volleyd_config(const std::string& device, const json& streams, const json& tx) {
    const auto last = static_cast<unsigned>(usable_cpus().size()) - 1;
    json port{{"name", "bench"}, {"device", device}, {"tx", {{"lcores", json::array({2})}}}};
    port["tx"].update(tx);
    return {
        {"version", 1},
        {"name", "bench-" + std::to_string(getpid())},
        {"eal",
         {{"lcores", "0@" + std::to_string(usable_cpus().front()) + ",1@" +
                         std::to_string(usable_cpus().front()) + ",2@" + std::to_string(usable_cpus()[last])},
          {"huge_pages", "no"},
          {"memory_mib", 256}}},
        {"lcores", {{"control", 0}, {"stats", 1}}},
        {"ports", json::array({port})},
        {"streams", streams},
        {"run", {{"settle_time", "0ms"}}},
        {"telemetry", {{"socket", nullptr}}}};
}

VolleydRun::VolleydRun(const json& config, const std::string& duration) {
    const std::string file = dir_.write("volley.json", config.dump(1));
    std::vector<std::string> command{volleyd_path(), "--config", file};
    if (!duration.empty()) command.insert(command.end(), {"--duration", duration});
    process_ = std::make_unique<test::Process>(
        command, std::vector<std::string>{"XDG_RUNTIME_DIR=" + runtime_directory(),
                                          "RUNTIME_DIRECTORY=" + runtime_directory()});
}

json VolleydRun::report() {
    process_->signal(SIGTERM);
    const auto status = process_->wait();
    const std::string out = process_->out();
    if (status != 0 && status != 75) throw std::runtime_error("volleyd failed:\n" + process_->err());
    const std::size_t end = out.find_last_not_of('\n');
    const std::size_t start = out.rfind('\n', end);
    return json::parse(out.substr(start == std::string::npos ? 0 : start + 1));
}

nlohmann::json udp_stream(std::uint32_t burst, const nlohmann::json& destination, const nlohmann::json& udp) {
    using nlohmann::json;
    json ports{{"src", 9}, {"dst", 9}};
    ports.update(udp);
    const json headers =
        json::array({json{{"eth", {{"src", "02:00:00:00:00:01"}, {"dst", "02:00:00:00:00:02"}}}},
                     json{{"ipv4", {{"src", "198.18.0.1"}, {"dst", destination}}}}, json{{"udp", ports}}});
    return json::array({json{{"name", "udp"},
                             {"port", "bench"},
                             {"rate", "max"},
                             {"burst", burst},
                             {"packet", {{"frame_size", 64}, {"headers", headers}}}}});
}

bool installed(const std::string& program) {
    return test::run({"sh", "-c", "command -v " + program}).status == 0;
}

void enter_private_network() {
    usable_cpus();
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        throw std::system_error(errno, std::generic_category(),
                                "no network namespace of its own (run as root)");
    ip({"link", "set", "lo", "up"});
}

void ip(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{"ip"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const test::Result result = test::run(command);
    if (result.status == 0) return;
    std::string words;
    for (const std::string& argument : arguments) words += " " + argument;
    throw std::runtime_error("ip" + words + ": " + result.err);
}

void make_veth(const std::string& a, const std::string& b) {
    ip({"link", "add", a, "type", "veth", "peer", "name", b});
    for (const std::string& end : {a, b}) {
        std::ofstream("/proc/sys/net/ipv6/conf/" + end + "/disable_ipv6") << 1;
        ip({"link", "set", end, "up"});
    }
}

std::uint64_t received(const std::string& interface) {
    return counter(interface, 1) + counter(interface, 3);
}

ThreadTimes thread_times(pid_t pid) {
    ThreadTimes out;
    add_tasks(pid, out);
    return out;
}

double busiest_cycles(const ThreadTimes& before, const ThreadTimes& after) {
    std::uint64_t ns = 0;
    for (const auto& [task, now] : after) {
        for (const auto& [known, earlier] : before) {
            if (known == task) ns = std::max(ns, now - earlier);
        }
    }
    return static_cast<double>(ns) / 1e9 * static_cast<double>(tsc_hz());
}

std::optional<Watched> watch(test::Process& process, const std::string& interface, double seconds) {
    const std::uint64_t before = received(interface);
    const auto asked = Clock::now();
    while (received(interface) < before + 1000) {
        if (seconds_since(asked) > 20 || process.wait(test::Seconds{0.01})) return std::nullopt;
    }
    // A moving average of a program's start is not its rate.
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 5));
    const std::uint64_t first = received(interface);
    const auto start = Clock::now();
    const ThreadTimes before_it = thread_times(process.pid());
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const double cycles = busiest_cycles(before_it, thread_times(process.pid()));
    const std::uint64_t packets = received(interface) - first;
    const double elapsed = seconds_since(start);
    if (packets == 0) return std::nullopt;
    return Watched{static_cast<double>(packets) / elapsed, cycles / static_cast<double>(packets)};
}

}  // namespace volley::bench
