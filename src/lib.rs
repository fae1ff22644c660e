//! feedline keeps the accelerator fed.

pub mod geometry;
pub mod jpeg;
pub mod simd;
