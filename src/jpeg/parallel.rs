//! What a device of many small processors needs of a file: its tables, and its scan cut into pieces that can be decoded side
//! by side.

mod blueprint;
mod index_maker;
mod pieces;

pub(crate) use super::entropy::Code;
pub(crate) use super::output::{NeededParts, Upsampling};
pub(crate) use blueprint::{Reader, Unit};
pub(crate) use index_maker::IndexMaker;
pub(crate) use pieces::{End, Piece, Pieces};
