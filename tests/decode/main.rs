//! Decoding from outside: JPEG whole, by region, by index and smaller, and all other formats.

mod damaged;
mod decode_scale;
mod flaws;
mod images;
mod jpeg;
mod jpeg_index;
mod jpeg_scale;
mod memory;
