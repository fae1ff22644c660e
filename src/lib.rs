//! feedline turns compressed images into augmented, normalised training batches.
//!
//! A [`source::Source`] hands out compressed bytes, [`augment`]ations turn a [`draft::Draft`] of each sample into a
//! [`plan::Plan`] before anything is decoded, a [`device`] decodes what the plan reads and renders it in one pass, and
//! the [`loader`] does this with threads, in order, in bounded memory, and [`dlpack`] hands the batches to other
//! libraries as they are. What happens to a sample depends on the seed,
//! the epoch and the sample alone; its pixels are those of torchvision's uint8 CPU path.
//!
//! The README has a whole program; [`loader::Loader::builder`] is where to start.

pub mod augment;
pub mod color;
pub mod device;
pub mod dlpack;
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
pub mod policy;
pub mod recipe;
pub mod rng;
pub mod sampler;
pub mod simd;
pub mod source;

/// The README's example is compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
