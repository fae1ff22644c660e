//! From words to a loader: options laid over a recipe, as several commands take them.

use super::data;
use super::flags::{All, Flags, Taken};
use super::suggested::Suggested;
use clap::builder::StringValueParser;
use feedline::error::Result;
use feedline::loader::{LastBatch, Loader};
use feedline::options::Options;
use feedline::recipe::{Recipe, Template};
use feedline::source::Source;
use std::sync::Arc;

/// What is run on which data with which seed.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Pipeline<T: Taken = All> {
    #[command(flatten)]
    pub(crate) flags: Flags<T>,
    /// A built-in recipe, or a TOML file
    #[arg(long, default_value = "imagenet-train", value_name = "NAME|FILE", value_parser = recipe_name())]
    pub(crate) recipe: String,
    /// Set a parameter of the recipe, of those that `feedline recipes NAME` lists; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, String)>,
}

/// The name of a recipe or its path; help and shells name the built-in ones.
pub(crate) fn recipe_name() -> Suggested<StringValueParser> {
    Suggested::new(StringValueParser::new(), Recipe::names())
}

fn parameter(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("give a name, = and a value, such as imgsz=320")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

impl<T: Taken> Pipeline<T> {
    /// The recipe with the flags laid over it, and what the command usually does below both.
    pub(crate) fn recipe(&self) -> Result<Recipe> {
        let mut template = Template::load(&self.recipe)?;
        for (name, value) in &self.parameters {
            template.set_text(name, value)?;
        }
        let mut recipe = template.recipe()?;
        recipe.options = recipe.options.over(T::usual());
        recipe.with(self.flags.options.clone())
    }

    /// The recipe as it is for planning single samples, its data, and a loader of both: whatever a recipe says of batches
    /// matters only where they differ in size.
    pub(crate) fn planner(&self) -> anyhow::Result<(Recipe, Arc<dyn Source>, Loader)> {
        let mut recipe = self.recipe()?;
        // A sample that is drawn or repeated has no one plan.
        recipe.options.data = recipe.options.data.concatenated();
        let source = data::open(&recipe.options.data)?;
        let Options { loader, device, .. } = &mut recipe.options;
        (loader.workers, loader.prefetch) = (Some(1), Some(1));
        loader.last_batch = Some(LastBatch::Partial);
        loader.repeats = None;
        // A plan is the same whatever renders it.
        *device = Default::default();
        let world_size = loader.world_size;
        (loader.rank, loader.world_size, loader.distributed) = (None, None, None);
        if loader.rect_batches().is_none() && loader.drawn_sizes().is_none() {
            loader.batch_size = Some(1);
        } else {
            (loader.rank, loader.world_size) = (Some(0), Some(world_size.unwrap_or(1)));
        }
        let loader = Loader::builder(source.clone()).recipe(&recipe).build()?;
        Ok((recipe, source, loader))
    }
}
