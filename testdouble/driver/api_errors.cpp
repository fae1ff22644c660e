// Names of result codes.
#include <map>

#include "driver.h"

static const char* name_of(CUresult code) {
    static const auto& names = *new std::map<CUresult, const char*>{
        {result::success, "CUDA_SUCCESS"},
        {result::invalid_value, "CUDA_ERROR_INVALID_VALUE"},
        {result::out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
        {result::not_initialized, "CUDA_ERROR_NOT_INITIALIZED"},
        {result::stub_library, "CUDA_ERROR_STUB_LIBRARY"},
        {result::no_device, "CUDA_ERROR_NO_DEVICE"},
        {result::invalid_device, "CUDA_ERROR_INVALID_DEVICE"},
        {result::invalid_image, "CUDA_ERROR_INVALID_IMAGE"},
        {result::invalid_context, "CUDA_ERROR_INVALID_CONTEXT"},
        {result::no_binary_for_gpu, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        {result::ecc_uncorrectable, "CUDA_ERROR_ECC_UNCORRECTABLE"},
        {result::invalid_ptx, "CUDA_ERROR_INVALID_PTX"},
        {result::unsupported_ptx_version, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
        {result::invalid_handle, "CUDA_ERROR_INVALID_HANDLE"},
        {result::not_found, "CUDA_ERROR_NOT_FOUND"},
        {result::not_ready, "CUDA_ERROR_NOT_READY"},
        {result::illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {result::launch_out_of_resources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {result::misaligned_address, "CUDA_ERROR_MISALIGNED_ADDRESS"},
        {result::launch_failed, "CUDA_ERROR_LAUNCH_FAILED"},
        {result::not_permitted, "CUDA_ERROR_NOT_PERMITTED"},
        {result::not_supported, "CUDA_ERROR_NOT_SUPPORTED"},
    };
    auto found = names.find(code);
    return found == names.end() ? nullptr : found->second;
}

CUDA_API CUresult cuGetErrorName(CUresult code, const char** name) {
    return enter(__func__, Needs::nothing, [&](Driver&) -> CUresult {
        *name = name_of(code);
        return *name == nullptr ? result::invalid_value : result::success;
    });
}

CUDA_API CUresult cuGetErrorString(CUresult code, const char** text) { return cuGetErrorName(code, text); }
