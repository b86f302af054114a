#include "support/tshark.h"

#include <sstream>
#include <stdexcept>

#include "support/process.h"

namespace volley::test {

std::string tshark_unavailable() {
    return run({"tshark", "--version"}).status == 0 ? "" : "tshark is not installed";
}

std::vector<std::vector<std::string>> tshark(const std::string& file, const std::vector<std::string>& fields,
                                             const std::string& filter) {
    std::vector<std::string> command{"tshark", "-n", "-r", file, "-T", "fields", "-E", "separator=/t"};
    for (const char* protocol : {"ip", "udp", "tcp"}) {
        command.insert(command.end(), {"-o", std::string(protocol) + ".check_checksum:TRUE"});
    }
    if (!filter.empty()) command.insert(command.end(), {"-Y", filter});
    for (const std::string& field : fields) command.insert(command.end(), {"-e", field});
    const Result result = run(std::move(command), {}, Seconds{300});
    if (result.status != 0) throw std::runtime_error("tshark " + file + ": " + result.err);

    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string>& row = rows.emplace_back();
        std::size_t begin = 0;
        for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
            end = line.find('\t', begin);
            row.push_back(line.substr(begin, end - begin));
        }
    }
    return rows;
}

}  // namespace volley::test
