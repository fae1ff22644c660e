//! `feedline recipes`: which recipes are built in, and which parameters one has.

use super::pipeline::recipe_name;
use super::print_report;
use feedline::recipe::{Parameter, Recipe};
use serde::Serialize;

/// List the built-in recipes, with what each is and where its numbers come from, or the parameters of one
///
/// `feedline recipes NAME` lists what `--param` sets: type, default, range and meaning. `feedline recipe --recipe NAME`
/// prints a recipe as a TOML file, and `feedline preview --recipe NAME` draws what it does.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A built-in recipe, or a TOML file, whose parameters are listed
    #[arg(value_name = "NAME|FILE", value_parser = recipe_name())]
    recipe: Option<String>,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    about: String,
    parameters: Vec<Parameter>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    match &arguments.recipe {
        Some(recipe) => print_report(arguments.json, &Recipe::parameters_of(recipe)?, |parameters| {
            if parameters.is_empty() {
                vec![format!("{recipe} has no parameters")]
            } else {
                table(parameters)
            }
        })?,
        None => {
            let listed = |name| -> anyhow::Result<_> {
                let about = Recipe::about(name).unwrap_or_default();
                Ok(Listed { name, about, parameters: Recipe::parameters_of(name)? })
            };
            let recipes: Vec<Listed> = Recipe::names().map(listed).collect::<Result<_, _>>()?;
            print_report(arguments.json, &recipes, |recipes| {
                let width = recipes.iter().map(|recipe| recipe.name.len()).max().unwrap_or(0);
                recipes.iter().map(|Listed { name, about, .. }| format!("{name:width$}  {about}")).collect()
            })?;
        }
    }
    Ok(true)
}

/// A line for each parameter: its name, what it may be, its default and its meaning.
fn table(parameters: &[Parameter]) -> Vec<String> {
    let row = |one: &Parameter| {
        [one.name.clone(), one.kind.to_string(), one.default_text(), one.may_be(), one.about.clone()]
    };
    let mut rows = vec![["parameter", "type", "default", "value", "meaning"].map(str::to_owned)];
    rows.extend(parameters.iter().map(row));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [name, kind, default, value] = [0, 1, 2, 3].map(width);
    let line = |[a, b, c, d, e]: &[String; 5]| format!("{a:name$}  {b:kind$}  {c:default$}  {d:value$}  {e}");
    rows.iter().map(line).collect()
}
