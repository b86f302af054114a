#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "soft82599/control.h"

namespace volley::soft82599 {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool model_needs_runtime = true;
#elif defined(__has_feature)
constexpr bool model_needs_runtime = __has_feature(address_sanitizer);
#else
constexpr bool model_needs_runtime = false;
#endif
constexpr const char* testpmd = "/usr/bin/dpdk-testpmd";

/// Runs the program with `input` on stdin and the plugin's directory in the library path; returns what it
/// printed.
std::string run(std::vector<std::string> arguments, const std::string& directory, const std::string& input) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) return "pipe";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    posix_spawn_file_actions_adddup2(&actions, from[1], 2);
    posix_spawn_file_actions_addchdir_np(&actions,
                                         "/");  // the EAL takes a name with a slash for a path, and is picky
    std::string library_path = "LD_LIBRARY_PATH=" + directory, path = "PATH=/usr/bin:/bin",
                term = "TERM=dumb";
    std::array<char*, 4> environment{library_path.data(), path.data(), term.data(), nullptr};
    std::vector<char*> argv(arguments.size() + 1);  // ends with a null pointer
    std::transform(arguments.begin(), arguments.end(), argv.begin(),
                   [](auto& argument) { return argument.data(); });
    pid_t pid = 0;
    const int spawned = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    std::string output;
    if (spawned == 0) {
        EXPECT_EQ(write(to[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
        std::array<char, 4096> buffer{};
        for (ssize_t n = 0; (n = read(from[0], buffer.data(), buffer.size())) > 0;) {
            output.append(buffer.data(), static_cast<std::size_t>(n));
        }
        int status = 0;
        waitpid(pid, &status, 0);
        output += "\nstatus " + std::to_string(status);
    }
    close(to[1]);
    close(from[0]);
    return output;
}

TEST(Plugin, serves_a_program_that_knows_nothing_of_it) {
    if (model_needs_runtime)
        GTEST_SKIP() << "the model of an AddressSanitizer build cannot join a program without it";
    if (access(testpmd, X_OK) != 0) GTEST_SKIP() << testpmd << " is not installed";
    Dl_info info{};
    ASSERT_NE(dladdr(reinterpret_cast<void*>(&volley_soft82599_find), &info), 0);
    const std::string directory = std::filesystem::canonical(info.dli_fname).parent_path();
    const std::string output = run({testpmd,
                                    "--lcores",
                                    "0@0,1@0",
                                    "--no-huge",
                                    "--no-pci",
                                    "-m",
                                    "128",
                                    "--no-telemetry",
                                    "--no-shconf",
                                    "-d",
                                    "libsoft82599.so.1",
                                    "--vdev",
                                    "net_soft82599_0,id=10fb",
                                    "--vdev",
                                    "net_soft82599_1,id=10f7,peer=net_soft82599_0",
                                    "--log-level=pmd.net.ixgbe.init:debug",
                                    "--",
                                    "-i",
                                    "--no-mlockall",
                                    "--total-num-mbufs=4096"},
                                   directory, "show port info all\nport stop all\nport detach 1\nquit\n");
    EXPECT_NE(output.find("PHY: 20, SFP+: 5"), std::string::npos)
        << output;  // the module was read over the bus
    EXPECT_NE(output.find("Device name: 8259:99:00.0"), std::string::npos) << output;
    EXPECT_NE(output.find("Device name: 8259:99:01.0"), std::string::npos) << output;
    EXPECT_NE(output.find("Link speed: 10 Gbps"), std::string::npos) << output;
    EXPECT_NE(output.find("\nstatus 0"), std::string::npos) << output;
}

TEST(Plugin, is_found_by_a_program_that_is_not_linked_with_it) {
    EXPECT_EQ(find_in_plugin("net_soft82599_9"), nullptr);
    EXPECT_NE(dlopen("libsoft82599.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace volley::soft82599
