//! `feedline recipes`: which recipes are built in.

use super::print_report;
use feedline::recipe::Recipe;
use serde::Serialize;

/// List the built-in recipes, with what each is and where its numbers come from
///
/// `feedline recipe --recipe NAME` prints one as a TOML file, and `feedline preview --recipe NAME` draws what it does.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: String,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let listed = |name| Listed { name, about: Recipe::about(name).unwrap_or_default() };
    let recipes: Vec<Listed> = Recipe::names().map(listed).collect();
    print_report(arguments.json, &recipes, |recipes| {
        let width = recipes.iter().map(|recipe| recipe.name.len()).max().unwrap_or(0);
        recipes.iter().map(|Listed { name, about }| format!("{name:width$}  {about}")).collect()
    })?;
    Ok(true)
}
