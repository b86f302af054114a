#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model.h"
#include "config/problem.h"

namespace volley::config {

struct ParseOptions {
    bool comments = true;           ///< // and /* */ are allowed; off for texts that come over the API
    std::vector<std::string> sets;  ///< "/json/pointer=value" edits, applied in order before decoding
    std::string base_directory;     ///< relative paths in the text are taken from here; empty leaves them
};

/// Reads, edits, decodes and checks a file. Relative paths in it are taken from its folder.
/// Throws FileError when it cannot be read, Error with all problems when it is wrong.
Model load(const std::string& path, const std::vector<std::string>& sets = {});

/// The same for a text; `file_name` stands in messages only. Throws Error.
Model parse(std::string_view text, std::string_view file_name, const ParseOptions& options = {});

/// A model that has been decoded, with edits as ParseOptions::sets has them, checked in full. `file_name`
/// stands in messages only. Throws Error.
Model edit(const Model& model, std::string_view file_name, const std::vector<std::string>& sets);

/// Gives problems that were found after loading the place of their pointers in the file, if it still can be
/// read.
void locate_in(const std::string& path, const std::vector<std::string>& sets, std::vector<Problem>& problems);

/// The effective configuration as JSON with every default filled in; it decodes to an equal model.
/// indent 0: one line.
std::string dump_config(const Model& model, unsigned indent = 2);

}  // namespace volley::config
