//! feedline turns compressed images into augmented, normalised training batches.
//!
//! A [`source::Source`] hands out compressed bytes, [`augment`]ations turn a [`draft::Draft`] of each sample into a
//! [`plan::Plan`] before anything is decoded, a [`device`] decodes what the plan reads and renders it in one pass, and
//! the [`loader`] does this with threads, in order, in bounded memory, and [`dlpack`] hands the batches to other
//! libraries as they are. What happens to a sample depends on the seed,
//! the epoch and the sample alone; its pixels are those of torchvision's uint8 CPU path.
//!
//! The README has a whole program, `docs/rust.md` a tour; [`loader::Loader::builder`] is where to start.

#[macro_use]
mod setters;

pub mod atomic_file;
pub mod augment;
pub mod coefficients;
pub mod color;
pub mod decode;
mod decode_memory;
mod destination;
pub mod device;
pub mod dlpack;
pub mod doctor;
pub mod draft;
pub mod error;
pub mod field;
pub mod geometry;
pub mod image;
pub mod index;
pub mod inspect;
pub mod jpeg;
pub mod label;
pub mod loader;
pub mod machine;
pub mod options;
pub mod output;
#[cfg(feature = "pack")]
pub mod pack;
pub mod plan;
pub mod policy;
pub mod recipe;
pub mod regular_file;
pub mod rng;
pub mod sampler;
pub mod simd;
mod single_flight;
pub mod source;

/// The README's example is compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// So are those of the tour, of which the first is run as well.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
pub struct RustPage;

/// So is that of the page on fields.
#[cfg(doctest)]
#[doc = include_str!("../docs/fields.md")]
pub struct FieldsPage;

/// So is that of the page on mixtures.
#[cfg(doctest)]
#[doc = include_str!("../docs/mixtures.md")]
pub struct MixturesPage;

/// So is that of the page on training in Rust.
#[cfg(all(doctest, feature = "tch"))]
#[doc = include_str!("../docs/rust-trainer.md")]
pub struct TrainerPage;

/// So is that of the page on remote data.
#[cfg(all(doctest, feature = "remote"))]
#[doc = include_str!("../docs/remote.md")]
pub struct RemotePage;

/// So is that of the page on caches.
#[cfg(all(doctest, target_os = "linux"))]
#[doc = include_str!("../docs/caches.md")]
pub struct CachesPage;
