// Where there is no libFuzzer: each seed, then inputs that differ from the seeds in a few bytes, always the
// same ones. usage: PROGRAM FOLDER [MUTATIONS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
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

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) return 64;
    std::vector<std::string> seeds;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        std::ifstream file(entry.path(), std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    if (seeds.empty()) return 66;
    for (const std::string& seed : seeds) feed(seed);
    std::mt19937_64 random(1);  // NOLINT: the same inputs each time
    const long mutations = argc > 2 ? std::atol(argv[2]) : 1000;
    for (long i = 0; i < mutations; ++i) feed(mutated(seeds[random() % seeds.size()], random));
    std::printf("%zu seeds and %ld mutations\n", seeds.size(), mutations);
    return 0;
}
