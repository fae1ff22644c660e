//! Widened warps that keep rows and columns apart: scaled and moved, but neither turned nor sheared.
//!
//! Each output row first sums rows of the source, which lie in one piece, and then columns of that sum. The sums are
//! those of [`super::tent`] in the same order, so the bits are too; what many pixels have in common is done once.

use super::Gather;
use super::tent::Tent;
use crate::device::cpu::columns::Columns;
use crate::device::cpu::interleave;
use crate::device::warp::MAX_RADIUS;
use crate::plan::WarpFilter;
use crate::simd::Level;

/// Bytes, or sums of them, that are worked on at a time.
const CHUNK: usize = 64;
/// Columns that the first and the last one are repeated for: taps of a covered pixel reach no further.
const MARGIN: usize = MAX_RADIUS as usize + 2;
/// Maximum number of taps of a column.
const WIDEST: usize = 2 * MAX_RADIUS as usize + 1;

/// What the rows of a layer have in common.
pub(super) struct Straight {
    /// Number of the first column of the window that is covered; the others follow it.
    first: usize,
    columns: Columns,
    /// One source row's sums with a margin on both sides.
    line: Vec<f32>,
    /// Byte where each source row of the current output row begins, and its weight.
    rows: Vec<(usize, f32)>,
}

impl Straight {
    /// What there is to share; `None` where rows and columns mix, or taps can miss the source.
    pub(super) fn of(gather: &Gather<'_>) -> Option<Self> {
        let keeps_apart = gather.warp.keeps_axes() && gather.transparent;
        if !keeps_apart || gather.filter != WarpFilter::Widened || gather.view.data.is_empty() {
            return None;
        }
        let [radius, _] = gather.warp.radius(0.0, 0.0);
        let count = gather.columns.count as usize;
        let place = |number| gather.warp.place(gather.columns.shown(number) as i32 as f32, 0.0)[0];
        // Places move one way, so what is covered is one run.
        let first = (0..count).find(|&number| gather.covers_column(place(number))).unwrap_or(count);
        let places = (first..count).map(place).take_while(|&place| gather.covers_column(place));
        let tents: Vec<Tent> = places.map(|place| Tent::new(place, radius).without_idle_taps()).collect();
        let taps = tents.iter().map(|tent| tent.count).max().unwrap_or(1) as usize;
        let mut weights = vec![0.0; tents.len() * taps];
        let column = |(tent, weights): (&Tent, &mut [f32])| {
            let part = tent.part();
            for (tap, weight) in weights.iter_mut().enumerate().take(tent.count as usize) {
                *weight = tent.tap(tap as i32).1 * part;
            }
            (tent.first as i32 - gather.corner[0] + MARGIN as i32) as u32 * 3
        };
        let columns = tents.iter().zip(weights.chunks_exact_mut(taps)).map(column).collect();
        let line = vec![0.0; (gather.view.size.width as usize + 2 * MARGIN + WIDEST) * 3 + 1];
        Some(Self { first, columns: Columns::new(columns, weights, taps), line, rows: Vec::new() })
    }

    /// Row `y` of the window.
    #[inline(always)]
    pub(super) fn row(&mut self, gather: &Gather<'_>, y: usize, pixels: &mut [u8], level: Level) {
        let [_, place] = gather.warp.place(0.0, gather.rows.shown(y) as i32 as f32);
        if !gather.covers_row(place) || self.columns.len() == 0 {
            return;
        }
        let tent = Tent::new(place, gather.warp.radius(0.0, 0.0)[1]).without_idle_taps();
        let part = tent.part();
        self.rows.clear();
        self.rows.extend((0..tent.count).map(|number| {
            let (top, weight) = tent.tap(number);
            (gather.row_of(top), weight * part)
        }));
        let ahead = self.rows.last().map_or(0, |(row, _)| row.saturating_add(gather.view.stride));
        let bytes = gather.view.size.width as usize * 3;
        // The next row mostly reads on from there, and memory is further away than a processor looks ahead.
        interleave::prefetch(gather.view.data.get(ahead..ahead.saturating_add(bytes)).unwrap_or_default());
        self.sum_rows(gather);
        let pixels = &mut pixels[self.first * 3..][..self.columns.len() * 3];
        interleave::weigh(&self.columns, &self.line, pixels, level);
    }

    /// Fills the line with the weighted sums of the source's rows.
    #[inline(always)]
    fn sum_rows(&mut self, gather: &Gather<'_>) {
        let bytes = gather.view.size.width as usize * 3;
        let inner = &mut self.line[MARGIN * 3..][..bytes];
        let data = gather.view.data;
        let (blocks, rest) = inner.as_chunks_mut::<CHUNK>();
        for (number, sums) in blocks.iter_mut().enumerate() {
            let mut block = [0.0f32; CHUNK];
            for &(row, weight) in &self.rows {
                let Some(levels) = data[row + number * CHUNK..].first_chunk::<CHUNK>() else { continue };
                for (sum, level) in block.iter_mut().zip(levels) {
                    *sum = f32::from(*level).mul_add(weight, *sum);
                }
            }
            *sums = block;
        }
        rest.fill(0.0);
        for &(row, weight) in &self.rows {
            for (sum, level) in rest.iter_mut().zip(&data[row + bytes / CHUNK * CHUNK..]) {
                *sum = f32::from(*level).mul_add(weight, *sum);
            }
        }
        let (left, right) = (MARGIN * 3, MARGIN * 3 + bytes);
        let [first, last] = [left, right - 3].map(|at| [self.line[at], self.line[at + 1], self.line[at + 2]]);
        self.line[..left].as_chunks_mut().0.fill(first);
        self.line[right..][..left].as_chunks_mut().0.fill(last);
    }
}
