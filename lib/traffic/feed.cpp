#include "traffic/feed.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
#include <utility>

#include "import/rewrite.h"
#include "packet/template.h"
#include "traffic/surveys.h"

namespace volley::traffic {
namespace {

constexpr std::uint32_t shortest = 60;  // bytes without FCS that Ethernet pads to
constexpr std::uint32_t tag_bytes = 4;
constexpr std::chrono::milliseconds pause_while_full{1};

}  // namespace

std::uint32_t outer_tags(std::span<const std::uint8_t> frame) {
    std::uint32_t tags = 0;
    for (std::size_t at = 12; at + 1 < frame.size(); at += tag_bytes) {
        const unsigned type = frame[at] * 256U + frame[at + 1];
        if (type != 0x8100 && type != 0x88a8 && type != 0x9100) break;
        ++tags;
    }
    return tags;
}

Feed::Feed(const config::PcapSource& source, bool pad)
    : source_(source),
      pad_(pad),
      window_(std::make_shared<packet::FrameWindow>(std::uint64_t{source.memory_mib} << 20U)) {}

Feed::~Feed() {
    stop_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
}

bool Feed::same_file() const {
    return identify(source_.file) == identity_;
}

std::string Feed::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

std::uint64_t Feed::period_ns() const noexcept {
    return survey_.packets < 2 ? 0 : survey_.span_ns + survey_.span_ns / (survey_.packets - 1);
}

std::span<const std::uint8_t> Feed::prepare(const imports::CaptureReader::Frame& frame,
                                            std::vector<std::uint64_t>* found) {
    one_.bytes.assign(frame.captured.begin(), frame.captured.end());
    one_.bytes.resize(frame.length);
    one_.frames.assign(1, {0, frame.length, frame.time_ns, frame.place});
    if (!source_.rewrite.empty()) {
        const auto here = imports::rewrite(one_, source_.rewrite);
        for (std::size_t r = 0; found != nullptr && r < here.size(); ++r) (*found)[r] += here[r];
    }
    if (pad_ && one_.bytes.size() < shortest) one_.bytes.resize(shortest);
    return one_.bytes;
}

void Feed::note_sample(std::span<const std::uint8_t> frame) {
    auto& samples = survey_.samples;
    if (samples.empty()) samples.emplace_back(frame.begin(), frame.end());
    const std::uint32_t tags = outer_tags(frame);
    const auto same = std::find_if(samples.begin() + 1, samples.end(),
                                   [&](const auto& sample) { return outer_tags(sample) == tags; });
    if (same == samples.end()) {
        samples.emplace_back(frame.begin(), frame.end());
    } else if (same->size() < frame.size()) {
        same->assign(frame.begin(), frame.end());
    }
}

const Survey& Feed::survey(const imports::Rest& rest) {
    identity_ = identify(source_.file);
    if (auto known = Surveys::of_process().find(source_, pad_, identity_)) {
        survey_ = std::move(*known);
        return survey_;
    }
    look_through(rest);
    if (same_file()) Surveys::of_process().keep(source_, pad_, identity_, survey_);
    return survey_;
}

void Feed::look_through(const imports::Rest& rest) {
    survey_ = {};
    survey_.found.resize(source_.rewrite.size());
    imports::CaptureReader reader(source_.file, source_.pad, rest);
    std::uint64_t before = 0;
    while (const auto frame = reader.next()) {
        if (frame->length > packet::max_frame) {
            throw imports::Error(imports::place_in_capture(source_.file, frame->place, survey_.packets + 1) +
                                 "a frame of " + std::to_string(frame->length) + " bytes; the most is " +
                                 std::to_string(packet::max_frame) + " without FCS");
        }
        if (frame->captured.size() < frame->length) ++survey_.padded;
        if (survey_.packets != 0 && frame->time_ns < before) ++survey_.backwards;
        if (survey_.packets != 0 && frame->time_ns > before) survey_.span_ns += frame->time_ns - before;
        before = frame->time_ns;
        const auto bytes = prepare(*frame, &survey_.found);
        note_sample(bytes);
        survey_.longest = std::max(survey_.longest, static_cast<std::uint16_t>(bytes.size()));
        survey_.l2_bytes += bytes.size() + fcs_bytes;
        ++survey_.packets;
    }
}

void Feed::start() {
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void Feed::run() {
    try {
        for (std::uint64_t loop = 0; source_.loop == 0 || loop < source_.loop; ++loop) {
            if (!read_once(loop * period_ns())) return;
        }
    } catch (const std::exception& error) {  // no memory, too: one stream is not worth the process
        const std::lock_guard lock(mutex_);
        problem_ = error.what();
    }
}

imports::Error Feed::changed() const {
    return imports::Error(source_.file + " has changed while it is being sent: the rest is not; start anew");
}

// False: control wants the thread to end.
bool Feed::read_once(std::uint64_t first_offset_ns) {
    imports::CaptureReader reader(source_.file, source_.pad);
    std::uint64_t packets = 0;
    std::uint64_t before = 0;
    std::uint64_t offset = first_offset_ns;
    while (const auto frame = reader.next()) {
        if (packets != 0 && frame->time_ns > before) offset += frame->time_ns - before;
        before = frame->time_ns;
        const auto bytes = prepare(*frame, nullptr);
        // The window has room for frames of the survey's size.
        if (++packets > survey_.packets || bytes.size() > survey_.longest) throw changed();
        while (!window_->push(bytes, static_cast<std::uint32_t>(bytes.size()), offset)) {
            if (stop_.load(std::memory_order_relaxed)) return false;
            std::this_thread::sleep_for(pause_while_full);
        }
        if (stop_.load(std::memory_order_relaxed)) return false;
    }
    if (packets != survey_.packets) throw changed();
    return true;
}

}  // namespace volley::traffic
