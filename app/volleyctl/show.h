#pragma once

#include <string>

namespace volley::ctl {

/// What the daemon answered, for people: JSON in, lines out.
std::string status_text(const std::string& state, const std::string& line);
std::string ports_text(const std::string& body);
std::string streams_text(const std::string& body);
std::string xstats_text(const std::string& body);
std::string changed_text(const std::string& body);
std::string report_text(const std::string& line);
std::string line_text(const std::string& line);

}  // namespace volley::ctl
