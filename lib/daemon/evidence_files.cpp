#include "daemon/evidence_files.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/clock.h"
#include "import/pcapng.h"
#include "telemetry/quiet_write.h"

namespace volley::daemon {
namespace {

using imports::Pcapng;
using worker::EvidenceCase;
using worker::Finding;

constexpr std::string_view suffix = ".pcapng";
constexpr std::size_t run_id_tail =
    sizeof "-20261201T115400Z-0123ab" - 1;  // behind the name, see new_run_id()
constexpr mode_t file_mode = 0640;

std::string_view name_of(Finding kind) {
    switch (kind) {
        case Finding::loss:
            return "loss";
        case Finding::duplicate:
            return "duplicate";
        case Finding::reordering:
            return "reordering";
        case Finding::corruption:
            break;
    }
    return "corruption";
}

bool is_folder(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

}  // namespace

EvidenceFiles::EvidenceFiles(config::Evidence settings, std::string name, std::vector<std::string> ports)
    : settings_(std::move(settings)), name_(std::move(name)), ports_(std::move(ports)) {
    const int error = !is_folder(settings_.folder)                           ? ENOTDIR
                      : ::access(settings_.folder.c_str(), W_OK | X_OK) != 0 ? errno
                                                                             : 0;
    if (error != 0) {
        throw std::system_error(error, std::system_category(),
                                "evidence cannot be written to " + settings_.folder +
                                    "; give \"evidence.folder\" a folder that exists and that this user may "
                                    "write");
    }
    thread_ = std::thread([this] { run(); });
}

EvidenceFiles::~EvidenceFiles() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void EvidenceFiles::begin_run(const std::string& run_id) {
    const std::lock_guard lock(mutex_);
    run_id_ = run_id;
}

void EvidenceFiles::put(Item item) {
    {
        const std::lock_guard lock(mutex_);
        orders_.push_back({std::move(item), run_id_});
    }
    changed_.notify_all();
}

bool EvidenceFiles::wait_until_written(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return orders_.empty() && !busy_; });
}

telemetry::EvidenceTotals EvidenceFiles::totals() const {
    const std::lock_guard lock(mutex_);
    return totals_;
}

void EvidenceFiles::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return over_ || !orders_.empty(); });
        if (orders_.empty()) return;
        const Order order = std::move(orders_.front());
        orders_.pop_front();
        busy_ = true;
        lock.unlock();
        write(order);
        worker::Evidence::release(*order.item.found);
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}

// Each finding is one write, so a file that is looked at, or that a full disk ends, holds whole ones.
void EvidenceFiles::write(const Order& order) {
    if (open_run_ != order.run_id) begin_file(order.run_id);
    if (!file_) open();
    if (!file_) return;
    const std::string blocks = render(order.item);
    if (size_ + blocks.size() > settings_.bytes) {
        const std::lock_guard lock(mutex_);
        ++totals_.dropped;
        return;
    }
    if (!append(blocks)) return;
    const std::lock_guard lock(mutex_);
    ++totals_.written;
    totals_.file = path_;
}

void EvidenceFiles::failed(int error) {
    if (told_run_ != open_run_) {
        spdlog::warn(
            "evidence cannot be written to {}: {}; make room, or give \"evidence.folder\" another folder",
            path_, std::generic_category().message(error));
        told_run_ = open_run_;
    }
    const std::lock_guard lock(mutex_);
    ++totals_.failed;
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) ++totals_.disk_full;
}

// Once a run, or its own file would take the place of an older one each time that it is opened again.
void EvidenceFiles::begin_file(const std::string& run_id) {
    file_.reset();
    open_run_ = run_id;
    size_ = 0;
    path_ = (std::filesystem::path(settings_.folder) / (run_id + std::string(suffix))).string();
    make_room();
}

// What the run has written stays when its file is opened again; behind it may lie what could not be cut off.
// A file that is gone, or is shorter, begins anew.
void EvidenceFiles::open() {
    file_.reset(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, file_mode));
    struct stat status {};
    if (file_ && ::fstat(file_.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) < size_)
        size_ = 0;
    if (!file_ || !cut()) {
        failed(errno);
        file_.reset();
        return;
    }
    if (size_ != 0) return;
    std::string head;
    Pcapng::section(head, "volley", "run " + *open_run_);
    for (const std::string& port : ports_) Pcapng::interface(head, port, EvidenceCase::Packet::most_bytes);
    if (!append(head)) return file_.reset();
    const std::lock_guard lock(mutex_);
    ++totals_.files;
}

// To its whole findings, behind which the next one is written.
bool EvidenceFiles::cut() const {
    const auto end = static_cast<off_t>(size_);
    return ::ftruncate(file_.get(), end) == 0 && ::lseek(file_.get(), end, SEEK_SET) >= 0;
}

// Run ids sort by their start, so the first names are the oldest files.
void EvidenceFiles::make_room() const {
    std::vector<std::filesystem::path> ours;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(settings_.folder, error)) {
        const std::string file = entry.path().filename().string();
        if (file.starts_with(name_ + "-") && file.ends_with(suffix) &&
            file.size() == name_.size() + run_id_tail + suffix.size())
            ours.push_back(entry.path());
    }
    std::sort(ours.begin(), ours.end());
    for (std::size_t i = 0; i + settings_.files <= ours.size(); ++i) std::filesystem::remove(ours[i], error);
}

// What was begun and has no room is cut off again.
bool EvidenceFiles::append(const std::string& blocks) {
    for (std::size_t done = 0; done < blocks.size();) {
        const ssize_t n = telemetry::quiet_write(file_.get(), blocks.data() + done, blocks.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            failed(n < 0 ? errno : ENOSPC);
            if (!cut()) file_.reset();
            return false;
        }
        done += static_cast<std::size_t>(n);
    }
    size_ += blocks.size();
    const std::lock_guard lock(mutex_);
    totals_.bytes += blocks.size();
    return true;
}

std::string EvidenceFiles::render(const Item& item) const {
    const EvidenceCase& found = *item.found;
    const std::uint64_t offset = clock_ns(CLOCK_REALTIME) - clock_.ns(tsc_now());
    const std::string what = fmt::format("{} on stream {}", name_of(found.found.kind), item.stream);
    std::string out;
    for (std::uint32_t i = 0; i < found.count; ++i) {
        const EvidenceCase::Packet& packet = found.packets[i];
        std::string comment;
        if (i != found.at) {
            comment = fmt::format("{} {} {}", i < found.at ? found.at - i : i - found.at,
                                  i < found.at ? "before" : "after", what);
        } else {
            comment = fmt::format("{}: expected sequence {}, received sequence {}", what,
                                  found.found.expected, found.found.received);
            if (found.found.kind == Finding::corruption)
                comment += fmt::format(", byte {} differs first", found.found.offset);
            comment += fmt::format(" (port {}, receiver {})", ports_[item.port], item.receiver);
        }
        Pcapng::packet(out,
                       {item.port, packet.now_ns + offset, packet.length, {packet.bytes.data(), packet.kept}},
                       comment);
    }
    return out;
}

}  // namespace volley::daemon
