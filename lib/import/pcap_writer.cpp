#include "import/pcap_writer.h"

#include <pcap/pcap.h>

#include "import/error.h"

namespace volley::imports {
namespace {

constexpr int snap_length = 65535;
constexpr std::uint64_t second = 1'000'000'000;

}  // namespace

void PcapWriter::Close::operator()(pcap* handle) const noexcept {
    pcap_close(handle);
}

void PcapWriter::Close::operator()(pcap_dumper* dumper) const noexcept {
    pcap_dump_close(dumper);
}

PcapWriter::PcapWriter(const std::string& path)
    : path_(path),
      handle_(pcap_open_dead_with_tstamp_precision(DLT_EN10MB, snap_length, PCAP_TSTAMP_PRECISION_NANO)) {
    if (handle_ == nullptr) throw Error("cannot write " + path_ + ": out of memory");
    dumper_.reset(pcap_dump_open(handle_.get(), path_.c_str()));
    if (dumper_ == nullptr) throw Error("cannot write " + std::string(pcap_geterr(handle_.get())));
}

void PcapWriter::write(Duration at, std::span<const std::uint8_t> frame) {
    pcap_pkthdr header{};
    header.ts.tv_sec = static_cast<time_t>(at.ns / second);
    header.ts.tv_usec = static_cast<suseconds_t>(at.ns % second);  // nanoseconds: the handle's precision
    header.caplen = static_cast<bpf_u_int32>(frame.size());
    header.len = header.caplen;
    pcap_dump(reinterpret_cast<u_char*>(dumper_.get()), &header, frame.data());
}

void PcapWriter::finish() {
    if (pcap_dump_flush(dumper_.get()) != 0 || std::ferror(pcap_dump_file(dumper_.get())) != 0) {
        throw Error("cannot write " + path_ + ": is the disk full?");
    }
}

}  // namespace volley::imports
