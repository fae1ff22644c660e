//! The page `docs/recipes.md`, made of the recipes that are built in.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::{Parameter, Recipe};
use crate::augment::{Augment, Augmentation};
use std::fmt::Write;
use std::path::Path;

const HEAD: &str = "\
# Recipes

What people train with, built in: `feedline recipes` lists them, `feedline recipe --recipe NAME` prints one as a file to
start from, and `feedline preview --recipe NAME --data DIR --out sheet.jpg` draws what it does. In Rust a recipe is
`Recipe::load(\"NAME\")`, in Python the keyword `recipe=\"NAME\"` of a `Loader`; options that are given beside it are laid
over its own.

## Parameters

Most recipes have parameters, by the names that their authors gave them; each recipe lists its own below.

```python
import feedline

loader = feedline.Loader(\"own/data.yaml\", recipe=\"yolo-train\", imgsz=320, mosaic=0.5, hsv_h=0.02)
```

| Where | How |
|---|---|
| Python | keywords of a `Loader`, as above, or a dict `params={\"imgsz\": 320}`; `feedline.recipe_parameters(\"yolo-train\")` lists them |
| command | `--param imgsz=320 --param mosaic=0.5`, wherever there is `--recipe`; `feedline recipes yolo-train` lists them |
| Rust | `Template::load(\"yolo-train\")?.with(\"imgsz\", 320)?.recipe()?`; `Recipe::parameters_of(\"yolo-train\")` lists them |
| C, C++ | `feedline_options_set(options, \"imgsz\", \"320\")`, also as `parameters.imgsz`; `feedline_recipe_parameters_json()` lists them |

A loader keeps the values alone: its options, its states and `feedline recipe` show the recipe with its parameters replaced.
No parameter has the name of an option, so a keyword means one thing: what Ultralytics calls `multi_scale` is the option of this
name. `close_mosaic` is an option as well, another name for `mixing_off_epoch`: here it counts epochs from the first, there from
the last.

A recipe of one's own declares them in the same way. The default says the type: a whole number, a number, `true` or
`false`, a text, or up to four numbers. `min` and `max` bound numbers, each of a list, and `words` are what a text may be.
A text `\"$strength\"` stands wherever a value may stand:

```toml
name = \"mine\"

[parameters]
crop_size = { default = 224, min = 1, about = \"edge of the samples in pixels\" }
strength = { default = 0.4, min = 0.0, max = 1.0, about = \"how much colours change; 0 leaves them\" }

[[augment]]
op = \"RandomResizedCrop\"
size = \"$crop_size\"

[[augment]]
op = \"ColorJitter\"
when = \"$strength\"
brightness = \"$strength\"

[output]
size = [\"$crop_size\", \"$crop_size\"]
```

`when` leaves a table of a list out (an augmentation, a view) where its value, or every value of a list, is 0 or false. There is
no arithmetic. A text that begins with a dollar and is no parameter is written with one more: `\"$$home\"` is `$home`, while
`\"$home/data\"` needs none.

## All recipes

Each pair of a picture shows the upright photograph at the left and the sample at the right, normalisation undone; of a
recipe with views there is a pair for each. [parity.md](parity.md) says what the pixels are compared with.

<!-- Made from recipes/ by `UPDATE_DOCS=1 cargo test recipes_page`; the pictures by docs/pictures/recipes.py. -->
";

#[test]
fn recipes_page_is_what_the_recipes_say() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/recipes.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/recipes.md is out of date: run UPDATE_DOCS=1 cargo test recipes_page");
}

#[test]
fn every_recipe_that_changes_a_picture_has_one() {
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/recipes");
    let missing: Vec<&str> =
        drawn().filter(|name| !pictures.join(name).with_extension("jpg").is_file()).collect();
    assert!(missing.is_empty(), "run docs/pictures/recipes.py for {missing:?}");
}

/// The recipes that render samples.
fn drawn() -> impl Iterator<Item = &'static str> {
    Recipe::names().filter(|name| !Recipe::built_in(name).unwrap().options.output.decode_only())
}

fn page() -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n| recipe | views | augmentations |\n|---|---|---|\n");
    for name in Recipe::names() {
        let recipe = Recipe::built_in(name).unwrap();
        let views: usize = recipe.views.iter().map(|view| view.count).sum();
        let views = if views == 0 { String::new() } else { views.to_string() };
        writeln!(page, "| [{name}](#{name}) | {views} | {} |", chain(&recipe.augment)).unwrap();
    }
    for name in Recipe::names() {
        let recipe = Recipe::built_in(name).unwrap();
        write!(page, "\n## {name}\n\n{}\n", Recipe::about(name).unwrap()).unwrap();
        for (number, view) in recipe.views.iter().enumerate() {
            let size = view.size.square();
            let times = if view.count > 1 { format!("{} times ", view.count) } else { String::new() };
            let separator = if number == 0 { "\n" } else { "" };
            let (width, height) = (size.width, size.height);
            writeln!(page, "{separator}* {times}{width}x{height}: {}", chain(&view.transforms)).unwrap();
        }
        page.push_str(&parameters(name));
        if !recipe.options.output.decode_only() {
            write!(
                page,
                "\n![Photographs and the samples that {name} makes of them](pictures/recipes/{name}.jpg)\n"
            )
            .unwrap();
        }
    }
    page
}

/// The table of a recipe's parameters.
fn parameters(name: &str) -> String {
    let parameters = Recipe::parameters_of(name).unwrap();
    if parameters.is_empty() {
        return "\nIt has no parameters.\n".into();
    }
    let row = |one: &Parameter| {
        let Parameter { name, kind, about, .. } = one;
        format!("| `{name}` | {kind} | {} | {} | {about} |\n", one.may_be(), one.default_text())
    };
    let rows: String = parameters.iter().map(row).collect();
    format!("\n| parameter | type | value | default | meaning |\n|---|---|---|---|---|\n{rows}")
}

/// The names of augmentations, in order, with what chooses them.
fn chain(list: &[Augmentation]) -> String {
    list.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn named(one: &Augmentation) -> String {
    match one.container() {
        // A probability beside its arguments is no container to a reader.
        Some(container) if !container.is_level() => chain(container.transforms()),
        Some(container) => {
            let inner: Vec<String> = container.transforms().iter().map(named).collect();
            format!("{}({})", one.name(), inner.join(", "))
        }
        None => one.name().to_owned(),
    }
}
