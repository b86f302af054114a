#pragma once

namespace volley::ctl {

/// Whether standard output's terminal, as TERM names it, is described here (terminfo(5)).
bool terminal_is_known() noexcept;

}  // namespace volley::ctl
