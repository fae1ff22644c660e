//! Decoding from outside: JPEG whole, by region, by index and smaller, all other formats, and files without a loader.

mod alone;
mod coefficients;
mod damaged;
mod decode_scale;
mod flaws;
mod images;
mod jpeg;
mod jpeg_index;
mod jpeg_scale;
mod memory;
mod pnm;
