#include "import/packet_filter.h"

#include <pcap/pcap.h>

#include "import/error.h"

namespace volley::imports {
namespace {

constexpr int snap_length = 65535;

}  // namespace

void PacketFilter::Free::operator()(bpf_program* program) const noexcept {
    pcap_freecode(program);
    delete program;
}

PacketFilter::PacketFilter(const std::string& expression) {
    if (expression.empty()) return;
    const std::unique_ptr<pcap_t, void (*)(pcap_t*)> handle(pcap_open_dead(DLT_EN10MB, snap_length),
                                                            pcap_close);
    if (handle == nullptr) throw Error("cannot compile a filter: out of memory");
    program_.reset(new bpf_program{});
    if (pcap_compile(handle.get(), program_.get(), expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0)
        throw Error(pcap_geterr(handle.get()));
}

bool PacketFilter::accepts(std::span<const std::uint8_t> frame, std::uint32_t length) const noexcept {
    return program_ == nullptr ||
           bpf_filter(program_->bf_insns, frame.data(), length, static_cast<u_int>(frame.size())) != 0;
}

}  // namespace volley::imports
