// Dense labels of a list whose images have several classes: `targets LIST`. Prints a row for each sample, and then smoothed ones.

#include <feedline.hpp>

#include <cstdio>
#include <cstdlib>

static void print(const std::vector<float>& targets) {
    for (std::size_t at = 0; at < targets.size(); at++) std::printf(at % 4 == 3 ? "%g\n" : "%g ", targets[at]);
}

static void check(bool truth, const char* what) {
    if (truth) return;
    std::fprintf(stderr, "not so: %s\n", what);
    std::exit(1);
}

int main(int, char** arguments) {
    feedline::options options;
    options.set("data", arguments[1]);
    options.set("label_separator", "|");
    options.set("recipe_text", "name = \"plain\"\n[output]\nsize = [6, 8]\n");
    options.set("batch_size", "3");
    feedline::loader loader(options);
    auto epoch = loader.epoch(0);
    for (const feedline::batch& batch : epoch) {
        print(batch.one_hot(4));
        print(batch.one_hot(4, 0.5f));
        float one;
        const auto* handle = batch.handle();
        check(feedline_batch_one_hot(handle, 4, 0, &one, 1) < 0, "a buffer that is too small is refused");
        check(std::string(feedline_last_error()).find("the rows take 12") != std::string::npos, feedline_last_error());
        check(feedline_batch_one_hot(handle, 2, 0, &one, 6) < 0, "a class that is too many is refused");
        check(feedline_batch_one_hot(handle, 4, 0, nullptr, 12) < 0, "no buffer is refused");
    }
}
