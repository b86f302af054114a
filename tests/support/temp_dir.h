#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace volley::test {

/// A folder of the test's own, removed with all that is in it.
class TempDir {
  public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::string file(std::string_view name) const { return path_ / name; }
    /// Writes a file in it and returns its path.
    std::string write(std::string_view name, std::string_view content) const;

  private:
    std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);

}  // namespace volley::test
