// The fields of a tar file's samples, from C and from C++: `fields ARCHIVE`. Prints each row's values.

#include "feedline.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(holds) \
    if (!(holds)) { std::fprintf(stderr, "line %d: %s\n", __LINE__, #holds); std::exit(1); }

int main(int, char** arguments) {
    feedline::options options;
    options.set("data", arguments[1]).set("batch_size", 2).set("recipe", "decode-only").set("last_batch", "partial");
    options.set("fields", "caption = { type = \"text\", from = \"txt\" }, n = { type = \"integer\", default = -1 }, "
                          "score = { type = \"float\", default = 0.5 }, json = \"json\", "
                          "list = { type = \"integers\", from = \"n\", default = [] }, "
                          "one = { type = \"floats\", from = \"score\", default = [0.5], length = 1 }");
    feedline::loader loader(options);
    auto epoch = loader.epoch(0);
    for (const feedline::batch& batch : epoch) {
        const auto captions = batch.values("caption"), numbers = batch.values("n"), scores = batch.values("score");
        const auto json = batch.values("json"), list = batch.values("list"), one = batch.values("one");
        CHECK(captions && numbers && scores && json && !batch.values("captions"));
        CHECK(captions->kind == FEEDLINE_VALUE_TYPE_TEXT && json->kind == FEEDLINE_VALUE_TYPE_JSON);
        CHECK(numbers->kind == FEEDLINE_VALUE_TYPE_INTEGER && numbers->offsets == nullptr && numbers->bytes == nullptr);
        CHECK(captions->integers == nullptr && captions->floats == nullptr && captions->offsets[0] == 0);
        CHECK(captions->rows == batch.rows() && scores->rows == batch.rows() && scores->integers == nullptr);
        CHECK(list && list->kind == FEEDLINE_VALUE_TYPE_INTEGERS && list->length == 0 && list->text(0).empty());
        CHECK(one && one->kind == FEEDLINE_VALUE_TYPE_FLOATS && one->length == 1 && one->offsets == nullptr);
        CHECK(list->rows == batch.rows() && one->rows == batch.rows() && scores->length == 0);
        CHECK(numbers->text(0).empty() && captions->text(batch.rows()).empty());
        for (std::uint64_t row = 0; row < batch.rows(); row++) {
            const std::string caption(captions->text(row)), text(json->text(row));
            const std::size_t begin = list->offsets[row], end = list->offsets[row + 1];
            CHECK(numbers->integers[row] == -1 ? begin == end : end == begin + 1 && list->integers[begin] == numbers->integers[row]);
            CHECK(one->floats[row] == scores->floats[row]);
            std::printf("%s|%s|%lld|%g\n", caption.c_str(), text.c_str(), static_cast<long long>(numbers->integers[row]),
                        scores->floats[row]);
        }
        feedline_values values;
        CHECK(feedline_batch_values(batch.handle(), nullptr, &values) == FEEDLINE_STATUS_INVALID);
        CHECK(std::strstr(feedline_last_error(), "`name` is null"));
        CHECK(feedline_batch_values(batch.handle(), "n", nullptr) == FEEDLINE_STATUS_INVALID);
    }
    feedline::options paired;
    paired.set("data", arguments[1]).set("batch_size", 3).set("recipe", "imagenet-eval");
    paired.set("fields", "twin = { type = \"image\", from = \"twin.jpg\" }");
    feedline::loader twins(paired);
    auto pairs = twins.epoch(0);
    for (const feedline::batch& batch : pairs) {
        const auto twin = batch.picture("twin");
        const auto image = batch.tensor();
        CHECK(twin && twin->bytes == image.bytes && twin->dtype == image.dtype && twin->ndim == 4 && twin->data != image.data);
        CHECK(std::memcmp(twin->data, image.data, image.bytes) == 0);
        CHECK(!batch.picture("twins") && !batch.picture_field("twins") && !batch.values("twin"));
        const auto copied = batch.to_host(batch.picture_field("twin").value());
        CHECK(copied.size() == image.bytes && std::memcmp(copied.data(), image.data, image.bytes) == 0);
        std::int32_t field = 0;
        CHECK(feedline_batch_picture(batch.handle(), "twin", nullptr) == FEEDLINE_STATUS_INVALID);
        CHECK(feedline_batch_picture(batch.handle(), "twin", &field) == FEEDLINE_STATUS_OK);
        feedline_tensor behind;
        CHECK(feedline_batch_tensor(batch.handle(), field + 1, &behind) == FEEDLINE_STATUS_ABSENT);
    }
    return 0;
}
