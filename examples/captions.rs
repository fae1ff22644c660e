//! Goes through the images and captions of a tar file, as one trains CLIP: `7.jpg` and `7.txt` lie next to each other in it.
//!
//! `cargo run --release --example captions -- ARCHIVE`. The example of the same name in Python packs an archive, and prints
//! the same.

use feedline::augment::RandomResizedCrop;
use feedline::field::Field;
use feedline::loader::{LastBatch, Loader};
use feedline::source::Shards;
use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let archive = std::env::args().nth(1).ok_or("usage: captions ARCHIVE")?;
    captions(&archive, &mut std::io::stdout().lock())
}

/// Writes what the program prints.
pub(crate) fn captions(archive: &str, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let caption = Field::text("caption").from("txt");
    let loader = Loader::builder(Shards::options().fields([caption]).find(archive, None)?)
        .batch_size(4)
        .shuffle(true)
        .seed(42)
        .last_batch(LastBatch::Partial)
        .augment(RandomResizedCrop::new(224))
        .build()?;
    for batch in loader.epoch(0) {
        let batch = batch?;
        writeln!(out, "{:?}", batch.shape())?;
        let captions = batch.field("caption").ok_or("it was asked for")?;
        for (key, caption) in batch.keys().iter().zip(captions.texts()) {
            writeln!(out, "  {key}: {caption}")?;
        }
    }
    Ok(())
}
