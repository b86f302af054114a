#include "support/pcap_file.h"

#include <pcap/pcap.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace volley::test {

std::vector<std::string> read_pcap(const std::string& file) {
    std::array<char, PCAP_ERRBUF_SIZE> problem{};
    const std::unique_ptr<pcap_t, void (*)(pcap_t*)> capture(pcap_open_offline(file.c_str(), problem.data()),
                                                             pcap_close);
    if (capture == nullptr) throw std::runtime_error(file + ": " + problem.data());
    std::vector<std::string> packets;
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    int status = 0;
    while ((status = pcap_next_ex(capture.get(), &header, &data)) == 1) {
        if (header->caplen != header->len) throw std::runtime_error(file + ": a packet is cut");
        packets.emplace_back(reinterpret_cast<const char*>(data), header->caplen);
    }
    if (status != PCAP_ERROR_BREAK) throw std::runtime_error(file + ": " + pcap_geterr(capture.get()));
    return packets;
}

}  // namespace volley::test
