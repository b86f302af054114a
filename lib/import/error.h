#pragma once

#include <stdexcept>

// Not volley::import: C++20 gives that word a meaning at the start of a line.
namespace volley::imports {

/// A file that cannot be read or written, or whose content is refused. The text names the file, the place in
/// it and the reason.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace volley::imports
