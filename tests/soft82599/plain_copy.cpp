#include <cstddef>

// Only in builds with ThreadSanitizer. Its runtime takes over memcpy, memmove and memset for the whole
// process, and would report the model's copies from and to mbufs: the wire's lock, which orders them, is
// invisible to it. These definitions are hidden in the shared object, so the model's own calls end here.

extern "C" {

void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) {
    void* const result = to;
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    return result;
}

void* memmove(void* to, const void* from, std::size_t bytes) {
    auto* target = static_cast<unsigned char*>(to);
    const auto* source = static_cast<const unsigned char*>(from);
    if (target <= source || target >= source + bytes) return memcpy(to, from, bytes);
    target += bytes - 1;
    source += bytes - 1;
    asm volatile("std; rep movsb; cld" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory", "cc");
    return to;
}

void* memset(void* to, int value, std::size_t bytes) {
    void* const result = to;
    asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
    return result;
}
}
