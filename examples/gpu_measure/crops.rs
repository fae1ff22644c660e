//! The crops and flips that a benchmark's recipe draws, so that other loaders can resample the same pixels.

use crate::photos::Repeated;
use crate::print;
use anyhow::Context;
use feedline::loader::Loader;
use feedline::recipe::Recipe;
use serde_json::json;
use std::path::PathBuf;

/// Print file, crop and flip of each sample that `feedline bench` draws with the recipe imagenet-train
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of images
    #[arg(long)]
    data: PathBuf,
    /// Samples; the folder is repeated as needed
    #[arg(long)]
    images: usize,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let source = Repeated::open(&arguments.data, arguments.images)?;
    let loader = Loader::builder(source)
        .recipe(&Recipe::built_in("imagenet-train")?)
        .batch_size(1)
        .workers(1)
        .build()?;
    for index in 0..arguments.images {
        let plan = loader.plan(0, index as u64)?.plan;
        let layer = plan.layers.first().and_then(|layer| layer.sampled());
        let layer = layer.context("a plan without a layer")?;
        let clip = layer.clip;
        print(&json!({
            "key": loader.source().key(index),
            "crop": [clip.x, clip.y, clip.width, clip.height],
            "flip": layer.mirror[0],
        }))?;
    }
    Ok(())
}
