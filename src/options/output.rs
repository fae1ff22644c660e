//! `[output]` and `[normalize]`: what each sample becomes.

use crate::color::Normalize;
use crate::draft::MAX_EDGE;
use crate::draft::op::Extent;
use crate::error::{Result, bail, ensure};
use crate::output::{DType, Layout};
use serde::{Deserialize, Serialize};

section! {
    /// `[output]`: what each sample becomes.
    pub struct OutputOptions in "output" {
        /// The number format.
        dtype: DType = DType::F32;
        /// The order of a batch's axes.
        layout: Layout = Layout::Nchw;
        /// The size of each sample; of the usual one, where batches differ in size.
        size: Extent, unset "what the augmentations end at; a recipe says it";
        /// Whether every image is decoded whole and nothing is rendered: batches carry labels and no pixels. For
        /// benchmarks.
        decode_only: bool = false;
    }
}

section! {
    /// `[normalize]`: (x / 255 - mean) / std, by a preset or by mean and standard deviation for each channel. Without it
    /// floats are x / 255.
    pub struct NormalizeOptions in "normalize" {
        /// Mean and standard deviation by name.
        preset as "normalize": Preset;
        /// Mean of each channel, for pixels scaled to 0..=1.
        mean: [f64; 3];
        /// Standard deviation of each channel.
        std: [f64; 3];
    }
}

/// No pixel from 0 to 1 has a mean or a standard deviation above this.
const LARGEST: f64 = 2.0;

words! { Preset }

/// Constants that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// [`Normalize::IMAGENET`]
    Imagenet,
}

impl OutputOptions {
    pub(crate) fn check(&self) -> Result<()> {
        let Some(size) = self.size.map(Extent::square) else { return Ok(()) };
        ensure!(
            [size.height, size.width].iter().all(|edge| (1..=MAX_EDGE).contains(edge)),
            "the output size [{}, {}] is not from 1 to {MAX_EDGE} a side",
            size.height,
            size.width
        );
        Ok(())
    }
}

impl NormalizeOptions {
    /// Mean and standard deviation, with a preset looked up; `None` where nothing is said.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] where it is incomplete, says two things, or has numbers that cannot be.
    pub fn constants(&self) -> Result<Option<Normalize>> {
        let constants = match *self {
            Self { preset: None, mean: None, std: None } => return Ok(None),
            Self { preset: Some(Preset::Imagenet), mean: None, std: None } => Normalize::IMAGENET,
            Self { preset: None, mean: Some(mean), std: Some(std) } => Normalize { mean, std },
            _ => bail!("normalize is either a preset by its name, or both mean and std: give one of them"),
        };
        ensure!(constants.is_sound(), "normalize: every mean must be finite and every std greater than 0");
        let Normalize { mean, std } = constants;
        ensure!(
            mean.iter().chain(&std).all(|number| number.abs() <= LARGEST),
            "normalize: mean {mean:?} and std {std:?} are for levels from 0 to 255, and pixels are from 0 to 1 here: divide \
             both by 255"
        );
        Ok(Some(constants))
    }

    /// Drops from `below` what is said in another way here.
    pub(super) fn displace(&self, below: &mut Self) {
        if self.preset.is_some() {
            (below.mean, below.std) = (None, None);
        }
        if self.mean.is_some() || self.std.is_some() {
            below.preset = None;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn constants_for_levels_to_255_are_refused_with_what_to_do() {
        let of = |mean: f64, std: f64| {
            NormalizeOptions { preset: None, mean: Some([mean; 3]), std: Some([std; 3]) }.constants()
        };
        for (mean, std) in [(123.675, 58.395), (0.485, 58.395), (103.5, 1.0), (0.0, 255.0)] {
            assert!(of(mean, std).unwrap_err().to_string().contains("divide both by 255"), "{mean} {std}");
        }
        // Pixels from -1 to 1, and levels as they are, are what some models take.
        for (mean, std) in [(0.5, 0.5), (0.0, 1.0 / 255.0), (0.0, 1.0)] {
            assert!(of(mean, std).unwrap().is_some(), "{mean} {std}");
        }
    }
}
