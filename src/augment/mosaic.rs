//! Mosaic: four samples round a point.

use super::{Augment, check, letter_box};
use crate::draft::op::{Extent, Fill, Interpolation, Op};
use crate::draft::{Draft, MAX_EDGE, Tile};
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::rng::Draws;
use serde::{Deserialize, Serialize};

/// Lays the sample and three partners round a point of a canvas of twice `imgsz`, with probability `p` (Ultralytics'
/// `Mosaic`); [`super::YoloPerspective`] then shows a part of it.
///
/// Draws: whether there is a mosaic; the partners; the point's row, then its column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mosaic {
    /// The longer edge of each tile.
    #[serde(default = "imgsz")]
    pub imgsz: u32,
    /// Chance of a mosaic, in 0..=1.
    #[serde(default = "always")]
    pub p: f32,
    /// How many samples there are; 4.
    #[serde(default = "four")]
    pub n: u32,
}

pub(super) const fn imgsz() -> u32 {
    640
}

const fn always() -> f32 {
    1.0
}

const fn four() -> u32 {
    4
}

impl Default for Mosaic {
    fn default() -> Self {
        Self::new(imgsz())
    }
}

impl Mosaic {
    /// Always a mosaic of four tiles, whose longer edges are `imgsz`.
    pub fn new(imgsz: u32) -> Self {
        Self { imgsz, p: always(), n: four() }
    }

    /// Sets the chance of a mosaic.
    pub fn p(self, p: f32) -> Self {
        Self { p, ..self }
    }

    /// The point round which the tiles lie, as column and row of the canvas.
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

/// Resizes so that the longer edge is `imgsz`, as Ultralytics does when it loads an image.
pub(super) fn load(draft: &mut Draft, imgsz: u32) {
    let target = letter_box::longest(draft.size(), imgsz);
    if target != draft.size() {
        let (size, interpolation) = (Extent::from(target), Interpolation::Bilinear);
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias: true });
    }
}

/// Where the left top corner of tile number `tile` comes to lie: left top, right top, left bottom, right bottom.
fn place(tile: usize, [x, y]: [i32; 2], of: Size) -> [i32; 2] {
    let left = if tile.is_multiple_of(2) { x - of.width as i32 } else { x };
    let top = if tile / 2 == 0 { y - of.height as i32 } else { y };
    [left, top]
}

impl Augment for Mosaic {
    fn name(&self) -> &'static str {
        "Mosaic"
    }

    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)?;
        if !(2..=MAX_EDGE / 2).contains(&self.imgsz) {
            return Err(Error::config(format!(
                "Mosaic: imgsz should be from 2 to {}, but is {}",
                MAX_EDGE / 2,
                self.imgsz
            )));
        }
        match self.n {
            4 => Ok(()),
            n => Err(Error::config(format!(
                "Mosaic: n should be 4, but is {n}: mosaics of nine are not built"
            ))),
        }
    }

    fn partners(&self) -> usize {
        if self.p > 0.0 { 3 } else { 0 }
    }

    fn wants_partners(&self, rng: &mut dyn Draws) -> bool {
        rng.chance(self.p)
    }

    fn plan(&self, draft: &mut Draft, mut partners: Vec<Draft>, rng: &mut dyn Draws) {
        if partners.is_empty() {
            return;
        }
        let imgsz = draft.sized_long(self.imgsz);
        let point = Self { imgsz, ..*self }.make_params(rng);
        load(draft, imgsz);
        let at = place(0, point, draft.size());
        partners.iter_mut().for_each(|partner| load(partner, imgsz));
        let tile = |(number, draft): (usize, Draft)| Tile { at: place(number, point, draft.size()), draft };
        let others = (1..).zip(partners).map(tile).collect();
        let size = Size::new(2 * imgsz, 2 * imgsz);
        if let Err(error) = draft.compose(size, Fill::Grey(114), at, others) {
            draft.fail(error);
        }
    }
}
