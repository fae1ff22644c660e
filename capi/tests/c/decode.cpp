// Files that are decoded without a loader, by the C++ layer: images are owned and moved, errors thrown.

#include <feedline.hpp>

#include "common.h"

#include <fstream>
#include <iterator>

int main(int count, char** arguments) {
    CHECK(count == 2);
    std::ifstream stream(arguments[1], std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const auto header = feedline::read_header(file);
    CHECK(header.format == FEEDLINE_IMAGE_FORMAT_JPEG && header.orientation == 1);
    feedline::image image = feedline::decode(file);
    CHECK(image.width() == header.width && image.height() == header.height);
    CHECK(image.size() == 3u * header.width * header.height && image.data());
    const std::vector<std::uint8_t> pixels(image.data(), image.data() + image.size());
    feedline::image moved(std::move(image));
    CHECK(!image.data() && image.size() == 0 && moved.data());
    image = std::move(moved);
    CHECK(!moved.data() && !std::memcmp(image.data(), pixels.data(), pixels.size()));

    feedline_decode_options options{};
    options.scale_denominator = 2;
    const auto half = feedline::decode(file, options);
    CHECK(half.width() == (header.width + 1) / 2 && half.height() == (header.height + 1) / 2);
    options.scale_denominator = 5;
    for (const auto& wrong : {std::string_view(), std::string_view("no image")}) {
        try {
            feedline::decode(wrong);
            CHECK(false);
        } catch (const feedline::error& error) {
            CHECK(error.status() == FEEDLINE_STATUS_SAMPLE);
        }
    }
    try {
        feedline::decode_batch({file}, options);
        CHECK(false);
    } catch (const feedline::error& error) {
        CHECK(error.status() == FEEDLINE_STATUS_INVALID);
    }
    auto results = feedline::decode_batch({file, "no image", file}, {}, 2);
    CHECK(results.size() == 3 && feedline::decode_batch({}).empty());
    CHECK(results[1].status == FEEDLINE_STATUS_SAMPLE && !results[1].image.data());
    CHECK(results[1].error.find("not an image") != std::string::npos);
    for (const auto* good : {&results[0], &results[2]}) {
        CHECK(good->status == FEEDLINE_STATUS_OK && good->error.empty() && good->image.size() == pixels.size());
        CHECK(!std::memcmp(good->image.data(), pixels.data(), pixels.size()));
    }
    const feedline::image kept = std::move(results[2].image);
    results.clear();
    CHECK(!std::memcmp(kept.data(), pixels.data(), pixels.size()));
    return 0;
}
