#include "service/configuration.h"

#include <openssl/sha.h>

#include <array>
#include <string_view>

namespace volley::service {

std::shared_ptr<const Configuration> make_configuration(std::string text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    constexpr std::string_view digits = "0123456789abcdef";
    std::string tag = "\"";
    for (std::size_t i = 0; i < 16; ++i) {
        tag += digits[digest[i] >> 4U];
        tag += digits[digest[i] & 15U];
    }
    return std::make_shared<const Configuration>(Configuration{std::move(text), tag + "\""});
}

}  // namespace volley::service
