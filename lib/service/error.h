#pragma once

#include <stdexcept>

namespace volley::service {

/// What the host has for the service is not fit for it: a file of tokens, a certificate. what() is the next
/// step.
class SetupError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace volley::service
