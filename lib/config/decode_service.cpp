#include <arpa/inet.h>

#include <array>
#include <charconv>

#include "config/print.h"
#include "config/tables.h"

namespace volley::config {
namespace {

constexpr std::string_view wanted_endpoint =
    "\"ADDRESS:PORT\" such as \"127.0.0.1:9464\", or \":9464\" for the loopback";

bool numeric_address(const std::string& text) {
    std::array<unsigned char, sizeof(in6_addr)> ignored{};
    return inet_pton(AF_INET, text.c_str(), ignored.data()) == 1 ||
           inet_pton(AF_INET6, text.c_str(), ignored.data()) == 1;
}

std::optional<Endpoint> parse_endpoint(const std::string& text) {
    Endpoint out;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    std::string address = text.substr(0, colon);
    const bool bracketed = address.size() > 2 && address.front() == '[' && address.back() == ']';
    if (bracketed) address = address.substr(1, address.size() - 2);
    if (bracketed != (address.find(':') != std::string::npos)) return std::nullopt;
    if (!address.empty()) out.address = address;
    if (!numeric_address(out.address)) return std::nullopt;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, out.port);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return out;
}

void decode_http(Decoder& decoder, const At& at, Service& out) {
    const auto* text = at.node.text();
    if (text == nullptr) {
        decoder.mismatch(at, wanted_endpoint);
        return;
    }
    out.http = parse_endpoint(*text);
    if (!out.http)
        decoder.wrong(at, quote(*text) + " is no address and port; give " + std::string(wanted_endpoint));
}

void decode_socket(Decoder& decoder, const At& at, Service& out) {
    if (at.node.is_null()) {
        out.unix_socket.reset();
    } else if (const auto* text = at.node.text(); text != nullptr && *text == "auto") {
        out.unix_socket = "auto";
    } else {
        std::string path;
        decoder.path(at, path);
        if (!path.empty()) out.unix_socket = path;
    }
}

void decode_optional_path(Decoder& decoder, const At& at, std::optional<std::string>& out) {
    std::string path;
    decoder.path(at, path);
    if (!path.empty()) out = path;
}

const std::array<Row<Tls>, 3> tls_rows{{
    {{"certificate", "path", "required", "", Effect::restart, "certificate chain, PEM"},
     [](Decoder& d, const At& at, Tls& t) { d.path(at, t.certificate); },
     [](const Tls& t) { return to_node(t.certificate); }},
    {{"key", "path", "required", "", Effect::restart, "private key of the certificate, PEM"},
     [](Decoder& d, const At& at, Tls& t) { d.path(at, t.key); },
     [](const Tls& t) { return to_node(t.key); }},
    {{"client_ca", "path", "null", "", Effect::restart,
      "certificates of authorities, PEM; when given, every client must show a certificate of theirs"},
     [](Decoder& d, const At& at, Tls& t) { decode_optional_path(d, at, t.client_ca); },
     [](const Tls& t) { return to_node(t.client_ca); }},
}};

const Table<Tls>& tls_table() {
    static const Table<Tls> table{"service.tls", tls_rows};
    return table;
}

const std::array<Row<Service>, 4> service_rows{{
    {{"unix", "path, \"auto\" or null", "\"auto\"", "", Effect::restart,
      "control socket, for volleyctl and curl; auto: NAME.control.sock in the runtime folder"},
     decode_socket,
     [](const Service& s) { return to_node(s.unix_socket); }},
    {{"http", "ADDRESS:PORT", "null", "", Effect::restart,
      "the same interface over TCP; \":PORT\" is the loopback, any other address needs tls and tokens; "
      "without tokens it "
      "only reads"},
     decode_http,
     [](const Service& s) { return s.http ? to_node(to_text(*s.http)) : Node{}; }},
    {{"tls", "object", "null", "", Effect::restart, "TLS for http"},
     [](Decoder& d, const At& at, Service& s) { decode_object(d, at, tls_table(), s.tls.emplace()); },
     [](const Service& s) { return s.tls ? encode_object(tls_table(), *s.tls) : Node{}; }},
    {{"tokens", "path", "null", "", Effect::restart,
      "file of access tokens for http: a line each, \"read-only TOKEN\" or \"admin TOKEN\"; nobody else may "
      "read it"},
     [](Decoder& d, const At& at, Service& s) { decode_optional_path(d, at, s.tokens); },
     [](const Service& s) { return to_node(s.tokens); }},
}};

}  // namespace

std::string to_text(const Endpoint& endpoint) {
    const bool v6 = endpoint.address.find(':') != std::string::npos;
    return (v6 ? "[" + endpoint.address + "]" : endpoint.address) + ":" + std::to_string(endpoint.port);
}

bool is_loopback(const Endpoint& endpoint) {
    return endpoint.address == "::1" || endpoint.address.starts_with("127.");
}

const Table<Service>& service_table() {
    static const Table<Service> table{"service", service_rows};
    return table;
}

void append_service_keys(std::vector<KeyInfo>& out) {
    append_keys(service_table(), out);
    append_keys(tls_table(), out);
}

}  // namespace volley::config
