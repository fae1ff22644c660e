//! Goes through two epochs of a folder of images, and prints what the batches are and a checksum of their pixels.
//!
//! `cargo run --release --example epochs -- data/photos imagenet-train 42`, which is what it does without arguments. The
//! examples of the same name in C, C++ and Python print the very same.

use feedline::loader::{LastBatch, Loader};
use feedline::recipe::Recipe;
use feedline::source::Folder;
use std::error::Error;
use std::io::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let argument = |at: usize, usual| given.get(at).map_or(usual, String::as_str);
    let seed = argument(2, "42").parse()?;
    epochs(argument(0, "data/photos"), argument(1, "imagenet-train"), seed, &mut std::io::stdout().lock())
}

/// Writes what the program prints.
pub(crate) fn epochs(
    folder: &str,
    recipe: &str,
    seed: u64,
    out: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    let loader = Loader::builder(Folder::open(folder)?)
        .recipe(&Recipe::load(recipe)?)
        .batch_size(8)
        .seed(seed)
        .workers(2)
        .last_batch(LastBatch::Partial)
        .build()?;
    let (samples, classes) = (loader.samples(), loader.source().classes().len());
    let (version, batches) = (env!("CARGO_PKG_VERSION"), loader.batches());
    writeln!(out, "feedline {version}: {samples} images of {classes} classes, {batches} batches an epoch")?;
    for number in 0..2 {
        let mut sum = 0;
        for batch in loader.epoch(number) {
            let batch = batch?;
            writeln!(out, "  {:?}, first class {}: {}", batch.shape(), batch.labels()[0], batch.keys()[0])?;
            let labels: Vec<u8> = batch.labels().iter().flat_map(|label| label.to_ne_bytes()).collect();
            sum = checksum(checksum(sum, batch.images()), &labels);
        }
        writeln!(out, "epoch {number}: checksum {sum:08x}")?;
    }
    Ok(())
}

/// CRC-32, as Python's zlib has it: the same in every language.
fn checksum(sum: u32, bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| sum >> 1 ^ if sum & 1 == 1 { 0xEDB8_8320 } else { 0 };
    let table: [u32; 256] = std::array::from_fn(|at| (0..8).fold(at as u32, step));
    !bytes.iter().fold(!sum, |sum, byte| sum >> 8 ^ table[(sum as u8 ^ byte) as usize])
}
