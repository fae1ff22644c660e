//! The functions, as a table of addresses: those that must be there, and those that older libraries may lack.

use crate::{
    Backend, BufferDevice, BufferPinned, ChromaSubsampling, CudaStream, DecodeParams, Handle, Image,
    JpegDecoder, JpegState, JpegStream, OutputFormat, Property, Status,
};
use std::ffi::{c_int, c_uchar, c_uint, c_void};

macro_rules! functions {
    (
        required { $($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?);)* }
        optional { $($(#[$other_doc:meta])* fn $other:ident($($other_argument:ident: $other_kind:ty),* $(,)?);)* }
    ) => {
        /// The addresses of the library's functions; they are good as long as the library is loaded, and
        /// [`crate::Library`] never unloads it.
        ///
        /// # Safety of the calls
        /// As nvJPEG's documentation of each function says; all pointers must be what it asks for.
        #[allow(non_snake_case, reason = "the names are the library's")]
        #[derive(Clone, Copy)]
        pub struct Functions {
            $($(#[$doc])* pub $name: unsafe extern "C" fn($($argument: $kind),*) -> Status,)*
            $($(#[$other_doc])* pub $other: Option<unsafe extern "C" fn($($other_argument: $other_kind),*) -> Status>,)*
        }

        impl Functions {
            /// The names of the functions that a library must have.
            pub const REQUIRED: &[&str] = &[$(stringify!($name)),*];
            /// The names of those that it may lack.
            pub const OPTIONAL: &[&str] = &[$(stringify!($other)),*];

            /// Looks all of them up; else the names of those that are required and missing.
            pub(crate) fn find(library: &libloading::Library) -> Result<Self, Vec<&'static str>> {
                // SAFETY: the symbol is only looked for, never called or read.
                let lacks = |name: &&&'static str| unsafe { library.get::<*const c_void>(**name) }.is_err();
                let missing: Vec<&'static str> = Self::REQUIRED.iter().filter(lacks).copied().collect();
                // SAFETY: the types are those of the C header.
                let found = unsafe {
                    (|| Ok::<_, libloading::Error>(Self {
                        $($name: *library.get(stringify!($name))?,)*
                        $($other: library.get(stringify!($other)).ok().map(|function| *function),)*
                    }))()
                };
                found.map_err(|_| missing)
            }
        }
    };
}

functions! {
    required {
        /// One part of the library's version.
        fn nvjpegGetProperty(property: Property, value: *mut c_int);
        /// Opens the library for a backend on the current device. Null allocators mean CUDA's own.
        fn nvjpegCreateEx(
            backend: Backend, device_allocator: *mut c_void, pinned_allocator: *mut c_void, flags: c_uint,
            handle: *mut *mut Handle,
        );
        /// Closes it.
        fn nvjpegDestroy(handle: *mut Handle);
        /// Device memory is reserved in multiples of so many bytes.
        fn nvjpegSetDeviceMemoryPadding(bytes: usize, handle: *mut Handle);
        /// Page-locked memory is reserved in multiples of so many bytes.
        fn nvjpegSetPinnedMemoryPadding(bytes: usize, handle: *mut Handle);
        /// A state for the batched calls.
        fn nvjpegJpegStateCreate(handle: *mut Handle, state: *mut *mut JpegState);
        /// Destroys a state of any kind.
        fn nvjpegJpegStateDestroy(state: *mut JpegState);
        /// Sets the batch size and the format; also what mends a state after a failed batch.
        fn nvjpegDecodeBatchedInitialize(
            handle: *mut Handle, state: *mut JpegState, batch: c_int, cpu_threads: c_int, format: OutputFormat,
        );
        /// Reserves ahead what a batch of images of this size needs.
        fn nvjpegDecodeBatchedPreAllocate(
            handle: *mut Handle, state: *mut JpegState, batch: c_int, width: c_int, height: c_int,
            subsampling: ChromaSubsampling, format: OutputFormat,
        );
        /// Decodes a batch, each image by its own parameters.
        fn nvjpegDecodeBatchedEx(
            handle: *mut Handle, state: *mut JpegState, data: *const *const c_uchar, lengths: *const usize,
            images: *mut Image, parameters: *mut *mut DecodeParams, stream: CudaStream,
        );
        /// Writes 0 where the batched call takes this file.
        fn nvjpegDecodeBatchedSupportedEx(
            handle: *mut Handle, stream: *mut JpegStream, parameters: *mut DecodeParams, unsupported: *mut c_int,
        );
        /// A parser.
        fn nvjpegJpegStreamCreate(handle: *mut Handle, stream: *mut *mut JpegStream);
        /// Destroys a parser.
        fn nvjpegJpegStreamDestroy(stream: *mut JpegStream);
        /// Parses a whole file; without `save_stream` it refers to the caller's bytes.
        fn nvjpegJpegStreamParse(
            handle: *mut Handle, data: *const c_uchar, length: usize, save_metadata: c_int, save_stream: c_int,
            stream: *mut JpegStream,
        );
        /// Parameters of one image.
        fn nvjpegDecodeParamsCreate(handle: *mut Handle, parameters: *mut *mut DecodeParams);
        /// Destroys them.
        fn nvjpegDecodeParamsDestroy(parameters: *mut DecodeParams);
        /// What is written.
        fn nvjpegDecodeParamsSetOutputFormat(parameters: *mut DecodeParams, format: OutputFormat);
        /// Which part is written; 0, 0, -1, -1 means all.
        fn nvjpegDecodeParamsSetROI(
            parameters: *mut DecodeParams, x: c_int, y: c_int, width: c_int, height: c_int,
        );
        /// A decoder of the decoupled phases.
        fn nvjpegDecoderCreate(handle: *mut Handle, backend: Backend, decoder: *mut *mut JpegDecoder);
        /// Destroys it.
        fn nvjpegDecoderDestroy(decoder: *mut JpegDecoder);
        /// A state for the decoupled phases.
        fn nvjpegDecoderStateCreate(handle: *mut Handle, decoder: *mut JpegDecoder, state: *mut *mut JpegState);
        /// Page-locked memory for a state; it grows as needed.
        fn nvjpegBufferPinnedCreate(handle: *mut Handle, allocator: *mut c_void, buffer: *mut *mut BufferPinned);
        /// Frees it.
        fn nvjpegBufferPinnedDestroy(buffer: *mut BufferPinned);
        /// Device memory for a state; it grows as needed.
        fn nvjpegBufferDeviceCreate(handle: *mut Handle, allocator: *mut c_void, buffer: *mut *mut BufferDevice);
        /// Frees it.
        fn nvjpegBufferDeviceDestroy(buffer: *mut BufferDevice);
        /// The state works in this page-locked memory from now on.
        fn nvjpegStateAttachPinnedBuffer(state: *mut JpegState, buffer: *mut BufferPinned);
        /// The state works in this device memory from now on.
        fn nvjpegStateAttachDeviceBuffer(state: *mut JpegState, buffer: *mut BufferDevice);
        /// First phase: entropy decoding, on the CPU.
        fn nvjpegDecodeJpegHost(
            handle: *mut Handle, decoder: *mut JpegDecoder, state: *mut JpegState, parameters: *mut DecodeParams,
            stream: *mut JpegStream,
        );
        /// Second phase: what was decoded goes to the device.
        fn nvjpegDecodeJpegTransferToDevice(
            handle: *mut Handle, decoder: *mut JpegDecoder, state: *mut JpegState, jpeg: *mut JpegStream,
            stream: CudaStream,
        );
        /// Third phase: transform, upsampling and colour, on the device.
        fn nvjpegDecodeJpegDevice(
            handle: *mut Handle, decoder: *mut JpegDecoder, state: *mut JpegState, image: *mut Image,
            stream: CudaStream,
        );
    }
    optional {
        /// One part of the version of CUDA that the library was built with.
        fn nvjpegGetCudartProperty(property: Property, value: *mut c_int);
        /// How many decoding engines there are, and how many cores each has.
        fn nvjpegGetHardwareDecoderInfo(
            handle: *mut Handle, engines: *mut c_uint, cores_per_engine: *mut c_uint,
        );
        /// Writes 0 where this decoder takes this file.
        fn nvjpegDecoderJpegSupported(
            decoder: *mut JpegDecoder, stream: *mut JpegStream, parameters: *mut DecodeParams, unsupported: *mut c_int,
        );
        /// Allows four components, converted by subtraction; decoupled phases only.
        fn nvjpegDecodeParamsSetAllowCMYK(parameters: *mut DecodeParams, allow: c_int);
        /// Decodes at a fraction of the size; hardware only.
        fn nvjpegDecodeParamsSetScaleFactor(parameters: *mut DecodeParams, factor: c_int);
    }
}
