//! feedline keeps the accelerator fed.

pub mod augment;
pub mod color;
pub mod device;
pub mod draft;
pub mod error;
pub mod geometry;
pub mod image;
pub mod index;
pub mod jpeg;
pub mod label;
pub mod loader;
pub mod output;
pub mod plan;
pub mod recipe;
pub mod rng;
pub mod sampler;
pub mod simd;
pub mod source;
