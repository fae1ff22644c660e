// A DLPack tensor as one of torch's, for tch.rs: the one call that the crate tch does not have.

#include <ATen/DLConvertor.h>

#include <cstdio>
#include <exception>
#include <memory>

// A new tensor, to be deleted as tch deletes its own; or null, and the reason in `why`, cut to `room` bytes. Whatever
// becomes of the call, `managed` belongs to it: the last copy of `owner` deletes it, once, on whatever thread.
extern "C" at::Tensor* feedline_tch_adopt(DLManagedTensor* managed, char* why, std::size_t room) noexcept {
    const auto say = [&](const char* message) { std::snprintf(why, room, "%s", message); };
    try {
        const std::shared_ptr<DLManagedTensor> owner(managed, [](DLManagedTensor* tensor) { tensor->deleter(tensor); });
        return new at::Tensor(at::fromDLPack(managed, [owner](void*) {}));
    } catch (const c10::Error& error) {
        say(error.what_without_backtrace());
    } catch (const std::exception& error) {
        say(error.what());
    } catch (...) {
        say("an exception without a message");
    }
    return nullptr;
}
