//! An augmentation of one's own: a random crop that keeps every object whole, and what becomes of the labels.
//!
//! `cargo run --release --example own_augmentation`
//!
//! An augmentation never sees a pixel. It draws numbers and asks the draft for ops; decoding, every device, and labels
//! follow from that. Nothing else has to be registered to use it from Rust.

use feedline::augment::{Augment, Resize};
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Op};
use feedline::label::{Label, Object, Objects, Unit};
use feedline::loader::Loader;
use feedline::output::{DType, Layout};
use feedline::rng::Draws;
use feedline::source::{Folder, Memory, Source};
use std::sync::Arc;

/// Crops at random, but never into an object.
struct RandomSafeCrop;

impl Augment for RandomSafeCrop {
    fn name(&self) -> &'static str {
        "RandomSafeCrop"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let size = draft.size();
        let [mut left, mut top] = [size.width, size.height].map(f64::from);
        let [mut right, mut bottom] = [0.0f64; 2];
        // The objects as they lie on the canvas now, after all ops ahead of this one.
        for seen in draft.objects() {
            let [x0, y0, x1, y1] = seen.bbox;
            (left, top) = (left.min(x0), top.min(y0));
            (right, bottom) = (right.max(x1), bottom.max(y1));
        }
        if right <= left || bottom <= top {
            return;
        }
        // Each edge is drawn between the image's and the nearest object's.
        let mut between = |low: f64, high: f64| low + (high - low) * f64::from(rng.uniform());
        let (left, top) = (between(0.0, left.floor()).floor(), between(0.0, top.floor()).floor());
        let right = between(right.ceil(), f64::from(size.width)).ceil().min(f64::from(size.width));
        let bottom = between(bottom.ceil(), f64::from(size.height)).ceil().min(f64::from(size.height));
        draft.apply(Op::Crop {
            top: top as i32,
            left: left as i32,
            height: (bottom - top) as u32,
            width: (right - left) as u32,
        });
    }
}

/// The bundled photographs, each with one box in its middle.
fn photographs() -> feedline::error::Result<Memory> {
    let folder = Folder::open(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos"))?;
    let object = Object { class: 3, bbox: [0.4, 0.4, 0.6, 0.6], ..Object::default() };
    let objects = Arc::new(Objects { unit: Unit::Normalized, list: vec![object], skeleton: None });
    let record = |index: usize| {
        let mut bytes = Vec::new();
        folder.read(index, &mut bytes)?;
        Ok((folder.key(index).into_owned(), bytes, Label::Objects(Arc::clone(&objects))))
    };
    (0..folder.len().min(8)).map(record).collect::<feedline::error::Result<Vec<_>>>().map(Memory::new)
}

fn main() -> feedline::error::Result<()> {
    let loader = Loader::builder(photographs()?)
        .batch_size(4)
        .augment(RandomSafeCrop)
        .augment(Resize::new(Extent::Two([224, 224])))
        .output(DType::U8, Layout::Nchw)
        .build()?;
    for batch in loader.epoch(0) {
        let batch = batch?;
        let Some(objects) = batch.objects() else { continue };
        for (row, bbox) in objects.batch_index.iter().zip(&objects.boxes) {
            println!("{}: {bbox:.1?}", batch.keys()[*row as usize]);
        }
    }
    Ok(())
}
