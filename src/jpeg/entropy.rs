//! From bytes to coefficients: the stream without its stuffing, Huffman tables, and the decoders of blocks.

pub(crate) mod bit_ops;
mod bits;
pub(crate) mod block;
mod huffman;
pub(crate) mod progressive;
pub(crate) mod standard_tables;
mod stream;
mod tables;
mod unit;

#[cfg(feature = "cuda")]
pub(crate) use bits::unstuff;
pub(crate) use bits::{Cursor, extend, skip_stuffed};
#[cfg(feature = "cuda")]
pub(crate) use huffman::Code;
pub(crate) use stream::Stream;
pub(crate) use tables::Tables;
pub(crate) use unit::Unit;
