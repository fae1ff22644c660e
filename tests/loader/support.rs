//! A data set in memory whose images are one flat colour that names their index.

use feedline::augment::Augment;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Interpolation, Op};
use feedline::error::{Error, Result};
use feedline::label::{Keypoint, Label, Object, Objects};
use feedline::loader::{Batch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout};
use feedline::rng::Draws;
use feedline::source::Source;
use feedline_test_support::clock;
use feedline_test_support::gate::Gate;
pub(crate) use feedline_test_support::png::flat as png;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The file of an image's mask, if it has one.
pub(crate) type MaskOf = fn(usize) -> Option<Vec<u8>>;

/// What a data set does and what was done to it.
#[derive(Default)]
pub(crate) struct Flat {
    pub(crate) len: usize,
    /// Indices whose files end in the middle.
    pub(crate) cut: Vec<usize>,
    /// Indices that cannot be read.
    pub(crate) unreadable: Vec<usize>,
    /// An index whose image is 9 pixels wide instead of 8.
    pub(crate) wide: Option<usize>,
    /// How long a read takes, by the test's clock.
    pub(crate) reading: Duration,
    /// What every read has to pass.
    pub(crate) gate: Option<Gate>,
    /// Every read, in order.
    pub(crate) reads: Arc<Mutex<Vec<usize>>>,
    pub(crate) bytes: Arc<AtomicUsize>,
    /// Labels instead of the classes.
    pub(crate) objects: Option<fn(usize) -> Label>,
    /// Semantic masks, where there are any.
    pub(crate) masks: Option<MaskOf>,
}

impl Source for Flat {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.reads.lock().unwrap().push(index);
        self.gate.iter().for_each(Gate::pass);
        clock::advance(self.reading);
        if self.unreadable.contains(&index) {
            return Err(Error::sample(self.key(index), index as u64, "the disk said no"));
        }
        let width = if self.wide == Some(index) { 9 } else { 8 };
        *bytes = png([index as u8, (index >> 8) as u8, 77], width, 6);
        if self.cut.contains(&index) {
            bytes.truncate(60);
        }
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Owned(format!("{index}.png"))
    }

    fn mask(&self, index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        let mask = self.masks.and_then(|masks| masks(index));
        *bytes = mask.clone().unwrap_or_default();
        Ok(mask.is_some())
    }

    fn label(&self, index: usize) -> Label {
        self.objects.map_or(Label::Class(index as i64), |objects| objects(index))
    }
}

/// Resizes to 4x4, so that all samples have one size.
pub(crate) struct Squash;

impl Augment for Squash {
    fn name(&self) -> &'static str {
        "Squash"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        let size = Extent::Two([4, 4]);
        let interpolation = Interpolation::Bilinear;
        draft.apply(Op::Resize { size, interpolation, max_size: None, antialias: true });
    }
}

/// A data set of `len` sound images.
pub(crate) fn flat(len: usize) -> Flat {
    Flat { len, ..Flat::default() }
}

/// u8 batches of `batch_size`, 4x4.
pub(crate) fn builder(source: Flat, batch_size: usize) -> LoaderBuilder {
    Loader::builder(source).batch_size(batch_size).augment(Squash).output(DType::U8, Layout::Nchw)
}

/// The index that a row's pixels name, after checking that the whole row has that colour.
pub(crate) fn shown(batch: &Batch, row: usize) -> usize {
    let pixels = batch.as_u8().unwrap();
    let row = &pixels[row * 48..(row + 1) * 48];
    for plane in row.chunks(16) {
        assert!(plane.iter().all(|&level| level == plane[0]), "{row:?}");
    }
    assert_eq!(row[32], 77);
    usize::from(row[0]) | usize::from(row[16]) << 8
}

/// The indices that all rows of an epoch name; labels, keys and indices must agree with the pixels.
pub(crate) fn epoch_of(loader: &Loader, epoch: u64) -> Vec<Vec<usize>> {
    let rows = |batch: Result<Batch>| {
        let batch = batch.unwrap();
        for row in 0..batch.len() {
            let index = shown(&batch, row);
            assert_eq!(batch.indices()[row], index as u64);
            assert_eq!(batch.labels()[row], index as i64);
            assert_eq!(batch.label_shares(row), [(index as i64, 1.0)]);
            assert_eq!(batch.keys()[row], format!("{index}.png"));
        }
        batch.indices().iter().map(|&index| index as usize).collect()
    };
    loader.epoch(epoch).map(rows).collect()
}

/// As many objects as the index modulo 3, with outlines and keypoints.
pub(crate) fn outlined(index: usize) -> Label {
    let object = |number: usize| Object {
        class: index as i64,
        bbox: [number as f32, 0.0, number as f32 + 2.0, 3.0],
        polygons: (0..number).map(|_| vec![[0.0, 0.0], [8.0, 0.0], [0.0, 6.0]]).collect(),
        keypoints: vec![Keypoint { x: 4.0, y: 3.0, visibility: 2.0 }; 2],
        crowd: number == 1,
    };
    Label::Objects(Arc::new(Objects { list: (0..index % 3).map(object).collect(), ..Objects::default() }))
}

/// A mask of an image's size whose classes count up from its index.
pub(crate) fn masked(index: usize) -> Option<Vec<u8>> {
    let classes: Vec<u8> = (0..48).map(|at| (at + index) as u8).collect();
    Some(mask(png::ColorType::Grayscale, png::BitDepth::Eight, [8, 6], &classes))
}

/// A PNG of one channel with `bits` a pixel.
pub(crate) fn mask(color: png::ColorType, bits: png::BitDepth, size: [u32; 2], classes: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size[0], size[1]);
    encoder.set_color(color);
    encoder.set_depth(bits);
    if color == png::ColorType::Indexed {
        encoder.set_palette(vec![77; 48]);
    }
    let per_byte = 8 / bits as usize;
    let packed = classes.chunks(size[0] as usize).flat_map(|row| {
        let byte = |run: &[u8]| {
            let places = run.iter().enumerate();
            places.fold(0, |byte, (at, class)| byte | class << (8 - bits as usize * (at + 1)))
        };
        row.chunks(per_byte).map(byte).collect::<Vec<u8>>()
    });
    let packed: Vec<u8> = packed.collect();
    encoder.write_header().unwrap().write_image_data(&packed).unwrap();
    bytes
}
