// A file in the trafgen language: refused with line and column, or its packets can be written.
#include <cstdint>
#include <string_view>

#include "fuzz/packets.h"
#include "import/trafgen.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace volley;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        for (const auto& packet : imports::parse_trafgen(text, "/nonexistent/input").packets)
            fuzz::write_packets(packet.model);
    } catch (const imports::Error&) {
    }
    return 0;
}
