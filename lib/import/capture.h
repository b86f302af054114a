#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/error.h"

struct pcap;
struct pcap_pkthdr;

namespace volley::imports {

/// Called again and again while a file is read: that takes longer than others can wait, where it is large.
using Rest = std::function<void()>;
constexpr std::uint64_t rest_every = std::uint64_t{16} << 20;  ///< bytes of the file

/// Frames of a capture file in memory, without FCS, in the order of the file.
struct Capture {
    struct Frame {
        std::uint64_t begin = 0;   ///< in bytes
        std::uint32_t length = 0;  ///< at least 1
        std::uint64_t time_ns = 0;
        std::uint64_t place = 0;  ///< offset in the file of what holds it, for messages
    };
    std::vector<std::uint8_t> bytes;
    std::vector<Frame> frames;
    std::uint64_t padded = 0;  ///< frames that were captured in part and filled up with zeros

    [[nodiscard]] std::span<const std::uint8_t> frame(std::size_t i) const {
        return std::span(bytes).subspan(frames[i].begin, frames[i].length);
    }
    [[nodiscard]] std::span<std::uint8_t> frame(std::size_t i) {
        return std::span(bytes).subspan(frames[i].begin, frames[i].length);
    }
};

/// "FILE: at byte N, packet K: ", before what is wrong there. packet: counted from 1.
std::string place_in_capture(const std::string& file, std::uint64_t byte, std::uint64_t packet);

struct CaptureOptions {
    bool pad = false;  ///< fill up what was captured in part with zeros, instead of refusing it
    std::uint64_t most_bytes = std::uint64_t{8} << 30;  ///< of frames; more is refused
    Rest rest{};
};

/// Reads pcap (microseconds and nanoseconds, both byte orders) or pcapng of Ethernet frames, one after the
/// other, in the memory of one. An FCS that the file says it holds is taken off. Throws Error: "FILE: at byte
/// N, packet K: what is wrong".
class CaptureReader {
  public:
    struct Frame {
        std::span<const std::uint8_t> captured;  ///< its first bytes; valid until the next frame is read
        std::uint32_t length = 0;                ///< of the whole, at least 1
        std::uint64_t time_ns = 0;
        std::uint64_t place = 0;  ///< offset in the file of what holds it
    };
    /// pad: accept what was captured in part.
    CaptureReader(std::string path, bool pad, Rest rest = {});

    /// Nothing at the end of the file.
    std::optional<Frame> next();

  private:
    struct Close {
        void operator()(pcap* handle) const noexcept;
    };
    [[noreturn]] void fail(const std::string& text) const { throw Error(path_ + ": " + text); }
    [[noreturn]] void refuse(std::uint64_t place, const std::string& text) const;
    [[nodiscard]] std::uint64_t place() const;
    void look_at_header(std::FILE* file);
    Frame frame_of(const pcap_pkthdr& header, const std::uint8_t* data, std::uint64_t before) const;

    std::string path_;
    bool pad_;
    Rest rest_;
    std::uint64_t next_rest_ = rest_every;  ///< offset in the file
    std::unique_ptr<pcap, Close> handle_;
    std::uint32_t fcs_ = 0;     ///< bytes at the end of each frame that are its FCS
    std::uint64_t packet_ = 1;  ///< the next one, counted from 1
};

/// The whole file, by a CaptureReader.
Capture read_capture(const std::string& path, const CaptureOptions& options = {});

}  // namespace volley::imports
