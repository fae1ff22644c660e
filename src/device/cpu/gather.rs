//! Warped layers: where each canvas pixel falls in the source, and what it becomes there.
//!
//! [`Warp`] says where. What is read there is summed in f32 in the order written here, `mul_add` being one rounding,
//! and rounded to a level half to even, so that a kernel can give the same bits. The unwidened filters are those of
//! torch's `grid_sample` with zeros around, and the blend with a fill is torchvision's.

use super::block::LANES;
use super::pack::with_level;
use super::view::View;
use crate::device::reach::{self, Scale};
use crate::device::warp::Warp;
use crate::geometry::Rect;
use crate::plan::{Layer, around, filter};
use crate::simd::Level;

/// Three sums of levels, and what the taps inside the clip weigh together.
type Sums = [f32; 4];

/// Renders the rows of one warped layer.
pub(crate) struct Gather<'a> {
    warp: Warp,
    columns: Scale,
    rows: Scale,
    filter: u32,
    around: u8,
    fill: [f32; 3],
    /// The clip's edges.
    edges: [f32; 2],
    /// The pixels that taps may read, and where they begin in the clip.
    view: View<'a>,
    corner: [i32; 2],
}

impl<'a> Gather<'a> {
    /// `view` holds `taps`, the part of the source that [`reach::taps_of`] names; it is empty where that is.
    pub(crate) fn new(layer: &Layer, view: View<'a>, taps: Rect) -> Self {
        let (columns, rows) = reach::scales(layer);
        let [r, g, b, around] = layer.fill;
        let fill = if around == around::FILL { [r, g, b].map(f32::from) } else { [0.0; 3] };
        Self {
            warp: Warp::of(layer),
            columns,
            rows,
            filter: layer.filter,
            around,
            fill,
            edges: [layer.clip.width as f32, layer.clip.height as f32],
            view,
            corner: [taps.x - layer.clip.x, taps.y - layer.clip.y],
        }
    }

    /// Writes row `y` of the window, packed RGB; pixels that the layer does not cover stay as they are.
    pub(crate) fn row(&self, y: usize, row: &mut [u8], level: Level) {
        if self.view.data.is_empty() {
            return self.leave(row);
        }
        with_level(
            level,
            #[inline(always)]
            || match self.filter {
                filter::NEAREST => self.fill_row(y, row, |place, _| self.nearest(place)),
                filter::BILINEAR_PLAIN => self.fill_row(y, row, |place, _| self.plain(place)),
                _ => self.fill_row(y, row, |place, pixel| self.widened(place, pixel)),
            },
        );
    }

    /// A row of a map that leaves the clip everywhere.
    fn leave(&self, row: &mut [u8]) {
        if self.around != around::NOTHING {
            let fill = self.outside();
            row.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&fill));
        }
    }

    /// `sample` gets the place in the clip, and the column and row of the warped image.
    #[inline(always)]
    fn fill_row(&self, y: usize, row: &mut [u8], sample: impl Fn([f32; 2], [f32; 2]) -> [u8; 3]) {
        let line = self.rows.shown(y) as f32;
        let mut places = [[0.0; LANES]; 3];
        for (chunk, pixels) in row.chunks_mut(LANES * 3).enumerate() {
            let [columns, xs, ys] = &mut places;
            for lane in 0..LANES {
                // Lanes behind the row's end wrap around or lie outside; they are not looked at.
                columns[lane] = self.shown(chunk * LANES + lane);
                [xs[lane], ys[lane]] = self.warp.place(columns[lane], line);
            }
            for (lane, pixel) in pixels.chunks_exact_mut(3).enumerate() {
                let place = [xs[lane], ys[lane]];
                if self.around != around::NOTHING || self.is_inside(place) {
                    pixel.copy_from_slice(&sample(place, [columns[lane], line]));
                }
            }
        }
    }

    /// The column of the warped image that the window shows at `position`.
    #[inline(always)]
    fn shown(&self, position: usize) -> f32 {
        let (position, count) = (position as i32, self.columns.count as i32);
        let shown = if self.columns.reversed { count - 1 - position } else { position };
        (shown + self.columns.offset) as f32
    }

    /// The colour around the clip.
    #[inline(always)]
    fn outside(&self) -> [u8; 3] {
        self.fill.map(|level| level as u8)
    }

    /// Whether a pixel's centre falls inside the clip.
    #[inline(always)]
    fn is_inside(&self, [x, y]: [f32; 2]) -> bool {
        x >= -0.5 && x < self.edges[0] - 0.5 && y >= -0.5 && y < self.edges[1] - 0.5
    }

    #[inline(always)]
    fn nearest(&self, place: [f32; 2]) -> [u8; 3] {
        let [x, y] = place.map(f32::round_ties_even);
        let [r, g, b, inside] = self.tap(x, y);
        if inside == 0.0 { self.outside() } else { [r, g, b].map(|level| level as u8) }
    }

    /// Four taps, in the order of torch's sums.
    #[inline(always)]
    fn plain(&self, [x, y]: [f32; 2]) -> [u8; 3] {
        if !self.is_reached([x, y], [1.0; 2]) {
            return self.outside();
        }
        let (left, top) = (x.floor(), y.floor());
        let (east, south) = (x - left, y - top);
        let (west, north) = (1.0 - east, 1.0 - south);
        let first = self.tap(left, top).map(|level| level * (west * north));
        let second = add(first, self.tap(left + 1.0, top), east * north);
        let third = add(second, self.tap(left, top + 1.0), west * south);
        self.blended(add(third, self.tap(left + 1.0, top + 1.0), east * south))
    }

    /// A tent as wide as the source's stride: rows from the top, in each row columns from the left.
    #[inline(always)]
    fn widened(&self, [x, y]: [f32; 2], [column, row]: [f32; 2]) -> [u8; 3] {
        let radius = self.warp.radius(column, row);
        if radius == [1.0; 2] {
            return self.plain([x, y]);
        }
        if !self.is_reached([x, y], radius) {
            return self.outside();
        }
        let (columns, rows) = (Tent::new(x, radius[0]), Tent::new(y, radius[1]));
        let mut sums = [0.0; 4];
        let (mut across, mut down) = (0.0, 0.0);
        for top in rows.taps() {
            let mut line = [0.0; 4];
            across = 0.0;
            for left in columns.taps() {
                let weight = columns.weight(left);
                line = add(line, self.tap(left, top), weight);
                across += weight;
            }
            let weight = rows.weight(top);
            sums = add(sums, line, weight);
            down += weight;
        }
        let whole = across * down;
        self.blended(sums.map(|sum| sum / whole))
    }

    /// Whether any tap that is less than `radius` away can lie inside the clip; false where there is no place.
    #[inline(always)]
    fn is_reached(&self, [x, y]: [f32; 2], [across, down]: [f32; 2]) -> bool {
        let [width, height] = self.edges;
        x > -across && x < width - 1.0 + across && y > -down && y < height - 1.0 + down
    }

    /// One source pixel and 1, or zeros where the clip ends; without a colour around it, the nearest inside.
    #[inline(always)]
    fn tap(&self, x: f32, y: f32) -> Sums {
        let [width, height] = self.edges;
        let inside = x >= 0.0 && x < width && y >= 0.0 && y < height;
        if !inside && self.around != around::NOTHING {
            return [0.0; 4];
        }
        // The view holds every tap inside the clip; here it holds what a tap beyond the clip is moved to.
        let within = |position: f32, corner: i32, edge: u32| {
            (position as i32 - corner).clamp(0, edge as i32 - 1) as usize
        };
        let column = within(x, self.corner[0], self.view.size.width);
        let row = within(y, self.corner[1], self.view.size.height);
        let pixel = &self.view.data[row * self.view.stride + column * 3..][..3];
        [f32::from(pixel[0]), f32::from(pixel[1]), f32::from(pixel[2]), 1.0]
    }

    /// The sums as levels, blended with the colour around by what the taps inside weigh.
    #[inline(always)]
    fn blended(&self, [r, g, b, inside]: Sums) -> [u8; 3] {
        let mut sums = [r, g, b];
        if self.around == around::FILL {
            for (sum, fill) in sums.iter_mut().zip(self.fill) {
                *sum = (*sum - fill) * inside + fill;
            }
        }
        sums.map(|sum| sum.round_ties_even() as u8)
    }
}

/// fma(tap, weight, sum), a channel.
#[inline(always)]
fn add(mut sums: Sums, tap: Sums, weight: f32) -> Sums {
    for (sum, tap) in sums.iter_mut().zip(tap) {
        *sum = tap.mul_add(weight, *sum);
    }
    sums
}

/// The taps of a widened filter along one axis.
#[derive(Clone, Copy)]
struct Tent {
    centre: f32,
    radius: f32,
    first: f32,
    count: i32,
}

impl Tent {
    /// From the first whole number that is not below centre - radius to the last that is not above centre + radius.
    #[inline(always)]
    fn new(centre: f32, radius: f32) -> Self {
        let first = (centre - radius).ceil();
        Self { centre, radius, first, count: ((centre + radius).floor() - first) as i32 + 1 }
    }

    #[inline(always)]
    fn taps(self) -> impl Iterator<Item = f32> {
        (0..self.count).map(move |tap| self.first + tap as f32)
    }

    #[inline(always)]
    fn weight(self, tap: f32) -> f32 {
        (1.0 - (tap - self.centre).abs() / self.radius).max(0.0)
    }
}
