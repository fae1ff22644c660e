//! From words to a loader: data set, recipe and seed, as several commands take them.

use super::data::{self, DataOptions};
use feedline::error::Result;
use feedline::loader::{LastBatch, Loader, LoaderBuilder};
use feedline::recipe::Recipe;
use feedline::source::Source;
use std::path::PathBuf;
use std::sync::Arc;

/// The class of what shows no image.
pub(crate) const IGNORED: u8 = 255;

/// What is run on which data with which dice.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Pipeline {
    /// A folder of images, with or without a directory for each class; tar, TFRecord or Parquet files (one, a folder of
    /// them, or a pattern); an LMDB environment; a file that lists images (text, CSV, TSV, JSON lines); a YOLO data.yaml or
    /// folder, or COCO annotations; a URL (s3://bucket/prefix, gs://, az://, https://); without it the bundled photographs
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
    /// Shape each batch as its images are, which come in the order of their shapes [default: as the recipe says]
    #[arg(long)]
    pub(crate) rect: bool,
    /// Draw the size of each batch, up to this part from the output's; 0 for one size [default: the recipe's]
    #[arg(long, value_name = "PART")]
    pub(crate) multi_scale: Option<f64>,
}

/// Batches and ranks, which a sample depends on only where batches differ in size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Topology {
    pub(crate) batch_size: Option<usize>,
    pub(crate) world_size: Option<usize>,
}

impl Pipeline {
    pub(crate) fn source(&self) -> anyhow::Result<Arc<dyn Source>> {
        data::open(self.data.as_deref(), &self.options)
    }

    pub(crate) fn read_recipe(&self) -> Result<Recipe> {
        let mut recipe = Recipe::load(&self.recipe)?;
        let section = &mut recipe.options.loader;
        section.seed = self.seed.or(section.seed);
        section.rect = if self.rect { Some(true) } else { section.rect };
        section.multi_scale = self.multi_scale.or(section.multi_scale);
        Ok(recipe)
    }

    /// Asks for masks where a folder of them is named; unless the recipe says otherwise, losses ignore what shows no image.
    pub(crate) fn with_masks(&self, builder: LoaderBuilder, recipe: &Recipe) -> LoaderBuilder {
        match self.options.mask_dir {
            Some(_) => builder.masks(recipe.options.labels.mask_fill.unwrap_or(IGNORED)),
            None => builder,
        }
    }

    /// A loader for planning single samples: whatever the recipe says of batches matters only where they differ in size.
    pub(crate) fn planner(&self, source: Arc<dyn Source>, topology: Topology) -> anyhow::Result<Loader> {
        let recipe = self.read_recipe()?;
        let section = &recipe.options.loader;
        let builder =
            Loader::builder(source).recipe(&recipe).workers(1).prefetch(1).last_batch(LastBatch::Partial);
        let builder = match section.rect_batches().is_some() || section.drawn_sizes().is_some() {
            false => builder.batch_size(1),
            true => {
                let rows = topology.batch_size.or(section.batch_size);
                builder.batch_size(rows.unwrap_or(1)).rank(0, topology.world_size.unwrap_or(1))
            }
        };
        Ok(self.with_masks(builder, &recipe).build()?)
    }
}
