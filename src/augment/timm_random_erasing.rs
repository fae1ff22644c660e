//! TimmRandomErasing: hides random rectangles of the finished sample, as timm does.

use super::draw;
use super::patch::TRIES;
use super::prelude::*;
use crate::draft::op::Value;
use crate::rng::normal;

/// The maximum number of rectangles per sample: a mix of two samples then still fits into a plan.
const MOST_BOXES: u32 = 16;

/// Fills random rectangles after normalisation, with probability `probability` (timm's `RandomErasing`).
///
/// The rectangles share the area between them: that of each is divided by their number, which is drawn for each sample.
/// One that does not fit in ten tries is left out, and a later one covers an earlier one. Noise is that of a counter hash,
/// whose distribution is timm's and whose numbers are not.
///
/// Draws: whether to erase; the number of rectangles, where it is not fixed; for each rectangle and try the area and the
/// shape, then its top and its left, and for `rand` a number for each channel, for `pixel` the key of the noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct TimmRandomErasing {
    /// Probability of an erase, from 0 to 1.
    pub probability: f32,
    /// Minimum fraction of the image's area that all rectangles cover together, from 0 to 1.
    pub min_area: f64,
    /// Maximum fraction of the image's area that all rectangles cover together, from 0 to 1; at least `min_area`.
    pub max_area: f64,
    /// Minimum height / width, from 1e-6 to 1e6.
    pub min_aspect: f64,
    /// Maximum height / width, from 1e-6 to 1e6; at least `min_aspect`. Without it, 1 / `min_aspect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_aspect: Option<f64>,
    /// Fill: `const`, which is 0 after normalisation and so the mean; `rand`, one standard normal colour per rectangle; or
    /// `pixel`, standard normal noise.
    pub mode: EraseMode,
    /// Minimum number of rectangles, from 1 to 16.
    pub min_count: u32,
    /// Maximum number of rectangles, from 1 to 16; at least `min_count`. Without it, `min_count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_count: Option<u32>,
}

/// What [`TimmRandomErasing`] fills its rectangles with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EraseMode {
    /// 0 after normalisation: the mean.
    #[default]
    Const,
    /// One standard normal number for each channel of a rectangle.
    Rand,
    /// A standard normal number for each channel of each pixel.
    Pixel,
}

impl Default for TimmRandomErasing {
    fn default() -> Self {
        Self {
            probability: check::half(),
            min_area: 0.02,
            max_area: 1.0 / 3.0,
            min_aspect: 0.3,
            max_aspect: None,
            mode: EraseMode::default(),
            min_count: 1,
            max_count: None,
        }
    }
}

impl TimmRandomErasing {
    /// Erases with probability `probability`.
    pub fn new(probability: f32) -> Self {
        Self { probability, ..Self::default() }
    }

    setters! {
        /// Sets the minimum fraction of the image's area.
        min_area: f64;
        /// Sets the maximum fraction of the image's area.
        max_area: f64;
        /// Sets the minimum height / width.
        min_aspect: f64;
        /// Sets the maximum height / width.
        max_aspect: some f64;
        /// Sets the fill.
        mode: EraseMode;
        /// Sets the minimum number of rectangles.
        min_count: u32;
        /// Sets the maximum number of rectangles.
        max_count: some u32;
    }

    fn aspects(&self) -> [f64; 2] {
        [self.min_aspect, self.max_aspect.unwrap_or(1.0 / self.min_aspect)]
    }

    /// The rectangles to erase of an image of size `of`, each with its fill.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Vec<(Rect, Value)> {
        let (least, most) = (self.min_count, self.max_count.unwrap_or(self.min_count));
        let count = if least == most { least } else { least + rng.below(most.saturating_sub(least) + 1) };
        (0..count).filter_map(|_| self.one_of(count, of, rng)).collect()
    }

    fn one_of(&self, count: u32, of: Size, rng: &mut dyn Draws) -> Option<(Rect, Value)> {
        let aspects = self.aspects().map(f64::ln);
        for _ in 0..TRIES {
            let share = draw::between([self.min_area, self.max_area], rng);
            let area = share * of.pixels() as f64 / f64::from(count);
            let aspect = draw::between(aspects, rng).exp();
            let [height, width] =
                [area * aspect, area / aspect].map(|square| square.sqrt().round_ties_even() as u64);
            if height < u64::from(of.height) && width < u64::from(of.width) {
                let (height, width) = (height as u32, width as u32);
                let top = rng.below(of.height - height + 1);
                let left = rng.below(of.width - width + 1);
                return Some((Rect::new(left as i32, top as i32, width, height), self.fill(rng)));
            }
        }
        None
    }

    fn fill(&self, rng: &mut dyn Draws) -> Value {
        match self.mode {
            EraseMode::Const => Value::One(0.0),
            EraseMode::Rand => Value::Rgb(std::array::from_fn(|_| normal(rng) as f32)),
            EraseMode::Pixel => Value::Noise { key: [rng.bits(), rng.bits()] },
        }
    }
}

impl Augment for TimmRandomErasing {
    fn check(&self) -> Result<()> {
        let name = self.name();
        ensure!(
            (0.0..=1.0).contains(&self.probability),
            "{name}: probability should be from 0 to 1, but is {}",
            self.probability
        );
        check::range(name, "min_area and max_area", [self.min_area, self.max_area], 0.0, 1.0)?;
        check::range(name, "min_aspect and max_aspect", self.aspects(), 1e-6, 1e6)?;
        let counts = [self.min_count, self.max_count.unwrap_or(self.min_count)];
        ensure!(
            counts.iter().all(|count| (1..=MOST_BOXES).contains(count)),
            "{name}: min_count and max_count should be from 1 to {MOST_BOXES}, but are {} and {}",
            counts[0],
            counts[1]
        );
        ensure!(
            counts[0] <= counts[1],
            "{name}: min_count is {} and max_count {}: swap them",
            counts[0],
            counts[1]
        );
        Ok(())
    }

    fn p(&self) -> Option<f32> {
        Some(self.probability)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if !rng.applies(self.probability) {
            return;
        }
        for (Rect { x: j, y: i, width: w, height: h }, v) in self.make_params(draft.size(), rng) {
            draft.apply(Op::Erase { i, j, h, w, v });
        }
    }
}
