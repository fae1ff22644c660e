// Goes through two epochs of a folder of images, and prints what the batches are and a checksum of their pixels.
//
//     capi/install.sh /usr/local
//     c++ -std=c++17 examples/cpp/epochs.cpp $(pkg-config --cflags --libs feedline) -o epochs
//     ./epochs data/photos imagenet-train 42
//
// The arguments may be left out. The examples of the same name in Rust, C and Python print the very same.

#include <feedline.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <string>

// CRC-32, as Python's zlib has it: the same in every language.
static std::uint32_t checksum(std::uint32_t sum, const feedline::tensor& tensor) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> entries{};
        for (std::uint32_t i = 0; i < 256; i++) {
            entries[i] = i;
            for (int bit = 0; bit < 8; bit++) entries[i] = entries[i] >> 1 ^ (entries[i] & 1 ? 0xEDB88320u : 0);
        }
        return entries;
    }();
    const auto* bytes = static_cast<const unsigned char*>(tensor.data);
    sum = ~sum;
    for (std::uint64_t i = 0; i < tensor.bytes; i++) sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 255];
    return ~sum;
}

static void run(const std::string& folder, const std::string& recipe, const std::string& seed) {
    feedline::options options;
    options.set("data", folder).set("recipe", recipe).set("seed", seed);
    options.set("batch_size", 8).set("workers", 2).set("last_batch", "partial");
    const feedline::loader loader(options);
    std::printf("feedline %s: %llu images of %zu classes, %llu batches an epoch\n", feedline::version().c_str(),
                static_cast<unsigned long long>(loader.samples()), loader.classes().size(),
                static_cast<unsigned long long>(loader.batches()));
    for (std::uint64_t number = 0; number < 2; number++) {
        std::uint32_t sum = 0;
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
        std::printf("epoch %llu: checksum %08x\n", static_cast<unsigned long long>(number),
                    static_cast<unsigned>(sum));
    }
}

int main(int count, char** arguments) {
    try {
        run(count > 1 ? arguments[1] : "data/photos", count > 2 ? arguments[2] : "imagenet-train",
            count > 3 ? arguments[3] : "42");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "epochs: %s\n", error.what());
        return 1;
    }
}
