//! `feedline recipe`: what a training would be told, as one recipe.

use super::pipeline::Pipeline;
use super::print_as_it_is;

/// Print a recipe with options laid over it, as a TOML file that can be given for both
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pipeline: Pipeline,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let recipe = arguments.pipeline.recipe()?;
    print_as_it_is(recipe.to_toml()?.trim_end())?;
    Ok(true)
}
