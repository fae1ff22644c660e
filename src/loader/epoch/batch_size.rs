//! The size of each batch: all alike, drawn by step, following the shapes of its images, or that of its largest sample.

use super::padded::PaddedBatches;
use crate::augment::Augment;
use crate::augment::container::mixer;
use crate::draft::Target;
use crate::error::{Error, Result, bail, ensure};
use crate::geometry::{Orientation, Size};
use crate::image::parse_header;
use crate::loader::planner::Planner;
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
    /// What edges are multiples of, where a batch is as large as its largest sample.
    padded: Option<u32>,
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
    /// Found for the samples of each.
    Padded(Arc<PaddedBatches>),
}

impl SizesAsked {
    pub(in crate::loader) fn of(options: &LoaderOptions) -> Self {
        Self {
            rect: options.rect_batches(),
            multi_scale: options.drawn_sizes(),
            padded: options.padded_batches(),
        }
    }

    /// Whether samples keep their own sizes.
    pub(in crate::loader) fn pads(&self) -> bool {
        self.padded.is_some()
    }

    /// Refuses what cannot be had together. `sampler` is that of the epochs.
    pub(in crate::loader) fn check(
        &self,
        sampler: &Sampler,
        decode_only: bool,
        augments: &[Box<dyn Augment>],
    ) -> Result<()> {
        let SizesAsked { rect, multi_scale, padded } = self;
        let asked = [
            (rect.is_some(), "rect"),
            (multi_scale.is_some(), "multi_scale"),
            (padded.is_some(), "pad_to_largest"),
        ];
        let mut names = asked.into_iter().filter(|(asked, _)| *asked).map(|(_, name)| name);
        let name = match (names.next(), names.next()) {
            (None, _) => return Ok(()),
            (Some(one), Some(other)) => {
                bail!(
                    "{one} and {other} both say what size a batch has: rect is for validation, multi_scale for training, \
                     and pad_to_largest for samples of any size; leave one of them out"
                );
            }
            (Some(name), None) => name,
        };
        if decode_only {
            bail!("decode_only renders nothing, so batches have no size: leave {name} out");
        }
        if rect.is_none() {
            return Ok(());
        }
        if sampler.order(0, 0).is_drawn() || sampler.order(0, 0).is_cut() {
            bail!(
                "rect shows the samples in the order of their shapes, and weights draw them: leave one of them out"
            );
        }
        ensure!(
            !sampler.is_chained(),
            "rect shows the samples in the order of their shapes, and mix = \"chain\" data set by data set: leave one of \
             them out"
        );
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
        (planner, source): (&Arc<Planner>, &Arc<dyn Source>),
        exif: bool,
    ) -> Result<(Sampler, Sizes)> {
        let (sampler, rule) = match (self.rect, &self.multi_scale) {
            (Some(rect), _) => {
                rect.check(usual)?;
                let mut shapes = shapes(&**source, &sampler.order(0, 0), exif);
                shapes.sort_by(|(one, _), (other, _)| one.total_cmp(other));
                let indices = shapes.iter().map(|(_, index)| *index).collect();
                let sorted = Sampler::new(source.len() as u64, Shuffle::Off).subset(indices)?;
                (sorted, Rule::Shaped(rect, shapes.into_iter().map(|(shape, _)| shape).collect()))
            }
            (None, Some(multi_scale)) => (sampler, Rule::Drawn(multi_scale.sizes(usual)?.into())),
            (None, None) => match self.padded {
                Some(divisor) => {
                    let padded = PaddedBatches::new((planner, source), &sampler, exif, (usual, divisor))?;
                    (sampler, Rule::Padded(Arc::new(padded)))
                }
                None => (sampler, Rule::Same),
            },
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
            Rule::Padded(padded) => padded.largest(),
        }
    }

    /// Where a batch is as large as its largest sample, what finds its size.
    pub(in crate::loader) fn padded(&self) -> Option<&PaddedBatches> {
        match &self.rule {
            Rule::Padded(padded) => Some(padded),
            _ => None,
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
            Rule::Padded(padded) => vec![padded.largest()],
        };
        sizes.into_iter().map(|size| self.target_of(size)).collect()
    }

    /// The size of a batch: the same on all ranks. `key` is the seed, the epoch, and the samples that all ranks were dealt in
    /// it before; `step` gives the first and the last position that all ranks together show in the batch. Where batches are
    /// padded it is the largest.
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
            Rule::Padded(padded) => padded.largest(),
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
        Target { usual: self.usual, size, imgsz, pads: self.padded().is_some() }
    }
}
