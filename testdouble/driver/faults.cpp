#include "faults.h"

#include <stdio.h>
#include <stdlib.h>

#include <sstream>

Faults::Faults(const std::string& text) {
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, '+');) {
        size_t at = word.find('@'), colon = word.find(':');
        if (at == std::string::npos || colon == std::string::npos || colon < at) {
            fprintf(stderr, "fakecuda: fault '%s': write NAME@N:CODE\n", word.c_str());
            abort();
        }
        bool operation = word.rfind("exec-", 0) == 0;
        size_t start = operation ? 5 : 0;
        faults_.push_back({word.substr(start, at - start), operation,
                           strtoull(word.c_str() + at + 1, nullptr, 10), 0, atoi(word.c_str() + colon + 1)});
    }
}

int Faults::strike(const std::string& name, bool operation) {
    for (Fault& fault : faults_) {
        bool meant = fault.operation == operation && (fault.name == "any" || fault.name == name);
        if (meant && ++fault.seen == fault.number) return fault.code;
    }
    return 0;
}
