//! The pieces of a scan: runs of MCUs that can be decoded alone.
//!
//! A piece begins where the state of a decoder is known: at the scan's start, at a point of the decode index, or behind a
//! restart marker. How it must end is known as well, so that damage shows wherever a decoder that reads everything before it
//! would find it.

use super::blueprint::{Blueprint, COMPONENTS};
use super::index_maker::{IndexMaker, Intervals};
use crate::geometry::Rect;
use crate::jpeg::entropy::unstuff;
use crate::jpeg::lenient;
use crate::jpeg::output::{NeededParts, Part, Scale};
use crate::jpeg::seek::{Grid, Index, Point};
use std::ops::Range;

/// Maximum pieces of a file: more than an image of 100 megapixels has by its decode index, and few enough to keep for each file
/// of a batch.
const MAX_PIECES: usize = 1 << 17;

/// Predictions of DC, modulo 2^16.
pub(crate) type Dc = [i16; COMPONENTS];

/// MCUs that follow each other in the scan, and their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The first of its bits, counted through [`Pieces::bytes`].
    pub(crate) from: u32,
    /// The bit that it must end at, or before: see [`End`].
    pub(crate) to: u32,
    /// The number of its first MCU in the scan.
    pub(crate) mcu: u32,
    pub(crate) mcus: u32,
    pub(crate) dc: Dc,
    pub(crate) end: End,
}

/// How a piece must end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At its last bit, with these predictions.
    At(Dc),
    /// With less than a byte of padding, ahead of a restart marker.
    Padded,
    /// Anywhere before.
    Within,
}

/// Why a file was not cut: a decoder that reads it from its top will say what is wrong, if anything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uncut;

/// The pieces of one file; the memory is used again for the next.
#[derive(Default)]
pub(crate) struct Pieces {
    /// Entropy-coded bytes without stuffing, and some zeros.
    data: Vec<u8>,
    length: usize,
    pieces: Vec<Piece>,
    rows: Range<usize>,
    columns: Range<usize>,
    /// Whether the last pieces are not those of an index. Then an index can be made of them:
    is_searched: bool,
    /// The points that are known ahead of them, and the number of the interval between restart markers that they begin in.
    known: Vec<Point>,
    first_interval: usize,
    /// Where each interval begins from there on, without stuffing and in the file.
    begins: Vec<(usize, usize)>,
}

impl Pieces {
    /// Cuts a file into the pieces that `region` needs: by its index as far as that reaches, and from there on, or from the scan's
    /// start, by restart markers: a decoder that is to find all damage above the region has to read all of that.
    ///
    /// # Errors
    /// The file's bytes are not as they should be, or make too many pieces.
    pub(crate) fn cut(
        &mut self,
        file: &Blueprint,
        bytes: &[u8],
        region: Rect,
        index: Option<&Index>,
    ) -> Result<(), Uncut> {
        let part = Part { scale: Scale::Full, region };
        (self.rows, self.columns) = NeededParts::of(&file.frame, part).mcus;
        self.length = 0;
        self.pieces.clear();
        self.begins.clear();
        self.is_searched = false;
        // Bits are counted in 32 bits.
        if bytes.len() >= 1 << 29 {
            return Err(Uncut);
        }
        let grid = Grid::of(&file.frame);
        let per_row = grid.points_per_row();
        let held = index.map_or(0, |index| index.held(bytes, (file.from, file.frame.count), grid));
        // Rows of which every point is known, and the end: that of the last row is the scan's.
        let known = match held {
            0 => 0,
            _ if held + 1 == grid.down * per_row => grid.down,
            _ => held / per_row,
        };
        if let Some(index) = index {
            self.cut_by(file, bytes, (grid, index), self.rows.start..self.rows.end.min(known))?;
        }
        if self.rows.end > known {
            let start = index.and_then(|index| place(grid, index, known * per_row));
            self.known = index.map_or(Vec::new(), |index| index.first_points(known * per_row).to_vec());
            self.is_searched = true;
            let end = self.rows.end * grid.across;
            self.run(file, bytes, start.unwrap_or(Place::top(file)), end, std::iter::empty())?;
        }
        Ok(())
    }

    /// The bytes without stuffing that the pieces' bits lie in.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data[..self.length]
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Rows and columns of the MCUs that the region needs.
    pub(crate) fn window(&self) -> (Range<usize>, Range<usize>) {
        (self.rows.clone(), self.columns.clone())
    }

    /// What an index can be made of, in the place of `index`; `None` where the pieces are those that an index has given.
    pub(crate) fn index_maker(&self, file: &Blueprint, bytes: &[u8], index: &Index) -> Option<IndexMaker> {
        let is_stale = || index.is_stale(bytes, file.frame.count, Grid::of(&file.frame));
        let intervals = || Intervals { first: self.first_interval, begins: self.begins.clone() };
        self.is_searched
            .then(|| IndexMaker::new(file, intervals(), self.known.clone(), self.rows.end, is_stale()))
    }

    /// Appends the pieces of these rows, of which all points are known.
    fn cut_by(
        &mut self,
        file: &Blueprint,
        bytes: &[u8],
        (grid, index): (Grid, &Index),
        rows: Range<usize>,
    ) -> Result<(), Uncut> {
        let per_row = grid.points_per_row();
        let (first, beyond) = (self.columns.start / grid.step, self.columns.end.div_ceil(grid.step));
        if (first, beyond) == (0, per_row) && !rows.is_empty() {
            let points = rows.start * per_row..rows.end * per_row;
            return self.run_between(file, bytes, (grid, index), points);
        }
        for row in rows {
            // No point says whether the end of the last row was ever reached, and is sound.
            let beyond = if row + 1 == grid.down { per_row } else { beyond };
            let points = row * per_row + first..row * per_row + beyond;
            self.run_between(file, bytes, (grid, index), points)?;
        }
        Ok(())
    }

    /// Appends the pieces from the first of these points to the last.
    fn run_between(
        &mut self,
        file: &Blueprint,
        bytes: &[u8],
        (grid, index): (Grid, &Index),
        points: Range<usize>,
    ) -> Result<(), Uncut> {
        let place = |number: usize| place(grid, index, number);
        let start = place(points.start).unwrap_or(Place::top(file));
        let end = grid.mcu(points.end);
        self.run(file, bytes, start, end, (points.start + 1..points.end + 1).map_while(place))
    }

    /// Appends the pieces from one place to the MCU `end`, where `points` are the places that are known after the first.
    fn run(
        &mut self,
        file: &Blueprint,
        bytes: &[u8],
        start: Place,
        end: usize,
        points: impl Iterator<Item = Place>,
    ) -> Result<(), Uncut> {
        let Place { mut mcu, byte: mut at, mut bit, mut dc } = start;
        let restarts_at = |mcu: usize| mcu > 0 && mcu.checked_rem(file.interval) == Some(0);
        if restarts_at(mcu) {
            // The point lies ahead of the marker; between them there is padding and no more, or nothing would read it.
            let (begin, bits) = (self.length, self.bits());
            at = self.unstuff_to_restart(file, bytes, at, mcu)?;
            if self.bits() - bits >= bit + 8 {
                return Err(Uncut);
            }
            self.length = begin;
            (bit, dc) = (0, Dc::default());
        }
        if self.is_searched {
            self.first_interval = mcu.checked_div(file.interval).unwrap_or(0);
            self.begins.push((self.length, at));
        }
        let mut points = points.peekable();
        while mcu < end {
            let from = self.bits() + bit;
            let restart = match file.interval {
                0 => usize::MAX,
                interval => (mcu / interval + 1) * interval,
            };
            let point = points.next_if(|point| point.mcu <= restart);
            let next = point.as_ref().map_or(end, |point| point.mcu).min(restart).min(end);
            let (first, mcus, dc_at_start) = (mcu as u32, (next - mcu) as u32, dc);
            let piece = |to, end| Piece { from, to, mcu: first, mcus, dc: dc_at_start, end };
            let piece = if next == restart && next < end {
                at = self.unstuff_to_restart(file, bytes, at, next)?;
                if self.is_searched {
                    self.begins.push((self.length, at));
                }
                let piece = piece(self.bits(), End::Padded);
                (bit, dc) = (0, Dc::default());
                piece
            } else if let Some(point) = point {
                at = self.unstuff_to_point(bytes, at, point.byte)?;
                let piece = piece(self.bits() + point.bit, End::At(point.dc));
                (bit, dc) = (point.bit, point.dc);
                piece
            } else {
                at = self.unstuff_to_end(file, bytes, at, next)?;
                bit = 0;
                piece(self.bits(), End::Within)
            };
            // A point that is behind the one after it; restart markers all over.
            if piece.to < piece.from || self.pieces.len() == MAX_PIECES {
                return Err(Uncut);
            }
            self.pieces.push(piece);
            mcu = next;
        }
        // The last piece may end within a byte.
        if bit > 0 {
            let last = *bytes.get(at).ok_or(Uncut)?;
            self.data[self.length] = last;
            self.length += 1;
        }
        Ok(())
    }

    fn bits(&self) -> u32 {
        self.length as u32 * 8
    }

    /// Appends the bytes from `at` up to the next marker, or the end; the offset of that.
    fn unstuff(&mut self, bytes: &[u8], at: usize) -> usize {
        let (length, end) = unstuff(bytes, at, &mut self.data, self.length);
        self.length = length;
        end
    }

    /// Appends the bytes from `at` up to the offset `to`.
    fn unstuff_to_point(&mut self, bytes: &[u8], at: usize, to: usize) -> Result<usize, Uncut> {
        let until = bytes.get(..to).filter(|_| at <= to).ok_or(Uncut)?;
        if self.unstuff(until, at) == to { Ok(to) } else { Err(Uncut) }
    }

    /// Appends the bytes from `at` up to the next marker, where MCU `mcu` comes next, if any. What follows the last MCU must be
    /// what may follow it.
    fn unstuff_to_end(
        &mut self,
        file: &Blueprint,
        bytes: &[u8],
        at: usize,
        mcu: usize,
    ) -> Result<usize, Uncut> {
        let end = self.unstuff(bytes, at);
        if mcu == file.frame.mcus_across() * file.frame.mcus_down() {
            lenient::check_trailer(bytes, end).map_err(|_| Uncut)?;
        }
        Ok(end)
    }

    /// Appends the bytes from `at` up to the restart marker that comes ahead of `mcu`; the offset behind that.
    fn unstuff_to_restart(
        &mut self,
        file: &Blueprint,
        bytes: &[u8],
        at: usize,
        mcu: usize,
    ) -> Result<usize, Uncut> {
        let end = self.unstuff(bytes, at);
        let expected = 0xD0 + ((mcu / file.interval - 1) % 8) as u8;
        if bytes.get(end + 1) == Some(&expected) { Ok(end + 2) } else { Err(Uncut) }
    }
}

/// Where an MCU begins.
struct Place {
    mcu: usize,
    /// Offset of the byte with its first bit, and bits of that byte that come before.
    byte: usize,
    bit: u32,
    dc: Dc,
}

impl Place {
    /// The scan's start.
    fn top(file: &Blueprint) -> Self {
        Self { mcu: 0, byte: file.from, bit: 0, dc: Dc::default() }
    }
}

/// A point of the index; `None` for the scan's start.
fn place(grid: Grid, index: &Index, number: usize) -> Option<Place> {
    let point = index.point(number)?;
    let dc = point.predictions();
    let dc = std::array::from_fn(|component| dc[component] as i16);
    Some(Place { mcu: grid.mcu(number), byte: point.byte(), bit: point.bit(), dc })
}
