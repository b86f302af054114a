#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace volley::ctl {

/// Where the daemon is: a Unix socket, or an address with token.
struct Place {
    std::string socket;      ///< empty: the one there is in the runtime folders
    std::string url;         ///< "https://host:9464"; empty: the socket
    std::string token_file;  ///< holds the token, nothing else
    std::string ca_file;     ///< PEM; empty: the system's authorities
};

struct Reply {
    long status = 0;
    std::string body;
    std::string etag;
};

/// The daemon cannot be asked; what() is the next step.
class Unreachable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Requests to the control interface, one after the other over one connection.
class Client {
  public:
    explicit Client(const Place& place);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    /// Seconds that an answer may take.
    void set_patience(long seconds) noexcept { patience_s_ = seconds; }
    /// Any status is a reply; throws Unreachable.
    Reply request(const std::string& method, const std::string& path, const std::string& body = {},
                  const std::vector<std::string>& headers = {});
    /// The data of each server-sent event with its kind, until take() returns false or the daemon ends it.
    void events(const std::string& path,
                const std::function<bool(const std::string& kind, const std::string& data)>& take);
    /// `text` for use in a path or query.
    static std::string escape(const std::string& text);

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
    long patience_s_ = 120;  ///< a reload may wait for a device
};

}  // namespace volley::ctl
