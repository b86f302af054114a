#pragma once

#include <memory>
#include <mutex>
#include <string>

namespace volley::service {

/// The configuration in force: written by control, read by the service, immutable.
struct Configuration {
    std::string text;  ///< JSON with all defaults
    std::string etag;  ///< strong entity tag (RFC 9110 section 8.8.3) of the text, with its quotes
};

std::shared_ptr<const Configuration> make_configuration(std::string text);

/// One thread stores, any thread loads, nobody waits longer than it takes to copy a pointer.
class CurrentConfiguration {
  public:
    [[nodiscard]] std::shared_ptr<const Configuration> load() const {
        const std::lock_guard lock(mutex_);
        return value_;
    }
    void store(std::shared_ptr<const Configuration> value) {
        const std::lock_guard lock(mutex_);
        value_.swap(value);
    }

  private:
    mutable std::mutex mutex_;
    std::shared_ptr<const Configuration> value_ = std::make_shared<const Configuration>();
};

}  // namespace volley::service
