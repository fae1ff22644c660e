#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#include <sstream>

NvjpegOptions parse_nvjpeg_options(const char* text) {
    NvjpegOptions options;
    std::istringstream words(text ? text : "");
    for (std::string word; std::getline(words, word, ',');) {
        int* version = options.version;
        int end = -1;
        if (word.empty()) continue;
        if (word.find('@') != std::string::npos) {
            options.faults += (options.faults.empty() ? "" : "+") + word;
        } else if (sscanf(word.c_str(), "version=%d.%d.%d", version, version + 1, version + 2) != 3 &&
                   (sscanf(word.c_str(), "engines=%d%n", &options.engines, &end) != 1 || end < 0) &&
                   (sscanf(word.c_str(), "cores=%d%n", &options.cores, &end) != 1 || end < 0)) {
            fprintf(stderr, "fakenvjpeg: FAKENVJPEG: unknown word '%s'\n", word.c_str());
            abort();
        }
    }
    return options;
}
