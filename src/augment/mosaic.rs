//! Mosaic: four samples around a point, or nine around one of them.

use super::letter_box;
use super::prelude::*;
use crate::draft::{MAX_EDGE, Tile};

/// Places the sample and three partners around a point of a canvas of twice `imgsz`, with probability `p` (Ultralytics'
/// `Mosaic`); [`super::YoloPerspective`] then shows a part of it.
///
/// With `n = 9` the whole sample is in the centre and eight partners surround it: those along an edge are centred on
/// that edge, those at a corner touch it with their own corner. Each is clipped to its own ninth of the canvas, so that
/// none hides another's objects.
///
/// Draws: whether there is a mosaic; the partners; of four, the point's row, then its column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Mosaic {
    /// Longer edge of each tile in pixels, from 2 to 32767.
    pub imgsz: u32,
    /// Probability of a mosaic, from 0 to 1.
    pub p: f32,
    /// Number of tiles, 4 or 9.
    pub n: u32,
    /// Widen the filter when tiles are shrunk. Ultralytics does not. It makes no difference under a `YoloPerspective` with antialias,
    /// which samples images once.
    pub antialias: bool,
}

pub(super) const fn imgsz() -> u32 {
    640
}

impl Default for Mosaic {
    fn default() -> Self {
        Self::new(imgsz())
    }
}

impl Mosaic {
    /// Always a mosaic of four tiles, whose longer edges are `imgsz`.
    pub fn new(imgsz: u32) -> Self {
        Self { imgsz, p: 1.0, n: 4, antialias: true }
    }

    setters! {
        /// Sets the number of tiles.
        n: u32;
        /// Sets the probability of a mosaic.
        p: f32;
        /// Sets whether the filter is widened when tiles are shrunk.
        antialias: bool;
    }

    /// The point around which the tiles are placed, as column and row of the canvas.
    pub fn make_params(&self, rng: &mut dyn Draws) -> [i32; 2] {
        let half = f64::from(self.imgsz / 2);
        let mut point = || between(rng, half, 2.0 * f64::from(self.imgsz) - half) as i32;
        let row = point();
        [point(), row]
    }
}

/// Python's `random.uniform`.
pub(super) fn between(rng: &mut dyn Draws, low: f64, high: f64) -> f64 {
    low + (high - low) * f64::from(rng.uniform())
}

/// Resizes the longer edge to `imgsz`, as Ultralytics does when it loads an image.
pub(super) fn load(draft: &mut Draft, imgsz: u32, antialias: bool) {
    letter_box::resize(draft, letter_box::longest(draft.size(), imgsz), antialias);
}

/// The top left corner of tile `tile` on the canvas; tiles are top left, top right, bottom left, bottom right.
fn place(tile: usize, [x, y]: [i32; 2], of: Size) -> [i32; 2] {
    let left = if tile.is_multiple_of(2) { x - of.width as i32 } else { x };
    let top = if tile / 2 == 0 { y - of.height as i32 } else { y };
    [left, top]
}

/// Partner `number` of eight, row by row around the `middle` of a canvas, clipped to its own part.
fn beside(number: usize, mut draft: Draft, middle: Rect, canvas: Size) -> Tile {
    let third = if number > 4 { number } else { number - 1 };
    // First and last of the thirds along an axis, and where a tile of this length begins.
    let along = |third: usize, low: i32, length: u32, edge: u32, own: u32| {
        let high = low + length as i32;
        match third {
            0 => (0, low, low - own as i32),
            1 => (low, high, low + (length as i32 - own as i32).div_euclid(2)),
            _ => (high, edge as i32, high),
        }
    };
    let of = draft.size();
    let (left, right, x) = along(third % 3, middle.x, middle.width, canvas.width, of.width);
    let (top, bottom, y) = along(third / 3, middle.y, middle.height, canvas.height, of.height);
    let part = Rect::new(left, top, (right - left) as u32, (bottom - top) as u32);
    let shown = part.intersect(of.rect().shifted(x, y));
    if shown.size() != of {
        let (height, width) = (shown.height, shown.width);
        draft.apply(Op::Crop { top: shown.y - y, left: shown.x - x, height, width });
    }
    Tile { draft, at: [shown.x, shown.y] }
}

impl Augment for Mosaic {
    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)?;
        ensure!(
            (2..=MAX_EDGE / 2).contains(&self.imgsz),
            "Mosaic: imgsz should be from 2 to {}, but is {}",
            MAX_EDGE / 2,
            self.imgsz
        );
        ensure!(matches!(self.n, 4 | 9), "Mosaic: n should be 4 or 9, but is {}", self.n);
        Ok(())
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    fn partners(&self) -> usize {
        match self.n {
            _ if self.p <= 0.0 => 0,
            9 => 8,
            _ => 3,
        }
    }

    fn wants_partners(&self, rng: &mut dyn Draws) -> bool {
        rng.applies(self.p)
    }

    fn plan(&self, draft: &mut Draft, mut partners: Vec<Draft>, rng: &mut dyn Draws) {
        if partners.is_empty() {
            return;
        }
        let imgsz = draft.sized_long(self.imgsz);
        let size = Size::new(2 * imgsz, 2 * imgsz);
        let point = match self.n {
            9 => [imgsz as i32 / 2; 2],
            _ => Self { imgsz, ..*self }.make_params(rng),
        };
        load(draft, imgsz, self.antialias);
        partners.iter_mut().for_each(|partner| load(partner, imgsz, self.antialias));
        let own = draft.size();
        let at = if self.n == 9 { point } else { place(0, point, own) };
        let tile = |(number, draft): (usize, Draft)| match self.n {
            9 => beside(number, draft, Rect::new(point[0], point[1], own.width, own.height), size),
            _ => Tile { at: place(number, point, draft.size()), draft },
        };
        let others = (1..).zip(partners).map(tile).collect();
        draft.attempt(|draft| draft.compose(size, Fill::Grey(114), at, others));
    }
}
