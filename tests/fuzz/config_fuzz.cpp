// A configuration as text: refused with places and reasons, or accepted, and then its dump decodes to the
// same and its packets can be written.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "config/load.h"
#include "fuzz/packets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace volley;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        const config::Model model = config::parse(text, "input");
        if (!(config::parse(config::dump_config(model), "dump") == model)) std::abort();
        for (const config::Stream& stream : model.streams) {
            if (!stream.packet.headers.empty()) fuzz::write_packets(stream.packet);
        }
    } catch (const config::Error& error) {
        if (error.problems.empty()) std::abort();
    }
    return 0;
}
