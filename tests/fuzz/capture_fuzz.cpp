// A capture file: refused with the place, or every frame is dissected and can be rewritten and written; read
// as it is, and with frames that were captured in part filled up.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/fd.h"
#include "fuzz/packets.h"
#include "import/capture.h"
#include "import/dissect.h"
#include "import/rewrite.h"

namespace {

using namespace volley;

packet::LayerField rewrite_of(const char* layer, packet::HeaderKind kind, const char* field,
                              packet::Program::Kind program) {
    packet::LayerField out;
    out.layer = layer;
    out.field = packet::find_field(kind, field);
    out.program.kind = program;
    out.program.from = 7;
    out.program.to = 70;
    return out;
}

std::vector<packet::LayerField> rewrites(packet::Program::Kind kind) {
    using packet::HeaderKind;
    return {rewrite_of("ipv4", HeaderKind::ipv4, "src", kind),
            rewrite_of("ipv6.2", HeaderKind::ipv6, "dst", kind),
            rewrite_of("udp", HeaderKind::udp, "src", kind),
            rewrite_of("tcp", HeaderKind::tcp, "dst", kind),
            rewrite_of("vlan.2", HeaderKind::vlan, "id", kind),
            rewrite_of("gre", HeaderKind::gre, "key", kind)};
}

void use(imports::Capture capture) {
    const auto varying = rewrites(packet::Program::Kind::increment);
    std::vector<std::uint64_t> found(varying.size());
    for (std::size_t i = 0; i < capture.frames.size() && i < 16; ++i) {
        const auto frame = std::as_const(capture).frame(i);
        for (const auto& layer : imports::dissect(frame).layers) {
            for (const auto& field : packet::all_fields()) {
                if (field.header != layer.kind) continue;
                const auto bit = imports::bit_of(layer, field, frame);
                if (bit && *bit + field.bit_width > frame.size() * 8) std::abort();
            }
        }
        if (frame.size() <= packet::max_frame) fuzz::write_packets(imports::model_of(frame, varying, found));
    }
    imports::rewrite(capture, rewrites(packet::Program::Kind::literal));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Fd file(::memfd_create("capture", MFD_CLOEXEC));
    if (::write(file.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
    for (const bool pad : {false, true}) {
        try {
            use(imports::read_capture("/proc/self/fd/" + std::to_string(file.get()),
                                      {pad, std::uint64_t{1} << 24}));
        } catch (const imports::Error&) {
        }
    }
    return 0;
}
