//! The CUDA backend: a driver that may be missing, nvJPEG that may be missing, and never a panic over either.

#[allow(dead_code, unused_imports, reason = "the floor is written whole; what stands on it is still growing")]
pub(crate) mod driver;
