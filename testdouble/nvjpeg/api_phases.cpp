// The decoupled phases: entropy decoding on the host, the transfer, and the rest on the device.
#include "objects.h"

NVJPEG_API Status nvjpegDecoderCreate(Handle* handle, int backend, JpegDecoder** decoder) {
    return enter(__func__, [&]() -> Status {
        objects().handles.find(handle);
        if (backend == hardware) return status::implementation_not_supported;
        if (backend != hybrid && backend != gpu_hybrid) return status::invalid_parameter;
        return objects().decoders.create(decoder, JpegDecoder{backend});
    });
}

NVJPEG_API Status nvjpegDecoderDestroy(JpegDecoder* decoder) {
    return enter(__func__, Kind::cleanup, [&] { return objects().decoders.destroy(decoder); });
}

NVJPEG_API Status nvjpegDecoderStateCreate(Handle* handle, JpegDecoder* decoder, JpegState** state) {
    return enter(__func__, [&]() -> Status {
        objects().handles.find(handle);
        objects().decoders.find(decoder);
        return objects().states.create(state);
    });
}

NVJPEG_API Status nvjpegDecoderJpegSupported(JpegDecoder* decoder, JpegStream* jpeg, Parameters* parameters,
                                             int* unsupported) {
    return enter(__func__, [&]() -> Status {
        objects().decoders.find(decoder);
        objects().parameters.find(parameters);
        const JpegHeader& header = objects().streams.find(jpeg)->header;
        *unsupported = header.precision == 8 && (header.components == 1 || header.components == 3) ? 0 : 1;
        return status::success;
    });
}

NVJPEG_API Status nvjpegBufferPinnedCreate(Handle* handle, void*, PinnedBuffer** buffer) {
    return enter(__func__, [&] { return objects().handles.find(handle), objects().pinned.create(buffer); });
}

NVJPEG_API Status nvjpegBufferDeviceCreate(Handle* handle, void*, DeviceBuffer** buffer) {
    return enter(__func__, [&] { return objects().handles.find(handle), objects().device.create(buffer); });
}

NVJPEG_API Status nvjpegBufferPinnedDestroy(PinnedBuffer* buffer) {
    return enter(__func__, Kind::cleanup, [&]() -> Status {
        objects().pinned.find(buffer)->destroyed = true;
        race::write(&buffer->byte, 1);
        return objects().pinned.destroy(buffer);
    });
}

NVJPEG_API Status nvjpegBufferDeviceDestroy(DeviceBuffer* buffer) {
    return enter(__func__, Kind::cleanup, [&]() -> Status {
        objects().device.find(buffer)->destroyed = true;
        race::write(&buffer->byte, 1);
        return objects().device.destroy(buffer);
    });
}

NVJPEG_API Status nvjpegStateAttachPinnedBuffer(JpegState* state, PinnedBuffer* buffer) {
    return enter(__func__, [&]() -> Status {
        objects().states.find(state)->pinned = objects().pinned.find(buffer);
        return status::success;
    });
}

NVJPEG_API Status nvjpegStateAttachDeviceBuffer(JpegState* state, DeviceBuffer* buffer) {
    return enter(__func__, [&]() -> Status {
        objects().states.find(state)->device = objects().device.find(buffer);
        return status::success;
    });
}

static void check_unchanged(const JpegStream& stream, const char* who) {
    if (hash_of(stream.bytes, stream.length) == stream.hash) return;
    refuse(std::string(who) + ": the file's bytes changed since it was parsed", status::bad_jpeg);
}

NVJPEG_API Status nvjpegDecodeJpegHost(Handle* handle, JpegDecoder* decoder, JpegState* state, Parameters* parameters,
                                       JpegStream* jpeg) {
    const char* name = __func__;
    return enter(name, [&]() -> Status {
        objects().handles.find(handle);
        objects().decoders.find(decoder);
        auto found = objects().states.find(state);
        auto stream = objects().streams.find(jpeg);
        auto own = objects().parameters.find(parameters);
        if (!found->pinned || stream->bytes == nullptr) return status::invalid_parameter;
        check_unchanged(*stream, name);
        auto pixels = std::make_shared<Pixels>();
        if (Status failed = decode_pixels(stream->bytes, stream->length, stream->header, own->roi, *pixels)) return failed;
        // What the buffer held is overwritten here, whether or not its transfer has run.
        found->pinned->image = pixels;
        race::write(&found->pinned->byte, 1);
        found->decoded = pixels;
        return status::success;
    });
}

NVJPEG_API Status nvjpegDecodeJpegTransferToDevice(Handle* handle, JpegDecoder* decoder, JpegState* state,
                                                   JpegStream* jpeg, void* stream) {
    const char* name = __func__;
    return enter(name, [&]() -> Status {
        objects().handles.find(handle);
        objects().decoders.find(decoder);
        auto found = objects().states.find(state);
        check_stream(stream, name);
        check_unchanged(*objects().streams.find(jpeg), name);
        if (!found->device || !found->decoded) return status::invalid_parameter;
        auto image = found->transferred = std::move(found->decoded);
        auto pinned = found->pinned;
        auto device = found->device;
        bridge::give(stream, "nvjpeg", [=] {
            if (pinned->destroyed || device->destroyed) {
                return bridge::problem("nvjpegDecodeJpegTransferToDevice: a buffer was destroyed before it ran");
            }
            if (pinned->image != image) {
                bridge::problem("nvjpegDecodeJpegTransferToDevice: its pinned buffer was used again before it ran");
            }
            race::read(&pinned->byte, 1);
            race::write(&device->byte, 1);
            device->image = pinned->image;
        });
        return status::success;
    });
}

NVJPEG_API Status nvjpegDecodeJpegDevice(Handle* handle, JpegDecoder* decoder, JpegState* state, OutputImage* target,
                                         void* stream) {
    const char* name = __func__;
    return enter(name, [&]() -> Status {
        objects().handles.find(handle);
        objects().decoders.find(decoder);
        auto found = objects().states.find(state);
        check_stream(stream, name);
        if (!found->transferred) return status::invalid_parameter;
        auto image = std::move(found->transferred);
        check_target(*target, image->width, image->height, name);
        auto device = found->device;
        bridge::give(stream, "nvjpeg", [=, to = *target] {
            if (device->destroyed) {
                return bridge::problem("nvjpegDecodeJpegDevice: its device buffer was destroyed before it ran");
            }
            if (device->image != image) {
                return bridge::problem("nvjpegDecodeJpegDevice: its device buffer was used again before it ran");
            }
            race::read(&device->byte, 1);
            write_rows(to, *image);
        });
        return status::success;
    });
}
