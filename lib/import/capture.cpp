#include "import/capture.h"

#include <pcap/pcap.h>
#include <sys/stat.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace volley::imports {
namespace {

// draft-ietf-opsawg-pcap: the top bits of a pcap file's link type tell whether frames end with their FCS.
constexpr std::uint32_t fcs_present = 1U << 26U;
constexpr std::uint32_t fcs_length_shift = 28;  // its length in words of two bytes
constexpr std::size_t file_header = 24;
constexpr std::uint64_t second = 1'000'000'000;

struct ClosePcap {
    void operator()(pcap_t* handle) const noexcept { pcap_close(handle); }
};
struct CloseFile {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class Reader {
  public:
    Reader(const std::string& path, const CaptureOptions& options) : path_(path), options_(options) {}

    Capture run() {
        open();
        for (;;) {
            const std::uint64_t before = place();
            pcap_pkthdr* header = nullptr;
            const u_char* data = nullptr;
            const int got = pcap_next_ex(handle_.get(), &header, &data);
            if (got == PCAP_ERROR_BREAK) break;
            if (got != 1) refuse(before, pcap_geterr(handle_.get()));
            add(*header, data, before);
        }
        return std::move(out_);
    }

  private:
    [[noreturn]] void fail(const std::string& text) const { throw Error(path_ + ": " + text); }
    [[noreturn]] void refuse(std::uint64_t place, const std::string& text) const {
        fail("at byte " + std::to_string(place) + ", packet " + std::to_string(out_.frames.size() + 1) +
             ": " + text);
    }
    [[nodiscard]] std::uint64_t place() const {
        const off_t at = ftello(pcap_file(handle_.get()));
        return at < 0 ? 0 : static_cast<std::uint64_t>(at);
    }

    void open();
    void look_at_header(std::FILE* file);
    void add(const pcap_pkthdr& header, const u_char* data, std::uint64_t before);

    const std::string& path_;
    const CaptureOptions& options_;
    std::unique_ptr<pcap_t, ClosePcap> handle_;
    Capture out_;
    std::uint32_t fcs_ = 0;  ///< bytes at the end of each frame that are its FCS
};

void Reader::look_at_header(std::FILE* file) {
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

void Reader::open() {
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

void Reader::add(const pcap_pkthdr& header, const u_char* data, std::uint64_t before) {
    std::uint32_t length = header.len;
    std::uint32_t captured = header.caplen;
    if (captured > length) {
        refuse(before,
               "holds " + std::to_string(captured) + " bytes of a frame of " + std::to_string(length));
    }
    if (captured < length && !options_.pad) {
        refuse(before, "holds only " + std::to_string(captured) + " of the frame's " +
                           std::to_string(length) +
                           " bytes; capture whole frames, or fill them up with \"pad\": true");
    }
    if (length <= fcs_) refuse(before, "holds no byte of a frame");
    length -= fcs_;
    captured = std::min(captured, length);
    if (out_.bytes.size() + length > options_.most_bytes) {
        refuse(before, "the frames up to here take more than " + std::to_string(options_.most_bytes >> 20U) +
                           " MiB of memory; send the file in parts");
    }
    if (captured < length) ++out_.padded;
    Capture::Frame frame;
    frame.begin = out_.bytes.size();
    frame.length = length;
    frame.time_ns =
        static_cast<std::uint64_t>(header.ts.tv_sec) * second + static_cast<std::uint64_t>(header.ts.tv_usec);
    frame.place = before;
    out_.bytes.insert(out_.bytes.end(), data, data + captured);
    out_.bytes.resize(frame.begin + length);
    out_.frames.push_back(frame);
}

}  // namespace

Capture read_capture(const std::string& path, const CaptureOptions& options) {
    return Reader(path, options).run();
}

}  // namespace volley::imports
