//! What the bytes of an input of the target `kernels` mean.
//!
//! | bytes | |
//! |---|---|
//! | 1 | bits 0 to 2: what is known of the file; bit 3: whether a second part of it is decoded besides; bits 4 to 7: the order in which threads run |
//! | 1 | bits 0 to 2: how many edits; bits 3 to 7: by how many rounds fewer than usual cuts are made to fit each other |
//! | 4 | the region: left and top in 256ths of the image, width and height in pixels |
//! | 1 | a quarter of the length of a decode index's record |
//! | 6 each | edits of the pieces' records |
//! | | the record; the rest is the file |

use feedline::device::cuda::jpeg::layout::JpegPiece;
use feedline::geometry::{Rect, Size};

/// Bytes ahead of the edits, and of an edit.
const HEAD: usize = 7;
const EDIT: usize = 6;

/// What is known of the file.
pub enum Known<'a> {
    /// Nobody wants to know.
    Unwanted,
    Nothing,
    /// The index of its upper third.
    Upper,
    All,
    /// What such a record says, which may be wrong.
    Record(&'a [u8]),
}

pub struct Input<'a> {
    pub known: Known<'a>,
    pub has_neighbour: bool,
    pub order: u64,
    pub fewer_rounds: u32,
    place: [u8; 4],
    edits: &'a [[u8; EDIT]],
    pub file: &'a [u8],
}

impl<'a> Input<'a> {
    pub fn read(input: &'a [u8]) -> Option<Self> {
        let (&[choice, edits, x, y, width, height, quarters], rest) = input.split_first_chunk::<HEAD>()?;
        let fewer_rounds = u32::from(edits >> 3);
        let (edits, rest) = rest.split_at_checked(usize::from(edits & 7) * EDIT)?;
        let (record, file) = rest.split_at_checked(usize::from(quarters) * 4)?;
        let known = match choice & 7 {
            0 => Known::Unwanted,
            1 | 2 => Known::Nothing,
            3 => Known::Upper,
            4 => Known::All,
            _ => Known::Record(record),
        };
        Some(Self {
            known,
            has_neighbour: choice & 8 != 0,
            order: (choice >> 4).into(),
            fewer_rounds,
            place: [x, y, width, height],
            edits: edits.as_chunks().0,
            file,
        })
    }

    /// A part of an image of this size.
    pub fn region(&self, size: Size) -> Rect {
        let [x, y, width, height] = self.place.map(u32::from);
        let at = |part: u32, whole: u32| (part * whole / 256) as i32;
        Rect::new(at(x, size.width), at(y, size.height), 1 + width % 64, 1 + height % 64)
            .intersect(size.rect())
    }

    /// Changes the records; whether there was anything to change.
    pub fn edit(&self, mut pieces: Vec<&mut JpegPiece>) -> bool {
        let count = pieces.len();
        for &[piece, field, value @ ..] in self.edits {
            if count > 0 {
                edit(pieces[usize::from(piece) % count], field, u32::from_le_bytes(value));
            }
        }
        count > 0 && !self.edits.is_empty()
    }
}

/// The upper bits of `field` say what becomes of it: it is set, added to, or has bits flipped.
fn edit(piece: &mut JpegPiece, field: u8, value: u32) {
    let of = |old: u32| match field >> 4 & 3 {
        0 | 1 => value,
        2 => old.wrapping_add(value),
        _ => old ^ value,
    };
    match field & 15 {
        0 | 1 => piece.from = of(piece.from),
        2 | 3 => piece.to = of(piece.to),
        4 | 5 => piece.block = of(piece.block),
        6 | 7 => piece.end_block = of(piece.end_block),
        8 => piece.coefficient = of(piece.coefficient.into()) as u8,
        9 => piece.end_coefficient = of(piece.end_coefficient.into()) as u8,
        10 | 11 => piece.end = of(piece.end.into()) as u16,
        12 | 13 => piece.dc[value as usize >> 30] = value as i16,
        _ => piece.end_dc[value as usize >> 30] = value as i16,
    }
}
