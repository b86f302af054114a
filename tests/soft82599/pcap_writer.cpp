#include "soft82599/pcap_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "soft82599/log.h"

namespace volley::soft82599 {

PcapWriter::PcapWriter(const std::string& path)
    : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)), buffer_(1 << 18) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "pcap=" + path);
    // Magic of nanosecond files, version 2.4, no time zone, no accuracy, snap length, link type Ethernet.
    const std::array<std::uint32_t, 6> header{0xA1B23C4D, 4U << 16 | 2, 0, 0, longest_frame + shortest_frame,
                                              1};
    append(header.data(), sizeof(header));
}

PcapWriter::~PcapWriter() {
    flush();
    close(fd_);
}

void PcapWriter::write(Bytes frame, std::uint64_t time_ns) noexcept {
    const auto size = static_cast<std::uint32_t>(frame.size());
    const std::array<std::uint32_t, 4> header{static_cast<std::uint32_t>(time_ns / 1'000'000'000),
                                              static_cast<std::uint32_t>(time_ns % 1'000'000'000), size,
                                              size};
    append(header.data(), sizeof(header));
    append(frame.data(), frame.size());
}

void PcapWriter::append(const void* data, std::size_t size) noexcept {
    if (used_ + size > buffer_.size()) flush();
    std::memcpy(buffer_.data() + used_, data, size);
    used_ += size;
}

void PcapWriter::flush() noexcept {
    for (std::size_t done = 0; done < used_;) {
        const ssize_t written = ::write(fd_, buffer_.data() + done, used_ - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            say("the pcap file cannot be written: %s; frames are missing from it", strerrordesc_np(errno));
            break;
        }
        done += static_cast<std::size_t>(written);
    }
    used_ = 0;
}

}  // namespace volley::soft82599
