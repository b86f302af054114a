#include "volleyctl/client.h"

#include <curl/curl.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace volley::ctl {
namespace {

constexpr long connect_patience_ms = 5'000;
constexpr std::string_view suffix = ".control.sock";

struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::vector<std::string> runtime_folders() {
    std::vector<std::string> out;
    const char* systemd = std::getenv("RUNTIME_DIRECTORY");
    const char* user = std::getenv("XDG_RUNTIME_DIR");
    if (systemd != nullptr && *systemd != '\0')
        out.push_back(std::string(systemd).substr(0, std::string_view(systemd).find(':')));
    if (user != nullptr && *user != '\0') out.push_back(std::string(user) + "/volley");
    out.emplace_back("/run/volley");
    return out;
}

// The control socket of the runtime folders, when there is exactly one.
std::string only_socket() {
    std::vector<std::string> found;
    for (const std::string& folder : runtime_folders()) {
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
            if (entry.path().string().ends_with(suffix)) found.push_back(entry.path().string());
        }
    }
    if (found.size() == 1) return found.front();
    std::string text =
        found.empty() ? "there is no control socket in" : "which daemon? choose one by --socket:";
    for (const std::string& name : found.empty() ? runtime_folders() : found) text += " " + name;
    throw Unreachable(text + (found.empty() ? "; is volleyd running? else name its socket by --socket" : ""));
}

std::string token_of(const std::string& path) {
    std::ifstream file(path);
    std::string token;
    if (!(file >> token)) throw Unreachable("cannot read a token from " + path);
    return token;
}

std::size_t take_body(char* data, std::size_t size, std::size_t count, void* out) {
    static_cast<std::string*>(out)->append(data, size * count);
    return size * count;
}

std::size_t take_header(char* data, std::size_t size, std::size_t count, void* out) {
    const std::string line(data, size * count);
    constexpr std::string_view name = "etag: ";
    if (line.size() > name.size() && curl_strnequal(line.c_str(), name.data(), name.size()) != 0) {
        const std::string value = line.substr(name.size());
        *static_cast<std::string*>(out) = value.substr(0, value.find_last_not_of("\r\n") + 1);
    }
    return size * count;
}

// Cuts the body into events as it comes.
struct EventReader {
    const std::function<bool(const std::string&, const std::string&)>& take;
    std::string text;
    bool ended = false;

    bool feed(std::string_view more) {
        text += more;
        std::size_t end = 0;
        while ((end = text.find("\n\n")) != std::string::npos) {
            const std::string event = text.substr(0, end + 1);
            text.erase(0, end + 2);
            if (!take(field(event, "event: "), field(event, "data: "))) {
                ended = true;
                return false;
            }
        }
        return true;
    }
    static std::string field(const std::string& event, const std::string& name) {
        const std::size_t begin = event.starts_with(name) ? 0 : event.find("\n" + name) + 1;
        if (begin == 0 && !event.starts_with(name)) return {};
        return event.substr(begin + name.size(), event.find('\n', begin) - begin - name.size());
    }
};

std::size_t take_events(char* data, std::size_t size, std::size_t count, void* reader) {
    return static_cast<EventReader*>(reader)->feed({data, size * count}) ? size * count : 0;
}

}  // namespace

struct Client::Implementation {
    CURL* curl = nullptr;
    std::string base = "http://localhost";
    std::string where;
    std::string authorization;

    void prepare(const std::string& method, const std::string& path, const std::string& body,
                 const curl_slist* headers) {
        curl_easy_setopt(curl, CURLOPT_URL, (base + path).c_str());
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method.c_str());
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(curl, CURLOPT_POST, method == "GET" ? 0L : 1L);
        if (method == "GET") {
            curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
        } else {
            curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
            curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
        }
    }
    [[nodiscard]] std::unique_ptr<curl_slist, FreeList> headers(const std::vector<std::string>& more) const {
        curl_slist* out = curl_slist_append(nullptr, "Content-Type: application/json");
        out = curl_slist_append(out, "Expect:");
        if (!authorization.empty()) out = curl_slist_append(out, authorization.c_str());
        for (const std::string& header : more) out = curl_slist_append(out, header.c_str());
        return std::unique_ptr<curl_slist, FreeList>(out);
    }
    [[noreturn]] void fail(CURLcode code) const {
        throw Unreachable(where + " does not answer: " + curl_easy_strerror(code) +
                          "; is volleyd running, and may you use it?");
    }
};

Client::Client(const Place& place) : implementation_(std::make_unique<Implementation>()) {
    Implementation& self = *implementation_;
    if (!place.url.empty()) {
        self.base = place.url;
        while (self.base.ends_with('/')) self.base.pop_back();
        self.where = self.base;
    } else {
        self.where = place.socket.empty() ? only_socket() : place.socket;
    }
    if (!place.token_file.empty()) self.authorization = "Authorization: Bearer " + token_of(place.token_file);
    self.curl = curl_easy_init();
    if (self.curl == nullptr) throw Unreachable("libcurl cannot be started");
    if (place.url.empty()) curl_easy_setopt(self.curl, CURLOPT_UNIX_SOCKET_PATH, self.where.c_str());
    if (!place.ca_file.empty()) curl_easy_setopt(self.curl, CURLOPT_CAINFO, place.ca_file.c_str());
    curl_easy_setopt(self.curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(self.curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(self.curl, CURLOPT_CONNECTTIMEOUT_MS, connect_patience_ms);
}

Client::~Client() {
    curl_easy_cleanup(implementation_->curl);
}

Reply Client::request(const std::string& method, const std::string& path, const std::string& body,
                      const std::vector<std::string>& headers) {
    Implementation& self = *implementation_;
    Reply out;
    const auto list = self.headers(headers);
    self.prepare(method, path, body, list.get());
    curl_easy_setopt(self.curl, CURLOPT_TIMEOUT, patience_s_);
    curl_easy_setopt(self.curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(self.curl, CURLOPT_WRITEDATA, &out.body);
    curl_easy_setopt(self.curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(self.curl, CURLOPT_HEADERDATA, &out.etag);
    if (const CURLcode code = curl_easy_perform(self.curl); code != CURLE_OK) self.fail(code);
    curl_easy_getinfo(self.curl, CURLINFO_RESPONSE_CODE, &out.status);
    return out;
}

void Client::events(const std::string& path,
                    const std::function<bool(const std::string& kind, const std::string& data)>& take) {
    Implementation& self = *implementation_;
    EventReader reader{take, {}, false};
    const auto list = self.headers({});
    self.prepare("GET", path, {}, list.get());
    curl_easy_setopt(self.curl, CURLOPT_TIMEOUT, 0L);
    curl_easy_setopt(self.curl, CURLOPT_WRITEFUNCTION, take_events);
    curl_easy_setopt(self.curl, CURLOPT_WRITEDATA, &reader);
    curl_easy_setopt(self.curl, CURLOPT_HEADERFUNCTION, nullptr);
    curl_easy_setopt(self.curl, CURLOPT_HEADERDATA, nullptr);
    const CURLcode code = curl_easy_perform(self.curl);
    if (code != CURLE_OK && !reader.ended) self.fail(code);
}

std::string Client::escape(const std::string& text) {
    std::string out;
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
            out += c;
        } else {
            ((out += '%') += digits[byte >> 4U]) += digits[byte & 15U];
        }
    }
    return out;
}

}  // namespace volley::ctl
