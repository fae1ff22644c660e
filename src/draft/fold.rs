//! Folding: a warp over what was resized or composed becomes one warp of each image.
//!
//! The maps are composed in f64 and rounded to f32 once. Where a layer cannot be folded (a filter that a warp lacks,
//! a second warp, a border of another colour) there is no fold, and the draft is flushed first.

use super::matrix::{Matrix, apply, divides, invert, product};
use super::{DraftInput, DraftLayer, DraftPass, mask};
use crate::geometry::{Rect, Size};
use crate::plan::{Content, Filter, Layer, Method, Outside, Sampled, WarpFilter, WarpMap};

/// By how much each map is shrunk towards the middle of its clip, as a fraction of half the clip, so that neighbouring tiles
/// overlap a little. A pixel on a seam may be rounded either way for each of the two in f32; thus at least one covers it.
const OVERLAP: f64 = 1.0 / 262_144.0;

/// Covers a pixel no more than this far from its centre: what a coordinate that should be on a centre may be off.
const NEARLY: f64 = 1e-6;

impl DraftPass {
    /// The same pass through `inverse`, which maps points of a canvas of `size` to points of this one.
    pub(super) fn folded(
        &self,
        inverse: &Matrix,
        size: Size,
        fill: [u8; 3],
        filter: WarpFilter,
    ) -> Option<DraftPass> {
        let forward = invert(inverse)?;
        let [input] = self.inputs.as_slice() else { return None };
        if self.has_steps() || self.is_erased() || !self.has_background(fill) {
            return None;
        }
        let mut layers = vec![DraftLayer::solid(size.rect(), fill)];
        let fold = Fold { inverse, forward: &forward, size, filter };
        for drawn in &input.layers {
            if let Content::Sampled(sampled) = &drawn.layer.content {
                layers.extend(fold.layer(drawn, sampled)?);
            }
        }
        Some(DraftPass { size, inputs: vec![DraftInput::whole(size, layers)], steps: Vec::new() })
    }

    /// Whether all that no image covers has the colour `fill`, which then can be around the images instead.
    fn has_background(&self, fill: [u8; 3]) -> bool {
        let [input] = self.inputs.as_slice() else { return false };
        let whole = self.size.rect();
        let is_solid = |drawn: &DraftLayer| matches!(drawn.layer.content, Content::Solid(_));
        let filled = |drawn: &DraftLayer| drawn.layer.content == Content::Solid(fill);
        let covered =
            input.layers.iter().any(|drawn| drawn.covers(whole) && (!is_solid(drawn) || filled(drawn)));
        // Colour over an image hides a part of it, which no window of a warp can.
        let over_image = |at: usize, drawn: &DraftLayer| {
            let below = &input.layers[..at];
            let hides = |image: &DraftLayer| !image.layer.window.intersect(drawn.layer.window).is_empty();
            below.iter().any(|image| !is_solid(image) && hides(image))
        };
        let mut solids = input.layers.iter().enumerate().filter(|(_, drawn)| is_solid(drawn));
        // What nothing covers is black.
        (covered || fill == [0; 3]) && solids.all(|(at, drawn)| filled(drawn) && !over_image(at, drawn))
    }
}

/// What the layers of one canvas are folded with.
struct Fold<'a> {
    inverse: &'a Matrix,
    forward: &'a Matrix,
    size: Size,
    filter: WarpFilter,
}

impl Fold<'_> {
    /// The layer through the map, `Some(None)` where it is not seen; `None` where it cannot be folded.
    #[expect(clippy::option_option, reason = "not to be seen is another thing than not to be possible")]
    fn layer(&self, drawn: &DraftLayer, sampled: &Sampled) -> Option<Option<DraftLayer>> {
        let foldable = match sampled.method {
            Method::Upright(Filter::Bilinear | Filter::BilinearPlain) => true,
            Method::Upright(Filter::Bicubic | Filter::Nearest) => drawn.is_copy(),
            Method::Warp(_) | Method::Pillow(_) | Method::Filtered(_) => false,
        };
        if !foldable {
            return None;
        }
        let shown = drawn.layer.window;
        let upright = self.inverse[0][1] == 0.0 && self.inverse[1][0] == 0.0 && !divides(self.inverse);
        let (columns, rows) =
            (Axis::of(shown, sampled, 0).seen(upright), Axis::of(shown, sampled, 1).seen(upright));
        let clip = Rect::new(
            sampled.clip.x + columns.first,
            sampled.clip.y + rows.first,
            columns.count as u32,
            rows.count as u32,
        );
        let window = self.window(shown, upright);
        if window.is_empty() {
            return Some(None);
        }
        let (filter, outside) = (self.filter, Outside::Transparent);
        let folded = Sampled {
            method: Method::Warp(WarpMap { map: self.map(&columns, &rows)?, filter, outside }),
            clip,
            scaled: self.size,
            offset: [window.x, window.y],
            mirror: [false; 2],
            ..*sampled
        };
        let layer = Layer { window, content: Content::Sampled(folded), ..drawn.layer };
        let mask = mask::mapped(&drawn.mask, self.forward)?;
        Some(Some(DraftLayer { layer, source: drawn.source, steps: drawn.steps.clone(), mask }))
    }

    /// The pixels whose centres may fall into `shown`; exactly those where edges stay upright.
    fn window(&self, shown: Rect, upright: bool) -> Rect {
        let (left, top) = (f64::from(shown.x), f64::from(shown.y));
        let (right, bottom) = (shown.right() as f64, shown.bottom() as f64);
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
        let mapped = corners.map(|[x, y]| apply(self.forward, [x, y, 1.0]));
        let whole = self.size.rect();
        if !mapped.iter().all(|[_, _, w]| *w > 0.0) && !mapped.iter().all(|[_, _, w]| *w < 0.0) {
            return whole;
        }
        let edges = |axis: usize, edge: u32| {
            let at = mapped.map(|point| point[axis] / point[2]);
            let (low, high) =
                at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &c| (a.min(c), b.max(c)));
            // An upright edge is shared by tiles: the pixel whose centre is on it belongs to both.
            let slack = if upright { NEARLY } else { 1.0 };
            let (first, last) = ((low - 0.5 - slack).ceil(), (high - 0.5 + slack).floor() + 1.0);
            (first.clamp(0.0, f64::from(edge)) as i32, last.clamp(0.0, f64::from(edge)) as i32)
        };
        let ((left, right), (top, bottom)) = (edges(0, self.size.width), edges(1, self.size.height));
        mask::between([left, top], [right, bottom])
    }

    /// The plan's map, in the form that [`WarpMap::map`] describes; `None` where f32 has no numbers for it.
    fn map(&self, columns: &Axis, rows: &Axis) -> Option<[f32; 9]> {
        let canvas_to_clip =
            [[columns.slope, 0.0, columns.start], [0.0, rows.slope, rows.start], [0.0, 0.0, 1.0]];
        let mut map = product(&canvas_to_clip, self.inverse);
        let divides = divides(&map);
        // Coordinates are small next to what lies far outside of the canvas, so that its middle is best kept near 1.
        let [x, y] = [self.size.width, self.size.height].map(|edge| 0.5 * f64::from(edge));
        let scale = apply(&map, [x, y, 1.0])[2];
        map.iter_mut().flatten().for_each(|number| *number /= scale);
        let mut units = [[0.0; 3]; 3];
        for (axis, count) in [columns.count, rows.count].into_iter().enumerate() {
            // From the clip's pixels to -1..=1 and back outwards: where the last row is 0 0 1, 1 less.
            let middle = if divides { 1.0 } else { 0.0 };
            units[axis][axis] = 2.0 / count * (1.0 - OVERLAP);
            units[axis][2] = middle - (1.0 - OVERLAP);
        }
        units[2][2] = 1.0;
        let mut map = product(&units, &map);
        if !divides {
            map = product(&map, &[[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]]);
            map[2] = [0.0, 0.0, 1.0];
        }
        let mut rounded: [f32; 9] = std::array::from_fn(|i| map[i / 3][i % 3] as f32);
        if divides && rounded[6..] == [0.0, 0.0, 1.0] {
            // What is added here is lost in the first sum, but keeps the form.
            rounded[6] = f32::MIN_POSITIVE;
        }
        rounded.iter().all(|number| number.is_finite()).then_some(rounded)
    }
}

/// One axis of a layer: from the canvas to pixels of the part of its clip that is seen.
#[derive(Clone, Copy)]
struct Axis {
    /// The position in the clip's pixels is canvas * slope + start.
    slope: f64,
    start: f64,
    /// The clip's pixels that the window shows, with fractions.
    ends: [f64; 2],
    /// First and count of those pixels; the position is counted from the first once it is known.
    first: i32,
    count: f64,
    edge: u32,
}

impl Axis {
    fn of(window: Rect, sampled: &Sampled, axis: usize) -> Axis {
        let Rect { x, y, width, height } = window;
        let (clip, scaled) = (sampled.clip.size(), sampled.scaled);
        let (low, shown, edge, length) =
            [(x, width, clip.width, scaled.width), (y, height, clip.height, scaled.height)][axis];
        let (low, shown, offset) = (f64::from(low), f64::from(shown), f64::from(sampled.offset[axis]));
        let ratio = f64::from(edge) / f64::from(length);
        let (slope, start) = match sampled.mirror[axis] {
            false => (ratio, (offset - low) * ratio),
            true => (-ratio, (offset + shown + low) * ratio),
        };
        let ends = [offset * ratio, (offset + shown) * ratio];
        Axis { slope, start, ends, first: 0, count: f64::from(edge), edge }
    }

    /// Cuts the clip to what is seen: to the next whole pixels outwards if the window cuts exactly, else the nearest.
    fn seen(mut self, outwards: bool) -> Axis {
        let edge = f64::from(self.edge);
        let [low, high] = self.ends;
        let (low, high) = match outwards {
            true => ((low + NEARLY).floor(), (high - NEARLY).ceil()),
            false => (low.round(), high.round()),
        };
        let low = low.clamp(0.0, edge - 1.0);
        let high = high.clamp(low + 1.0, edge);
        (self.first, self.count) = (low as i32, high - low);
        self.start -= low;
        self
    }
}
