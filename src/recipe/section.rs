//! The sections of a recipe.

use crate::color::Normalize;
use crate::draft::MAX_EDGE;
use crate::error::{Error, Result};
use crate::label::{BoxFormat, Unit};
use crate::output::{DType, Layout};
use crate::policy::{BadSample, DecodeScale, LastBatch};
use serde::{Deserialize, Serialize};

/// `[output]`: what each sample becomes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputSection {
    /// `f32` (default), `f16`, `bf16` or `u8`.
    pub dtype: DType,
    /// `nchw` (default) or `nhwc`.
    pub layout: Layout,
    /// `[height, width]`.
    pub size: Option<[u32; 2]>,
}

impl OutputSection {
    pub(super) fn check(&self) -> Result<()> {
        let Some([height, width]) = self.size else { return Ok(()) };
        match [height, width].iter().all(|edge| (1..=MAX_EDGE).contains(edge)) {
            true => Ok(()),
            false => Err(Error::config(format!(
                "the output size [{height}, {width}] is not from 1 to {MAX_EDGE} a side"
            ))),
        }
    }
}

/// `[normalize]`: a preset, or mean and standard deviation a channel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NormalizeSection {
    /// Constants by name.
    pub preset: Option<Preset>,
    /// Mean a channel, for pixels scaled to 0..=1.
    pub mean: Option<[f64; 3]>,
    /// Standard deviation a channel.
    pub std: Option<[f64; 3]>,
}

/// Constants that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// [`Normalize::IMAGENET`]
    Imagenet,
}

impl NormalizeSection {
    /// The numbers, where the section is complete.
    pub fn constants(&self) -> Option<Normalize> {
        match *self {
            Self { preset: Some(Preset::Imagenet), mean: None, std: None } => Some(Normalize::IMAGENET),
            Self { preset: None, mean: Some(mean), std: Some(std) } => Some(Normalize { mean, std }),
            _ => None,
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        match self.constants().map(|constants| constants.is_sound()) {
            None => Err(Error::config("[normalize] takes either preset, or both mean and std")),
            Some(true) => Ok(()),
            Some(false) => {
                Err(Error::config("[normalize]: every mean must be finite and every std greater than 0"))
            }
        }
    }
}

/// `[loader]`: batches and their order; what is left out is the loader's default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoaderSection {
    /// Samples in a batch.
    pub batch_size: Option<u32>,
    /// Whether each epoch has its own order.
    pub shuffle: Option<bool>,
    /// Shuffles runs of this many consecutive samples, and each within itself, instead of all of them at once.
    pub shuffle_window: Option<u64>,
    /// The seed of all dice.
    pub seed: Option<u64>,
    /// What becomes of a last batch that is not full.
    pub last_batch: Option<LastBatch>,
    /// What becomes of a sample that cannot be read or decoded.
    pub bad_sample: Option<BadSample>,
    /// The epoch from which on augmentations that take several samples are left out.
    pub close_mosaic: Option<u64>,
    /// Threads that decode and render.
    pub workers: Option<u32>,
    /// Batches prepared ahead.
    pub prefetch: Option<u32>,
    /// Most bytes of compressed files that are kept in memory.
    pub byte_cache: Option<u64>,
}

impl LoaderSection {
    pub(super) fn check(&self) -> Result<()> {
        match (self.shuffle, self.shuffle_window) {
            (_, Some(0)) => Err(Error::config(
                "[loader]: shuffle_window is 0: give the samples of a run, or leave it out",
            )),
            (Some(false), Some(_)) => Err(Error::config(
                "[loader]: shuffle_window shuffles, but shuffle is false: leave one of them out",
            )),
            _ => Ok(()),
        }
    }
}

/// `[labels]`: how objects reach a batch; what is left out is the loader's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelsSection {
    /// `xyxy` (default), `xywh` or `cxcywh`.
    pub format: Option<BoxFormat>,
    /// `pixels` (default) or `normalized`.
    pub unit: Option<Unit>,
    /// Least area of a box that is kept, in pixels of the sample (default 0).
    pub min_area: Option<f64>,
    /// Least part of a box that must be left after cuts, in 0..=1 (default 0).
    pub min_visibility: Option<f64>,
    /// Asks for semantic masks; the class of what shows no image, 255 as a rule.
    pub mask_fill: Option<u8>,
}

/// `[decode]`: what the decoder takes; what is left out is the decoder's default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DecodeSection {
    /// Most pixels of one image.
    pub max_pixels: Option<u64>,
    /// Most scans of one progressive JPEG.
    pub max_scans: Option<u32>,
    /// Fills what a truncated file lacks with grey instead of refusing it.
    pub tolerate_truncated: Option<bool>,
    /// Turns images as their EXIF orientation says.
    pub exif: Option<bool>,
    /// `exact` (default), or `fast` to decode large JPEGs at a fraction of their size.
    pub scale: Option<DecodeScale>,
}
