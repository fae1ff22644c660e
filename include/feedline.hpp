/* feedline for C++17: owners that free what they own, and exceptions in place of numbers.
 *
 * A thin layer over feedline.h, in this header alone. Owners are moved, not copied; an epoch is a range of batches.
 * Calls of objects that were moved from throw as well. docs/c.md is a tour. */

#ifndef FEEDLINE_HPP
#define FEEDLINE_HPP

#include "feedline.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <locale>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace feedline {

/// A call that failed; what() says why, and what to do about it.
class error : public std::runtime_error {
public:
    error(feedline_status status, const std::string& what) : std::runtime_error(what), status_(status) {}
    /// Which kind of error it is: a negative FEEDLINE_STATUS_...
    feedline_status status() const noexcept { return status_; }

private:
    feedline_status status_;
};

/// Throws where a call failed; else returns how it ended.
inline feedline_status check(feedline_status status) {
    if (static_cast<std::int32_t>(status) < 0) throw error(status, feedline_last_error());
    return status;
}

/// The version of the library that runs, such as "0.1.0".
inline std::string version() { return feedline_version(); }

namespace detail {
template <class Handle, void (*release)(Handle*)>
struct deleter {
    void operator()(Handle* handle) const noexcept { release(handle); }
};
template <class Handle, void (*release)(Handle*)>
using owner = std::unique_ptr<Handle, deleter<Handle, release>>;

// Calls a function that makes something, and owns it.
template <class Owner, class Make, class... Arguments>
Owner made(Make make, Arguments... arguments) {
    typename Owner::pointer handle = nullptr;
    check(make(arguments..., &handle));
    return Owner(handle);
}

template <class Get, class Handle>
std::uint64_t number(Get get, const Handle* handle) {
    std::uint64_t value = 0;
    check(get(handle, &value));
    return value;
}

// Asks for a value that need not be there.
template <class Value, class Get, class... Arguments>
std::optional<Value> found(Get get, Arguments... arguments) {
    Value value{};
    if (check(get(arguments..., &value)) == FEEDLINE_STATUS_ABSENT) return std::nullopt;
    return value;
}

template <class Get, class Handle>
std::string text(Get get, const Handle* handle) {
    return made<owner<char, feedline_string_free>>(get, handle).get();
}
}  // namespace detail

/// What a loader is to do: see feedline_options_set() for the names.
class options {
public:
    options() : handle_(detail::made<owner>(feedline_options_new)) {}

    options& set(const std::string& key, const std::string& value) {
        check(feedline_options_set(handle_.get(), key.c_str(), value.c_str()));
        return *this;
    }
    options& set(const std::string& key, const char* value) { return set(key, std::string(value)); }
    options& set(const std::string& key, bool value) { return set(key, value ? "true" : "false"); }
    template <class Number, std::enable_if_t<std::is_integral<Number>::value, int> = 0>
    options& set(const std::string& key, Number value) {
        return set(key, std::to_string(value));
    }
    /// Fractions, with as many digits as tell them apart.
    template <class Number, std::enable_if_t<std::is_floating_point<Number>::value, int> = 0>
    options& set(const std::string& key, Number value) {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text.precision(std::numeric_limits<Number>::max_digits10);
        text << value;
        return set(key, text.str());
    }

    /// What a loader would be opened with, as a recipe in TOML.
    std::string text() const {
        return detail::text(feedline_options_text, static_cast<const feedline_options*>(handle_.get()));
    }

    const feedline_options* handle() const noexcept { return handle_.get(); }

private:
    using owner = detail::owner<feedline_options, feedline_options_free>;
    owner handle_;
};

/// The parameters of a recipe, as JSON: see feedline_recipe_parameters_json().
inline std::string recipe_parameters_json(const std::string& recipe) {
    return detail::text(feedline_recipe_parameters_json, recipe.c_str());
}

/// Where an array lies. Valid as long as the batch that it was asked of.
class tensor : public feedline_tensor {
public:
    std::vector<std::int64_t> sizes() const { return {shape, shape + ndim}; }
    std::int64_t elements() const noexcept {
        std::int64_t product = 1;
        for (std::int32_t axis = 0; axis < ndim; axis++) product *= shape[axis];
        return product;
    }
    bool on_host() const noexcept { return device_type == 1; }
    /// The elements, where they lie in the host's memory and are of this type.
    template <class T>
    const T* as() const {
        if (!on_host()) throw std::logic_error("feedline: the array lies on a device: copy it with batch::to_host()");
        const bool fits = bytes == static_cast<std::uint64_t>(elements()) * sizeof(T);
        if (!fits) throw std::logic_error("feedline: the array's elements have another size than the type");
        return static_cast<const T*>(data);
    }
};

/// The values of a field in the rows of a batch, as long as the batch is there.
struct values : feedline_values {
    /// The text, JSON or bytes of a row; empty for numbers.
    std::string_view text(std::uint64_t row) const {
        if (bytes == nullptr || offsets == nullptr || row >= rows) return {};
        return {reinterpret_cast<const char*>(bytes) + offsets[row], offsets[row + 1] - offsets[row]};
    }
};

/// One batch. Its memory goes back to the loader when it and all its DLPack tensors are gone.
class batch {
public:
    explicit batch(feedline_batch* handle) : handle_(handle) {}

    std::uint64_t rows() const { return detail::number(feedline_batch_rows, handle()); }
    std::uint64_t number() const { return detail::number(feedline_batch_number, handle()); }

    /// Number of views of each sample: 1 where the recipe has none.
    std::uint64_t view_count() const { return detail::number(feedline_batch_view_count, handle()); }
    /// The same batch, with the pixels, masks and objects of a view, counted from 0.
    batch view(std::uint64_t number) const {
        feedline_batch* found = nullptr;
        check(feedline_batch_view(handle(), number, &found));
        return batch(found);
    }

    /// An array that every batch has.
    feedline::tensor tensor(feedline_field field = FEEDLINE_FIELD_IMAGES) const {
        auto found = find(field);
        if (!found) throw std::out_of_range("feedline: the batch has no such array: ask with find()");
        return *found;
    }
    /// An array, if the batch has it.
    std::optional<feedline::tensor> find(feedline_field field) const {
        return detail::found<feedline::tensor>(feedline_batch_tensor, handle(), field);
    }

    /// The values of a field, if the batch has it.
    std::optional<feedline::values> values(const std::string& name) const {
        return detail::found<feedline::values>(feedline_batch_values, handle(), name.c_str());
    }

    /// The second images or depth maps of a field, if the batch has them.
    std::optional<feedline::tensor> picture(const std::string& name) const {
        const auto field = picture_field(name);
        return field ? find(*field) : std::nullopt;
    }
    /// Their number in place of a FEEDLINE_FIELD_..., if the batch has them.
    std::optional<feedline_field> picture_field(const std::string& name) const {
        const auto field = detail::found<std::int32_t>(feedline_batch_picture, handle(), name.c_str());
        if (!field) return std::nullopt;
        return static_cast<feedline_field>(*field);
    }

    std::string key(std::uint64_t row) const {
        const char* key = nullptr;
        check(feedline_batch_key(handle(), row, &key));
        return key;
    }
    feedline_row_status row_status(std::uint64_t row) const {
        feedline_row_status status{};
        check(feedline_batch_row_status(handle(), row, &status));
        return status;
    }

    /// Height and width of a row's image as a viewer shows it, before anything was done to it.
    std::pair<std::int64_t, std::int64_t> original_size(std::uint64_t row) const {
        std::int64_t height = 0, width = 0;
        check(feedline_batch_original_size(handle(), row, &height, &width));
        return {height, width};
    }
    /// Where a row shows its image; nothing where it shows several, or shows it mirrored, turned or distorted.
    std::optional<feedline_place> place(std::uint64_t row) const {
        return detail::found<feedline_place>(feedline_batch_place, handle(), row);
    }

    /// The labels as one row of `classes` numbers for each sample, by their shares in mixes.
    std::vector<float> one_hot(std::uint64_t classes, float smoothing = 0) const {
        std::vector<float> targets(static_cast<std::size_t>(rows() * classes));
        check(feedline_batch_one_hot(handle(), classes, smoothing, targets.data(), targets.size()));
        return targets;
    }

    /// Waits until the pixels are finished, which a device may still be working on.
    void wait() const { check(feedline_batch_wait(handle())); }
    /// Orders a CUDA stream behind the pixels, and their memory's next use behind the stream.
    void use_on(void* stream) const { check(feedline_batch_use_on(handle(), stream)); }
    /// A copy of an array that the batch has, in the host's memory wherever the array lies: of the pixels, of masks, or by
    /// picture_field() of second images and depth maps.
    std::vector<std::uint8_t> to_host(feedline_field field = FEEDLINE_FIELD_IMAGES) const {
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(tensor(field).bytes));
        check(feedline_batch_field_to_host(handle(), field, bytes.data(), bytes.size()));
        return bytes;
    }

    /// A tensor of DLPack 1 for whoever calls its deleter; null where the batch has no such array.
    DLManagedTensorVersioned* to_dlpack(feedline_field field = FEEDLINE_FIELD_IMAGES) const {
        DLManagedTensorVersioned* tensor = nullptr;
        check(feedline_batch_to_dlpack(handle(), field, &tensor));
        return tensor;
    }
    /// The same as DLPack had it before version 1.
    DLManagedTensor* to_dlpack_unversioned(feedline_field field = FEEDLINE_FIELD_IMAGES) const {
        DLManagedTensor* tensor = nullptr;
        check(feedline_batch_to_dlpack_unversioned(handle(), field, &tensor));
        return tensor;
    }

    const feedline_batch* handle() const noexcept { return handle_.get(); }

private:
    detail::owner<feedline_batch, feedline_batch_free> handle_;
};

/// The batches of one epoch: for (feedline::batch& batch : epoch) ..., once.
class epoch {
public:
    explicit epoch(feedline_epoch* handle) : handle_(handle) {}

    /// The next batch; nothing at the end.
    std::optional<batch> next() {
        feedline_batch* handle = nullptr;
        if (check(feedline_epoch_next(handle_.get(), &handle)) == FEEDLINE_STATUS_END) return std::nullopt;
        return batch(handle);
    }
    /// Batches that are still to come.
    std::uint64_t left() const { return detail::number(feedline_epoch_left, handle_.get()); }
    /// Where the run stands, as JSON for loader::resume().
    std::string state() const {
        return detail::text(feedline_epoch_state, static_cast<const feedline_epoch*>(handle_.get()));
    }

    class iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = batch;
        using difference_type = std::ptrdiff_t;
        using pointer = batch*;
        using reference = batch&;

        iterator() = default;
        explicit iterator(epoch* of) : epoch_(of) { ++*this; }
        batch& operator*() const { return *current_; }
        batch* operator->() const { return current_.get(); }
        iterator& operator++() {
            // The batch before goes first, so that its memory is free for the ones that are being made.
            current_.reset();
            auto next = epoch_->next();
            if (next) {
                current_ = std::make_shared<batch>(std::move(*next));
            } else {
                epoch_ = nullptr;
            }
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(const iterator& other) const { return epoch_ == other.epoch_; }
        bool operator!=(const iterator& other) const { return !(*this == other); }

    private:
        epoch* epoch_ = nullptr;
        std::shared_ptr<batch> current_;
    };
    iterator begin() { return iterator(this); }
    iterator end() { return {}; }

private:
    detail::owner<feedline_epoch, feedline_epoch_free> handle_;
};

/// Delivers the batches of any epoch.
class loader {
public:
    explicit loader(const options& options) {
        if (feedline_abi_version() != FEEDLINE_ABI_VERSION) {
            throw std::runtime_error("feedline: the library is not the one of this header: install both from one version");
        }
        handle_ = detail::made<owner>(feedline_loader_open, options.handle());
    }

    /// Batches of an epoch.
    std::uint64_t batches() const { return detail::number(feedline_loader_batches, handle()); }
    /// Samples of the data set.
    std::uint64_t samples() const { return detail::number(feedline_loader_samples, handle()); }
    /// Class names; none where the data set knows none.
    std::vector<std::string> classes() const {
        std::vector<std::string> names;
        const auto count = detail::number(feedline_loader_classes, handle());
        for (std::uint64_t index = 0; index < count; index++) {
            const char* name = nullptr;
            check(feedline_loader_class_name(handle(), index, &name));
            names.emplace_back(name);
        }
        return names;
    }

    /// What there is to know of the data, such as images and labels that were left out.
    std::vector<std::string> notes() const {
        std::vector<std::string> notes(detail::number(feedline_loader_notes, handle()));
        for (std::uint64_t at = 0; at < notes.size(); at++) {
            const char* note = nullptr;
            check(feedline_loader_note(handle(), at, &note));
            notes[at] = note;
        }
        return notes;
    }
    /// Why batches are not page-locked, or not all of them, although the option `pin_memory` asks for it.
    std::optional<std::string> unpinned() const {
        const auto reason = detail::found<char*>(feedline_loader_unpinned, handle());
        if (!reason) return std::nullopt;
        return detail::owner<char, feedline_string_free>(*reason).get();
    }
    /// What the loader was told, as TOML.
    std::string options_text() const { return detail::text(feedline_loader_options, handle()); }

    /// The figures since the loader was opened, as JSON: see feedline_loader_stats_json().
    std::string stats_json() const { return detail::text(feedline_loader_stats_json, handle()); }
    /// The bad samples and the damaged files so far, as JSON: see feedline_loader_report_json().
    std::string report_json() const { return detail::text(feedline_loader_report_json, handle()); }
    /// What limits the speed so far, why, and what to do about it.
    std::string explain() const { return detail::text(feedline_loader_explain, handle()); }

    /// Starts an epoch, which ends the one that still runs.
    feedline::epoch epoch(std::uint64_t number) const {
        return feedline::epoch(detail::made<epoch_owner>(feedline_loader_epoch, handle(), number).release());
    }
    /// Goes on where epoch::state() was asked.
    feedline::epoch resume(const std::string& state) const {
        return feedline::epoch(detail::made<epoch_owner>(feedline_loader_resume, handle(), state.c_str()).release());
    }

    const feedline_loader* handle() const noexcept { return handle_.get(); }

private:
    using owner = detail::owner<feedline_loader, feedline_loader_free>;
    using epoch_owner = detail::owner<feedline_epoch, feedline_epoch_free>;
    owner handle_;
};

/// What a file in memory says of its image; nothing is decoded.
inline feedline_image_header read_header(std::string_view file) {
    feedline_image_header header{};
    check(feedline_read_header(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), &header));
    return header;
}

/// A decoded image: rows without gaps of R, G, B. It has no pixels where it was moved from.
class image {
public:
    image() = default;
    explicit image(feedline_image pixels) : image_(pixels) {}
    image(image&& other) noexcept : image_(std::exchange(other.image_, {})) {}
    image& operator=(image&& other) noexcept {
        if (this != &other) {
            feedline_image_free(&image_);
            image_ = std::exchange(other.image_, {});
        }
        return *this;
    }
    image(const image&) = delete;
    image& operator=(const image&) = delete;
    ~image() { feedline_image_free(&image_); }

    std::uint8_t* data() noexcept { return image_.pixels; }
    const std::uint8_t* data() const noexcept { return image_.pixels; }
    std::uint32_t width() const noexcept { return image_.width; }
    std::uint32_t height() const noexcept { return image_.height; }
    /// Bytes: height * width * 3.
    std::size_t size() const noexcept { return std::size_t{3} * image_.width * image_.height; }

private:
    feedline_image image_{};
};

/// Decodes a file in memory: JPEG, PNG, WebP, PNM or a file of coefficients. Options of zeros are the whole upright image at full scale.
inline feedline::image decode(std::string_view file, const feedline_decode_options& options = {}) {
    feedline_image pixels{};
    check(feedline_decode(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), &options, &pixels));
    return feedline::image(pixels);
}

/// What became of a file of a batch: its image, or an error.
struct decoded {
    feedline_status status = FEEDLINE_STATUS_OK;
    feedline::image image;
    /// What is wrong with the file, with the remedy; empty where it was decoded.
    std::string error;
};

/// Decodes files in memory on `threads` threads, 0 for one for each core: one result for each, in order.
inline std::vector<decoded> decode_batch(const std::vector<std::string_view>& files,
                                         const feedline_decode_options& options = {}, std::size_t threads = 0) {
    std::vector<feedline_file_bytes> bytes;
    for (const auto& file : files) bytes.push_back({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
    std::vector<feedline_decoded> results(files.size());
    // Whatever is thrown below, what was decoded is freed.
    const auto release = [](std::vector<feedline_decoded>* results) { feedline_decoded_free(results->data(), results->size()); };
    const std::unique_ptr<std::vector<feedline_decoded>, decltype(release)> freed(&results, release);
    check(feedline_decode_batch(bytes.data(), bytes.size(), &options, threads, results.data()));
    std::vector<decoded> all(files.size());
    for (std::size_t at = 0; at < all.size(); at++) {
        if (results[at].error != nullptr) all[at].error = results[at].error;
        all[at].status = results[at].status;
        all[at].image = feedline::image(std::exchange(results[at].image, {}));
    }
    return all;
}

}  // namespace feedline

#endif  // FEEDLINE_HPP
