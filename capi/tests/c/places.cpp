// How large images are, where samples show them, and whether batches are page-locked: `places FOLDER RECIPE_TEXT`. Prints a row
// for each sample, and then why batches are not page-locked, or nothing.

#include <feedline.hpp>

#include "common.h"

int main(int, char** arguments) {
    feedline::options options;
    options.set("data", arguments[1]).set("recipe_text", arguments[2]).set("batch_size", 2).set("pin_memory", true);
    feedline::loader loader(options);
    auto epoch = loader.epoch(0);
    for (const feedline::batch& batch : epoch) {
        for (std::uint64_t row = 0; row < batch.rows(); row++) {
            const auto size = batch.original_size(row);
            const auto place = batch.place(row);
            std::printf("%lld x %lld", static_cast<long long>(size.first), static_cast<long long>(size.second));
            if (place) std::printf(": %g %g, %g %g", place->ratio_x, place->ratio_y, place->pad_x, place->pad_y);
            std::printf("\n");
        }
        const auto* handle = batch.handle();
        std::int64_t one = 0;
        feedline_place place;
        CHECK(feedline_batch_original_size(handle, 2, &one, &one) == FEEDLINE_STATUS_INVALID);
        CHECK(std::strstr(feedline_last_error(), "there is no row 2: the batch has 2"));
        CHECK(feedline_batch_original_size(handle, 0, nullptr, &one) == FEEDLINE_STATUS_INVALID);
        CHECK(std::strstr(feedline_last_error(), "`height` is null"));
        CHECK(feedline_batch_original_size(handle, 0, &one, nullptr) == FEEDLINE_STATUS_INVALID);
        CHECK(feedline_batch_place(handle, 2, &place) == FEEDLINE_STATUS_INVALID);
        CHECK(feedline_batch_place(handle, 0, nullptr) == FEEDLINE_STATUS_INVALID);
        CHECK(feedline_batch_place(nullptr, 0, &place) == FEEDLINE_STATUS_INVALID);
    }
    CHECK(feedline_loader_unpinned(loader.handle(), nullptr) == FEEDLINE_STATUS_INVALID);
    std::printf("%s\n", loader.unpinned().value_or("").c_str());
    feedline::loader ordinary(options.set("pin_memory", false));
    CHECK(!ordinary.unpinned());
}
