//! From the bytes of a group to the coefficients of its blocks.
//!
//! A group is read in a few passes over all of its blocks, because a single pass from block to block would wait for its own
//! results. First the lists of values are completed, one for each width; then each block takes its values from these lists.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod spread;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vbmi;

use super::error::{CoefficientsError, corrupt};
use super::group::{Bytes, SLACK, Stream, VALUES};
use super::layout::GROUP;
use super::widths::{Width, Widths};
use crate::jpeg::{BlockGroup, ZIGZAG};
use crate::simd::Vectors;

/// The positions of each width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions {
    two: u64,
    four: u64,
    eight: u64,
    /// For each eight positions the list that their values are in (twos, fours, eights), and the positions of that list ahead of them.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(dead_code, reason = "for vectors")
    )]
    of_eight: [(usize, u64); 8],
}

impl Positions {
    pub(super) fn new(widths: Widths) -> Self {
        let lists = [Width::Two, Width::Four, Width::Eight].map(|width| widths.positions(width));
        let of_eight = std::array::from_fn(|i| {
            let list = widths.0[i] as usize;
            (list, lists[list] & ((1 << (8 * i)) - 1))
        });
        let [two, four, eight] = lists;
        Self { two, four, eight, of_eight }
    }
}

/// Values of a group by their widths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    two: usize,
    four: usize,
    eight: usize,
}

/// A list of values, a byte each, and room for wide loads and stores.
type List = [u8; VALUES + SLACK];

/// The lists of values of a group; for each width those of the blocks in their order, and in each by position.
struct Values<'a> {
    two: &'a List,
    four: &'a List,
    eight: Stream<'a>,
}

/// Loops that are built for several instruction sets.
trait Loops: Copy {
    /// Makes the masks of blocks of which each has so many bytes of `positions` (at most 8, and together no more than there
    /// are). `None` if one has a position that no block has.
    fn masks(
        self,
        positions: Stream<'_>,
        bytes: &[u8],
        by_width: &Positions,
        masks: &mut [u64],
    ) -> Option<Counts>;

    /// Writes codes of two bits as a byte each; returns how many of them say that four, and that eight bits follow elsewhere.
    fn codes(self, packed: Stream<'_>, count: usize, out: &mut List) -> (usize, usize);

    /// Writes codes of four bits as a byte each; returns how many from `from` on say that eight bits follow elsewhere.
    fn nibbles(self, packed: Stream<'_>, count: usize, from: usize, out: &mut List) -> usize;

    /// Makes values of codes of two bits; those that say so are the next of `nibbles` and of `bytes`.
    fn twos(self, codes: &List, count: usize, nibbles: &List, bytes: Stream<'_>, out: &mut List);

    /// Makes values of `count` codes of four bits from `from` on; those that say so are the next of `bytes`.
    fn fours(self, nibbles: &List, from: usize, count: usize, bytes: Stream<'_>, out: &mut List);

    /// Puts the values of blocks at their places, row by row, with zeros between them. The lists have as many values as the
    /// masks have positions of their width.
    fn place(
        self,
        values: &Values<'_>,
        by_width: &Positions,
        dc: &[i16; GROUP],
        count: usize,
        out: &mut BlockGroup,
    );
}

/// Expands groups; keeps its lists.
pub(super) struct Expander {
    vectors: Vectors,
    codes: Box<List>,
    nibbles: Box<List>,
    two: Box<List>,
    four: Box<List>,
}

impl Expander {
    pub(super) fn new(vectors: Vectors) -> Self {
        let list = || Box::new([0; VALUES + SLACK]);
        Self { vectors, codes: list(), nibbles: list(), two: list(), four: list() }
    }

    /// Puts the `count` blocks of a group into `out`.
    ///
    /// # Errors
    /// A group that holds something else than so many blocks.
    pub(super) fn expand(
        &mut self,
        group: Bytes<'_>,
        count: usize,
        by_width: &Positions,
        out: &mut BlockGroup,
    ) -> Result<(), CoefficientsError> {
        #[cfg(target_arch = "x86_64")]
        if let Some(vbmi) = self.vectors.vbmi() {
            return self.expand_with(vbmi, group, count, by_width, out);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = self.vectors.avx2() {
            return self.expand_with(avx2, group, count, by_width, out);
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(neon) = self.vectors.neon() {
            return self.expand_with(neon, group, count, by_width, out);
        }
        self.expand_with(plain::Plain, group, count, by_width, out)
    }

    fn expand_with(
        &mut self,
        loops: impl Loops,
        mut group: Bytes<'_>,
        count: usize,
        by_width: &Positions,
        out: &mut BlockGroup,
    ) -> Result<(), CoefficientsError> {
        let count = count.min(GROUP);
        let first = group.take(2)?;
        let differences = group.take(count - 1)?.exact();
        let masks = group.take(count.div_ceil(2))?;
        let mut bytes = [0; GROUP + 1];
        for (pair, packed) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(masks.exact()) {
            *pair = [packed & 15, packed >> 4];
        }
        let bytes = &bytes[..count];
        if bytes.iter().any(|&bytes| bytes > 8) {
            return corrupt("a block has more positions than there are");
        }
        let positions = group.take(bytes.iter().map(|&bytes| usize::from(bytes)).sum())?;
        let counts = loops.masks(positions, bytes, by_width, &mut out.masks[..count]);
        let Some(counts) = counts else { return corrupt("a block has a position that no block has") };
        let codes = group.take(counts.two.div_ceil(4))?;
        let (to_four, to_eight) = loops.codes(codes, counts.two, &mut self.codes);
        let nibbles = group.take((to_four + counts.four).div_ceil(2))?;
        let from_four = loops.nibbles(nibbles, to_four + counts.four, to_four, &mut self.nibbles);
        let of_two = group.take(to_eight)?;
        let of_four = group.take(from_four)?;
        let eight = group.take(counts.eight)?;
        let dc = sum_up(first, differences, &mut group)?;
        loops.twos(&self.codes, counts.two, &self.nibbles, of_two, &mut self.two);
        loops.fours(&self.nibbles, to_four, counts.four, of_four, &mut self.four);
        let values = Values { two: &self.two, four: &self.four, eight };
        loops.place(&values, by_width, &dc, count, out);
        patch(group, count, out)
    }
}

/// DC of each block, from the first one and the differences of the others.
fn sum_up(
    first: Stream<'_>,
    differences: &[u8],
    group: &mut Bytes<'_>,
) -> Result<[i16; GROUP], CoefficientsError> {
    let escapes = differences.iter().filter(|&&difference| difference as i8 == i8::MIN).count();
    let escapes = group.take(2 * escapes)?.exact();
    let (mut escapes, mut dc) = (escapes.as_chunks().0.iter(), [0; GROUP]);
    let [low, high, ..] = *first.exact() else { return corrupt("a group of blocks is empty") };
    dc[0] = i16::from_le_bytes([low, high]);
    for i in 1..=differences.len().min(GROUP - 1) {
        let small = i16::from(differences[i - 1] as i8);
        let difference = match small {
            -128 => escapes.next().map_or(0, |bytes| i16::from_le_bytes(*bytes)),
            small => small,
        };
        dc[i] = dc[i - 1].wrapping_add(difference);
    }
    Ok(dc)
}

/// Puts in the values that do not fit eight bits: what is left of a group.
fn patch(mut group: Bytes<'_>, count: usize, out: &mut BlockGroup) -> Result<(), CoefficientsError> {
    let left = group.left();
    if left == 0 {
        return Ok(());
    }
    let (patches, rest) = group.take(left)?.exact().as_chunks::<4>();
    if !rest.is_empty() {
        return corrupt("a group of blocks is shorter than it says");
    }
    let mut after = 0;
    for &[low, high, value, value_high] in patches {
        let place = usize::from(u16::from_le_bytes([low, high]));
        let (block, position) = (place >> 6, place & 63);
        if block >= count || place < after || out.masks[block] >> position & 1 == 0 {
            return corrupt("a large value stands where there is none");
        }
        after = place + 1;
        out.batch.blocks[block][usize::from(ZIGZAG[position])] = i16::from_le_bytes([value, value_high]);
    }
    Ok(())
}
