#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace volley::imports {

using Bytes = std::vector<std::uint8_t>;

/// A file that goes with the test.
class TestFile {
  public:
    explicit TestFile(const std::string& content) {
        std::string name = (std::filesystem::temp_directory_path() / "volley-XXXXXX").string();
        const int fd = mkstemp(name.data());
        std::FILE* file = fd < 0 ? nullptr : fdopen(fd, "wb");
        if (file == nullptr) std::abort();
        std::fwrite(content.data(), 1, content.size(), file);
        std::fclose(file);
        path_ = name;
    }
    ~TestFile() { std::remove(path_.c_str()); }
    TestFile(const TestFile&) = delete;
    TestFile& operator=(const TestFile&) = delete;
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// The bytes of a pcap file, made piece by piece.
class PcapText {
  public:
    explicit PcapText(std::uint32_t magic = 0xa1b2c3d4, std::uint32_t link = 1, bool big_endian = false)
        : big_endian_(big_endian) {
        word(magic);
        text_ += big_endian ? std::string("\0\2\0\4", 4) : std::string("\2\0\4\0", 4);
        word(0);
        word(0);
        word(65535);
        word(link);
    }
    PcapText& packet(std::uint32_t seconds, std::uint32_t rest, const Bytes& bytes,
                     std::uint32_t length = 0) {
        word(seconds);
        word(rest);
        word(static_cast<std::uint32_t>(bytes.size()));
        word(length == 0 ? static_cast<std::uint32_t>(bytes.size()) : length);
        text_.append(bytes.begin(), bytes.end());
        return *this;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

  private:
    void word(std::uint32_t value) {
        for (int i = 0; i < 4; ++i) {
            const int shift = big_endian_ ? 24 - 8 * i : 8 * i;
            text_.push_back(static_cast<char>(value >> shift & 0xffU));
        }
    }
    bool big_endian_;
    std::string text_;
};

}  // namespace volley::imports
