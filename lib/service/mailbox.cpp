#include "service/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace volley::service {
namespace {

Outcome unavailable(const char* message) {
    Outcome out;
    out.verdict = Outcome::Verdict::unavailable;
    out.code = "unavailable";
    out.message = message;
    out.hint = "try again";
    return out;
}

}  // namespace

Mailbox::Mailbox() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE)) {
    if (!fd_) throw std::system_error(errno, std::generic_category(), "eventfd for commands");
}

void Mailbox::post(Command command, Answer answer) {
    {
        const std::lock_guard lock(mutex_);
        if (!closed_ && letters_.size() < most) {
            letters_.push_back({std::move(command), std::move(answer)});
            const std::uint64_t one = 1;
            [[maybe_unused]] const ssize_t n = ::write(fd_.get(), &one, sizeof(one));
            return;
        }
    }
    answer(unavailable("control takes no commands now"));
}

std::optional<Mailbox::Letter> Mailbox::take() {
    const std::lock_guard lock(mutex_);
    if (letters_.empty()) return std::nullopt;
    std::uint64_t one = 0;
    [[maybe_unused]] const ssize_t n = ::read(fd_.get(), &one, sizeof(one));
    Letter out = std::move(letters_.front());
    letters_.erase(letters_.begin());
    return out;
}

bool Mailbox::holds(Command::Kind kind) {
    const std::lock_guard lock(mutex_);
    return std::any_of(letters_.begin(), letters_.end(),
                       [&](const Letter& letter) { return letter.command.kind == kind; });
}

void Mailbox::close() {
    std::vector<Letter> left;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        left.swap(letters_);
    }
    for (const Letter& letter : left) letter.answer(unavailable("volleyd ends"));
}

}  // namespace volley::service
