// Where there is no libFuzzer: each seed, then inputs that differ from the seeds in a few bytes, always the
// same ones. usage: PROGRAM FOLDER...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// The name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(const std::string& text) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::string mutated(std::string text, std::mt19937_64& random) {
    for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
        const std::size_t at = text.empty() ? 0 : random() % text.size();
        const auto byte = static_cast<char>(random() % 256);
        switch (random() % 4) {
            case 0:
                text.insert(at, 1, byte);
                break;
            case 1:
                if (!text.empty()) text.erase(at, 1 + random() % 8);
                break;
            case 2:
                text.insert(at, text.substr(at, 1 + random() % 64));
                break;
            default:
                if (!text.empty()) text[at] = byte;
        }
    }
    return text;
}

void add_seeds(const std::filesystem::path& folder, std::vector<std::string>& seeds) {
    if (!std::filesystem::is_directory(folder)) return;  // of a corpus that is not there
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
        std::ifstream file(path, std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
}

}  // namespace

int main(int argc, char** argv) {
    constexpr int mutations = 1000;
    std::vector<std::string> seeds;
    for (int i = 1; i < argc; ++i) add_seeds(argv[i], seeds);
    if (seeds.empty()) return 66;
    for (const std::string& seed : seeds) feed(seed);
    std::mt19937_64 random(1);  // NOLINT: the same inputs each time
    for (int i = 0; i < mutations; ++i) feed(mutated(seeds[random() % seeds.size()], random));
    std::printf("%zu seeds and %d mutations\n", seeds.size(), mutations);
    return 0;
}
