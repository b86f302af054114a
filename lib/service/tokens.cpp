#include "service/tokens.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/fd.h"
#include "service/error.h"

namespace volley::service {
namespace {

constexpr std::size_t most_bytes = 64 * 1024;
constexpr std::string_view blanks = " \t\r";

std::array<unsigned char, 32> digest_of(std::string_view token) {
    std::array<unsigned char, 32> out{};
    SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), out.data());
    return out;
}

// Cuts the next word off the line.
std::string_view next_word(std::string_view& line) {
    const std::size_t begin = std::min(line.find_first_not_of(blanks), line.size());
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

}  // namespace

Tokens Tokens::load(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0)
        throw SetupError("service.tokens: cannot read " + path + ": " + std::strerror(errno));
    if ((status.st_mode & 0007) != 0)
        throw SetupError("service.tokens: everybody may use " + path + "; chmod o= " + path);
    std::string text(most_bytes, '\0');
    const ssize_t size = ::read(file.get(), text.data(), text.size());
    if (size < 0) throw SetupError("service.tokens: cannot read " + path + ": " + std::strerror(errno));
    text.resize(static_cast<std::size_t>(size));
    return parse(text, path);
}

Tokens Tokens::parse(std::string_view text, const std::string& path) {
    Tokens out;
    unsigned number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        line = line.substr(0, line.find('#'));
        const std::string_view right = next_word(line);
        if (right.empty()) continue;
        const std::string_view token = next_word(line);
        const std::string place = "service.tokens: " + path + ":" + std::to_string(number) + ": ";
        if (right != "read-only" && right != "admin")
            throw SetupError(place + "a line is \"read-only TOKEN\" or \"admin TOKEN\"");
        if (token.size() < shortest || !next_word(line).empty())
            throw SetupError(place + "a token is one word of " + std::to_string(shortest) +
                             " characters or more, as `openssl rand -hex 32` makes it");
        out.entries_.push_back({digest_of(token), right == "admin" ? Right::change : Right::read});
    }
    if (out.entries_.empty()) throw SetupError("service.tokens: " + path + " holds no token");
    return out;
}

std::optional<Right> Tokens::right_of(std::string_view authorization) const {
    constexpr std::string_view scheme = "Bearer ";
    if (authorization.size() < scheme.size() ||
        ::strncasecmp(authorization.data(), scheme.data(), scheme.size()) != 0)
        return std::nullopt;
    authorization.remove_prefix(scheme.size());
    authorization.remove_prefix(std::min(authorization.find_first_not_of(' '), authorization.size()));
    const Digest digest = digest_of(authorization);
    std::optional<Right> out;
    for (const Entry& entry : entries_) {  // all of them: which one fits is not to be timed
        if (CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0 && out != Right::change)
            out = entry.right;
    }
    return out;
}

}  // namespace volley::service
