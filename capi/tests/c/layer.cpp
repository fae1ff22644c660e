// The C++ layer: errors are exceptions, owners move, an epoch is a range, and tensors outlive the rest.

#include <feedline.hpp>

#include "common.h"

template <class Call>
static std::string thrown(Call call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "nothing";
}

int main(int count, char** arguments) {
    CHECK(count == 2);
    feedline::options train;
    train.set("recipe", "yolo-train").set("imgsz", 320).set("parameters.hsv_h", 0.02).set("mosaic", 0.5f);
    for (const char* line : {"imgsz = 320", "hsv_h = 0.02", "p = 0.5", "size = [320, 320]"}) {
        CHECK(train.text().find(line) != std::string::npos);
    }
    const auto parameters = feedline::recipe_parameters_json("yolo-train");
    CHECK(parameters.find("{\"name\":\"imgsz\",\"type\":\"integer\",\"default\":640") != std::string::npos);

    feedline::options options;
    options.set("data", arguments[1]).set("batch_size", 16).set("shuffle", true).set("workers", 1);
    options.set("recipe", "imagenet-eval").set("output.dtype", "u8");
    CHECK(thrown([&] { feedline::loader loader(options); }).find("u8 output cannot hold") != std::string::npos);
    try {
        feedline::loader loader(options);
        CHECK(false);
    } catch (const feedline::error& error) {
        CHECK(error.status() == FEEDLINE_STATUS_CONFIG);
    }
    options.set("output.dtype", "bf16").set("output.layout", "nhwc");
    feedline::loader opened(options), loader(std::move(opened));
    CHECK(thrown([&] { opened.batches(); }).find("`loader` is null") != std::string::npos);
    CHECK(loader.batches() == 2 && loader.samples() == 43 && loader.classes().size() == 12);

    auto epoch = loader.epoch(0);
    CHECK(epoch.left() == 2);
    DLManagedTensorVersioned* kept = nullptr;
    std::vector<std::uint8_t> copy;
    std::string state;
    std::uint64_t batches = 0;
    for (feedline::batch& batch : epoch) {
        const auto images = batch.tensor();
        CHECK((images.sizes() == std::vector<std::int64_t>{16, 224, 224, 3}) && images.dtype == FEEDLINE_DTYPE_BF16);
        CHECK(images.elements() * 2 == static_cast<std::int64_t>(images.bytes) && images.as<std::uint16_t>());
        CHECK(thrown([&] { images.as<float>(); }).find("another size") != std::string::npos);
        CHECK(!batch.find(FEEDLINE_FIELD_BOXES) && !batch.to_dlpack(FEEDLINE_FIELD_BOXES));
        CHECK(thrown([&] { batch.tensor(FEEDLINE_FIELD_MASKS); }).find("no such array") != std::string::npos);
        CHECK(batch.rows() == 16 && batch.number() == batches++ && !batch.key(15).empty());
        CHECK(batch.row_status(0) == FEEDLINE_ROW_STATUS_OK);
        const auto indices = batch.tensor(FEEDLINE_FIELD_INDICES);
        const auto copied = batch.to_host(FEEDLINE_FIELD_INDICES);
        CHECK(copied.size() == 16 * 8 && !memcmp(copied.data(), indices.data, copied.size()));
        CHECK(thrown([&] { batch.to_host(FEEDLINE_FIELD_MASKS); }).find("no such array") != std::string::npos);
        if (!kept) {
            kept = batch.to_dlpack();
            CHECK(kept->dl_tensor.data == images.data);
            copy = batch.to_host();
            state = epoch.state();
        }
    }
    CHECK(batches == 2 && !epoch.next());
    CHECK(loader.notes().empty() && loader.options_text().find("batch_size = ") != std::string::npos);
    CHECK(loader.stats_json().find("\"samples\":") != std::string::npos);
    CHECK(loader.report_json().find("\"damaged_files\":[]") != std::string::npos);
    CHECK(loader.explain().find("the limit") != std::string::npos);
    CHECK(loader.resume(state).next()->number() == 1);
    {
        feedline::options several;
        several.set("data", arguments[1]).set("batch_size", 3).set("recipe", "dinov2").set("workers", 1);
        feedline::loader crops(several);
        auto first = crops.epoch(0).next();
        CHECK(first && first->view_count() == 10);
        const auto large = first->view(1), small = first->view(9);
        CHECK((large.tensor().sizes() == std::vector<std::int64_t>{3, 3, 224, 224}));
        CHECK((small.tensor().sizes() == std::vector<std::int64_t>{3, 3, 96, 96}) && small.key(2) == first->key(2));
        CHECK(first->view(0).to_host() == first->to_host() && large.to_host() != first->to_host());
        CHECK(thrown([&] { first->view(10); }).find("no view 10") != std::string::npos);
        auto* outlives = small.to_dlpack();
        const auto pixels = small.to_host();
        first.reset();
        CHECK(!memcmp(outlives->dl_tensor.data, pixels.data(), pixels.size()));
        outlives->deleter(outlives);
    }
    { auto ended = std::move(loader); }
    { auto ended = std::move(epoch); }
    CHECK(!memcmp(kept->dl_tensor.data, copy.data(), copy.size()));
    kept->deleter(kept);
    return 0;
}
