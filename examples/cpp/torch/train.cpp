// Trains a small network on a folder of classes with libtorch. The batches are torch tensors in feedline's own memory.
//
//     train [FOLDER [EPOCHS [DEVICE]]]      DEVICE is cpu or cuda

#include <ATen/DLConvertor.h>
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <feedline.hpp>
#include <string>

namespace F = torch::nn::functional;

// A field as a tensor of torch's, without a copy; its memory goes back to the loader with the last reference to it.
static torch::Tensor to_torch(const feedline::batch& batch, feedline_field field) {
    auto* shared = batch.to_dlpack_unversioned(field);
    return at::fromDLPack(shared);
}

struct SmallNet : torch::nn::Module {
    explicit SmallNet(int64_t classes) {
        auto convolution = [](int64_t from, int64_t to) {
            return torch::nn::Conv2d(torch::nn::Conv2dOptions(from, to, 3).stride(2).padding(1));
        };
        first = register_module("first", convolution(3, 16));
        second = register_module("second", convolution(16, 32));
        third = register_module("third", convolution(32, 64));
        last = register_module("last", torch::nn::Linear(64, classes));
    }

    torch::Tensor forward(torch::Tensor x) {
        x = torch::relu(first(x));
        x = torch::relu(second(x));
        x = torch::relu(third(x));
        return last(x.mean({2, 3}));
    }

    torch::nn::Conv2d first{nullptr}, second{nullptr}, third{nullptr};
    torch::nn::Linear last{nullptr};
};

// The mean loss of an epoch.
static double train(const feedline::loader& loader, uint64_t number, SmallNet& net, torch::optim::Optimizer& optimizer) {
    double sum = 0;
    int64_t rows = 0;
    auto epoch = loader.epoch(number);
    while (auto batch = epoch.next()) {
        batch->use_on(nullptr);  // the default stream, which torch works on unless it is told otherwise
        const auto images = to_torch(*batch, FEEDLINE_FIELD_IMAGES);
        const auto labels = to_torch(*batch, FEEDLINE_FIELD_LABELS).to(images.device());
        const auto loss = F::cross_entropy(net.forward(images), labels);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        sum += loss.item<double>() * static_cast<double>(images.size(0));
        rows += images.size(0);
    }
    return sum / static_cast<double>(rows);
}

static void run(const std::string& folder, int epochs, const std::string& device) {
    torch::manual_seed(1);
    feedline::options options;
    options.set("data", folder).set("device", device).set("batch_size", 8).set("last_batch", "partial");
    options.set("decoder", "feedline"); // the same pixels on a GPU and on the CPU
    options.set("shuffle", true).set("seed", 1).set("recipe_text", R"(
        name = "small"
        [output]
        size = [64, 64]
        [normalize]
        preset = "imagenet"
        [[augment]]
        op = "RandomResizedCrop"
        size = 64
        scale = [0.5, 1.0]
        [[augment]]
        op = "RandomHorizontalFlip"
    )");
    const feedline::loader loader(options);
    SmallNet net(static_cast<int64_t>(loader.classes().size()));
    net.to(torch::Device(device));
    torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(3e-3));
    double first = 0, last = 0;
    for (int number = 0; number < epochs; number++) {
        last = train(loader, static_cast<uint64_t>(number), net, optimizer);
        if (number == 0) first = last;
        std::printf("epoch %d: loss %.3f\n", number, last);
    }
    std::printf("the loss fell from %.3f to %.3f\n", first, last);
    if (!(last < first * 0.8)) throw std::runtime_error("the loss did not fall by a fifth: train for more epochs");
}

int main(int count, char** arguments) {
    try {
        run(count > 1 ? arguments[1] : "data/photos", count > 2 ? std::stoi(arguments[2]) : 15,
            count > 3 ? arguments[3] : "cpu");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "train: %s\n", error.what());
        return 1;
    }
}
