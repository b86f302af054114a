#include "soft82599/trap.h"

#include <signal.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include "soft82599/log.h"
#include "soft82599/mmio.h"
#include "soft82599/nic.h"

namespace volley::soft82599 {
namespace {

/// Written under `table_mutex`, read by the handler without a lock: a slot is filled before its port is
/// accessed.
std::array<std::atomic<Nic*>, 32> table;
std::mutex table_mutex;
struct sigaction previous;
bool installed = false;

constexpr std::array<int, 16> gpr_slot = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                          REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                          REG_R12, REG_R13, REG_R14, REG_R15};

Nic* owner_of(const std::byte* address) {
    for (const auto& slot : table) {
        Nic* nic = slot.load(std::memory_order_acquire);
        if (nic == nullptr) continue;
        const auto* bar = static_cast<const std::byte*>(nic->bar());
        if (address >= bar && address < bar + RegisterFile::bytes) return nic;
    }
    return nullptr;
}

[[noreturn]] void give_up(const std::uint8_t* code, std::size_t offset) {
    say("cannot emulate the access to register 0x%05zx by the instruction %02x %02x %02x %02x %02x %02x %02x "
        "%02x: "
        "the driver was built with an instruction form that mmio.cpp does not decode",
        offset, code[0], code[1], code[2], code[3], code[4], code[5], code[6], code[7]);
    std::abort();
}

void emulate(Nic& nic, std::size_t offset, ucontext_t& context) {
    auto& registers = context.uc_mcontext.gregs;
    const auto* code = std::bit_cast<const std::uint8_t*>(registers[REG_RIP]);
    const auto access = decode_mmio(code);
    if (!access || offset % 4 != 0) give_up(code, offset);
    auto& gpr = registers[gpr_slot[access->gpr]];
    const auto at = static_cast<reg::Offset>(offset);
    if (access->store) {
        nic.write(at, access->immediate ? access->value : static_cast<std::uint32_t>(gpr));
    } else {
        gpr = static_cast<greg_t>(nic.read(at));  // a 32-bit load clears the upper half
    }
    registers[REG_RIP] += access->length;
}

void on_fault(int, siginfo_t* info, void* raw_context) {
    const int saved_errno = errno;
    const auto* address = static_cast<const std::byte*>(info->si_addr);
    if (Nic* nic = owner_of(address); nic != nullptr) {
        const auto offset = static_cast<std::size_t>(address - static_cast<const std::byte*>(nic->bar()));
        emulate(*nic, offset, *static_cast<ucontext_t*>(raw_context));
    } else {
        sigaction(SIGSEGV, &previous,
                  nullptr);  // a real fault: it happens again and finds the handler before ours
    }
    errno = saved_errno;
}

void install() {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    // NODEFER: a fault of the model itself (a descriptor that points nowhere) must reach the handler before
    // ours.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    if (sigaction(SIGSEGV, &action, &previous) != 0) {
        throw std::system_error(errno, std::generic_category(), "installing the SIGSEGV handler");
    }
    installed = true;
}

}  // namespace

void trap_add(Nic& nic) {
    const std::scoped_lock guard(table_mutex);
    if (!installed) install();
    for (auto& slot : table) {
        if (slot.load(std::memory_order_relaxed) != nullptr) continue;
        slot.store(&nic, std::memory_order_release);
        return;
    }
    throw std::runtime_error("more than 32 soft ports");
}

void trap_remove(const Nic& nic) noexcept {
    const std::scoped_lock guard(table_mutex);
    for (auto& slot : table) {
        if (slot.load(std::memory_order_relaxed) == &nic) slot.store(nullptr, std::memory_order_release);
    }
}

}  // namespace volley::soft82599
