//! Warped layers: where each canvas pixel falls in the source, and what it becomes there.
//!
//! [`Warp`] says where. What is read there is summed in f32 in the order written here, `mul_add` being one rounding,
//! and rounded to a level half to even, so that a kernel can give the same bits. The unwidened filters are those of
//! torch's `grid_sample` with zeros around, and the blend with a fill is torchvision's.
//!
//! Places and sums are computed for a block of pixels at a time, which compilers turn into vectors; only the reads
//! between them go from pixel to pixel.

mod side_by_side;
mod straight;
mod tent;

use super::image_view::ImageView;
use super::interleave::with_level;
use super::lanes::{LANES, Plane};
use super::pixel_block::PixelBlock;
use crate::device::roi::scale::{self, Visible};
use crate::device::warp::Warp;
use crate::geometry::Rect;
use crate::plan::{Outside, Sampled, WarpFilter, WarpMap};
use crate::simd::Level;
use straight::Straight;

/// A source pixel as red, green, blue and 1 from the lowest byte up, or 0 where there is none.
type Word = u32;

/// Stands for the byte of a pixel of which not all four taps lie inside.
const OUTSIDE: u32 = u32::MAX;

/// Renders the rows of one warped layer.
pub(crate) struct Gather<'a> {
    warp: Warp,
    columns: Visible,
    rows: Visible,
    filter: WarpFilter,
    /// Whether what the map leaves uncovered stays as it is.
    transparent: bool,
    /// Whether the edge is blended with the fill.
    filled: bool,
    /// The colour outside.
    fill: [f32; 3],
    /// The clip's edges.
    edges: [f32; 2],
    /// The pixels that taps may read, and where they begin in the clip.
    view: ImageView<'a>,
    corner: [i32; 2],
    /// Bytes from one row of the view to the next, or 0 where the view is so large that they are counted in 64 bits.
    near_stride: i32,
    straight: Option<Straight>,
}

/// Where a block of pixels falls.
struct Places {
    /// The row of the warped image, and the columns.
    row: f32,
    columns: Plane,
    xs: Plane,
    ys: Plane,
}

impl<'a> Gather<'a> {
    /// `view` holds `taps`, the part of the source that [`crate::device::roi::taps_of`] names; it is empty where that is.
    pub(crate) fn new(
        (window, sampled, warp): (Rect, &Sampled, &WarpMap),
        view: ImageView<'a>,
        taps: Rect,
    ) -> Self {
        let (columns, rows) = scale::visible(window, sampled);
        let clip = sampled.clip;
        let fill = match warp.outside {
            Outside::Fill(rgb) => rgb.map(f32::from),
            Outside::Transparent | Outside::Black => [0.0; 3],
        };
        let mut gather = Self {
            warp: Warp::of(sampled, warp),
            columns,
            rows,
            filter: warp.filter,
            transparent: warp.outside == Outside::Transparent,
            filled: matches!(warp.outside, Outside::Fill(_)),
            fill,
            edges: [clip.width as f32, clip.height as f32],
            view,
            corner: [taps.x - clip.x, taps.y - clip.y],
            near_stride: if view.data.len() < i32::MAX as usize { view.stride as i32 } else { 0 },
            straight: None,
        };
        gather.straight = Straight::of(&gather);
        gather
    }

    /// Writes row `y` of the window, packed RGB; pixels that the layer does not cover stay as they are.
    pub(crate) fn row(&mut self, y: usize, row: &mut [u8], level: Level) {
        with_level!(level, {
            if let Some(mut straight) = self.straight.take() {
                straight.row(self, y, row, level);
                self.straight = Some(straight);
                return;
            }
            let mut block = PixelBlock::default();
            for (chunk, pixels) in row.chunks_mut(LANES * 3).enumerate() {
                let places = self.places(chunk * LANES, y);
                self.sample(&places, pixels.len() / 3, &mut block, level);
                match self.transparent {
                    true => self.cover(&places, &block, pixels),
                    false => block.store(pixels, level),
                }
            }
        });
    }

    /// Where the pixels from `x` on fall; those after the row's end are not looked at.
    #[inline(always)]
    fn places(&self, x: usize, y: usize) -> Places {
        let row = self.rows.shown(y) as f32;
        let mut places = Places { row, columns: [0.0; LANES], xs: [0.0; LANES], ys: [0.0; LANES] };
        let (count, offset) = (self.columns.count as i32, self.columns.offset);
        let (first, step) = if self.columns.reversed { (count - 1 - x as i32, -1) } else { (x as i32, 1) };
        for lane in 0..LANES {
            places.columns[lane] = (offset + first + step * lane as i32) as f32;
            [places.xs[lane], places.ys[lane]] = self.warp.place(places.columns[lane], row);
        }
        places
    }

    /// Levels of the first `count` pixels.
    #[inline(always)]
    fn sample(&self, places: &Places, count: usize, block: &mut PixelBlock, level: Level) {
        if self.view.data.is_empty() {
            // The map leaves the clip everywhere.
            block.planes = self.fill.map(|level| [level; LANES]);
            return;
        }
        match self.filter {
            WarpFilter::Bilinear if !self.is_whole(places, count) => self.plain(places, count, block, level),
            WarpFilter::Bilinear | WarpFilter::Nearest => {
                if !self.copy(places, count, block, level) {
                    self.nearest(places, count, block);
                }
            }
            WarpFilter::Widened => self.widened(places, count, block),
        }
    }

    #[inline(always)]
    fn nearest(&self, Places { xs, ys, .. }: &Places, count: usize, block: &mut PixelBlock) {
        let mut words = [0; LANES];
        for lane in 0..count {
            words[lane] = self.tap(xs[lane].round_ties_even(), ys[lane].round_ties_even());
        }
        for (channel, plane) in block.planes.iter_mut().enumerate() {
            for lane in 0..LANES {
                let level = level_of(words[lane], channel);
                plane[lane] = if words[lane] == 0 { self.fill[channel] } else { level };
            }
        }
    }

    /// Four taps, in the order of torch's sums.
    #[inline(always)]
    fn plain(&self, Places { xs, ys, .. }: &Places, count: usize, block: &mut PixelBlock, level: Level) {
        let (mut lefts, mut tops) = ([0.0; LANES], [0.0; LANES]);
        let mut weights = [[0.0; LANES]; 4];
        for lane in 0..LANES {
            let (x, y) = (xs[lane], ys[lane]);
            let (left, top) = (x.floor(), y.floor());
            let (east, south) = (x - left, y - top);
            let (west, north) = (1.0 - east, 1.0 - south);
            // Where no tap can lie inside there may be no number either, at a perspective's horizon.
            let reached = self.is_reached([x, y], [1.0; 2]);
            (lefts[lane], tops[lane]) = (left, top);
            let products = [west * north, east * north, west * south, east * south];
            for (weights, product) in weights.iter_mut().zip(products) {
                weights[lane] = if reached { product } else { 0.0 };
            }
        }
        let mut sums = [[0.0; LANES]; 4];
        match self.stretches(&lefts, &tops, count, level) {
            Some(taps) => {
                let tap = |i: usize, channel: usize, lane: usize| {
                    taps[i].get(channel).map_or(1.0, |plane| plane[lane])
                };
                self.weigh(&weights, tap, &mut sums);
            }
            None => {
                let words = self.quads(&lefts, &tops, count);
                let tap = |i: usize, channel: usize, lane: usize| level_of(words[i][lane], channel);
                self.weigh(&weights, tap, &mut sums);
            }
        }
        self.finish(&sums, block);
    }

    /// Sums of four taps, each given by its number, the channel and the lane.
    #[inline(always)]
    fn weigh(&self, weights: &[Plane; 4], tap: impl Fn(usize, usize, usize) -> f32, sums: &mut [Plane; 4]) {
        for (channel, sums) in sums[..self.sums()].iter_mut().enumerate() {
            for lane in 0..LANES {
                let tap = |i: usize| tap(i, channel, lane);
                let sum = tap(1).mul_add(weights[1][lane], tap(0) * weights[0][lane]);
                let sum = tap(2).mul_add(weights[2][lane], sum);
                sums[lane] = tap(3).mul_add(weights[3][lane], sum);
            }
        }
    }

    /// How many sums [`Gather::finish`] reads.
    #[inline(always)]
    fn sums(&self) -> usize {
        if self.filled { 4 } else { 3 }
    }

    /// Three sums of levels and what the taps inside the clip weigh together, as levels blended with the fill.
    #[inline(always)]
    fn finish(&self, sums: &[Plane; 4], block: &mut PixelBlock) {
        for (channel, plane) in block.planes.iter_mut().enumerate() {
            let fill = self.fill[channel];
            for lane in 0..LANES {
                let sum = sums[channel][lane];
                let sum = if self.filled { (sum - fill) * sums[3][lane] + fill } else { sum };
                plane[lane] = sum.round_ties_even().clamp(0.0, 255.0);
            }
        }
    }

    /// Stores the pixels whose centres fall inside the clip.
    #[inline(always)]
    fn cover(&self, Places { xs, ys, .. }: &Places, block: &PixelBlock, pixels: &mut [u8]) {
        for (lane, pixel) in pixels.chunks_exact_mut(3).enumerate() {
            if self.covers_column(xs[lane]) && self.covers_row(ys[lane]) {
                let level = |plane: &Plane| plane[lane] as u8;
                let [r, g, b] = &block.planes;
                pixel.copy_from_slice(&[level(r), level(g), level(b)]);
            }
        }
    }

    #[inline(always)]
    fn covers_column(&self, x: f32) -> bool {
        x >= -0.5 && x < self.edges[0] - 0.5
    }

    #[inline(always)]
    fn covers_row(&self, y: f32) -> bool {
        y >= -0.5 && y < self.edges[1] - 0.5
    }

    /// Whether any tap that is less than `radius` away can lie inside the clip; false where there is no place.
    #[inline(always)]
    fn is_reached(&self, [x, y]: [f32; 2], [across, down]: [f32; 2]) -> bool {
        let [width, height] = self.edges;
        (x > -across) & (x < width - 1.0 + across) & (y > -down) & (y < height - 1.0 + down)
    }

    /// The four pixels at and after the whole positions of the first `count` lanes.
    #[inline(always)]
    fn quads(&self, lefts: &Plane, tops: &Plane, count: usize) -> [[Word; LANES]; 4] {
        let [width, height] = self.edges;
        let [corner_x, corner_y] = self.corner;
        let stride = self.near_stride;
        let mut offsets = [OUTSIDE; LANES];
        for lane in 0..LANES {
            let (left, top) = (lefts[lane], tops[lane]);
            let inside = (left >= 0.0) & (left < width - 1.0) & (top >= 0.0) & (top < height - 1.0);
            let (x, y) = ((left as i32).wrapping_sub(corner_x), (top as i32).wrapping_sub(corner_y));
            let at = y.wrapping_mul(stride).wrapping_add(x.wrapping_mul(3)) as u32;
            offsets[lane] = if inside & (stride > 0) { at } else { OUTSIDE };
        }
        let mut words = [[0; LANES]; 4];
        for lane in 0..count {
            let taps = match offsets[lane] {
                OUTSIDE => self.four(lefts[lane], tops[lane]),
                at => self.near(at as usize),
            };
            words.iter_mut().zip(taps).for_each(|(words, tap)| words[lane] = tap);
        }
        // Whether there is a pixel only the sum for the fill asks.
        if self.filled {
            for words in &mut words {
                for lane in 0..LANES {
                    let outside = offsets[lane] == OUTSIDE;
                    let (kept, set) = if outside { (u32::MAX, 0) } else { (0x00FF_FFFF, 0x0100_0000) };
                    words[lane] = words[lane] & kept | set;
                }
            }
        }
        words
    }

    /// The pixel at byte `at` of the view, the one after it, and the two below; the highest byte of each is anything.
    #[inline(always)]
    fn near(&self, at: usize) -> [Word; 4] {
        // Eight bytes hold two pixels, and a view goes on after its last one.
        let both = self.view.data.get(at..).and_then(|rest| rest.get(..self.view.stride + 8));
        let pair = |bytes: Option<&[u8; 8]>| u64::from_le_bytes(bytes.copied().unwrap_or_default());
        let both = both.unwrap_or_default();
        let (above, below) = (pair(both.first_chunk()), pair(both.last_chunk()));
        [above as Word, (above >> 24) as Word, below as Word, (below >> 24) as Word]
    }

    /// The four pixels at and after a whole position of which not all are inside.
    #[inline(always)]
    fn four(&self, left: f32, top: f32) -> [Word; 4] {
        let [width, height] = self.edges;
        // What is further away is not covered, or all fill.
        if !(left >= -1.0 && left < width && top >= -1.0 && top < height) {
            return [0; 4];
        }
        let (right, bottom) = (left + 1.0, top + 1.0);
        [self.tap(left, top), self.tap(right, top), self.tap(left, bottom), self.tap(right, bottom)]
    }

    /// The pixel at a whole position; where the clip ends 0, or the nearest inside where nothing is around it.
    #[inline(always)]
    fn tap(&self, x: f32, y: f32) -> Word {
        let [width, height] = self.edges;
        let inside = x >= 0.0 && x < width && y >= 0.0 && y < height;
        match inside || self.transparent {
            true => self.word(self.offset(x, y)),
            false => 0,
        }
    }

    /// The byte of the view where a pixel begins; the view holds all that are read inside the clip, so that only what
    /// lies outside is moved.
    #[inline(always)]
    fn offset(&self, x: f32, y: f32) -> usize {
        self.row_of(y) + within(x, self.corner[0], self.view.size.width) * 3
    }

    /// The byte of the view where a row begins.
    #[inline(always)]
    fn row_of(&self, y: f32) -> usize {
        within(y, self.corner[1], self.view.size.height) * self.view.stride
    }

    #[inline(always)]
    fn word(&self, at: usize) -> Word {
        // A view goes on after its last pixel, so four bytes are always there.
        let bytes = self.view.data[at..].first_chunk().copied().unwrap_or_default();
        u32::from_le_bytes(bytes) & 0x00FF_FFFF | 0x0100_0000
    }
}

/// A whole position counted from `corner`, moved to 0..`edge`.
#[inline(always)]
fn within(position: f32, corner: i32, edge: u32) -> usize {
    (position as i32).wrapping_sub(corner).clamp(0, edge as i32 - 1) as usize
}

/// One byte of a word: a level, or whether there is one.
#[inline(always)]
fn level_of(word: Word, channel: usize) -> f32 {
    (word >> (8 * channel) & 255) as i32 as f32
}
