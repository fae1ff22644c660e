#include "options.h"

#include <stdio.h>
#include <stdlib.h>

#include <functional>
#include <map>
#include <sstream>

namespace {
[[noreturn]] void refuse(const std::string& what) {
    fprintf(stderr, "fakecuda: FAKECUDA: %s\n", what.c_str());
    abort();
}

// 4096, 64K, 256M, 2G.
size_t number(const std::string& text) {
    char* end = nullptr;
    unsigned long long value = strtoull(text.c_str(), &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (end == text.c_str() || *(end + (shift != 0)) != 0) refuse("'" + text + "' is no number");
    return size_t(value) << shift;
}

Mode mode(const std::string& text) {
    static const std::map<std::string, Mode> modes = {
        {"sync", Mode::sync}, {"lazy", Mode::lazy}, {"random", Mode::random}};
    auto found = modes.find(text);
    if (found == modes.end()) refuse("mode '" + text + "': use sync, lazy or random");
    return found->second;
}
}  // namespace

Options parse_options(const char* text) {
    Options options;
    const std::map<std::string, std::function<void(const std::string&)>> setters = {
        {"mode", [&](const std::string& v) { options.mode = mode(v); }},
        {"seed", [&](const std::string& v) { options.seed = number(v); }},
        {"memory", [&](const std::string& v) { options.memory = number(v); }},
        {"alignment", [&](const std::string& v) { options.alignment = number(v); }},
        {"granularity", [&](const std::string& v) { options.granularity = number(v); }},
        {"devices", [&](const std::string& v) { options.devices = int(number(v)); }},
        {"version", [&](const std::string& v) { options.version = int(number(v)); }},
        {"capability", [&](const std::string& v) { options.capability = int(number(v)); }},
        {"multiprocessors", [&](const std::string& v) { options.multiprocessors = int(number(v)); }},
        {"stub", [&](const std::string& v) { options.stub = number(v) != 0; }},
        {"default_stream", [&](const std::string& v) { options.default_stream = number(v) != 0; }},
        {"report", [&](const std::string& v) { options.report = number(v) != 0; }},
        {"unknown", [&](const std::string& v) { options.unknown = number(v); }},
        {"ptx", [&](const std::string& v) { options.ptx = number(v) != 0; }},
        {"fault", [&](const std::string& v) { options.faults = v; }},
    };
    std::istringstream words(text ? text : "");
    for (std::string word; std::getline(words, word, ',');) {
        if (word.empty()) continue;
        size_t equals = word.find('=');
        auto setter = setters.find(word.substr(0, equals));
        if (setter == setters.end() || equals == std::string::npos) refuse("unknown word '" + word + "'");
        setter->second(word.substr(equals + 1));
    }
    return options;
}
