// A script for the kernel's pktgen: refused, or turned into a configuration that the decoder judges.
#include <cstdint>
#include <string_view>

#include "config/load.h"
#include "import/pktgen.h"
#include "volleyctl/pktgen_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace volley;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        auto script = imports::parse_pktgen(text, {{"DEV", "eth0"}, {"DST_PORT", "9"}});
        const auto made = ctl::pktgen_config(script);
        config::parse(made.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace), "made");
    } catch (const imports::Error&) {
    } catch (const config::Error&) {
    }
    return 0;
}
