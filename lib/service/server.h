#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "service/http.h"

namespace volley::service {

/// HTTP/1.1 on a Unix socket and, when asked for, on TCP with or without TLS: one thread, which inherits
/// signal mask and CPUs of the one that makes the server. A client may be slow, silent or hostile: it costs
/// its own connection, bounded memory and nobody's time.
class Server {
  public:
    struct Tls {
        std::string certificate;  ///< PEM, the chain
        std::string key;          ///< PEM
        std::string client_ca;    ///< PEM; empty: clients need no certificate
    };
    struct Options {
        std::string unix_path;    ///< empty: none
        std::string tcp_address;  ///< numeric; empty: none
        std::uint16_t tcp_port = 0;
        std::optional<Tls> tls;
        std::uint32_t header_bytes = 8 * 1024;
        std::size_t connections = 256;           ///< over TCP; the Unix socket has as many of its own
        std::chrono::milliseconds idle{10'000};  ///< for a whole head, from the answer before on
        std::chrono::milliseconds body{30'000};  ///< for a whole body, and for a client to take an answer
    };

    /// Binds and listens, then serves. Throws std::system_error or SetupError whose text is the next
    /// step.
    Server(Options options, Handler& handler);
    /// Answers no more; requests that are with the handler may still be replied to, into nowhere.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// The port in use, for options.tcp_port 0; 0 without TCP.
    [[nodiscard]] std::uint16_t tcp_port() const noexcept;

    /// Reads the TLS files as they are now. Throws SetupError; what it returns exchanges them for connections
    /// to come and must be called while the server lives.
    [[nodiscard]] std::function<void()> read_tls_again() const;
    /// Runs `job` on the thread that serves, before what comes later.
    void post(std::function<void()> job) const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace volley::service
