//! The size of each batch: all alike, drawn by step, or following the shapes of its images.

use crate::augment::Augment;
use crate::augment::container::mixer;
use crate::draft::Target;
use crate::error::{Error, Result, bail, ensure};
use crate::geometry::{Orientation, Size};
use crate::image::parse_header;
use crate::options::LoaderOptions;
use crate::output::{MultiScale, RectBatches};
use crate::rng::{Domain, mix};
use crate::sampler::{Order, Sampler, Shuffle};
use crate::source::Source;
use std::collections::HashMap;
use std::sync::Arc;

/// What was asked for.
#[derive(Debug, Default)]
pub(in crate::loader) struct SizesAsked {
    rect: Option<RectBatches>,
    multi_scale: Option<MultiScale>,
}

/// The rule by which a batch has its size.
#[derive(Clone, Debug)]
pub(in crate::loader) struct Sizes {
    /// What the output was said to be.
    usual: Size,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    Same,
    /// One of these for each step.
    Drawn(Arc<[Size]>),
    /// Height / width of the images by their position in the order, which rises.
    Shaped(RectBatches, Arc<[f64]>),
}

impl SizesAsked {
    pub(in crate::loader) fn of(options: &LoaderOptions) -> Self {
        Self { rect: options.rect_batches(), multi_scale: options.drawn_sizes() }
    }

    /// Refuses what cannot be had together. `sampler` is that of the epochs.
    pub(in crate::loader) fn check(
        &self,
        sampler: &Sampler,
        decode_only: bool,
        augments: &[Box<dyn Augment>],
    ) -> Result<()> {
        let SizesAsked { rect, multi_scale } = self;
        let name = match (rect, multi_scale) {
            (None, None) => return Ok(()),
            (Some(_), Some(_)) => {
                bail!(
                    "rect and multi_scale both say what size a batch has: rect is for validation, multi_scale for \
                     training; leave one of them out"
                );
            }
            (Some(_), None) => "rect",
            (None, Some(_)) => "multi_scale",
        };
        if decode_only {
            bail!("decode_only renders nothing, so batches have no size: leave {name} out");
        }
        if rect.is_none() {
            return Ok(());
        }
        if sampler.order(0, 0).repeats() {
            bail!(
                "rect shows the samples in the order of their shapes, and weights draw them: leave one of them out"
            );
        }
        ensure!(
            sampler.shuffle() == Shuffle::Off,
            "rect shows the samples in the order of their shapes: set shuffle to false, or leave rect out"
        );
        match augments.iter().find_map(|augment| mixer(&**augment)) {
            Some(mixes) => Err(Error::config(format!(
                "rect shapes a batch as its images are, and {mixes} mixes images of any shape: leave it out, or use \
                 multi_scale"
            ))),
            None => Ok(()),
        }
    }

    /// The rule for batches of the usual size `usual`, and the order that it needs; reads the headers of all images
    /// where batches follow their shapes.
    pub(in crate::loader) fn settle(
        &self,
        usual: Size,
        sampler: Sampler,
        source: &dyn Source,
        exif: bool,
    ) -> Result<(Sampler, Sizes)> {
        let (sampler, rule) = match (self.rect, &self.multi_scale) {
            (Some(rect), _) => {
                rect.check(usual)?;
                let mut shapes = shapes(source, &sampler.order(0, 0), exif);
                shapes.sort_by(|(one, _), (other, _)| one.total_cmp(other));
                let indices = shapes.iter().map(|(_, index)| *index).collect();
                let sorted = Sampler::new(source.len() as u64, Shuffle::Off).subset(indices)?;
                (sorted, Rule::Shaped(rect, shapes.into_iter().map(|(shape, _)| shape).collect()))
            }
            (None, Some(multi_scale)) => (sampler, Rule::Drawn(multi_scale.sizes(usual)?.into())),
            (None, None) => (sampler, Rule::Same),
        };
        Ok((sampler, Sizes { usual, rule }))
    }
}

/// Height / width of each image as it is seen, with its index, in the order's sequence.
fn shapes(source: &dyn Source, order: &Order, exif: bool) -> Vec<(f64, u64)> {
    let (mut bytes, mut known) = (Vec::new(), HashMap::new());
    let mut shape = |index: u64| {
        let record = source.record(index as usize);
        *known.entry(record).or_insert_with(|| {
            let read = source.read(index as usize, &mut bytes).ok();
            let header = read.and_then(|()| parse_header(&bytes).ok());
            header.map_or(1.0, |header| {
                let turned = if exif { header.orientation } else { Orientation::UPRIGHT };
                let size = turned.apply_size(header.size);
                f64::from(size.height) / f64::from(size.width)
            })
        })
    };
    let indices = (0..order.len()).map(|position| order.index(position));
    indices.map(|index| (shape(index), index)).collect()
}

impl Sizes {
    /// Where nothing is rendered.
    pub(in crate::loader) fn none() -> Self {
        Self { usual: Size::default(), rule: Rule::Same }
    }

    /// Whether batches differ in size.
    pub(in crate::loader) fn differ(&self) -> bool {
        !matches!(self.rule, Rule::Same)
    }

    /// A size that no batch exceeds.
    pub(in crate::loader) fn largest(&self) -> Size {
        match &self.rule {
            Rule::Same => self.usual,
            Rule::Drawn(sizes) => {
                sizes.iter().copied().max_by_key(|size| size.pixels()).unwrap_or(self.usual)
            }
            Rule::Shaped(rect, _) => rect.largest(self.usual.width),
        }
    }

    /// Some batches' targets, the smallest and the largest among them, to try a chain of augmentations on; none where
    /// batches have one size.
    pub(in crate::loader) fn examples(&self) -> Vec<Target> {
        let sizes = match &self.rule {
            Rule::Same => Vec::new(),
            Rule::Drawn(sizes) => {
                let by_pixels = |size: &&Size| size.pixels();
                let ends = [sizes.iter().min_by_key(by_pixels), sizes.iter().max_by_key(by_pixels)];
                ends.into_iter().flatten().copied().collect()
            }
            Rule::Shaped(rect, shapes) => {
                let ends = [shapes.first(), shapes.last()].into_iter().flatten();
                let own = ends.map(|&shape| rect.size(self.usual.width, shape, shape));
                own.chain([self.largest()]).collect()
            }
        };
        sizes.into_iter().map(|size| self.target_of(size)).collect()
    }

    /// The size of a batch: the same on all ranks. `key` is the seed, the epoch, and the samples that all ranks were dealt in
    /// it before; `step` gives the first and the last position that all ranks together show in the batch.
    pub(in crate::loader) fn size(&self, key: (u64, u64, u64), step: impl FnOnce() -> (u64, u64)) -> Size {
        let usual = self.usual;
        match &self.rule {
            Rule::Same => usual,
            Rule::Drawn(sizes) => {
                let (seed, epoch, dealt) = key;
                let key = mix(mix(mix(mix(0, seed), epoch), dealt), Domain::Sizes.tag());
                sizes[((u128::from(key) * sizes.len() as u128) >> 64) as usize]
            }
            Rule::Shaped(rect, shapes) => {
                // The rows of a step, all ranks together, are consecutive positions.
                let (first, last) = step();
                let shape = |position: u64| shapes.get(position as usize).copied().unwrap_or(1.0);
                rect.size(usual.width, shape(first), shape(last))
            }
        }
    }

    /// What augmentations make for a batch of this size; `None` where batches have one size.
    pub(in crate::loader) fn target(&self, size: Size) -> Option<Target> {
        match self.rule {
            Rule::Same => None,
            _ => Some(self.target_of(size)),
        }
    }

    fn target_of(&self, size: Size) -> Target {
        let longer = |size: Size| size.width.max(size.height);
        // What is fitted into a shape was loaded for the usual size; what is drawn is loaded for its own.
        let imgsz = longer(if matches!(self.rule, Rule::Drawn(_)) { size } else { self.usual });
        Target { usual: self.usual, size, imgsz }
    }
}
