//! Goes through images and their semantic masks, as one trains segmentation: `images/7.png` has the mask `masks/7.png`.
//!
//! `cargo run --release --example segmentation -- FOLDER`. The example of the same name in Python draws such a folder, and
//! prints the same.

use feedline::augment::{RandomCrop, RandomHorizontalFlip, RandomResize};
use feedline::loader::{LastBatch, Loader};
use feedline::source::{Folder, WithMasks};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: segmentation FOLDER")?);
    let source = WithMasks::open(Folder::flat(folder.join("images"))?, folder.join("masks"))?;
    let loader = Loader::builder(source)
        .batch_size(4)
        .shuffle(true)
        .seed(42)
        .last_batch(LastBatch::Partial)
        .augment(RandomResize::new(48, 97))
        .augment(RandomCrop::new(64).pad_if_needed(true))
        .augment(RandomHorizontalFlip::default())
        .masks(255) // the class of a border, which the loss ignores
        .build()?;
    for batch in loader.epoch(0) {
        let batch = batch?;
        let mut pixels = BTreeMap::new();
        for class in batch.masks().ok_or("masks were asked for")? {
            *pixels.entry(class).or_insert(0) += 1;
        }
        println!("{:?} pixels by class: {pixels:?}", batch.shape());
    }
    Ok(())
}
