//! Goes through pairs of images, as one trains image-to-image models: `day/7.png` has the target `night/7.png`, which is
//! cropped and mirrored as it is, and keeps its colours.
//!
//! `cargo run --release --example pairs -- FOLDER`. The example of the same name in Python draws such a folder, and prints
//! the same.

use feedline::augment::{ColorJitter, RandomCrop, RandomHorizontalFlip};
use feedline::field::Field;
use feedline::loader::{LastBatch, Loader};
use feedline::source::{Folder, WithImages};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("usage: pairs FOLDER")?);
    pairs(&folder, &mut std::io::stdout().lock())
}

/// Writes what the program prints.
pub(crate) fn pairs(folder: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let night = Field::image("night").from(folder.join("night").display().to_string());
    let loader = Loader::builder(WithImages::open(Folder::flat(folder.join("day"))?, [night])?)
        .batch_size(2)
        .seed(42)
        .last_batch(LastBatch::Partial)
        .augment(RandomCrop::new(24))
        .augment(RandomHorizontalFlip::default())
        .augment(ColorJitter::new(0.0, 0.0, 0.0, 0.01))
        .build()?;
    for batch in loader.epoch(0) {
        let batch = batch?;
        let night = batch.picture("night").ok_or("it was asked for")?;
        let mean = |values: &[f32]| values.iter().copied().map(f64::from).sum::<f64>() / values.len() as f64;
        let [image, target] = [batch.as_f32(), night.as_f32()].map(|values| mean(values.unwrap_or_default()));
        write!(out, "{:?} and {:?}: ", batch.shape(), night.shape())?;
        writeln!(out, "means {image:.3} and {target:.3}")?;
    }
    Ok(())
}
