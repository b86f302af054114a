#include "import/capture.h"

#include <pcap/pcap.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

namespace volley::imports {
namespace {

// draft-ietf-opsawg-pcap: the top bits of a pcap file's link type tell whether frames end with their FCS.
constexpr std::uint32_t fcs_present = 1U << 26U;
constexpr std::uint32_t fcs_length_shift = 28;  // its length in words of two bytes
constexpr std::size_t file_header = 24;
constexpr std::uint64_t second = 1'000'000'000;

struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

std::string place_in_capture(const std::string& file, std::uint64_t byte, std::uint64_t packet) {
    return file + ": at byte " + std::to_string(byte) + ", packet " + std::to_string(packet) + ": ";
}

void CaptureReader::Close::operator()(pcap* handle) const noexcept {
    pcap_close(handle);
}

void CaptureReader::refuse(std::uint64_t place, const std::string& text) const {
    throw Error(place_in_capture(path_, place, packet_) + text);
}

std::uint64_t CaptureReader::place() const {
    const off_t at = ftello(pcap_file(handle_.get()));
    return at < 0 ? 0 : static_cast<std::uint64_t>(at);
}

void CaptureReader::look_at_header(std::FILE* file) {
    std::array<std::uint8_t, file_header> bytes{};
    const std::size_t got = std::fread(bytes.data(), 1, bytes.size(), file);
    std::rewind(file);
    if (got == 0) fail("at byte 0: the file is empty");
    if (got >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) {
        fail("at byte 0: the file is compressed by gzip; unpack it first (gunzip)");
    }
    if (got < bytes.size()) return;  // libpcap says what is missing
    std::array<std::uint32_t, 6> words{};
    std::memcpy(words.data(), bytes.data(), bytes.size());
    const std::uint32_t magic = words[0];
    const bool same = magic == 0xa1b2c3d4 || magic == 0xa1b23c4d;
    const bool swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
    if (!same && !swapped) return;
    const std::uint32_t link = same ? words[5] : __builtin_bswap32(words[5]);
    if ((link & fcs_present) != 0) fcs_ = (link >> fcs_length_shift) * 2;
}

CaptureReader::CaptureReader(std::string path, bool pad, Rest rest)
    : path_(std::move(path)), pad_(pad), rest_(std::move(rest)) {
    File file(std::fopen(path_.c_str(), "rb"));
    if (file == nullptr) throw Error("cannot read " + path_ + ": " + std::strerror(errno));
    struct stat facts {};
    if (fstat(fileno(file.get()), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        throw Error("cannot read " + path_ + ": it is a folder");
    }
    look_at_header(file.get());
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    handle_.reset(
        pcap_fopen_offline_with_tstamp_precision(file.get(), PCAP_TSTAMP_PRECISION_NANO, why.data()));
    if (handle_ == nullptr) fail("at byte 0: " + std::string(why.data()));
    static_cast<void>(file.release());  // the handle closes it
    const int link = pcap_datalink(handle_.get());
    if (link != DLT_EN10MB) {
        const char* name = pcap_datalink_val_to_name(link);
        fail("at byte 20: the link type is " + (name != nullptr ? std::string(name) : std::to_string(link)) +
             "; only Ethernet (EN10MB) can be sent");
    }
}

CaptureReader::Frame CaptureReader::frame_of(const pcap_pkthdr& header, const std::uint8_t* data,
                                             std::uint64_t before) const {
    std::uint32_t length = header.len;
    std::uint32_t captured = header.caplen;
    if (captured > length) {
        refuse(before,
               "holds " + std::to_string(captured) + " bytes of a frame of " + std::to_string(length));
    }
    if (captured < length && !pad_) {
        refuse(before, "holds only " + std::to_string(captured) + " of the frame's " +
                           std::to_string(length) +
                           " bytes; capture whole frames, or fill them up with \"pad\": true");
    }
    if (length <= fcs_) refuse(before, "holds no byte of a frame");
    length -= fcs_;
    Frame out;
    out.captured = std::span(data, std::min(captured, length));
    out.length = length;
    out.time_ns =
        static_cast<std::uint64_t>(header.ts.tv_sec) * second + static_cast<std::uint64_t>(header.ts.tv_usec);
    out.place = before;
    return out;
}

std::optional<CaptureReader::Frame> CaptureReader::next() {
    const std::uint64_t before = place();
    if (rest_ && before >= next_rest_) {
        rest_();
        next_rest_ = before + rest_every;
    }
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int got = pcap_next_ex(handle_.get(), &header, &data);
    if (got == PCAP_ERROR_BREAK) return std::nullopt;
    if (got != 1) refuse(before, pcap_geterr(handle_.get()));
    const Frame out = frame_of(*header, data, before);
    ++packet_;
    return out;
}

Capture read_capture(const std::string& path, const CaptureOptions& options) {
    CaptureReader reader(path, options.pad, options.rest);
    Capture out;
    while (const auto read = reader.next()) {
        if (out.bytes.size() + read->length > options.most_bytes) {
            throw Error(place_in_capture(path, read->place, out.frames.size() + 1) +
                        "the frames up to here take more than " + std::to_string(options.most_bytes >> 20U) +
                        " MiB of memory; send the file in parts");
        }
        if (read->captured.size() < read->length) ++out.padded;
        Capture::Frame frame;
        frame.begin = out.bytes.size();
        frame.length = read->length;
        frame.time_ns = read->time_ns;
        frame.place = read->place;
        out.bytes.insert(out.bytes.end(), read->captured.begin(), read->captured.end());
        out.bytes.resize(frame.begin + frame.length);
        out.frames.push_back(frame);
    }
    return out;
}

}  // namespace volley::imports
