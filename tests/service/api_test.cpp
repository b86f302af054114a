#include "service/api.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "telemetry/render.h"

namespace volley::service {
namespace {

using nlohmann::json;

/// The routes without sockets: control is the test itself.
class ApiTest : public testing::Test {
  protected:
    Api make(std::optional<Tokens> tokens = {}, bool loopback_only = true) {
        Api::Options options;
        options.name = "test";
        options.tokens = std::move(tokens);
        options.loopback_only = loopback_only;
        options.stale_ns = ~std::uint64_t{0};
        Api::Sources sources;
        sources.latest = [this] { return line_; };
        sources.latest_report = [] { return nullptr; };
        sources.configuration = [this] { return configuration_; };
        return {options, sources, mailbox_};
    }
    Response ask(Api& api, const Request& request) {
        Response out;
        out.status = 0;
        const Admission admission = api.admit(request);
        if (admission.refusal != nullptr) return *admission.refusal;
        api.handle(request, [&](Response response) { out = std::move(response); });
        while (auto letter = mailbox_.take()) {
            commands_.push_back(letter->command);
            letter->answer(outcome_);
        }
        return out;
    }
    static Request remote(std::string method, std::string target) {
        Request out;
        out.method = std::move(method);
        out.target = std::move(target);
        out.host = "localhost:9464";
        return out;
    }
    static Request local(std::string method, std::string target) {
        Request out = remote(std::move(method), std::move(target));
        out.peer.local = true;
        out.peer.may_change = true;
        return out;
    }
    void publish() {
        auto line = std::make_shared<telemetry::Published>();
        line->totals = line->base = line->previous = std::make_shared<telemetry::Totals>();
        line->metrics = "m";
        line_ = line;
    }

    std::shared_ptr<const telemetry::Published> line_;
    std::shared_ptr<const Configuration> configuration_ = make_configuration("{}");
    Mailbox mailbox_;
    Outcome outcome_;
    std::vector<Command> commands_;
};

TEST_F(ApiTest, without_tokens_tcp_reads_and_does_not_change) {
    Api api = make();
    publish();
    EXPECT_EQ(ask(api, remote("GET", "/metrics")).status, 200);
    EXPECT_EQ(ask(api, remote("POST", "/api/v1/start")).status, 403);
    EXPECT_TRUE(commands_.empty());
    EXPECT_EQ(ask(api, local("POST", "/api/v1/start")).status, 200);
    EXPECT_EQ(commands_.size(), 1U);
}

TEST_F(ApiTest, with_tokens_tcp_needs_the_right_one) {
    Api api = make(Tokens::parse("read-only 0123456789abcdef-r\nadmin 0123456789abcdef-a\n", "tokens"));
    publish();
    const auto status = [&](Request request, const char* token) {
        if (*token != '\0') request.authorization = std::string("Bearer ") + token;
        return ask(api, request).status;
    };
    const Request read = remote("GET", "/metrics");
    const Request change = remote("POST", "/api/v1/stop");
    EXPECT_EQ(status(read, ""), 401U);
    EXPECT_EQ(status(read, "0123456789abcdef-x"), 401U);
    EXPECT_EQ(status(read, "0123456789abcdef-r"), 200U);
    EXPECT_EQ(status(change, ""), 401U);
    EXPECT_EQ(status(change, "0123456789abcdef-r"), 403U);
    EXPECT_EQ(status(change, "0123456789abcdef-a"), 200U);
    EXPECT_EQ(status(remote("GET", "/healthz"), ""), 200U);
    EXPECT_EQ(status(local("POST", "/api/v1/stop"), ""), 200U);
}

TEST_F(ApiTest, whoever_may_only_read_the_socket_changes_nothing) {
    Api api = make();
    publish();
    Request request = local("POST", "/api/v1/stop");
    request.peer.may_change = false;
    EXPECT_EQ(ask(api, request).status, 403);
    request.method = "GET";
    request.target = "/telemetry";
    EXPECT_EQ(ask(api, request).status, 200);
}

TEST_F(ApiTest, a_foreign_host_is_refused_on_the_loopback_alone) {
    Api loopback = make();
    publish();
    Request request = remote("GET", "/metrics");
    request.host = "evil.example:9464";
    EXPECT_EQ(ask(loopback, request).status, 403);
    Api open = make({}, false);
    EXPECT_EQ(ask(open, request).status, 200);
    request.origin = "https://other.example";
    EXPECT_EQ(ask(open, request).status, 403);
}

TEST_F(ApiTest, before_the_first_tick_reading_says_not_yet) {
    Api api = make();
    for (const char* target : {"/metrics", "/telemetry", "/healthz", "/api/v1/state", "/api/v1/streams"})
        EXPECT_EQ(ask(api, local("GET", target)).status, 503) << target;
}

TEST_F(ApiTest, what_was_published_is_shared_not_copied) {
    Api api = make();
    publish();
    EXPECT_EQ(ask(api, local("GET", "/metrics")).body.get(), &line_->metrics);
}

TEST_F(ApiTest, problems_come_with_their_pointers) {
    Api api = make();
    outcome_.verdict = Outcome::Verdict::invalid;
    outcome_.code = "invalid_configuration";
    outcome_.problems = {{"f", 3, 4, "/a", "wrong"}, {"f", 5, 6, "/b", "worse"}};
    Request request = local("PUT", "/api/v1/config");
    request.if_match = "*";
    request.body = "{}";
    const Response response = ask(api, request);
    EXPECT_EQ(response.status, 422);
    const json error = json::parse(*response.body).at("error");
    EXPECT_EQ(error.at("pointer"), "/a");
    EXPECT_EQ(error.at("problems").at(1).at("pointer"), "/b");
    EXPECT_EQ(commands_.at(0).if_match, "*");
}

TEST_F(ApiTest, a_closed_mailbox_answers_at_once) {
    Api api = make();
    mailbox_.close();
    EXPECT_EQ(ask(api, local("POST", "/api/v1/start")).status, 503);
}

TEST_F(ApiTest, each_route_says_how_long_its_body_may_be) {
    Api api = make();
    EXPECT_EQ(api.admit(local("GET", "/metrics")).body_limit, 0U);
    EXPECT_EQ(api.admit(local("POST", "/api/v1/start")).body_limit, 65536U);
    EXPECT_EQ(api.admit(local("PUT", "/api/v1/config")).body_limit, std::uint64_t{32} << 20);
}

}  // namespace
}  // namespace volley::service
