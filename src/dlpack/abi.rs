//! The structs and constants of DLPack, as its header `dlpack.h` declares them for versions 0.8 and 1.

use std::ffi::c_void;

/// The version of the structs below; strides are never null, as version 1.2 asks.
pub const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 0 };

/// `kDLCPU`.
pub const CPU: i32 = 1;
/// `kDLCUDA`.
pub const CUDA: i32 = 2;

/// `DLPACK_FLAG_BITMASK_READ_ONLY`: the memory must not be written.
pub const READ_ONLY: u64 = 1;

/// The version of the header that a tensor was made by.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLPackVersion {
    /// Another number means another layout.
    pub major: u32,
    /// A greater number means additions.
    pub minor: u32,
}

/// The device of a tensor.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDevice {
    /// [`CPU`] or [`CUDA`].
    pub device_type: i32,
    /// The device's index; 0 for the CPU.
    pub device_id: i32,
}

/// The type of an element.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    /// `kDLInt` 0, `kDLUInt` 1, `kDLFloat` 2, `kDLBfloat` 4, `kDLBool` 6.
    pub code: u8,
    /// Bits of a lane.
    pub bits: u8,
    /// Numbers in an element: 1.
    pub lanes: u16,
}

impl DLDataType {
    /// 64-bit integers with a sign.
    pub const I64: Self = Self::of(0, 64);
    /// `i32`.
    pub const I32: Self = Self::of(0, 32);
    /// Bytes.
    pub const U8: Self = Self::of(1, 8);
    /// Half precision.
    pub const F16: Self = Self::of(2, 16);
    /// Single precision.
    pub const F32: Self = Self::of(2, 32);
    /// bfloat16.
    pub const BF16: Self = Self::of(4, 16);
    /// One byte, 0 or 1.
    pub const BOOL: Self = Self::of(6, 8);

    const fn of(code: u8, bits: u8) -> Self {
        Self { code, bits, lanes: 1 }
    }

    /// Bytes of an element.
    pub const fn bytes(self) -> usize {
        (self.bits as usize * self.lanes as usize).div_ceil(8)
    }
}

/// A tensor that another library owns.
#[repr(C)]
#[derive(Debug)]
pub struct DLTensor {
    /// The first element; null if there is none. On a device it is a device address.
    pub data: *mut c_void,
    /// Its device.
    pub device: DLDevice,
    /// Number of axes.
    pub ndim: i32,
    /// The type of an element.
    pub dtype: DLDataType,
    /// `ndim` lengths.
    pub shape: *mut i64,
    /// `ndim` strides, in elements.
    pub strides: *mut i64,
    /// From `data` to the first element: 0.
    pub byte_offset: u64,
}

/// A tensor with its deleter, in the layout before version 1.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The producer's own.
    pub manager_ctx: *mut c_void,
    /// To be called once, with the address of this struct.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A tensor with its deleter.
#[repr(C)]
#[derive(Debug)]
pub struct DLManagedTensorVersioned {
    /// To be checked first.
    pub version: DLPackVersion,
    /// The producer's own.
    pub manager_ctx: *mut c_void,
    /// To be called once, with the address of this struct.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// [`READ_ONLY`] or 0.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<DLTensor>() == 48);
    assert!(size_of::<DLManagedTensor>() == 64);
    assert!(size_of::<DLManagedTensorVersioned>() == 80);
    assert!(offset_of!(DLTensor, ndim) == 16);
    assert!(offset_of!(DLTensor, dtype) == 20);
    assert!(offset_of!(DLTensor, byte_offset) == 40);
    assert!(offset_of!(DLManagedTensorVersioned, flags) == 24);
    assert!(offset_of!(DLManagedTensorVersioned, dl_tensor) == 32);
};
