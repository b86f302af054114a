// A source of its own, because term.h makes macros of names such as lines and columns.

#include "volleyctl/terminal.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

namespace volley::ctl {

bool terminal_is_known() noexcept {
    int why = 0;
    if (setupterm(nullptr, STDOUT_FILENO, &why) != OK) return false;
    del_curterm(cur_term);
    return true;
}

}  // namespace volley::ctl
