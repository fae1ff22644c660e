//! From samples to pixels: sample planes, upsampling, colour conversion, and the destination of the rows.

pub(crate) mod convert;
mod planes;
mod rows;
mod scale;
pub(crate) mod upsample;

pub(crate) use planes::Planes;
#[cfg(feature = "cuda")]
pub(crate) use planes::{NeededParts, Upsampling};
pub use rows::PixelsMut;
pub(crate) use rows::Rows;
pub use scale::{Part, Scale};
