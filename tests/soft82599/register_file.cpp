#include "soft82599/register_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace volley::soft82599 {
namespace {

[[noreturn]] void fail(const char* operation) {
    throw std::system_error(errno, std::generic_category(), operation);
}

}  // namespace

RegisterFile::RegisterFile() {
    const int fd = memfd_create("soft82599-bar", MFD_CLOEXEC);
    if (fd < 0) fail("memfd_create for the BAR");
    void* model = MAP_FAILED;
    if (ftruncate(fd, bytes) == 0) model = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bar_ = model == MAP_FAILED ? MAP_FAILED : mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, fd, 0);
    const int error = errno;
    close(fd);
    if (bar_ == MAP_FAILED) {
        if (model != MAP_FAILED) munmap(model, bytes);
        errno = error;
        fail("mapping the BAR");
    }
    words_ = static_cast<std::uint32_t*>(model);
}

RegisterFile::~RegisterFile() {
    munmap(words_, bytes);
    munmap(bar_, bytes);
}

void RegisterFile::clear() noexcept {
    std::memset(words_, 0, bytes);
}

void RegisterFile::open_tx_pages() {
    auto* first = static_cast<std::byte*>(bar_) + reg::tx_first;
    if (mprotect(first, reg::tx_end - reg::tx_first, PROT_READ | PROT_WRITE) != 0) {
        fail("opening the TX register pages");
    }
}

}  // namespace volley::soft82599
