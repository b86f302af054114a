#include "import/pcapng.h"

namespace volley::imports {
namespace {

constexpr std::uint32_t section_block = 0x0a0d0d0a;
constexpr std::uint32_t interface_block = 1;
constexpr std::uint32_t statistics_block = 5;
constexpr std::uint32_t packet_block = 6;
constexpr std::uint16_t ethernet = 1;
constexpr std::uint16_t comment_option = 1;
constexpr std::uint16_t application_option = 4;
constexpr std::uint16_t name_option = 2;
constexpr std::uint16_t resolution_option = 9;
constexpr std::uint16_t filter_option = 11;
constexpr std::uint16_t received_option = 4;
constexpr std::uint16_t dropped_option = 5;
constexpr std::uint16_t accepted_option = 6;
constexpr std::size_t longest_option = 0xfffc;

// In the byte order of the machine, which the section tells.
template <class Word>
void put(std::string& out, Word value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void pad(std::string& out) {
    out.append((4 - out.size() % 4) % 4, '\0');
}

/// A block from its begin to its end: the length stands at both.
class Block {
  public:
    Block(std::string& out, std::uint32_t type) : out_(out), body_() {
        put(body_, type);
        put(body_, std::uint32_t{0});
    }
    std::string& body() { return body_; }
    void option(std::uint16_t code, std::string_view value) {
        if (value.empty()) return;
        value = value.substr(0, longest_option);
        put(body_, code);
        put(body_, static_cast<std::uint16_t>(value.size()));
        body_.append(value);
        pad(body_);
        options_ = true;
    }
    void option(std::uint16_t code, std::uint64_t value) {
        option(code, std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
    }
    void end() {
        if (options_) put(body_, std::uint32_t{0});
        const auto length = static_cast<std::uint32_t>(body_.size() + 4);
        body_.replace(4, 4, reinterpret_cast<const char*>(&length), 4);
        put(body_, length);
        out_ += body_;
    }

  private:
    std::string& out_;
    std::string body_;
    bool options_ = false;
};

void put_time(std::string& out, std::uint64_t ns) {
    put(out, static_cast<std::uint32_t>(ns >> 32U));
    put(out, static_cast<std::uint32_t>(ns));
}

}  // namespace

void Pcapng::section(std::string& out, std::string_view application, std::string_view comment) {
    Block block(out, section_block);
    put(block.body(), std::uint32_t{0x1a2b3c4d});
    put(block.body(), std::uint16_t{1});
    put(block.body(), std::uint16_t{0});
    put(block.body(), ~std::uint64_t{0});  // its length is not known
    block.option(application_option, application);
    block.option(comment_option, comment);
    block.end();
}

void Pcapng::interface(std::string& out, std::string_view name, std::uint32_t most, std::string_view filter) {
    Block block(out, interface_block);
    put(block.body(), ethernet);
    put(block.body(), std::uint16_t{0});
    put(block.body(), most);
    block.option(name_option, name);
    block.option(resolution_option, std::string_view("\x09", 1));
    if (!filter.empty()) block.option(filter_option, std::string(1, '\0').append(filter));
    block.end();
}

void Pcapng::packet(std::string& out, const Packet& packet, std::string_view comment) {
    Block block(out, packet_block);
    put(block.body(), packet.interface);
    put_time(block.body(), packet.unix_ns);
    put(block.body(), static_cast<std::uint32_t>(packet.bytes.size()));
    put(block.body(), packet.length);
    block.body().append(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
    pad(block.body());
    block.option(comment_option, comment);
    block.end();
}

void Pcapng::statistics(std::string& out, std::uint32_t interface, std::uint64_t unix_ns,
                        const Counts& counts) {
    Block block(out, statistics_block);
    put(block.body(), interface);
    put_time(block.body(), unix_ns);
    block.option(received_option, counts.received);
    block.option(dropped_option, counts.dropped);
    block.option(accepted_option, counts.accepted);
    block.end();
}

}  // namespace volley::imports
