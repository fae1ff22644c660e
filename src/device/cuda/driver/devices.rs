//! The devices that the driver lists, before any of them is used.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

use super::context::device;
use super::library::Driver;
use super::result::CudaError;
use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
};
use std::ffi::{CStr, c_int};

/// Maximum bytes of a device's name.
const NAME_BYTES: usize = 256;

impl Driver {
    /// The number of devices; their ordinals start at 0.
    pub(crate) fn device_count(&self) -> Result<u32, CudaError> {
        let mut count = 0;
        // SAFETY: one number to be written.
        unsafe { self.cuDeviceGetCount(&mut count)? };
        Ok(u32::try_from(count).unwrap_or(0))
    }

    /// The vendor's name of a device.
    pub(crate) fn device_name(&self, ordinal: u32) -> Result<String, CudaError> {
        let device = device(self, ordinal)?;
        let mut name = [0; NAME_BYTES];
        // SAFETY: a buffer of that length to be written.
        unsafe { self.cuDeviceGetName(name.as_mut_ptr().cast(), NAME_BYTES as c_int, device)? };
        let name = CStr::from_bytes_until_nul(&name).map(CStr::to_string_lossy);
        Ok(name.unwrap_or_default().into_owned())
    }

    /// A device's compute capability, as (major, minor).
    pub(crate) fn compute_capability(&self, ordinal: u32) -> Result<(u32, u32), CudaError> {
        let device = device(self, ordinal)?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: one number to be written by each call, and a device that the driver named.
        unsafe {
            self.cuDeviceGetAttribute(&mut major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)?;
            self.cuDeviceGetAttribute(&mut minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)?;
        }
        let number = |value: c_int| u32::try_from(value).unwrap_or(0);
        Ok((number(major), number(minor)))
    }

    /// Whether anything in this process uses the device, feedline or not; a device that cannot be asked is not used.
    pub(crate) fn is_in_use(&self, ordinal: u32) -> bool {
        let (mut flags, mut active) = (0, 0);
        let asked = device(self, ordinal).and_then(|device| {
            // SAFETY: two numbers to be written, and a device that the driver named.
            unsafe { self.cuDevicePrimaryCtxGetState(device, &mut flags, &mut active) }
        });
        asked.is_ok() && active != 0
    }

    /// A device's total memory in bytes.
    pub(crate) fn device_memory(&self, ordinal: u32) -> Result<usize, CudaError> {
        let device = device(self, ordinal)?;
        let mut bytes = 0;
        // SAFETY: one number to be written.
        unsafe { self.cuDeviceTotalMem_v2(&mut bytes, device)? };
        Ok(bytes)
    }
}
