#include "system/soft_scene.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "config/load.h"
#include "daemon/daemon.h"
#include "daemon/signals.h"
#include "support/json_lines.h"

namespace volley::test {
namespace {

class Keeping : public spdlog::sinks::base_sink<std::mutex> {
  public:
    [[nodiscard]] std::string text() {
        const std::lock_guard lock(mutex_);
        return text_;
    }

  protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        text_.append(message.payload.data(), message.payload.size()) += '\n';
    }
    void flush_() override {}

  private:
    std::string text_;
};

// A thread that inherited the control lcore's CPU would wait for it.
void use_every_cpu() {
    cpu_set_t all;
    CPU_ZERO(&all);
    for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) CPU_SET(cpu, &all);
    pthread_setaffinity_np(pthread_self(), sizeof all, &all);
}

}  // namespace

soft82599::Port& Scene::nic(unsigned number) {
    soft82599::Port* const port =
        soft82599::volley_soft82599_find(("net_soft82599_" + std::to_string(number)).c_str());
    if (port == nullptr) throw std::runtime_error("no soft port " + std::to_string(number));
    return *port;
}

std::vector<json> Scene::lines() const {
    std::string text = read_file(lines_);
    text.resize(text.rfind('\n') + 1);
    return parse_json_lines(text);
}

bool Scene::wait_until(const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

bool Scene::wait_for_line(const std::function<bool(const json&)>& condition) const {
    return wait_until([&] {
        for (const json& line : lines()) {
            if (condition(line)) return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return false;
    });
}

void Scene::signal(int number) {
    kill(getpid(), number);
}

void Scene::reload(const json& config) const {
    std::ofstream(file_) << config;
    signal(SIGHUP);
}

SceneResult run_scene(const json& config, const std::function<void(const Scene&)>& operate) {
    const TempDir dir;
    setenv("RUNTIME_DIRECTORY", dir.path().c_str(), 1);
    const auto log = std::make_shared<Keeping>();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", log));
    const std::string lines = dir.write("lines", "");
    const int out = open(lines.c_str(), O_APPEND | O_WRONLY | O_CLOEXEC);
    const int terminal = dup(STDOUT_FILENO);
    std::fflush(stdout);
    dup2(out, STDOUT_FILENO);
    daemon::block_signals();
    const std::string file = dir.write("volley.json", config.dump());
    SceneResult result;
    const Scene scene(lines, file);
    try {
        daemon::Daemon daemon({file, {}, dir.file("report"), false}, config::load(file));
        std::thread operating([&] {
            use_every_cpu();
            try {
                operate(scene);
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
                Scene::signal(SIGTERM);
            }
        });
        try {
            result.status = daemon.run();
        } catch (const std::exception& error) {
            result.error = error.what();
        }
        operating.join();
    } catch (const std::exception& error) {
        result.error = error.what();
    }
    dup2(terminal, STDOUT_FILENO);
    close(terminal);
    close(out);
    result.lines = scene.lines();
    result.log = log->text();
    return result;
}

}  // namespace volley::test
