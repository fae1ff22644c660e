//! The functions, as a table of addresses: those that must be there, and those that a library may lack.

use crate::declared::{Function, span};
use crate::types::*;
use crate::values::*;
use std::ffi::{c_int, c_uchar, c_uint, c_void};

macro_rules! functions {
    (
        required { $($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?);)* }
        optional { $(
            $(#[$other_doc:meta])*
            $(since($since:literal, $since_minor:literal, $since_patch:literal))?
            $(until($until:literal, $until_minor:literal, $until_patch:literal))?
            fn $other:ident($($other_argument:ident: $other_kind:ty),* $(,)?);
        )* }
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
            $(
                $(#[$other_doc])*
                $(#[doc = concat!("Since ", $since, ".", $since_minor, ".", $since_patch, ".")])?
                $(#[doc = concat!("Gone in ", $until, ".", $until_minor, ".", $until_patch, ".")])?
                pub $other: Option<unsafe extern "C" fn($($other_argument: $other_kind),*) -> Status>,
            )*
        }

        impl Functions {
            /// The names of the functions that a library must have: what feedline's decoding needs.
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

        /// All functions. Each returns a [`Status`].
        pub const FUNCTIONS: &[Function] = &[
            $(Function {
                name: stringify!($name),
                arguments: &[$(stringify!($kind)),*],
                span: span!(),
            },)*
            $(Function {
                name: stringify!($other),
                arguments: &[$(stringify!($other_kind)),*],
                span: span!(
                    $(since($since, $since_minor, $since_patch))? $(until($until, $until_minor, $until_patch))?
                ),
            },)*
        ];
    };
}

functions! {
    required {
        /// One part of the library's version.
        fn nvjpegGetProperty(property: Property, value: *mut c_int);
        /// Opens the library for a backend on the current device. Null allocators mean CUDA's own.
        fn nvjpegCreateEx(
            backend: Backend, device_allocator: *mut DevAllocator, pinned_allocator: *mut PinnedAllocator, flags: Flags,
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
        fn nvjpegBufferPinnedCreate(handle: *mut Handle, allocator: *mut PinnedAllocator, buffer: *mut *mut BufferPinned);
        /// Frees it.
        fn nvjpegBufferPinnedDestroy(buffer: *mut BufferPinned);
        /// Device memory for a state; it grows as needed.
        fn nvjpegBufferDeviceCreate(handle: *mut Handle, allocator: *mut DevAllocator, buffer: *mut *mut BufferDevice);
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
        fn nvjpegDecodeParamsSetScaleFactor(parameters: *mut DecodeParams, factor: ScaleFactor);
        /// Turns the image as Exif says, or as told.
        fn nvjpegDecodeParamsSetExifOrientation(parameters: *mut DecodeParams, orientation: ExifOrientation);
        /// Opens the library for a backend on the current device. A null allocator means CUDA's own.
        fn nvjpegCreate(backend: Backend, device_allocator: *mut DevAllocator, handle: *mut *mut Handle);
        /// Opens the library on the current device, as it sees fit.
        fn nvjpegCreateSimple(handle: *mut *mut Handle);
        /// As `nvjpegCreateEx`, with allocators that know the stream.
        fn nvjpegCreateExV2(
            backend: Backend, device_allocator: *mut DevAllocatorV2, pinned_allocator: *mut PinnedAllocatorV2,
            flags: Flags, handle: *mut *mut Handle,
        );
        /// What `nvjpegSetDeviceMemoryPadding` has set.
        fn nvjpegGetDeviceMemoryPadding(bytes: *mut usize, handle: *mut Handle);
        /// What `nvjpegSetPinnedMemoryPadding` has set.
        fn nvjpegGetPinnedMemoryPadding(bytes: *mut usize, handle: *mut Handle);
        /// Components, sampling, and width and height of each component, in lists of four.
        fn nvjpegGetImageInfo(
            handle: *mut Handle, data: *const c_uchar, length: usize, components: *mut c_int,
            subsampling: *mut ChromaSubsampling, widths: *mut c_int, heights: *mut c_int,
        );
        /// Decodes one image.
        fn nvjpegDecode(
            handle: *mut Handle, state: *mut JpegState, data: *const c_uchar, length: usize, format: OutputFormat,
            image: *mut Image, stream: CudaStream,
        );
        /// Decodes a batch.
        fn nvjpegDecodeBatched(
            handle: *mut Handle, state: *mut JpegState, data: *const *const c_uchar, lengths: *const usize,
            images: *mut Image, stream: CudaStream,
        );
        /// Tables for files of the batch that lack theirs.
        fn nvjpegDecodeBatchedParseJpegTables(
            handle: *mut Handle, state: *mut JpegState, data: *const c_uchar, length: usize,
        );
        /// Writes 0 where the batched call takes this file.
        fn nvjpegDecodeBatchedSupported(handle: *mut Handle, stream: *mut JpegStream, unsupported: *mut c_int);
        /// All phases of one image.
        fn nvjpegDecodeJpeg(
            handle: *mut Handle, decoder: *mut JpegDecoder, state: *mut JpegState, jpeg: *mut JpegStream,
            image: *mut Image, parameters: *mut DecodeParams, stream: CudaStream,
        );
        /// Page-locked memory for a state, from an allocator that knows the stream.
        fn nvjpegBufferPinnedCreateV2(
            handle: *mut Handle, allocator: *mut PinnedAllocatorV2, buffer: *mut *mut BufferPinned,
        );
        /// Device memory for a state, from an allocator that knows the stream.
        fn nvjpegBufferDeviceCreateV2(
            handle: *mut Handle, allocator: *mut DevAllocatorV2, buffer: *mut *mut BufferDevice,
        );
        /// Makes the buffer as large as told.
        since(12, 3, 0) fn nvjpegBufferPinnedResize(buffer: *mut BufferPinned, bytes: usize, stream: CudaStream);
        /// Makes the buffer as large as told.
        since(12, 3, 0) fn nvjpegBufferDeviceResize(buffer: *mut BufferDevice, bytes: usize, stream: CudaStream);
        /// The buffer's size and address.
        fn nvjpegBufferPinnedRetrieve(buffer: *mut BufferPinned, bytes: *mut usize, address: *mut *mut c_void);
        /// The buffer's size and address.
        fn nvjpegBufferDeviceRetrieve(buffer: *mut BufferDevice, bytes: *mut usize, address: *mut *mut c_void);
        /// Parses a file up to its first scan. Up to 13.2 it refuses some sound files.
        fn nvjpegJpegStreamParseHeader(
            handle: *mut Handle, data: *const c_uchar, length: usize, stream: *mut JpegStream,
        );
        /// Parses tables for files that lack theirs.
        fn nvjpegJpegStreamParseTables(
            handle: *mut Handle, data: *const c_uchar, length: usize, stream: *mut JpegStream,
        );
        /// How the frame is coded.
        fn nvjpegJpegStreamGetJpegEncoding(stream: *mut JpegStream, encoding: *mut JpegEncoding);
        /// The image's size.
        fn nvjpegJpegStreamGetFrameDimensions(stream: *mut JpegStream, width: *mut c_uint, height: *mut c_uint);
        /// How many components there are.
        fn nvjpegJpegStreamGetComponentsNum(stream: *mut JpegStream, components: *mut c_uint);
        /// A component's size.
        fn nvjpegJpegStreamGetComponentDimensions(
            stream: *mut JpegStream, component: c_uint, width: *mut c_uint, height: *mut c_uint,
        );
        /// What Exif says of the orientation.
        fn nvjpegJpegStreamGetExifOrientation(stream: *mut JpegStream, orientation: *mut ExifOrientation);
        /// Bits of a sample.
        since(12, 1, 1) fn nvjpegJpegStreamGetSamplePrecision(stream: *mut JpegStream, bits: *mut c_uint);
        /// How densely chroma is stored.
        fn nvjpegJpegStreamGetChromaSubsampling(stream: *mut JpegStream, subsampling: *mut ChromaSubsampling);
        /// How many encoding engines there are.
        since(12, 4, 0) fn nvjpegGetHardwareEncoderInfo(handle: *mut Handle, engines: *mut c_uint);
        /// A state for encoding.
        fn nvjpegEncoderStateCreate(handle: *mut Handle, state: *mut *mut EncoderState, stream: CudaStream);
        /// A state for encoding by this backend.
        since(12, 4, 0) fn nvjpegEncoderStateCreateWithBackend(
            handle: *mut Handle, state: *mut *mut EncoderState, backend: EncoderBackend, stream: CudaStream,
        );
        /// Destroys it.
        fn nvjpegEncoderStateDestroy(state: *mut EncoderState);
        /// Parameters of encoding.
        fn nvjpegEncoderParamsCreate(handle: *mut Handle, parameters: *mut *mut EncoderParams, stream: CudaStream);
        /// Destroys them.
        fn nvjpegEncoderParamsDestroy(parameters: *mut EncoderParams);
        /// From 1 to 100.
        fn nvjpegEncoderParamsSetQuality(parameters: *mut EncoderParams, quality: c_int, stream: CudaStream);
        /// How the frame is coded.
        fn nvjpegEncoderParamsSetEncoding(parameters: *mut EncoderParams, encoding: JpegEncoding, stream: CudaStream);
        /// Whether Huffman tables are made for the image.
        fn nvjpegEncoderParamsSetOptimizedHuffman(
            parameters: *mut EncoderParams, optimized: c_int, stream: CudaStream,
        );
        /// How densely chroma is stored.
        fn nvjpegEncoderParamsSetSamplingFactors(
            parameters: *mut EncoderParams, subsampling: ChromaSubsampling, stream: CudaStream,
        );
        /// MCUs between restart markers; 0 for none.
        since(12, 4, 0) fn nvjpegEncoderParamsSetRestartInterval(
            parameters: *mut EncoderParams, interval: c_uint, stream: CudaStream,
        );
        /// Takes Exif and other metadata over from a parsed file.
        fn nvjpegEncoderParamsCopyMetadata(
            state: *mut EncoderState, parameters: *mut EncoderParams, jpeg: *mut JpegStream, stream: CudaStream,
        );
        /// Takes quantisation tables over from a parsed file.
        fn nvjpegEncoderParamsCopyQuantizationTables(
            parameters: *mut EncoderParams, jpeg: *mut JpegStream, stream: CudaStream,
        );
        /// Takes Huffman tables over from a parsed file.
        until(13, 0, 0) fn nvjpegEncoderParamsCopyHuffmanTables(
            state: *mut EncoderState, parameters: *mut EncoderParams, jpeg: *mut JpegStream, stream: CudaStream,
        );
        /// Bytes that an encoded image of this size may take.
        fn nvjpegEncodeGetBufferSize(
            handle: *mut Handle, parameters: *mut EncoderParams, width: c_int, height: c_int, bytes: *mut usize,
        );
        /// Encodes luma and chroma.
        fn nvjpegEncodeYUV(
            handle: *mut Handle, state: *mut EncoderState, parameters: *mut EncoderParams, image: *const Image,
            subsampling: ChromaSubsampling, width: c_int, height: c_int, stream: CudaStream,
        );
        /// Encodes red, green and blue.
        fn nvjpegEncodeImage(
            handle: *mut Handle, state: *mut EncoderState, parameters: *mut EncoderParams, image: *const Image,
            format: InputFormat, width: c_int, height: c_int, stream: CudaStream,
        );
        /// Encodes either.
        since(12, 4, 0) fn nvjpegEncode(
            handle: *mut Handle, state: *mut EncoderState, parameters: *mut EncoderParams, image: *const Image,
            subsampling: ChromaSubsampling, format: InputFormat, width: c_int, height: c_int, stream: CudaStream,
        );
        /// The encoded file, into device memory; without a target its length alone.
        fn nvjpegEncodeRetrieveBitstreamDevice(
            handle: *mut Handle, state: *mut EncoderState, data: *mut c_uchar, length: *mut usize, stream: CudaStream,
        );
        /// The encoded file, into the host's memory; without a target its length alone.
        fn nvjpegEncodeRetrieveBitstream(
            handle: *mut Handle, state: *mut EncoderState, data: *mut c_uchar, length: *mut usize, stream: CudaStream,
        );
    }
}
