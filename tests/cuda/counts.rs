//! What the double has counted: calls by name, and memory that it has handed out.

#![expect(unsafe_code, reason = "functions of a C library, found by name")]

use std::ffi::{CString, c_char, c_int};
use std::mem::ManuallyDrop;

/// The double's counters; the real driver has none.
pub(crate) struct Counts {
    calls: unsafe extern "C" fn(*const c_char) -> u64,
    operations: unsafe extern "C" fn(*const c_char) -> u64,
    pageable_copies: unsafe extern "C" fn() -> u64,
    device_bytes: unsafe extern "C" fn(c_int) -> u64,
    pinned_bytes: unsafe extern "C" fn() -> u64,
    references: unsafe extern "C" fn(c_int) -> c_int,
}

impl Counts {
    pub(crate) fn open() -> Result<Self, libloading::Error> {
        // SAFETY: the types are those of testdouble/driver/api_counts.cpp; the library stays loaded.
        unsafe {
            let library = ManuallyDrop::new(libloading::Library::new("libcuda.so.1")?);
            Ok(Self {
                calls: *library.get("fakecuda_calls")?,
                operations: *library.get("fakecuda_operations")?,
                pageable_copies: *library.get("fakecuda_pageable_copies")?,
                device_bytes: *library.get("fakecuda_device_bytes")?,
                pinned_bytes: *library.get("fakecuda_pinned_bytes")?,
                references: *library.get("fakecuda_references")?,
            })
        }
    }

    /// How often the driver's function of this name was called, or something else happened that the double counts.
    pub(crate) fn calls(&self, name: &str) -> u64 {
        let name = CString::new(name).unwrap();
        // SAFETY: a text that ends in a zero.
        unsafe { (self.calls)(name.as_ptr()) }
    }

    /// How many operations of this name were given to streams.
    pub(crate) fn operations(&self, name: &str) -> u64 {
        let name = CString::new(name).unwrap();
        // SAFETY: a text that ends in a zero.
        unsafe { (self.operations)(name.as_ptr()) }
    }

    /// How many copies were from or to ordinary memory.
    pub(crate) fn pageable_copies(&self) -> u64 {
        // SAFETY: no arguments.
        unsafe { (self.pageable_copies)() }
    }

    /// Bytes of the device's memory that are handed out.
    pub(crate) fn device_bytes(&self, ordinal: u32) -> u64 {
        // SAFETY: any number may be asked for.
        unsafe { (self.device_bytes)(c_int::try_from(ordinal).unwrap()) }
    }

    /// Bytes of page-locked memory.
    pub(crate) fn pinned_bytes(&self) -> u64 {
        // SAFETY: no arguments.
        unsafe { (self.pinned_bytes)() }
    }

    /// How often the device's context is retained.
    pub(crate) fn references(&self, ordinal: u32) -> i32 {
        // SAFETY: any number may be asked for.
        unsafe { (self.references)(c_int::try_from(ordinal).unwrap()) }
    }
}
