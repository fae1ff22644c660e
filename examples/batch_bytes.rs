//! Writes the pixels of an epoch's batches to standard output, for comparisons: `batch_bytes DATA RECIPE SEED EPOCH ROWS`.
//!
//! The batches have `ROWS` samples and follow each other without gaps, in the recipe's number format and layout.

use anyhow::Context;
use feedline::loader::{LastBatch, Loader};
use feedline::recipe::Recipe;
use feedline::source::Folder;
use std::io::Write;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, recipe, seed, epoch, rows] = &arguments[..] else {
        anyhow::bail!("usage: batch_bytes DATA RECIPE SEED EPOCH ROWS");
    };
    let loader = Loader::builder(Folder::open_any(data)?)
        .recipe(&Recipe::load(recipe)?)
        .shuffle(true)
        .seed(seed.parse().context("SEED")?)
        .batch_size(rows.parse().context("ROWS")?)
        .last_batch(LastBatch::Partial)
        .build()?;
    let mut out = std::io::stdout().lock();
    for batch in loader.epoch(epoch.parse().context("EPOCH")?) {
        out.write_all(batch?.images())?;
    }
    Ok(())
}
