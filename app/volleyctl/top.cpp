#include "volleyctl/top.h"

#include <ncurses.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <clocale>
#include <condition_variable>
#include <csignal>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "volleyctl/daemon_commands.h"
#include "volleyctl/exit_codes.h"
#include "volleyctl/terminal.h"
#include "volleyctl/top_view.h"

namespace volley::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t most_streams = 1000;  // of one answer
constexpr std::size_t margin = 200;         // streams before and after the selected one that should be here
constexpr int key_wait_ms = 100;

std::atomic<int> ended_by{0};  ///< written by the signal handler, read by the loop

void on_signal(int number) {
    ended_by.store(number, std::memory_order_relaxed);
}

struct UnknownTerminal : std::runtime_error {
    explicit UnknownTerminal(const std::string& term)
        : std::runtime_error(
              "the terminal \"" + term +
              "\" is not known here; set TERM to one that is, such as xterm, or use `volleyctl watch`") {}
};

/// The terminal in curses' hands; given back when this goes, on every way out.
class Screen {
  public:
    Screen() {
        std::setlocale(LC_ALL, "");
        // Not initscr(), which ends the process where it does not know the terminal; newterm() leaks there.
        if (!terminal_is_known() || newterm(nullptr, stdout, stdin) == nullptr) {
            const char* const term = std::getenv("TERM");
            throw UnknownTerminal(term == nullptr ? "" : term);
        }
        cbreak();
        noecho();
        keypad(stdscr, TRUE);
        curs_set(0);
        timeout(key_wait_ms);
        if (has_colors() && std::getenv("NO_COLOR") == nullptr) {
            start_color();
            use_default_colors();
            init_pair(1, COLOR_GREEN, -1);
            init_pair(2, COLOR_RED, -1);
            colours_ = true;
        }
    }
    ~Screen() { endwin(); }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    void draw(const TopState& state) const {
        erase();
        const std::vector<Row> picture = draw_top(state, rows(), columns());
        for (std::size_t r = 0; r < picture.size(); ++r) {
            ::move(static_cast<int>(r), 0);
            for (const Piece& piece : picture[r]) {
                attrset(attribute(piece.style));
                addstr(piece.text.c_str());
            }
        }
        attrset(A_NORMAL);
        refresh();
    }
    [[nodiscard]] static std::size_t rows() { return static_cast<std::size_t>(std::max(1, getmaxy(stdscr))); }
    [[nodiscard]] static std::size_t columns() {
        return static_cast<std::size_t>(std::max(1, getmaxx(stdscr)));
    }

  private:
    [[nodiscard]] int attribute(Style style) const {
        switch (style) {
            case Style::title:
                return static_cast<int>(A_BOLD);
            case Style::head:
            case Style::selected:
                return static_cast<int>(A_REVERSE);
            case Style::good:
                return colours_ ? static_cast<int>(COLOR_PAIR(1)) : static_cast<int>(A_NORMAL);
            case Style::bad:
                return static_cast<int>(A_BOLD) | (colours_ ? static_cast<int>(COLOR_PAIR(2)) : 0);
            case Style::plain:
                break;
        }
        return static_cast<int>(A_NORMAL);
    }
    bool colours_ = false;
};

/// Follows the daemon in a thread of its own and hands over the latest line and streams.
class Follower {
  public:
    explicit Follower(const Place& place) : place_(place), thread_([this] { follow(); }) {}
    ~Follower() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    /// From now on the streams of that pattern, from number `first` on; asks for them at once.
    void look(const std::string& pattern, std::size_t first) {
        {
            const std::lock_guard lock(mutex_);
            pattern_ = pattern;
            first_ = first;
        }
        try {
            Client client(place_);
            fetch(client);
        } catch (const std::exception&) {
            // The thread that follows tells of a daemon that is gone.
        }
    }

    /// Fills what it has learnt since the last call; the rest of the state stays. False when there was
    /// nothing new.
    bool fill(TopState& state) {
        const std::lock_guard lock(mutex_);
        if (!news_) return false;
        news_ = false;
        state.line = line_;
        state.streams = streams_;
        state.first = shown_first_;
        state.total = total_;
        state.name = name_;
        state.may_change = may_change_;
        state.connection = connection_;
        return true;
    }

  private:
    bool stopped() {
        const std::lock_guard lock(mutex_);
        return stop_;
    }

    void follow() {
        while (!stopped()) {
            std::string trouble = "volleyd ended the connection";
            try {
                Client asks(place_);
                Client events(place_);
                learn(asks);
                events.events("/api/v1/events", [&](const std::string& /*kind*/, const std::string& data) {
                    take(json::parse(data), asks);
                    return !stopped();
                });
            } catch (const std::exception& error) {
                trouble = error.what();
            }
            std::unique_lock lock(mutex_);
            if (stop_) return;
            connection_ = "no connection: " + trouble + "; trying again";
            news_ = true;
            changed_.wait_for(lock, std::chrono::seconds(1), [this] { return stop_; });
        }
    }

    void learn(Client& client) {
        const Reply reply = client.request("GET", "/api/v1/state");
        if (reply.status != 200)
            throw Unreachable("status " + std::to_string(reply.status) + " for /api/v1/state");
        const json state = json::parse(reply.body);
        const std::lock_guard lock(mutex_);
        name_ = state.value("name", "");
        may_change_ = state.value("may_change", false);
        news_ = true;
    }

    void take(json line, Client& client) {
        fetch(client);
        const std::lock_guard lock(mutex_);
        line_ = std::move(line);
        connection_.clear();
        news_ = true;
    }

    // An answer to what is no longer asked for is left.
    void fetch(Client& client) {
        std::string pattern;
        std::size_t first = 0;
        {
            const std::lock_guard lock(mutex_);
            pattern = pattern_;
            first = first_;
        }
        const Reply reply = client.request("GET", "/api/v1/streams?name=" + Client::escape(pattern) +
                                                      "&offset=" + std::to_string(first) +
                                                      "&limit=" + std::to_string(most_streams));
        json answer = reply.status == 200 ? json::parse(reply.body) : json::object();
        const std::lock_guard lock(mutex_);
        if (pattern != pattern_ || first != first_) return;
        streams_ = answer.value("streams", json::array());
        total_ = answer.value("total", std::size_t{0});
        shown_first_ = first;
        news_ = true;
    }

    const Place& place_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stop_ = false;  ///< all below under mutex_
    bool news_ = true;   ///< something below has changed since fill()
    std::string pattern_ = "*";
    std::size_t first_ = 0;  ///< that is asked for
    json line_;
    json streams_;
    std::size_t shown_first_ = 0;  ///< that streams_ begins with
    std::size_t total_ = 0;
    std::string name_;
    bool may_change_ = false;
    std::string connection_ = "connecting";
    std::thread thread_;  ///< last: it uses all the others
};

/// Keys and what they do.
class Top {
  public:
    explicit Top(const Place& place) : place_(place), follower_(place) {}

    void loop() {
        // A thousand streams are copied, sorted and drawn when something has changed, not ten times a second.
        for (bool changed = true; !done_ && ended_by.load(std::memory_order_relaxed) == 0;) {
            const bool news = follower_.fill(state_);
            if (news) stay_within();  // a reload may have left fewer
            if (news || changed) screen_.draw(state_);
            const int key = getch();
            changed = key != ERR;
            if (key == ERR || key == KEY_RESIZE) continue;
            state_.message.clear();
            if (!state_.prompt.empty()) {
                type(key);
            } else {
                press(key);
            }
        }
    }

  private:
    void press(int key) {
        const std::size_t page =
            std::max<std::size_t>(1, streams_shown(state_, Screen::rows(), Screen::columns()));
        switch (key) {
            case 'q':
                done_ = true;
                return;
            case KEY_DOWN:
                ++state_.selected;
                break;
            case KEY_UP:
                state_.selected -= std::min<std::size_t>(1, state_.selected);
                break;
            case KEY_NPAGE:
                state_.selected += page;
                break;
            case KEY_PPAGE:
                state_.selected -= std::min(page, state_.selected);
                break;
            case KEY_HOME:
                state_.selected = 0;
                break;
            case KEY_END:
                state_.selected = state_.total;
                break;
            case 'o':
                state_.sort = (state_.sort + 1) % sort_keys().size();
                state_.selected = 0;
                break;
            case '/':
                ask("filter: ");
                break;
            default:
                steer(key);
        }
        stay_within();
    }

    // In the daemon's order any stream can be selected, and those around it are fetched; in another order
    // those that are here.
    void stay_within() {
        const std::size_t here = state_.streams.is_array() ? state_.streams.size() : 0;
        if (state_.sort != 0 && state_.first != 0) return show_from(0);
        const std::size_t most = state_.sort == 0 ? state_.total : here;
        state_.selected = std::min(state_.selected, most == 0 ? 0 : most - 1);
        const bool before = state_.first > 0 && state_.selected < state_.first + margin;
        const bool after =
            state_.first + here < state_.total && state_.selected + margin >= state_.first + here;
        if (state_.sort == 0 && (before || after))
            show_from(state_.selected - std::min(state_.selected, most_streams / 2));
    }

    void show_from(std::size_t first) {
        follower_.look(state_.filter, first);
        follower_.fill(state_);
    }

    void steer(int key) {
        if (!state_.may_change) return;
        if (key == 's') command("POST", "/api/v1/start", "", "a run is started");
        if (key == 'x') command("POST", "/api/v1/stop", "", "the run is being ended");
        if (key == 'c') command("POST", "/api/v1/clear", "", "counts begin anew");
        if (key == 'r' && !selected_stream(state_).empty()) ask("rate: ");
        if (key == 'p') pause();
    }

    void ask(const std::string& what) {
        question_ = what;
        typed_.clear();
        state_.prompt = what;
    }

    void type(int key) {
        constexpr int escape = 27;
        constexpr int rubout = 127;
        if (key == escape) {
            state_.prompt.clear();
            return;
        }
        if (key == '\n' || key == KEY_ENTER) {
            state_.prompt.clear();
            answer();
            return;
        }
        if (key == KEY_BACKSPACE || key == rubout || key == '\b') {
            if (!typed_.empty()) typed_.pop_back();
        } else if (key >= ' ' && key < rubout) {
            typed_ += static_cast<char>(key);
        }
        state_.prompt = question_ + typed_;
    }

    void answer() {
        if (question_ == "filter: ") {
            state_.filter = typed_.empty() ? "*" : typed_;
            state_.selected = 0;
            show_from(0);
        } else if (!typed_.empty()) {
            change({{"rate", typed_}}, "rate " + typed_ + " for ");
        }
    }

    void pause() {
        for (const json& stream : sorted_streams(state_)) {
            if (stream.value("name", "") != selected_stream(state_)) continue;
            const bool paused = stream.value("state", "") == "paused";
            change({{"paused", !paused}}, paused ? "resumed " : "paused ");
        }
    }

    void change(const json& body, const std::string& done) {
        const std::string name = selected_stream(state_);
        command("PATCH", "/api/v1/streams/" + Client::escape(name), body.dump(), done + name);
    }

    // What is done is told in those words, what is refused in the daemon's.
    void command(const std::string& method, const std::string& path, const std::string& body,
                 const std::string& done) {
        try {
            const Reply reply = Client(place_).request(method, path, body);
            const json answer = json::parse(reply.body, nullptr, false);
            state_.message = reply.status == 200  ? done
                             : answer.is_object() ? answer.at("error").value("message", "refused")
                                                  : "refused";
        } catch (const std::exception& error) {
            state_.message = error.what();
        }
    }

    const Place& place_;
    TopState state_;
    Screen screen_;
    Follower follower_;
    std::string question_;
    std::string typed_;
    bool done_ = false;
};

}  // namespace

TopCommand::TopCommand(CLI::App& app, const Place& place)
    : command_(app.add_subcommand("top", "The live view: ports, cores, streams; keys change rates")),
      place_(place) {
    command_->fallthrough();
    command_->add_flag("--json", json_, "Print once, as JSON, what the view is drawn from");
}

int TopCommand::print_once() {
    try {
        const Reply reply = Client(place_).request("GET", "/telemetry");
        std::cout << reply.body;
        return exit_code_of(reply);
    } catch (const Unreachable& error) {
        std::cerr << "volleyctl: " << error.what() << '\n';
        return exit_unavailable;
    }
}

int TopCommand::run() {
    if (json_) return print_once();
    if (isatty(STDOUT_FILENO) == 0 || isatty(STDIN_FILENO) == 0) {
        std::cerr << "volleyctl: top needs a terminal; `volleyctl watch` prints lines\n";
        return exit_usage;
    }
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaction(number, &action, nullptr);
    try {
        Top(place_).loop();
    } catch (const UnknownTerminal& error) {
        std::cerr << "volleyctl: " << error.what() << '\n';
        return exit_usage;
    }
    const int number = ended_by.load(std::memory_order_relaxed);
    return number == 0 || number == SIGINT ? 0 : 128 + number;
}

}  // namespace volley::ctl
