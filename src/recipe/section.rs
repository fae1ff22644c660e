//! The sections of a recipe.

use crate::color::Normalize;
use crate::draft::MAX_EDGE;
use crate::draft::op::Extent;
use crate::error::{Error, Result};
use crate::label::{BoxFormat, Unit};
use crate::output::{DType, Layout, MultiScale, RectBatches};
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoaderSection {
    /// Samples in a batch.
    pub batch_size: Option<u32>,
    /// Whether each epoch has its own order.
    pub shuffle: Option<bool>,
    /// Shuffles runs of this many consecutive samples, and each within itself, instead of all of them at once.
    pub shuffle_window: Option<u64>,
    /// Shuffles the source's shards, and the samples of this many of them at a time, instead of all of them at once.
    pub shuffle_shards: Option<u64>,
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
    /// Whether each batch is shaped as its images are.
    pub rect: Option<bool>,
    /// How many strides a rect batch is larger than its images (default 0.5).
    pub rect_pad: Option<f64>,
    /// How far the sizes of batches are from the output's, as a part of it; 0 is not at all.
    pub multi_scale: Option<f64>,
    /// Sizes of batches to draw from instead: lengths, or `[height, width]`.
    pub sizes: Option<Vec<Extent>>,
    /// What the edges of batches are multiples of, with rect or multi_scale (default 32).
    pub stride: Option<u32>,
    /// Most bytes of compressed files that are kept in memory.
    pub byte_cache: Option<u64>,
}

impl LoaderSection {
    pub(super) fn check(&self) -> Result<()> {
        let wrong = match (self.shuffle, self.shuffle_window, self.shuffle_shards) {
            (_, Some(0), _) => "shuffle_window is 0: give the samples of a run, or leave it out",
            (_, _, Some(0)) => {
                "shuffle_shards is 0: give the shards that are mixed at a time, or leave it out"
            }
            (_, Some(_), Some(_)) => {
                "shuffle_window and shuffle_shards are two orders: leave one of them out"
            }
            (Some(false), Some(_), _) => {
                "shuffle_window shuffles, but shuffle is false: leave one of them out"
            }
            (Some(false), _, Some(_)) => {
                "shuffle_shards shuffles, but shuffle is false: leave one of them out"
            }
            _ => return self.check_sizes(),
        };
        Err(Error::config(format!("[loader]: {wrong}")))
    }

    /// What shapes batches as their images are, where that is asked for.
    pub fn rect_batches(&self) -> Option<RectBatches> {
        let usual = RectBatches::default();
        let (stride, pad) = (self.stride.unwrap_or(usual.stride), self.rect_pad.unwrap_or(usual.pad));
        self.rect.unwrap_or(false).then_some(RectBatches { stride, pad })
    }

    /// The sizes that batches are drawn from, where they are.
    pub fn multi_scale(&self) -> Option<MultiScale> {
        if let Some(sizes) = &self.sizes {
            return Some(MultiScale::Sizes(sizes.iter().map(|size| size.square()).collect()));
        }
        let MultiScale::Around { by, stride } = MultiScale::around(self.multi_scale.unwrap_or(0.0)) else {
            return None;
        };
        (by != 0.0).then_some(MultiScale::Around { by, stride: self.stride.unwrap_or(stride) })
    }

    /// A key that nothing reads would be a setting that does nothing.
    fn check_sizes(&self) -> Result<()> {
        let (rect, scaled) = (self.rect.unwrap_or(false), self.multi_scale.unwrap_or(0.0) != 0.0);
        let unread = [
            ("rect_pad", self.rect_pad.is_some() && !rect, "rect = true"),
            ("stride", self.stride.is_some() && !rect && !scaled, "rect = true or multi_scale"),
        ];
        if let Some((key, _, remedy)) = unread.iter().find(|(_, unread, _)| *unread) {
            return Err(Error::config(format!(
                "[loader]: {key} means nothing here: set {remedy}, or leave it out"
            )));
        }
        match scaled && self.sizes.is_some() {
            true => Err(Error::config(
                "[loader]: multi_scale and sizes both say what sizes there are: leave one of them out",
            )),
            false => Ok(()),
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
