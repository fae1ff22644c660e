//! From words to a loader: data set, recipe and seed, as several commands take them.

use super::data::{self, DataOptions};
use feedline::error::Result;
use feedline::loader::Loader;
use feedline::recipe::Recipe;
use feedline::source::Source;
use std::path::PathBuf;
use std::sync::Arc;

/// What is run on which data with which dice.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Pipeline {
    /// A folder of images, with or without a directory for each class, a tar file or a folder of them, a text file that
    /// lists images, a YOLO data.yaml or folder, COCO annotations, or a URL (s3://bucket/prefix, gs://, az://, https://);
    /// without it the bundled photographs
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: DataOptions,
    /// A built-in recipe (imagenet-train, imagenet-eval, yolo-train, yolo-eval, decode-only) or a TOML file
    #[arg(long, default_value = "imagenet-train", value_name = "NAME|FILE")]
    pub(crate) recipe: String,
    /// The seed of all dice [default: the recipe's, or 0]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
}

impl Pipeline {
    pub(crate) fn source(&self) -> anyhow::Result<Arc<dyn Source>> {
        data::open(self.data.as_deref(), &self.options)
    }

    pub(crate) fn read_recipe(&self) -> Result<Recipe> {
        let mut recipe = Recipe::load(&self.recipe)?;
        recipe.loader.seed = self.seed.or(recipe.loader.seed);
        Ok(recipe)
    }

    /// A loader for planning single samples: whatever the recipe says of batches does not matter for it.
    pub(crate) fn planner(&self, source: Arc<dyn Source>) -> anyhow::Result<Loader> {
        let recipe = self.read_recipe()?;
        Ok(Loader::builder(source).recipe(&recipe).batch_size(1).workers(1).prefetch(1).build()?)
    }
}
