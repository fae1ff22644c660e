//! From words to a loader: data set, recipe and seed, as several commands take them.

use super::data;
use feedline::error::Result;
use feedline::geometry::Size;
use feedline::image::Limits;
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder};
use feedline::recipe::{self, Recipe};
use feedline::source::Source;
use std::path::PathBuf;
use std::sync::Arc;

/// What is run on which data with which dice.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Pipeline {
    /// A folder of images, with or without a directory for each class, or a text file that lists images; without it
    /// the bundled photographs
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// A built-in recipe (imagenet-train, imagenet-eval, decode-only) or a TOML file
    #[arg(long, default_value = "imagenet-train", value_name = "NAME|FILE")]
    pub(crate) recipe: String,
    /// The seed of all dice [default: the recipe's, or 0]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

impl Pipeline {
    pub(crate) fn source(&self) -> anyhow::Result<Arc<dyn Source>> {
        data::open(self.data.as_deref())
    }

    pub(crate) fn read_recipe(&self) -> Result<Recipe> {
        let mut recipe = Recipe::load(&self.recipe)?;
        recipe.loader.seed = self.seed.or(recipe.loader.seed);
        Ok(recipe)
    }

    /// A loader for planning single samples: whatever the recipe says of batches does not matter for it.
    pub(crate) fn planner(&self, source: Arc<dyn Source>) -> anyhow::Result<Loader> {
        let recipe = self.read_recipe()?;
        Ok(builder(source, &recipe).batch_size(1).workers(1).prefetch(1).build()?)
    }
}

/// A loader's description with everything that the recipe says.
pub(crate) fn builder(source: Arc<dyn Source>, recipe: &Recipe) -> LoaderBuilder {
    let section = &recipe.loader;
    let mut builder = Loader::builder(source)
        .batch_size(section.batch_size.unwrap_or(1) as usize)
        .shuffle(section.shuffle.unwrap_or(false))
        .seed(section.seed.unwrap_or(0))
        .last_batch(section.last_batch.map_or(LastBatch::Partial, last_batch))
        .bad_sample(section.bad_sample.map_or(BadSample::Fail, bad_sample))
        .limits(limits(recipe))
        .exif(recipe.decode.exif.unwrap_or(true))
        .output(recipe.output.dtype, recipe.output.layout);
    if let Some(workers) = section.workers {
        builder = builder.workers(workers as usize);
    }
    if let Some(prefetch) = section.prefetch {
        builder = builder.prefetch(prefetch as usize);
    }
    if recipe.decode_only {
        return builder.decode_only();
    }
    if let Some([height, width]) = recipe.output.size {
        builder = builder.output_size(Size::new(width, height));
    }
    if let Some(normalize) = recipe.normalize() {
        builder = builder.normalize(normalize.mean, normalize.std);
    }
    recipe.augmentations().into_iter().fold(builder, LoaderBuilder::augment_boxed)
}

fn limits(recipe: &Recipe) -> Limits {
    let usual = Limits::default();
    Limits {
        max_pixels: recipe.decode.max_pixels.unwrap_or(usual.max_pixels),
        max_scans: recipe.decode.max_scans.unwrap_or(usual.max_scans),
        tolerate_truncated: recipe.decode.tolerate_truncated.unwrap_or(usual.tolerate_truncated),
    }
}

fn last_batch(word: recipe::LastBatch) -> LastBatch {
    match word {
        recipe::LastBatch::Drop => LastBatch::Drop,
        recipe::LastBatch::Partial => LastBatch::Partial,
        recipe::LastBatch::Pad | recipe::LastBatch::Wrap => LastBatch::Pad,
    }
}

fn bad_sample(word: recipe::BadSample) -> BadSample {
    match word {
        recipe::BadSample::Fail => BadSample::Fail,
        recipe::BadSample::Skip => BadSample::Skip,
        recipe::BadSample::Substitute => BadSample::Substitute,
    }
}
