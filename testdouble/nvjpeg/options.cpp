#include "options.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <sstream>

namespace {
// Reads `NAME=NUMBER`, all of the word.
bool is_number(const std::string& word, const char* name, int& value) {
    const std::string key = std::string(name) + "=";
    int end = -1;
    return word.compare(0, key.size(), key) == 0 &&
           sscanf(word.c_str() + key.size(), "%d%n", &value, &end) == 1 && key.size() + size_t(end) == word.size();
}

bool is_known(const std::string& word, NvjpegOptions& options) {
    int* version = options.version;
    if (word.find('@') != std::string::npos) {
        options.faults += (options.faults.empty() ? "" : "+") + word;
        return true;
    }
    std::pair<int, unsigned> flags;
    if (sscanf(word.c_str(), "refused_flags=%d:%u", &flags.first, &flags.second) == 2) {
        options.refused_flags.push_back(flags);
        return true;
    }
    if (word.rfind("refused_path=", 0) == 0) {
        options.refused_path = word.substr(word.find('=') + 1);
        return true;
    }
    if (sscanf(word.c_str(), "version=%d.%d.%d", version, version + 1, version + 2) == 3) return true;
    if (sscanf(word.c_str(), "odd=%d:%d", &options.odd_width, &options.odd_status) == 2) return true;
    return is_number(word, "engines", options.engines) || is_number(word, "cores", options.cores) ||
           is_number(word, "unsupported", options.unsupported) || is_number(word, "parts", options.parts) ||
           is_number(word, "mixed", options.mixed) || is_number(word, "small", options.small) ||
           is_number(word, "skip", options.skip) || is_number(word, "late", options.late) ||
           is_number(word, "zero", options.zero) || is_number(word, "copy", options.copy) ||
           is_number(word, "noise", options.noise);
}
}  // namespace

NvjpegOptions parse_nvjpeg_options(const char* text) {
    NvjpegOptions options;
    std::istringstream words(text ? text : "");
    for (std::string word; std::getline(words, word, ',');) {
        if (word.empty() || is_known(word, options)) continue;
        fprintf(stderr, "fakenvjpeg: FAKENVJPEG: unknown word '%s'\n", word.c_str());
        abort();
    }
    return options;
}

// Where this copy of the library lies.
static std::string own_path() {
    Dl_info info;
    return dladdr(reinterpret_cast<void*>(&parse_nvjpeg_options), &info) != 0 ? info.dli_fname : "";
}

Status NvjpegOptions::refusal(int backend, unsigned flags) const {
    if (!refused_path.empty() && own_path().find(refused_path) != std::string::npos) return status::execution_failed;
    for (const auto& refused : refused_flags) {
        if (refused == std::pair<int, unsigned>(backend, flags)) return status::implementation_not_supported;
    }
    return status::success;
}
