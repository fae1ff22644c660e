//! RandomErasing: hides a random rectangle of the finished sample.

use super::patch::{Patch, TRIES};
use super::prelude::*;
use crate::draft::op::Value;

/// Fills a random rectangle after normalisation, with probability `p` (torchvision's `RandomErasing`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RandomErasing {
    /// Probability of an erase, from 0 to 1.
    pub p: f32,
    /// Minimum and maximum fraction of the image's area, from 0 to 1.
    pub scale: [f64; 2],
    /// Minimum and maximum height / width, from 1e-6 to 1e6.
    pub ratio: [f64; 2],
    /// Fill in normalised units: a number, `[r, g, b]`, or `"random"` for standard normal noise.
    pub value: EraseValue,
}

/// What an erased rectangle is filled with: a number, one per channel, or `"random"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged, expecting = "a number, [r, g, b] or \"random\"")]
pub enum EraseValue {
    /// The same in all channels.
    One(f32),
    /// The same in all channels, in a list.
    Single([f32; 1]),
    /// Red, green, blue.
    Rgb([f32; 3]),
    /// `"random"`: standard normal noise.
    Word(Random),
}

/// The word `random`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Random {
    /// Standard normal noise.
    Random,
}

impl EraseValue {
    /// Standard normal noise.
    pub const RANDOM: EraseValue = EraseValue::Word(Random::Random);
}

variants_from!(EraseValue { One(f32), Rgb([f32; 3]) });

impl Default for RandomErasing {
    fn default() -> Self {
        Self { p: check::half(), scale: [0.02, 0.33], ratio: [0.3, 3.3], value: EraseValue::One(0.0) }
    }
}

impl RandomErasing {
    /// Erases with probability `p`.
    pub fn new(p: f32) -> Self {
        Self { p, ..Self::default() }
    }

    setters! {
        /// Sets the minimum and maximum fraction of the image's area.
        scale: [f64; 2];
        /// Sets the minimum and maximum height / width.
        ratio: [f64; 2];
        /// Sets the fill.
        value: into EraseValue;
    }

    /// The rectangle to erase of an image of size `of`, and its fill; `None` when ten tries were too large.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Option<(Rect, Value)> {
        let patch = Patch { scale: self.scale, ratio: self.ratio };
        for _ in 0..TRIES {
            let [height, width] = patch.draw(of, rng);
            if height < u64::from(of.height) && width < u64::from(of.width) {
                let (height, width) = (height as u32, width as u32);
                let value = match self.value {
                    EraseValue::One(value) | EraseValue::Single([value]) => Value::One(value),
                    EraseValue::Rgb(rgb) => Value::Rgb(rgb),
                    EraseValue::Word(Random::Random) => Value::Noise { key: [rng.bits(), rng.bits()] },
                };
                let top = rng.below(of.height - height + 1);
                let left = rng.below(of.width - width + 1);
                return Some((Rect::new(left as i32, top as i32, width, height), value));
            }
        }
        None
    }
}

impl Augment for RandomErasing {
    fn check(&self) -> Result<()> {
        check::probability(self.name(), self.p)?;
        Patch { scale: self.scale, ratio: self.ratio }.check(self.name(), 1.0)?;
        let finite = match self.value {
            EraseValue::One(value) | EraseValue::Single([value]) => value.is_finite(),
            EraseValue::Rgb(rgb) => rgb.iter().all(|value| value.is_finite()),
            EraseValue::Word(_) => true,
        };
        ensure!(finite, "RandomErasing: value must be finite, or \"random\"");
        Ok(())
    }

    fn p(&self) -> Option<f32> {
        Some(self.p)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        if !rng.applies(self.p) {
            return;
        }
        if let Some((Rect { x: j, y: i, width: w, height: h }, v)) = self.make_params(draft.size(), rng) {
            draft.apply(Op::Erase { i, j, h, w, v });
        }
    }
}
