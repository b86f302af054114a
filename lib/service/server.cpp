#include "service/server.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_set>

#include "base/fd.h"
#include "service/error.h"
#include "telemetry/unix_listener.h"

namespace volley::service {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Error = boost::system::error_code;
using Protocol = asio::generic::stream_protocol;
using Plain = beast::basic_stream<Protocol>;
using Encrypted = beast::ssl_stream<Plain>;

constexpr std::size_t read_buffer_bytes = 128 * 1024;
constexpr std::uint64_t most_body_bytes = std::uint64_t{1} << 30;  // until the route has set its own limit
constexpr int backlog = 128;
constexpr std::chrono::milliseconds event_tick{50};
constexpr std::chrono::milliseconds accept_rest{100};  // after the process ran out of descriptors

std::system_error failure(int error, const std::string& text) {
    return {error, std::generic_category(), text};
}

// Lets a reply from any thread find its way to the loop, or nowhere when that is gone.
struct Gate {
    std::mutex mutex;
    asio::io_context* context = nullptr;  // under mutex

    template <class Task>
    void post(Task task) {
        const std::lock_guard lock(mutex);
        if (context != nullptr) asio::post(*context, std::move(task));
    }
};

class Connection {
  public:
    virtual ~Connection() = default;
    virtual void close() = 0;
};

// The loop's own data: every member is touched by the service's thread alone.
struct Loop {
    const Server::Options& options;
    Handler& handler;
    std::shared_ptr<Gate> gate;
    std::unordered_set<std::shared_ptr<Connection>> connections;
    std::size_t local = 0;
    std::size_t remote = 0;
    bool stopping = false;
};

std::string text_of(beast::string_view text) {
    return {text.data(), text.size()};
}

template <class Stream>
class Session : public Connection, public std::enable_shared_from_this<Session<Stream>> {
  public:
    Session(Loop& loop, Stream stream, Peer peer)
        : loop_(loop), stream_(std::move(stream)), peer_(std::move(peer)), timer_(stream_.get_executor()) {
        ++(peer_.local ? loop_.local : loop_.remote);
    }
    ~Session() override { --(peer_.local ? loop_.local : loop_.remote); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void start() {
        loop_.connections.insert(this->shared_from_this());
        if constexpr (std::is_same_v<Stream, Encrypted>) {
            lowest().expires_after(loop_.options.idle);
            stream_.async_handshake(asio::ssl::stream_base::server,
                                    bind([this](Error error) { error ? close() : read_head(); }));
        } else {
            read_head();
        }
    }

    void close() override {
        timer_.cancel();
        Error ignored;
        lowest().socket().close(ignored);
        loop_.connections.erase(this->shared_from_this());
    }

  private:
    using Parser = http::request_parser<http::string_body>;
    using Message = http::response<http::span_body<const char>>;

    Plain& lowest() {
        if constexpr (std::is_same_v<Stream, Encrypted>) {
            return stream_.next_layer();
        } else {
            return stream_;
        }
    }

    // Keeps the session alive until the handler has run.
    template <class Task>
    auto bind(Task task) {
        return [self = this->shared_from_this(), task](Error error, auto&&... /*n*/) { task(error); };
    }

    void read_head() {
        parser_.emplace();
        parser_->header_limit(loop_.options.header_bytes);
        parser_->body_limit(most_body_bytes);
        lowest().expires_after(loop_.options.idle);
        http::async_read_header(stream_, buffer_, *parser_, bind([this](Error error) { on_head(error); }));
    }

    void on_head(Error error) {
        if (error) {
            on_bad_request(error);
            return;
        }
        request_ = request_of(parser_->get());
        if (const char* const wrong = ambiguity_of(parser_->get())) {
            refuse(error_response(400, "bad_request", wrong));
            return;
        }
        const Admission admission = loop_.handler.admit(request_);
        if (admission.refusal != nullptr) {
            refuse(*admission.refusal);
            return;
        }
        const auto length = parser_->content_length();
        if (length && *length > admission.body_limit) {
            refuse(error_response(
                413, "body_too_large",
                "this route takes at most " + std::to_string(admission.body_limit) + " bytes"));
            return;
        }
        parser_->body_limit(admission.body_limit);
        lowest().expires_after(loop_.options.body);
        if (beast::iequals(parser_->get()[http::field::expect], "100-continue")) {
            static const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
            asio::async_write(stream_, asio::buffer(go_on),
                              bind([this](Error failed) { failed ? close() : read_body(); }));
        } else {
            read_body();
        }
    }

    // What another program on the way could read otherwise, and so see other requests than we do (RFC 9112
    // sections 3.2 and 6.1). nullptr: nothing.
    static const char* ambiguity_of(const http::request<http::string_body>& head) {
        if (head.count(http::field::host) != 1) return "exactly one Host header is needed";
        for (const http::field once : {http::field::origin, http::field::authorization, http::field::if_match,
                                       http::field::if_none_match, http::field::transfer_encoding}) {
            if (head.count(once) > 1)
                return "Origin, Authorization, If-Match and Transfer-Encoding may stand once each";
        }
        if (head.count(http::field::transfer_encoding) == 0) return nullptr;
        if (head.version() != 11 || !beast::iequals(head[http::field::transfer_encoding], "chunked"))
            return "the only Transfer-Encoding is chunked, in HTTP/1.1";
        return head.count(http::field::content_length) == 0
                   ? nullptr
                   : "Content-Length and Transfer-Encoding exclude each other";
    }

    Request request_of(const http::request<http::string_body>& head) const {
        const auto field = [&](http::field name) { return text_of(head[name]); };
        Request out;
        out.method = text_of(head.method_string());
        out.target = text_of(head.target());
        out.host = field(http::field::host);
        out.origin = field(http::field::origin);
        out.authorization = field(http::field::authorization);
        out.if_match = field(http::field::if_match);
        out.if_none_match = field(http::field::if_none_match);
        out.content_type = field(http::field::content_type);
        out.peer = peer_;
        return out;
    }

    void read_body() {
        if (parser_->is_done()) {
            on_body({});
            return;
        }
        http::async_read(stream_, buffer_, *parser_, bind([this](Error error) { on_body(error); }));
    }

    void on_body(Error error) {
        if (error) {
            on_bad_request(error);
            return;
        }
        request_.body = std::move(parser_->get().body());
        keep_alive_ = parser_->get().keep_alive();
        lowest().expires_never();
        loop_.handler.handle(request_, [weak = this->weak_from_this(), gate = loop_.gate](Response response) {
            gate->post([weak, response = std::move(response)]() mutable {
                if (const auto self = weak.lock()) self->respond(std::move(response));
            });
        });
    }

    void on_bad_request(Error error) {
        if (error == http::error::header_limit || error == http::error::buffer_overflow) {
            refuse(error_response(
                431, "head_too_large",
                "the head of a request may have " + std::to_string(loop_.options.header_bytes) + " bytes"));
        } else if (error == http::error::body_limit) {
            refuse(error_response(413, "body_too_large", "the body is larger than this route takes"));
        } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
                   error != http::error::end_of_stream && error != http::error::partial_message) {
            refuse(error_response(400, "bad_request", "this is no HTTP/1.1 request: " + error.message()));
        } else {
            close();
        }
    }

    // What is left of such a request is not read, so the connection ends with the answer.
    void refuse(Response response) {
        keep_alive_ = false;
        respond(std::move(response));
    }

    void respond(Response response) {
        if (loop_.stopping) {
            close();
            return;
        }
        response_ = std::move(response);
        const bool head_only = request_.method == "HEAD";
        if (response_.events && !head_only) {
            begin_events();
            return;
        }
        static const std::string none;
        const std::string& body = response_.body ? *response_.body : none;
        message_.emplace();
        message_->version(11);
        message_->result(response_.status);
        message_->set(http::field::content_type, response_.type);
        message_->set(http::field::cache_control, "no-store");
        message_->set("X-Content-Type-Options", "nosniff");
        for (const auto& [name, value] : response_.headers) message_->set(name, value);
        message_->keep_alive(keep_alive_);
        message_->content_length(body.size());
        if (!head_only) message_->body() = {body.data(), body.size()};
        lowest().expires_after(loop_.options.body);
        serializer_.emplace(*message_);
        serializer_->split(head_only);
        if (head_only) {
            http::async_write_header(stream_, *serializer_, bind([this](Error error) { on_written(error); }));
        } else {
            http::async_write(stream_, *serializer_, bind([this](Error error) { on_written(error); }));
        }
    }

    void on_written(Error error) {
        serializer_.reset();
        message_.reset();
        response_ = {};
        request_ = {};
        if (error) {
            close();
        } else if (keep_alive_) {
            read_head();
        } else {
            linger();
        }
    }

    // Closing with bytes unread resets the connection and may take the answer from the client: what still
    // comes is thrown away for a moment.
    void linger() {
        if constexpr (std::is_same_v<Stream, Encrypted>) {
            lowest().expires_after(std::chrono::seconds(1));
            stream_.async_shutdown(bind([this](Error) { close(); }));
        } else {
            Error ignored;
            lowest().socket().shutdown(Protocol::socket::shutdown_send, ignored);
            lowest().expires_after(std::chrono::seconds(1));
            drain();
        }
    }

    void drain() {
        buffer_.clear();
        stream_.async_read_some(buffer_.prepare(16 * 1024),
                                bind([this](Error error) { error ? close() : drain(); }));
    }

    void begin_events() {
        event_ = std::make_shared<const std::string>(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
            "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
        write_event();
    }

    void write_event() {
        lowest().expires_after(loop_.options.body);
        asio::async_write(stream_, asio::buffer(*event_),
                          bind([this](Error error) { error ? close() : next_event(); }));
    }

    void next_event() {
        if (loop_.stopping) {
            close();
            return;
        }
        event_ = response_.events();
        if (event_ != nullptr) {
            write_event();
            return;
        }
        timer_.expires_after(event_tick);
        timer_.async_wait(bind([this](Error error) {
            if (!error) next_event();
        }));
    }

    Loop& loop_;
    Stream stream_;
    const Peer peer_;
    asio::steady_timer timer_;
    beast::flat_buffer buffer_{read_buffer_bytes};
    std::optional<Parser> parser_;
    Request request_;
    Response response_;
    std::optional<Message> message_;
    std::optional<http::response_serializer<http::span_body<const char>>> serializer_;
    std::shared_ptr<const std::string> event_;
    bool keep_alive_ = false;
};

// Members of this group may change things through the socket, besides root and volleyd's own user.
std::optional<gid_t> admin_group() {
    std::vector<char> room(16384);
    group entry{};
    group* found = nullptr;
    if (::getgrnam_r("volley-admin", &entry, room.data(), room.size(), &found) != 0 || found == nullptr)
        return std::nullopt;
    return entry.gr_gid;
}

Peer local_peer(int fd, std::optional<gid_t> admins) {
    Peer out;
    out.local = true;
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
        out.may_read = false;
        out.name = "unknown";
        return out;
    }
    out.name = "uid " + std::to_string(credentials.uid) + " pid " + std::to_string(credentials.pid);
    out.may_change = credentials.uid == 0 || credentials.uid == ::geteuid();
    std::vector<gid_t> groups(1024);
    size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (!out.may_change && admins && ::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) == 0) {
        groups.resize(size / sizeof(gid_t));
        groups.push_back(credentials.gid);
        out.may_change = std::find(groups.begin(), groups.end(), *admins) != groups.end();
    }
    return out;
}

Peer remote_peer(int fd, bool encrypted) {
    Peer out;
    out.encrypted = encrypted;
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        out.name = "unknown";
    } else if (address.ss_family == AF_INET) {
        const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
        ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
        out.name = std::string(text.data()) + ":" + std::to_string(ntohs(v4.sin_port));
    } else {
        const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
        ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
        out.name = "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6.sin6_port));
    }
    return out;
}

struct Listening {
    Fd fd;
    int family = AF_INET;
    std::uint16_t port = 0;
};

Listening listen_on(const std::string& address, std::uint16_t port) {
    sockaddr_storage place{};
    socklen_t size = sizeof(sockaddr_in);
    auto& v4 = reinterpret_cast<sockaddr_in&>(place);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(place);
    if (::inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
        v4.sin_family = AF_INET;
        v4.sin_port = htons(port);
    } else if (::inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
        v6.sin6_family = AF_INET6;
        v6.sin6_port = htons(port);
        size = sizeof(sockaddr_in6);
    } else {
        throw SetupError("\"service.http\" needs a numeric address, not " + address);
    }
    const std::string where = "service.http " + address + " port " + std::to_string(port);
    Listening out;
    out.family = place.ss_family;
    out.fd = Fd(::socket(out.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!out.fd) throw failure(errno, where + " cannot be opened");
    const int on = 1;
    ::setsockopt(out.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (::bind(out.fd.get(), reinterpret_cast<const sockaddr*>(&place), size) != 0 ||
        ::listen(out.fd.get(), backlog) != 0) {
        throw failure(errno, where + " cannot be served; choose another port or address");
    }
    size = sizeof(place);
    ::getsockname(out.fd.get(), reinterpret_cast<sockaddr*>(&place), &size);
    out.port = ntohs(out.family == AF_INET ? v4.sin_port : v6.sin6_port);
    return out;
}

asio::ssl::context tls_context(const Server::Tls& tls) {
    asio::ssl::context out(asio::ssl::context::tls_server);
    out.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                    asio::ssl::context::no_tlsv1_1);
    const auto take = [](const std::string& file, const char* what, auto load) {
        Error error;
        load(error);
        if (error) throw SetupError("service.tls: " + file + " holds no " + what + ": " + error.message());
    };
    take(tls.certificate, "certificate in PEM form",
         [&](Error& error) { out.use_certificate_chain_file(tls.certificate, error); });
    take(tls.key, "private key of the certificate in PEM form",
         [&](Error& error) { out.use_private_key_file(tls.key, asio::ssl::context::pem, error); });
    if (!tls.client_ca.empty()) {
        take(tls.client_ca, "certificate in PEM form",
             [&](Error& error) { out.load_verify_file(tls.client_ca, error); });
        out.set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
    }
    return out;
}

}  // namespace

struct Server::Implementation {
    Implementation(Options with, Handler& handler);
    ~Implementation();

    void accept_local();
    void accept_remote();
    void take(Fd client, bool local);
    void turn_away(const Fd& client) const noexcept;
    template <class Accept>
    void wait(asio::posix::stream_descriptor& listener, Accept accept);

    const Options options;
    const std::optional<gid_t> admins = admin_group();
    std::optional<asio::ssl::context> tls;
    std::unique_ptr<telemetry::UnixListener> unix_listener;
    Listening tcp_listener;
    asio::io_context context{1};
    std::shared_ptr<Gate> gate = std::make_shared<Gate>();
    Loop loop;
    std::optional<asio::posix::stream_descriptor> local;
    std::optional<asio::posix::stream_descriptor> remote;
    asio::steady_timer rest{context};
    std::thread thread;
};

Server::Implementation::Implementation(Options with, Handler& handler)
    : options(std::move(with)), loop{options, handler, gate, {}, 0, 0, false} {
    gate->context = &context;
    if (options.tls) tls.emplace(tls_context(*options.tls));
    if (!options.unix_path.empty()) {
        unix_listener = std::make_unique<telemetry::UnixListener>(options.unix_path);
        local.emplace(context, ::dup(unix_listener->fd()));
        accept_local();
    }
    if (!options.tcp_address.empty()) {
        tcp_listener = listen_on(options.tcp_address, options.tcp_port);
        remote.emplace(context, ::dup(tcp_listener.fd.get()));
        accept_remote();
    }
    thread = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "service");
        context.run();
    });
}

Server::Implementation::~Implementation() {
    asio::post(context, [this] {
        loop.stopping = true;
        Error ignored;
        if (local) local->close(ignored);
        if (remote) remote->close(ignored);
        rest.cancel();
        const auto connections = loop.connections;
        for (const auto& connection : connections) connection->close();
    });
    thread.join();
    const std::lock_guard lock(gate->mutex);
    gate->context = nullptr;
}

// Level-triggered: as long as a client waits the loop comes back here. Out of descriptors it rests instead of
// spinning.
template <class Accept>
void Server::Implementation::wait(asio::posix::stream_descriptor& listener, Accept accept) {
    listener.async_wait(asio::posix::stream_descriptor::wait_read, [this, &listener, accept](Error error) {
        if (error || loop.stopping) return;
        if (accept() || errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) {
            wait(listener, accept);
            return;
        }
        rest.expires_after(accept_rest);
        rest.async_wait([this, &listener, accept](Error) {
            if (!loop.stopping) wait(listener, accept);
        });
    });
}

// Fits a fresh socket's buffer, so it is sent at once or not at all.
void Server::Implementation::turn_away(const Fd& client) const noexcept {
    constexpr std::string_view answer =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\nContent-Type: "
        "application/json\r\n"
        "Content-Length: 98\r\n\r\n"
        "{\"error\":{\"code\":\"too_many_connections\",\"message\":\"all connections are "
        "taken\",\"hint\":\"close one\"}}";
    ::send(client.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Server::Implementation::accept_local() {
    wait(*local, [this] {
        Fd client = unix_listener->accept();
        const bool taken = static_cast<bool>(client);
        if (taken && loop.local < options.connections) {
            take(std::move(client), true);
        } else if (taken) {
            turn_away(client);
        }
        return taken;
    });
}

void Server::Implementation::accept_remote() {
    wait(*remote, [this] {
        Fd client(::accept4(tcp_listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
        const bool taken = static_cast<bool>(client);
        if (taken && loop.remote < options.connections) {
            take(std::move(client), false);
        } else if (taken && !tls) {
            turn_away(client);
        }
        return taken;
    });
}

void Server::Implementation::take(Fd client, bool is_local) {
    Peer peer = is_local ? local_peer(client.get(), admins) : remote_peer(client.get(), tls.has_value());
    const int on = 1;
    if (!is_local) ::setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Plain stream(context);
    Error error;
    stream.socket().assign(Protocol(is_local ? AF_UNIX : tcp_listener.family, 0), client.get(), error);
    if (error) return;
    client.release();
    if (!is_local && tls) {
        std::make_shared<Session<Encrypted>>(loop, Encrypted(std::move(stream), *tls), std::move(peer))
            ->start();
    } else {
        std::make_shared<Session<Plain>>(loop, std::move(stream), std::move(peer))->start();
    }
}

Server::Server(Options options, Handler& handler)
    : implementation_(std::make_unique<Implementation>(std::move(options), handler)) {}

Server::~Server() = default;

std::function<void()> Server::read_tls_again() const {
    Implementation* const self = implementation_.get();
    if (!self->options.tls) return [] {};
    // std::function wants what it holds to be copied.
    auto fresh = std::make_shared<asio::ssl::context>(tls_context(*self->options.tls));
    // A session under way keeps the old context alive by its own reference to it.
    return [this, self, fresh] { post([self, fresh] { self->tls = std::move(*fresh); }); };
}

void Server::post(std::function<void()> job) const {
    asio::post(implementation_->context, std::move(job));
}

std::uint16_t Server::tcp_port() const noexcept {
    return implementation_->tcp_listener.port;
}

}  // namespace volley::service
