//! What functions take: images, allocators, and objects that only the library sees into.

use crate::declared::{Field, Function, Structure, span};
use std::ffi::{c_int, c_uchar, c_uint, c_void};

/// A CUDA stream.
pub type CudaStream = *mut c_void;

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident = $c:ident;)*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            pub struct $name {
                _private: [u8; 0],
                // Neither Send nor Sync, and never moved: only the library knows what is behind the pointer.
                _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,
            }
        )*

        /// The objects' names here, and their structures' in C.
        pub const OPAQUE: &[(&str, &str)] = &[$((stringify!($name), stringify!($c))),*];
    };
}

opaque! {
    /// The library, opened for one backend and one device. Safe to use from any thread.
    Handle = nvjpegHandle;
    /// What a decoder keeps between its phases or batches.
    JpegState = nvjpegJpegState;
    /// A parsed file.
    JpegStream = nvjpegJpegStream;
    /// How one image is to be decoded.
    DecodeParams = nvjpegDecodeParams;
    /// A decoder of the decoupled phases.
    JpegDecoder = nvjpegJpegDecoder;
    /// Page-locked memory that a state works in.
    BufferPinned = nvjpegBufferPinned;
    /// Device memory that a state works in.
    BufferDevice = nvjpegBufferDevice;
    /// What an encoder works in.
    EncoderState = nvjpegEncoderState;
    /// How an image is to be encoded.
    EncoderParams = nvjpegEncoderParams;
}

macro_rules! callbacks {
    ($($(#[$doc:meta])* $name:ident = $c:ident($($argument:ident: $kind:ty),*);)*) => {
        $(
            $(#[$doc])*
            pub type $name = unsafe extern "C" fn($($argument: $kind),*) -> c_int;
        )*

        /// The types of allocators' functions: their names here and, with the arguments, in C.
        pub const CALLBACKS: &[(&str, Function)] = &[$((
            stringify!($name),
            Function { name: stringify!($c), arguments: &[$(stringify!($kind)),*], span: span!() },
        )),*];
    };
}

callbacks! {
    /// Reserves device memory, and writes its address. Returns 0 where it could.
    DevMalloc = tDevMalloc(address: *mut *mut c_void, bytes: usize);
    /// Frees it.
    DevFree = tDevFree(address: *mut c_void);
    /// Reserves page-locked memory with the flags of `cudaHostAlloc`, and writes its address. Returns 0 where it could.
    PinnedMalloc = tPinnedMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    /// Frees it.
    PinnedFree = tPinnedFree(address: *mut c_void);
    /// Reserves device memory for work on the stream, and writes its address. Returns 0 where it could.
    DevMallocV2 = tDevMallocV2(context: *mut c_void, address: *mut *mut c_void, bytes: usize, stream: CudaStream);
    /// Frees it behind the stream's work.
    DevFreeV2 = tDevFreeV2(context: *mut c_void, address: *mut c_void, bytes: usize, stream: CudaStream);
    /// Reserves page-locked memory for work on the stream, and writes its address. Returns 0 where it could.
    PinnedMallocV2 = tPinnedMallocV2(context: *mut c_void, address: *mut *mut c_void, bytes: usize, stream: CudaStream);
    /// Frees it behind the stream's work.
    PinnedFreeV2 = tPinnedFreeV2(context: *mut c_void, address: *mut c_void, bytes: usize, stream: CudaStream);
}

macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident = $c:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $kind,)*
            }
        )*

        /// The structures whose fields are known.
        pub const STRUCTURES: &[Structure] = &[$(Structure {
            name: stringify!($name),
            c: stringify!($c),
            bytes: size_of::<$name>(),
            fields: &[$(Field {
                name: stringify!($field),
                kind: stringify!($kind),
                offset: core::mem::offset_of!($name, $field),
            }),*],
        }),*];
    };
}

structures! {
    /// Where an image is written, in device memory; interleaved formats use the first channel only.
    Image = nvjpegImage_t {
        /// The first byte of each channel.
        channel: [*mut c_uchar; 4],
        /// Bytes from one row to the next, of each channel.
        pitch: [usize; 4],
    }
    /// Where device memory comes from. It must live as long as what was created with it.
    DevAllocator = nvjpegDevAllocator_t {
        /// Reserves.
        dev_malloc: Option<DevMalloc>,
        /// Frees.
        dev_free: Option<DevFree>,
    }
    /// Where page-locked memory comes from. It must live as long as what was created with it.
    PinnedAllocator = nvjpegPinnedAllocator_t {
        /// Reserves.
        pinned_malloc: Option<PinnedMalloc>,
        /// Frees.
        pinned_free: Option<PinnedFree>,
    }
    /// Where device memory comes from, in the order of a stream. It must live as long as what was created with it.
    DevAllocatorV2 = nvjpegDevAllocatorV2_t {
        /// Reserves.
        dev_malloc: Option<DevMallocV2>,
        /// Frees.
        dev_free: Option<DevFreeV2>,
        /// Given to both as it is.
        dev_ctx: *mut c_void,
    }
    /// Where page-locked memory comes from, in the order of a stream. It must live as long as what was created with it.
    PinnedAllocatorV2 = nvjpegPinnedAllocatorV2_t {
        /// Reserves.
        pinned_malloc: Option<PinnedMallocV2>,
        /// Frees.
        pinned_free: Option<PinnedFreeV2>,
        /// Given to both as it is.
        pinned_ctx: *mut c_void,
    }
}
