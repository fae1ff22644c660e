//! Layers through an affine map with Pillow's arithmetic: its `bilinear_filter32RGB` and `bicubic_filter32RGB`, to the bit.
//!
//! Everything is f64, in the order written here and without a fused operation, so that a kernel can give the same bits.
//! The three channels of a pixel are worked on side by side, which compilers turn into vectors.

use super::image_view::ImageView;
use super::interleave::with_level;
use crate::device::pillow::place;
use crate::device::roi::scale::{self, Visible};
use crate::geometry::Rect;
use crate::plan::{PillowFilter, PillowMap, Sampled};
use crate::simd::Level;

/// Red, green, blue, and a lane that only fills the vector.
type Pixel = [f64; 4];

/// Renders the rows of one mapped layer.
pub(crate) struct Pillow<'a> {
    map: PillowMap,
    columns: Visible,
    rows: Visible,
    /// The clip's edges.
    edges: [f64; 2],
    /// The pixels that taps may read, and where they begin in the clip.
    view: ImageView<'a>,
    corner: [i64; 2],
}

impl<'a> Pillow<'a> {
    /// `view` holds `taps`, the part of the source that [`crate::device::roi::taps_of`] names; it is empty where that is.
    pub(crate) fn new(
        (window, sampled, map): (Rect, &Sampled, &PillowMap),
        view: ImageView<'a>,
        taps: Rect,
    ) -> Self {
        let (columns, rows) = scale::visible(window, sampled);
        let clip = sampled.clip;
        Self {
            map: *map,
            columns,
            rows,
            edges: [clip.width, clip.height].map(f64::from),
            view,
            corner: [i64::from(taps.x - clip.x), i64::from(taps.y - clip.y)],
        }
    }

    /// Writes row `y` of the window, packed RGB; pixels that the layer does not cover stay as they are.
    pub(crate) fn row(&self, y: usize, row: &mut [u8], level: Level) {
        if self.view.data.is_empty() {
            return;
        }
        with_level!(level, {
            let line = f64::from(self.rows.shown(y) as i32);
            for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
                let column = f64::from(self.columns.shown(x) as i32);
                if let Some(levels) = self.sample(place(&self.map.matrix, column, line)) {
                    pixel.copy_from_slice(&levels);
                }
            }
        });
    }

    /// The pixel at a position; `None` outside of the clip.
    #[inline(always)]
    fn sample(&self, [x, y]: [f64; 2]) -> Option<[u8; 3]> {
        let [width, height] = self.edges;
        if !(x >= 0.0 && x < width && y >= 0.0 && y < height) {
            return None;
        }
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (dx, dy) = (x - left, y - top);
        let (left, top) = (left as i64, top as i64);
        let levels: Pixel = match self.map.filter {
            PillowFilter::Bilinear => {
                let [above, below]: [Pixel; 2] = [0, 1].map(|row| {
                    let [west, east] = [0, 1].map(|column| self.tap(left + column, top + row));
                    std::array::from_fn(|c| linear(west[c], east[c], dx))
                });
                std::array::from_fn(|c| linear(above[c], below[c], dy))
            }
            PillowFilter::Bicubic => {
                let lines: [Pixel; 4] = [-1, 0, 1, 2].map(|row| {
                    let taps = [-1, 0, 1, 2].map(|column| self.tap(left + column, top + row));
                    std::array::from_fn(|c| cubic(taps.map(|tap| tap[c]), dx))
                });
                std::array::from_fn(|c| cubic(lines.map(|line| line[c]), dy))
            }
        };
        let [r, g, b, _] = levels.map(|level| level.clamp(0.0, 255.0) as u8);
        Some([r, g, b])
    }

    /// The pixel at a whole position of the clip; outside, the nearest inside.
    #[inline(always)]
    fn tap(&self, x: i64, y: i64) -> Pixel {
        let within = |position: i64, axis: usize, edge: u32| {
            let inside = position.clamp(0, self.edges[axis] as i64 - 1);
            (inside - self.corner[axis]).clamp(0, i64::from(edge) - 1) as usize
        };
        let size = self.view.size;
        let at = within(y, 1, size.height) * self.view.stride + within(x, 0, size.width) * 3;
        // A view goes on after its last pixel, so four bytes are always there.
        let bytes: [u8; 4] = self.view.data[at..].first_chunk().copied().unwrap_or_default();
        bytes.map(f64::from)
    }
}

#[inline(always)]
fn linear(a: f64, b: f64, d: f64) -> f64 {
    a + (b - a) * d
}

#[inline(always)]
fn cubic([a, b, c, d]: [f64; 4], at: f64) -> f64 {
    let second = -a + c;
    let third = 2.0 * (a - b) + c - d;
    let fourth = -a + b - c + d;
    b + at * (second + at * (third + at * fourth))
}
