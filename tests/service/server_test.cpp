#include "service/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <mutex>
#include <vector>

#include "base/fd.h"
#include "support/temp_dir.h"

namespace volley::service {
namespace {

using std::chrono::milliseconds;

constexpr int patience_ms = 30'000;

/// Echoes bodies of up to 1000 bytes; keeps the replies of /later for the test.
class Echo : public Handler {
  public:
    Admission admit(const Request& head) override {
        Admission out;
        out.body_limit = 1000;
        if (head.target == "/refused")
            out.refusal = std::make_shared<Response>(error_response(403, "no", "no"));
        return out;
    }
    void handle(const Request& request, const Reply& reply) override {
        if (request.target == "/later") {
            const std::lock_guard lock(mutex_);
            kept_.push_back(reply);
            return;
        }
        reply(json_response(request.method + " " + request.target + " " + request.body + "\n"));
    }
    void wait_for_kept(std::size_t count) {
        for (;;) {
            const std::lock_guard lock(mutex_);
            if (kept_.size() >= count) return;
        }
    }
    void answer_kept() {
        const std::lock_guard lock(mutex_);
        for (const Reply& reply : kept_) reply(json_response("late\n"));
        kept_.clear();
    }

  private:
    std::mutex mutex_;
    std::vector<Reply> kept_;
};

class Client {
  public:
    explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    }
    explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    }

    [[nodiscard]] bool connected() const { return connected_; }
    bool send(std::string_view text) {
        while (!text.empty()) {
            const ssize_t n = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
            if (n <= 0) return false;
            text.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }
    /// All that comes until the text is there or the server closes.
    std::string read_until(const std::string& text) {
        while (text.empty() || got_.find(text) == std::string::npos) {
            pollfd entry{fd_.get(), POLLIN, 0};
            if (::poll(&entry, 1, patience_ms) <= 0) return got_ + "<nothing more>";
            std::string part(65536, '\0');
            const ssize_t n = ::recv(fd_.get(), part.data(), part.size(), 0);
            if (n <= 0) return got_ + "<closed>";
            got_.append(part, 0, static_cast<std::size_t>(n));
        }
        return got_;
    }
    std::string read_all() { return read_until(""); }
    void close() { fd_.reset(); }

  private:
    Fd fd_;
    bool connected_ = false;
    std::string got_;
};

class ServerTest : public testing::Test {
  protected:
    Server::Options options() const {
        Server::Options out;
        out.tcp_address = "127.0.0.1";
        out.unix_path = dir_.file("socket");
        out.connections = 8;
        out.idle = milliseconds(200);
        out.body = milliseconds(300);
        return out;
    }
    std::string ask(const std::string& text) const {
        Client client(server_->tcp_port());
        client.send(text);
        return client.read_all();
    }
    void expect_alive() const {
        EXPECT_NE(ask("GET /alive HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").find("GET /alive"),
                  std::string::npos);
    }

    test::TempDir dir_;
    Echo echo_;
    std::unique_ptr<Server> server_ = std::make_unique<Server>(options(), echo_);
};

TEST_F(ServerTest, answers_on_tcp_and_on_the_socket_again_and_again) {
    Client remote(server_->tcp_port());
    Client local(dir_.file("socket"));
    for (Client* client : {&remote, &local}) {
        client->send("POST /one HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
        EXPECT_NE(client->read_until("POST /one abc\n").find("200 OK"), std::string::npos);
        client->send("GET /two HTTP/1.1\r\nHost: a\r\n\r\n");
        EXPECT_NE(client->read_until("GET /two \n").find("GET /two"), std::string::npos);
    }
}

TEST_F(ServerTest, requests_sent_at_once_are_answered_in_their_order) {
    Client client(server_->tcp_port());
    client.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    const std::string got = client.read_all();
    EXPECT_LT(got.find("GET /1"), got.find("GET /2"));
    EXPECT_NE(got.find("GET /2"), std::string::npos) << got;
}

TEST_F(ServerTest, what_is_no_proper_request_gets_an_error_or_nothing_and_the_connection_ends) {
    const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\n";
    for (const std::string& text : {
             std::string("nonsense\r\n\r\n"),
             std::string("\0\x01\x02\x16\x03\x01", 6) + "\r\n\r\n",
             std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
             std::string("GET /x HTTP/1.1\r\n\r\n"),
             "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + std::string(),
             head + "Content-Length: 3\r\nContent-Length: 5\r\n\r\nabcde",
             head + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             head + "Content-Length: 3\r\nTransfer-Encoding: identity\r\n\r\nabc",
             head + "Content-Length: 3\r\nTransfer-Encoding: xchunked\r\n\r\nabc",
             head + "Transfer-Encoding: chunked, identity\r\n\r\n",
             head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
             head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             std::string("POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
             head + "Origin: http://a\r\nOrigin: http://b\r\n\r\n",
             head + "Content-Length: -1\r\n\r\n",
             head + "Content-Length: 99999999999999999999\r\n\r\n",
             head + "Transfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n",
             head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc",
             head + "Bad Header\r\n\r\n",
         }) {
        const std::string got = ask(text);
        EXPECT_TRUE(got.ends_with("<closed>")) << text << got;
        EXPECT_EQ(got.find("POST /x"), std::string::npos) << text;  // never an answer of the handler
        EXPECT_EQ(got.find("200 OK"), std::string::npos) << text << got;
        expect_alive();
    }
}

TEST_F(ServerTest, heads_and_bodies_beyond_their_limits_are_cut_off) {
    Client head(server_->tcp_port());
    head.send("GET /x HTTP/1.1\r\nHost: a\r\nX: ");
    const std::string megabyte(1 << 20, 'x');
    for (int i = 0; i < 64 && head.send(megabyte); ++i) {
    }
    EXPECT_TRUE(head.read_all().ends_with("<closed>"));
    EXPECT_NE(ask("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n").find("413"),
              std::string::npos);
    EXPECT_NE(ask("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                  std::string(1001, 'x') + "\r\n0\r\n\r\n")
                  .find("413"),
              std::string::npos);
    EXPECT_NE(ask("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n").find("403"),
              std::string::npos);
    expect_alive();
}

TEST_F(ServerTest, a_client_that_sends_slowly_or_nothing_is_cut_off_and_holds_up_nobody) {
    std::vector<Client> silent;
    for (int i = 0; i < 3; ++i) silent.emplace_back(server_->tcp_port());
    silent[1].send("GET /x HTT");
    silent[2].send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    expect_alive();
    for (Client& client : silent) EXPECT_EQ(client.read_all(), "<closed>");
}

TEST_F(ServerTest, a_head_sent_bit_by_bit_has_one_deadline_for_all_of_it) {
    Client client(server_->tcp_port());
    const auto begin = std::chrono::steady_clock::now();
    int sent = 0;
    while (client.send("X") && std::chrono::steady_clock::now() - begin < milliseconds(patience_ms)) {
        ++sent;
        pollfd none{-1, 0, 0};
        ::poll(&none, 1, 20);
    }
    EXPECT_LT(sent, patience_ms / 20);
}

TEST_F(ServerTest, more_connections_than_allowed_are_closed_and_the_socket_still_answers) {
    std::vector<Client> many;
    for (int i = 0; i < 8; ++i) many.emplace_back(server_->tcp_port());
    for (Client& client : many) client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    echo_.wait_for_kept(8);
    const std::string refused = Client(server_->tcp_port()).read_all();
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 503 ")) << refused;
    EXPECT_TRUE(refused.ends_with("\"}}<closed>")) << refused;
    Client local(dir_.file("socket"));
    local.send("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_NE(local.read_until("GET /x").find("200"), std::string::npos);
}

TEST_F(ServerTest, a_reply_to_a_client_that_has_gone_is_dropped) {
    Client client(server_->tcp_port());
    client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    echo_.wait_for_kept(1);
    client.close();
    echo_.answer_kept();
    expect_alive();
}

TEST_F(ServerTest, ends_with_requests_unanswered_and_their_replies_go_nowhere) {
    Client waiting(server_->tcp_port());
    waiting.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    Client silent(server_->tcp_port());
    echo_.wait_for_kept(1);
    server_.reset();
    echo_.answer_kept();
    EXPECT_EQ(waiting.read_all(), "<closed>");
    silent.read_all();
}

TEST_F(ServerTest, head_is_answered_without_a_body) {
    const std::string got = ask("HEAD /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(got.ends_with("\r\n\r\n<closed>")) << got;
    EXPECT_NE(got.find("Content-Length: 9\r\n"), std::string::npos) << got;
}

TEST_F(ServerTest, a_port_in_use_or_a_certificate_that_is_none_is_told) {
    Server::Options second = options();
    second.unix_path.clear();
    second.tcp_port = server_->tcp_port();
    EXPECT_THROW(Server(second, echo_), std::system_error);
    second.tcp_port = 0;
    second.tls = {dir_.write("c.pem", "nothing"), dir_.write("k.pem", "nothing"), ""};
    EXPECT_THROW(Server(second, echo_), std::runtime_error);
    EXPECT_THROW(Server(options(), echo_), std::system_error);  // the Unix socket is served already
}

}  // namespace
}  // namespace volley::service
