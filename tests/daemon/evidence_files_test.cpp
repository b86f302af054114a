#include "daemon/evidence_files.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "support/process.h"
#include "support/temp_dir.h"
#include "support/tshark.h"

namespace volley::daemon {
namespace {

using std::chrono::seconds;
using test::TempDir;
using worker::EvidenceCase;
using worker::Finding;

constexpr seconds patience{30};
const std::string first_run = "lab-20261201T115400Z-00000a";
const std::string second_run = "lab-20261201T115500Z-000009";

/// Three packets, of which the second shows it.
struct Case : EvidenceCase {
    explicit Case(const worker::Found& of, std::uint32_t length = 60) {
        found = of;
        at = 1;
        count = 3;
        packets.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            packets[i].kept = packets[i].length = length;
            packets[i].bytes.fill(static_cast<std::uint8_t>(i));
        }
        state = State::taken;
    }
};

class Files : public testing::Test {
  protected:
    [[nodiscard]] config::Evidence settings() const {
        config::Evidence out;
        out.folder = dir.path();
        return out;
    }
    static void put(EvidenceFiles& files, EvidenceCase& found) {
        files.put({&found, 1, 0, "flood"});
        ASSERT_TRUE(files.wait_until_written(patience));
        EXPECT_EQ(found.state, EvidenceCase::State::free) << "the receiver's room is given back";
    }
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (const auto& entry : std::filesystem::directory_iterator(dir.path()))
            out.push_back(entry.path().filename());
        std::sort(out.begin(), out.end());
        return out;
    }
    TempDir dir;
};

TEST_F(Files, are_captures_whose_comments_name_stream_kind_expected_and_received_sequence) {
    if (const std::string why = test::tshark_unavailable(); !why.empty()) GTEST_SKIP() << why;
    EvidenceFiles files(settings(), "lab", {"east", "west"});
    files.begin_run(first_run);
    Case loss({Finding::loss, 0, 17, 20, 0});
    Case corruption({Finding::corruption, 0, 30, 30, 41}, 1514);
    put(files, loss);
    put(files, corruption);
    const std::string path = dir.file(first_run + ".pcapng");
    EXPECT_EQ(files.totals().file, path);
    EXPECT_EQ(files.totals().written, 2U);
    const auto rows = test::tshark(path, {"frame.comment", "frame.len", "frame.interface_name"});
    const std::vector<std::vector<std::string>> wanted{
        {"1 before loss on stream flood", "60", "west"},
        {"loss on stream flood: expected sequence 17, received sequence 20 (port west, receiver 0)", "60",
         "west"},
        {"1 after loss on stream flood", "60", "west"},
        {"1 before corruption on stream flood", "1514", "west"},
        {"corruption on stream flood: expected sequence 30, received sequence 30, byte 41 differs first "
         "(port west, receiver 0)",
         "1514", "west"},
        {"1 after corruption on stream flood", "1514", "west"},
    };
    EXPECT_EQ(rows, wanted);
    const test::Result info = test::run({"capinfos", "-M", path});
    EXPECT_EQ(info.status, 0) << info.err;
    EXPECT_NE(info.out.find("pcapng"), std::string::npos) << info.out;
    EXPECT_NE(info.out.find("run " + first_run), std::string::npos) << info.out;
}

TEST_F(Files, do_not_exist_before_there_is_something_to_show) {
    EvidenceFiles files(settings(), "lab", {"east", "west"});
    files.begin_run(first_run);
    EXPECT_TRUE(names().empty());
    EXPECT_TRUE(files.totals().file.empty());
}

TEST_F(Files, are_one_a_run_and_the_oldest_of_this_process_go) {
    const std::vector<std::string> strangers{"lab-east-20261201T115300Z-000001.pcapng", "lab-notes.pcapng",
                                             "other-20261201T115300Z-000001.pcapng"};
    for (const std::string& name : strangers) dir.write(name, "");
    dir.write("lab-20261130T115300Z-00000f.pcapng", "");
    config::Evidence two = settings();
    two.files = 2;
    EvidenceFiles files(two, "lab", {"east", "west"});
    for (const std::string& run : {first_run, second_run}) {
        files.begin_run(run);
        Case found({});
        put(files, found);
    }
    std::vector<std::string> wanted = strangers;
    wanted.push_back(first_run + ".pcapng");
    wanted.push_back(second_run + ".pcapng");
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(names(), wanted);
}

TEST_F(Files, never_exceed_their_bytes_and_what_has_no_room_is_counted) {
    config::Evidence small = settings();
    small.bytes = 10'000;
    EvidenceFiles files(small, "lab", {"east", "west"});
    files.begin_run(first_run);
    for (int i = 0; i < 5; ++i) {
        Case found({}, 1'514);
        put(files, found);
    }
    EXPECT_EQ(files.totals().written, 2U);
    EXPECT_EQ(files.totals().dropped, 3U);
    EXPECT_LE(std::filesystem::file_size(dir.file(first_run + ".pcapng")), 10'000U);
}

TEST_F(Files, survive_a_full_disk_stay_whole_and_go_on_when_there_is_room_again) {
    if (const std::string why = test::tshark_unavailable(); !why.empty()) GTEST_SKIP() << why;
    EvidenceFiles files(settings(), "lab", {"east", "west"});
    files.begin_run(first_run);
    Case first({});
    put(files, first);
    const std::string path = dir.file(first_run + ".pcapng");
    // The limit stands in for the end of the disk: a write is cut short, the next one fails.
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit full = before;
    full.rlim_cur = std::filesystem::file_size(path) + 100;
    setrlimit(RLIMIT_FSIZE, &full);
    Case second({});
    Case third({});
    put(files, second);
    put(files, third);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_EQ(files.totals().failed, 2U);
    EXPECT_EQ(files.totals().disk_full, 2U);
    EXPECT_EQ(files.totals().files, 1U);
    EXPECT_EQ(files.totals().bytes, std::filesystem::file_size(path));
    EXPECT_EQ(test::tshark(path, {"frame.number"}).size(), 3U);
    Case fourth({});
    put(files, fourth);
    EXPECT_EQ(files.totals().written, 2U);
    EXPECT_EQ(test::tshark(path, {"frame.number"}).size(), 6U);
}

TEST_F(Files, that_a_full_disk_keeps_from_beginning_cost_no_older_ones) {
    for (const char* id : {"00000a", "00000b", "00000c"})
        dir.write("lab-20261130T115300Z-" + std::string(id) + ".pcapng", "");
    config::Evidence three = settings();
    three.files = 3;
    EvidenceFiles files(three, "lab", {"east", "west"});
    files.begin_run(first_run);
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit full = before;
    full.rlim_cur = 10;
    setrlimit(RLIMIT_FSIZE, &full);
    for (int i = 0; i < 3; ++i) {
        Case found({});
        put(files, found);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    const std::vector<std::string> wanted{"lab-20261130T115300Z-00000b.pcapng",
                                          "lab-20261130T115300Z-00000c.pcapng", first_run + ".pcapng"};
    EXPECT_EQ(names(), wanted);
    EXPECT_EQ(files.totals().failed, 3U);
}

TEST_F(Files, survive_a_folder_that_goes) {
    config::Evidence deep = settings();
    deep.folder = dir.path() / "deep";
    std::filesystem::create_directory(deep.folder);
    EvidenceFiles files(deep, "lab", {"east", "west"});
    files.begin_run(first_run);
    std::filesystem::remove_all(deep.folder);
    Case lost({});
    put(files, lost);
    EXPECT_EQ(files.totals().failed, 1U);
    std::filesystem::create_directory(deep.folder);
    Case found({});
    put(files, found);
    EXPECT_EQ(files.totals().written, 1U);
}

TEST_F(Files, refuse_a_folder_that_does_not_exist) {
    config::Evidence absent = settings();
    absent.folder = dir.file("absent");
    try {
        const EvidenceFiles files(absent, "lab", {"east"});
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_NE(std::string(error.what()).find("evidence.folder"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace volley::daemon
