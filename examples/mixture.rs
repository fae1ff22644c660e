//! Trains on two folders of classes at once: three samples of four are from `street`, and what one calls `kitten` is a `cat`.
//!
//! `cargo run --release --example mixture -- FOLDER`. The example of the same name in Python makes the folder, and prints the
//! same.

use feedline::augment::RandomResizedCrop;
use feedline::loader::Loader;
use feedline::source::{Folder, Mixture, StoppingStrategy};
use std::error::Error;
use std::io::Write;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: mixture FOLDER")?;
    mixture(Path::new(&folder), &mut std::io::stdout().lock())
}

/// Writes what the program prints.
pub(crate) fn mixture(folder: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mixture = Mixture::options()
        .set("street", Folder::open(folder.join("street"))?)
        .set("studio", Folder::open(folder.join("studio"))?)
        .weights([0.75, 0.25])
        .stopping_strategy(StoppingStrategy::AllExhausted)
        .rename("kitten", "cat")
        .open()?;
    let crop = RandomResizedCrop::new(224);
    let loader = Loader::builder(mixture).batch_size(4).shuffle(true).seed(42).augment(crop).build()?;
    let classes = loader.source().classes();
    writeln!(out, "{} samples of the classes {}", loader.samples(), classes.join(", "))?;
    for batch in loader.epoch(0) {
        let batch = batch?;
        for (key, class) in batch.keys().iter().zip(batch.labels()) {
            writeln!(out, "{key} {}", classes[*class as usize])?;
        }
    }
    Ok(())
}
