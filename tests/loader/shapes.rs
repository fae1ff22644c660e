//! A data set of images of different shapes, and chains whose batches differ in size.

use crate::masks::on_its_side;
use crate::support::{mask, png};
use feedline::augment::{LetterBox, Mosaic, RandomHorizontalFlip, ResizeLongest, YoloMixUp, YoloPerspective};
use feedline::draft::op::Extent;
use feedline::error::{Error, Result};
use feedline::label::{BoxFormat, Label, Object, Objects, Unit};
use feedline::loader::{LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout, MultiScale, RectBatches};
use feedline::source::Source;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Images of all shapes, as they are seen: width and height.
pub(crate) const SEEN: [[u32; 2]; 23] = [
    [40, 30],
    [30, 40],
    [64, 20],
    [20, 64],
    [33, 33],
    [50, 49],
    [49, 50],
    [10, 90],
    [90, 10],
    [1, 1],
    [60, 45],
    [45, 60],
    [31, 57],
    [57, 31],
    [64, 64],
    [24, 25],
    [70, 69],
    [38, 29],
    [29, 38],
    [80, 60],
    [61, 62],
    [17, 40],
    [40, 17],
];
/// Those that are stored on their side.
pub(crate) const TURNED: [usize; 4] = [2, 11, 17, 21];
pub(crate) const EDGE: u32 = 64;

/// Images of different shapes, each with an object and a mask.
#[derive(Clone, Default)]
pub(crate) struct Shapes {
    pub(crate) bad: Vec<usize>,
    pub(crate) reads: Arc<AtomicUsize>,
}

impl Source for Shapes {
    fn len(&self) -> usize {
        SEEN.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.bad.contains(&index) {
            return Err(Error::sample(self.key(index), index as u64, "the disk said no"));
        }
        let ([width, height], level) = (SEEN[index], 9 * index as u8);
        *bytes = match TURNED.contains(&index) {
            true => on_its_side(png([level, 200 - level, 7], height, width)),
            false => png([level, 200 - level, 7], width, height),
        };
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Owned(format!("{index}.png"))
    }

    fn label(&self, index: usize) -> Label {
        let object = Object { class: index as i64, bbox: [0.0, 0.0, 0.5, 1.0], ..Object::default() };
        Label::Objects(Arc::new(Objects { unit: Unit::Normalized, list: vec![object], skeleton: None }))
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        let classes = vec![index as u8; (SEEN[index][0] * SEEN[index][1]) as usize];
        *bytes = mask(png::ColorType::Grayscale, png::BitDepth::Eight, SEEN[index], &classes);
        Ok(true)
    }
}

/// A chain that ends at the output's size, whatever that is.
pub(crate) fn validating(builder: LoaderBuilder, size: impl Into<Extent>) -> LoaderBuilder {
    let builder = builder.augment(ResizeLongest::new(EDGE)).augment(LetterBox::new(size).scaleup(false));
    builder.output(DType::U8, Layout::Nchw).boxes(BoxFormat::Cxcywh, Unit::Normalized).workers(2)
}

pub(crate) fn rect(batch_size: usize) -> LoaderBuilder {
    validating(Loader::builder(Shapes::default()), EDGE)
        .batch_size(batch_size)
        .last_batch(LastBatch::Partial)
        .masks(255)
        .rect(RectBatches { stride: 8, ..RectBatches::default() })
}

pub(crate) fn training(builder: LoaderBuilder, size: u32) -> LoaderBuilder {
    let builder = builder
        .augment(Mosaic::new(size).p(0.7))
        .augment(YoloPerspective::new(size))
        .augment(YoloMixUp::new(0.5));
    let builder = builder.augment(RandomHorizontalFlip::default()).output(DType::U8, Layout::Nhwc);
    builder.shuffle(true).seed(5).partner_window(8).boxes(BoxFormat::Xyxy, Unit::Normalized).workers(2)
}

pub(crate) fn scaled(batch_size: usize) -> LoaderBuilder {
    training(Loader::builder(Shapes::default()), EDGE)
        .batch_size(batch_size)
        .last_batch(LastBatch::Partial)
        .multi_scale(MultiScale::Around { by: 0.5, stride: 8 })
}
