//! RandomIoUCrop: a crop that overlaps enough with some object.

use super::draw;
use super::prelude::*;

/// The number of options tried before the image is left as it is; torchvision goes on until one fits.
const MOST_OPTIONS: usize = 100;

/// Crops a part whose intersection over union with some object reaches a value drawn from `sampler_options`, and drops
/// the objects whose centres lie outside (torchvision's `RandomIoUCrop`).
///
/// An option of 1 or more leaves the image as it is, and so does an image without objects. torchvision keeps the
/// objects outside as empty boxes until `SanitizeBoundingBoxes` drops them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomIoUCrop {
    /// Minimum fraction of the image's width and height, from 0 to 1.
    pub min_scale: f64,
    /// Maximum fraction of the image's width and height, from 0 to 1.
    pub max_scale: f64,
    /// Minimum width / height of the crop; at least 0.
    pub min_aspect_ratio: f64,
    /// Maximum width / height of the crop; at least `min_aspect_ratio`.
    pub max_aspect_ratio: f64,
    /// Minimum intersections over union to choose from; each at least 0, and 1 or more leaves the image as it is.
    pub sampler_options: Vec<f64>,
    /// Number of crops that are tried for each option; at least 0.
    pub trials: u32,
}

impl Default for RandomIoUCrop {
    fn default() -> Self {
        Self {
            min_scale: 0.3,
            max_scale: 1.0,
            min_aspect_ratio: 0.5,
            max_aspect_ratio: 2.0,
            sampler_options: vec![0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0],
            trials: 40,
        }
    }
}

impl RandomIoUCrop {
    /// torchvision's defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// The part to cut out of an image of size `of` with these boxes (left, top, right, bottom); `None` leaves it as it
    /// is.
    pub fn make_params(&self, of: Size, boxes: &[[f64; 4]], rng: &mut dyn Draws) -> Option<Rect> {
        if boxes.is_empty() {
            return None;
        }
        let boxes: Vec<[f32; 4]> = boxes.iter().map(|bbox| bbox.map(|edge| edge as f32)).collect();
        for _ in 0..MOST_OPTIONS {
            let chosen = rng.below(self.sampler_options.len() as u32) as usize;
            let least = *self.sampler_options.get(chosen)?;
            if least >= 1.0 {
                return None;
            }
            let found = (0..self.trials).find_map(|_| self.attempt(of, &boxes, least as f32, rng));
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn attempt(&self, of: Size, boxes: &[[f32; 4]], least: f32, rng: &mut dyn Draws) -> Option<Rect> {
        let width = draw::part_of(of.width, draw::stretched(rng, self.min_scale, self.max_scale));
        let height = draw::part_of(of.height, draw::stretched(rng, self.min_scale, self.max_scale));
        let shape = f64::from(width) / f64::from(height);
        if !(self.min_aspect_ratio..=self.max_aspect_ratio).contains(&shape) {
            return None;
        }
        let left = draw::part_of(of.width - width, rng.uniform());
        let top = draw::part_of(of.height - height, rng.uniform());
        let rect = Rect::new(left as i32, top as i32, width, height);
        let inside = boxes.iter().filter(|bbox| is_centred_in(rect, bbox));
        let best = inside.map(|bbox| overlap(rect, bbox)).reduce(f32::max)?;
        (!rect.is_empty() && best >= least).then_some(rect)
    }
}

/// Whether a box's centre lies inside, not on the edge.
fn is_centred_in(rect: Rect, [x0, y0, x1, y1]: &[f32; 4]) -> bool {
    let (x, y) = (0.5 * (x0 + x1), 0.5 * (y0 + y1));
    (rect.x as f32) < x && x < rect.right() as f32 && (rect.y as f32) < y && y < rect.bottom() as f32
}

/// Intersection over union, in f32 as torchvision has it.
fn overlap(rect: Rect, [x0, y0, x1, y1]: &[f32; 4]) -> f32 {
    let (left, top) = (rect.x as f32, rect.y as f32);
    let (right, bottom) = (rect.right() as f32, rect.bottom() as f32);
    let width = (x1.min(right) - x0.max(left)).max(0.0);
    let height = (y1.min(bottom) - y0.max(top)).max(0.0);
    let common = width * height;
    common / ((x1 - x0) * (y1 - y0) + (right - left) * (bottom - top) - common)
}

impl Augment for RandomIoUCrop {
    fn check(&self) -> Result<()> {
        let name = self.name();
        check::range(name, "min_scale and max_scale", [self.min_scale, self.max_scale], 0.0, 1.0)?;
        let ratios = [self.min_aspect_ratio, self.max_aspect_ratio];
        check::range(name, "min_aspect_ratio and max_aspect_ratio", ratios, 0.0, f64::MAX)?;
        let sound = self.sampler_options.iter().all(|option| *option >= 0.0);
        ensure!(
            sound && !self.sampler_options.is_empty(),
            "{name}: sampler_options should be one or more numbers, none below 0, but are {:?}",
            self.sampler_options
        );
        Ok(())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let boxes: Vec<[f64; 4]> = draft.objects().iter().map(|seen| seen.bbox).collect();
        if let Some(Rect { x: left, y: top, width, height }) = self.make_params(draft.size(), &boxes, rng) {
            draft.apply(Op::KeepCenters { top, left, height, width });
            draft.apply(Op::Crop { top, left, height, width });
        }
    }
}
