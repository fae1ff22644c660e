// Goes through two epochs of a folder of images, and prints what the batches are and a checksum of their pixels.
//
//     capi/install.sh /usr/local
//     c++ -std=c++17 examples/cpp/epochs.cpp $(pkg-config --cflags --libs feedline) -o epochs
//     ./epochs data/photos

#include <feedline.hpp>

#include <cstdio>
#include <exception>
#include <string>

// FNV-1a: the same on every machine.
static std::uint64_t checksum(std::uint64_t sum, const feedline::tensor& tensor) {
    const auto* bytes = static_cast<const unsigned char*>(tensor.data);
    for (std::uint64_t i = 0; i < tensor.bytes; i++) sum = (sum ^ bytes[i]) * 1099511628211u;
    return sum;
}

static void run(const std::string& folder) {
    feedline::options options;
    options.set("data", folder).set("recipe", "imagenet-train").set("output.dtype", "f32");
    options.set("batch_size", 8).set("seed", 42).set("workers", 2).set("last_batch", "partial");
    const feedline::loader loader(options);
    std::printf("feedline %s: %llu images of %zu classes, %llu batches an epoch\n", feedline::version().c_str(),
                static_cast<unsigned long long>(loader.samples()), loader.classes().size(),
                static_cast<unsigned long long>(loader.batches()));
    for (std::uint64_t number = 0; number < 2; number++) {
        std::uint64_t sum = 14695981039346656037u;
        auto epoch = loader.epoch(number);
        for (const feedline::batch& batch : epoch) {
            const auto images = batch.tensor();
            const auto labels = batch.tensor(FEEDLINE_FIELD_LABELS);
            std::printf("  [%lld, %lld, %lld, %lld], first class %lld: %s\n", static_cast<long long>(images.shape[0]),
                        static_cast<long long>(images.shape[1]), static_cast<long long>(images.shape[2]),
                        static_cast<long long>(images.shape[3]),
                        static_cast<long long>(labels.as<std::int64_t>()[0]), batch.key(0).c_str());
            sum = checksum(checksum(sum, images), labels);
        }
        std::printf("epoch %llu: checksum %016llx\n", static_cast<unsigned long long>(number),
                    static_cast<unsigned long long>(sum));
    }
}

int main(int count, char** arguments) {
    try {
        run(count > 1 ? arguments[1] : "data/photos");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "epochs: %s\n", error.what());
        return 1;
    }
}
