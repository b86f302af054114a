#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "config/model.h"
#include "traffic/file_identity.h"
#include "traffic/survey.h"

namespace volley::traffic {

/// What the process has found in large captures, by file and by how it is read, so that a file that is as it
/// was is not looked through again at the next start. Any thread.
class Surveys {
  public:
    static constexpr std::size_t most = 16;  ///< the oldest goes first; one takes some kilobytes

    static Surveys& of_process();

    [[nodiscard]] std::optional<Survey> find(const config::PcapSource& source, bool pad,
                                             const FileIdentity& identity) const;
    /// A file that was written within the last seconds is not kept: it may change once more with no sign of
    /// it in size or time.
    void keep(const config::PcapSource& source, bool pad, const FileIdentity& identity, const Survey& survey);

  private:
    struct Known {
        config::PcapSource source;  ///< with what a survey does not depend on left at its defaults
        bool pad = false;
        FileIdentity identity;
        Survey survey;
    };
    mutable std::mutex mutex_;  ///< of known_
    std::vector<Known> known_;
};

}  // namespace volley::traffic
