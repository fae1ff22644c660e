// The library, its handles, and the objects that are only made and destroyed.
#include "objects.h"

NVJPEG_API Status nvjpegGetProperty(int property, int* value) {
    return enter(__func__, [&]() -> Status {
        if (property < 0 || property > 2) return status::invalid_parameter;
        *value = nvjpeg().options.version[property];
        return status::success;
    });
}

NVJPEG_API Status nvjpegGetCudartProperty(int property, int* value) {
    return enter(__func__, [&]() -> Status {
        *value = property == 0 ? nvjpeg().options.version[0] : 0;
        return status::success;
    });
}

NVJPEG_API Status nvjpegCreateEx(int backend, void* device_allocator, void* pinned_allocator, unsigned flags,
                                 Handle** handle) {
    const char* name = __func__;
    return enter(name, [&]() -> Status {
        if (!bridge::ready(name)) return status::execution_failed;
        if (backend < hybrid || backend > hardware || (flags & ~known_flags) != 0) return status::invalid_parameter;
        if (device_allocator != nullptr || pinned_allocator != nullptr) return status::implementation_not_supported;
        if (backend == hardware && nvjpeg().options.engines == 0) return status::arch_mismatch;
        if (Status refused = nvjpeg().options.refusal(backend, flags)) return refused;
        return objects().handles.create(handle, backend);
    });
}

NVJPEG_API Status nvjpegDestroy(Handle* handle) {
    return enter(__func__, Kind::cleanup, [&] { return objects().handles.destroy(handle); });
}

NVJPEG_API Status nvjpegSetDeviceMemoryPadding(size_t, Handle* handle) {
    return enter(__func__, [&]() -> Status { return objects().handles.find(handle), status::success; });
}

NVJPEG_API Status nvjpegSetPinnedMemoryPadding(size_t, Handle* handle) {
    return enter(__func__, [&]() -> Status { return objects().handles.find(handle), status::success; });
}

NVJPEG_API Status nvjpegGetHardwareDecoderInfo(Handle* handle, unsigned* engines, unsigned* cores) {
    return enter(__func__, [&]() -> Status {
        objects().handles.find(handle);
        *engines = unsigned(nvjpeg().options.engines);
        *cores = unsigned(nvjpeg().options.cores);
        return status::success;
    });
}

NVJPEG_API Status nvjpegJpegStateCreate(Handle* handle, JpegState** state) {
    return enter(__func__, [&]() -> Status {
        objects().handles.find(handle);
        objects().states.create(state);
        if ((*state)->memory.start != nullptr) return status::success;
        objects().states.destroy(*state);
        return status::allocator_failure;
    });
}

NVJPEG_API Status nvjpegJpegStateDestroy(JpegState* state) {
    return enter(__func__, Kind::cleanup, [&] {
        for (const auto& write : objects().states.find(state)->late) write();
        return objects().states.destroy(state);
    });
}

NVJPEG_API Status nvjpegDecodeParamsCreate(Handle* handle, Parameters** parameters) {
    return enter(__func__, [&] { return objects().handles.find(handle), objects().parameters.create(parameters); });
}

NVJPEG_API Status nvjpegDecodeParamsDestroy(Parameters* parameters) {
    return enter(__func__, Kind::cleanup, [&] { return objects().parameters.destroy(parameters); });
}

NVJPEG_API Status nvjpegDecodeParamsSetOutputFormat(Parameters* parameters, int format) {
    return enter(__func__, [&]() -> Status {
        if (format != format_rgb_interleaved) return status::implementation_not_supported;
        objects().parameters.find(parameters)->format = format;
        return status::success;
    });
}

NVJPEG_API Status nvjpegDecodeParamsSetROI(Parameters* parameters, int x, int y, int width, int height) {
    return enter(__func__, [&]() -> Status {
        bool whole = width == -1 && height == -1;
        if (x < 0 || y < 0 || (!whole && (width <= 0 || height <= 0))) return status::invalid_parameter;
        objects().parameters.find(parameters)->roi = {x, y, width, height};
        return status::success;
    });
}

NVJPEG_API Status nvjpegDecodeParamsSetAllowCMYK(Parameters* parameters, int) {
    return enter(__func__, [&]() -> Status { return objects().parameters.find(parameters), status::success; });
}

NVJPEG_API Status nvjpegDecodeParamsSetScaleFactor(Parameters* parameters, int factor) {
    return enter(__func__, [&]() -> Status {
        objects().parameters.find(parameters);
        return factor == 0 ? status::success : status::implementation_not_supported;
    });
}

NVJPEG_API Status nvjpegJpegStreamCreate(Handle* handle, JpegStream** stream) {
    return enter(__func__, [&] { return objects().handles.find(handle), objects().streams.create(stream); });
}

NVJPEG_API Status nvjpegJpegStreamDestroy(JpegStream* stream) {
    return enter(__func__, Kind::cleanup, [&] { return objects().streams.destroy(stream); });
}

NVJPEG_API Status nvjpegJpegStreamParse(Handle* handle, const unsigned char* bytes, size_t length, int, int save_stream,
                                        JpegStream* jpeg) {
    return enter(__func__, [&]() -> Status {
        objects().handles.find(handle);
        auto stream = objects().streams.find(jpeg);
        if (save_stream != 0) return status::implementation_not_supported;
        // Some versions do not recover from a file that they refused, so nobody may rely on it.
        if (stream->spoiled) return status::execution_failed;
        JpegHeader header;
        if (!read_jpeg_header(bytes, length, header)) {
            stream->spoiled = true;
            return status::bad_jpeg;
        }
        stream->bytes = bytes;
        stream->length = length;
        stream->hash = hash_of(bytes, length);
        stream->header = header;
        return status::success;
    });
}
