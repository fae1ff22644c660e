//! Parameters of recipes: what their values do, and what is said of wrong ones.

use feedline::augment::{Augment, Augmentation};
use feedline::recipe::{MAX_PARAMETERS, ParameterKind, Recipe, Template};
use serde_json::{Value, json};

/// The recipes as they were before there were parameters, or as somebody has changed them on purpose since, one after the
/// other: what `feedline recipe` prints.
const WRITTEN: &str = include_str!("built_in_recipes.txt");

const MINE: &str = r#"name = "mine"

[parameters]
edge = { default = 64, min = 1, max = 512, about = "edge of the samples" }
strength = { default = 0.4, min = 0.0, max = 1.0, about = "how much colours change" }
flip = { default = true, about = "whether samples are mirrored" }
filter = { default = "bilinear", words = ["bilinear", "bicubic"], about = "how pixels are made" }
policy = { default = "rand-m9", about = "timm's text" }
scale = { default = [0.25, 1.0], min = 0.0, max = 1.0, about = "parts of the area" }
base = { default = [1, 2], min = 1, about = "two whole numbers" }

[[augment]]
op = "RandomResizedCrop"
size = ["$edge", "$edge"]
scale = "$scale"
ratio = "$base"
interpolation = "$filter"

[[augment]]
op = "RandomHorizontalFlip"
when = "$flip"

[[augment]]
op = "TimmRandAugment"
config = "$policy"

[[augment]]
op = "OneOf"
when = ["$strength", "$flip"]
transforms = [
    { op = "ColorJitter", when = "$strength", brightness = "$strength" },
    { op = "RandomInvert" },
]

[output]
size = "$edge"
"#;

fn mine() -> Template {
    Template::parse(MINE).unwrap()
}

fn refused(text: &str) -> String {
    Template::parse(text).and_then(|template| template.recipe()).unwrap_err().to_string()
}

#[test]
fn with_their_defaults_the_built_in_recipes_are_what_they_always_were() {
    let texts = WRITTEN.split("name = \"").skip(1).map(|text| format!("name = \"{text}"));
    let written: Vec<Recipe> = texts.map(|text| Recipe::parse(&text).unwrap()).collect();
    let names: Vec<&str> = written.iter().map(|recipe| recipe.name.as_str()).collect();
    assert_eq!(names, Recipe::names().collect::<Vec<_>>());
    for recipe in written {
        assert_eq!(Recipe::built_in(&recipe.name).unwrap(), recipe, "tests/loader/built_in_recipes.txt");
    }
}

#[test]
fn a_value_stands_in_all_places_of_its_parameter() {
    let recipe = Template::load("yolo-train")
        .and_then(|recipe| {
            recipe.with("imgsz", 320)?.with("mosaic", 0.5)?.with("copy_paste_mode", "mixup")?.recipe()
        })
        .unwrap();
    let text = Recipe::built_in("yolo-train").unwrap().to_toml().unwrap();
    let text = text
        .replace("640", "320")
        .replace("p = 1.0\nn = 4", "p = 0.5\nn = 4")
        .replace("\"flip\"", "\"mixup\"");
    assert_eq!(recipe.to_toml().unwrap(), text);
}

#[test]
fn each_kind_of_value_is_put_as_it_is() {
    let by_default = mine().recipe().unwrap();
    let kinds: Vec<_> = mine().parameters().iter().map(|parameter| parameter.kind).collect();
    assert_eq!(
        kinds,
        [
            ParameterKind::Integer,
            ParameterKind::Float,
            ParameterKind::Bool,
            ParameterKind::Word,
            ParameterKind::Text,
            ParameterKind::Floats,
            ParameterKind::Integers,
        ]
    );
    for (name, value, text) in [
        ("edge", json!(32), "32"),
        ("strength", json!(1), "1"),
        ("strength", json!(0.5), ".5"),
        ("flip", json!(false), "false"),
        ("filter", json!("bicubic"), "\"bicubic\""),
        ("policy", json!("rand-m5-n3"), "rand-m5-n3"),
        ("scale", json!([0.5, 1]), "0.5, 1"),
        ("base", json!([1, 3]), "[1, 3]"),
    ] {
        let set = mine().with(name, value).unwrap().recipe().unwrap();
        assert_ne!(set, by_default, "{name}");
        let mut by_text = mine();
        by_text.set_text(name, text).unwrap();
        assert_eq!(by_text.recipe().unwrap(), set, "{name} = {text}");
        by_text.set(name, Value::Null).unwrap();
        assert_eq!(by_text.recipe().unwrap(), set, "null says nothing");
    }
}

#[test]
fn when_leaves_out_what_is_zero_or_false() {
    let names = |template: Template| -> Vec<&'static str> {
        let recipe = template.recipe().unwrap();
        let inner = |augment: &Augmentation| match augment {
            Augmentation::OneOf(one_of) => one_of.transforms.iter().map(Augmentation::name).collect(),
            other => vec![other.name()],
        };
        recipe.augment[1..].iter().flat_map(inner).collect()
    };
    let all = ["RandomHorizontalFlip", "TimmRandAugment", "ColorJitter", "RandomInvert"];
    assert_eq!(names(mine()), all);
    assert_eq!(names(mine().with("flip", false).unwrap()), all[1..]);
    assert_eq!(names(mine().with("strength", 0).unwrap()), [all[0], all[1], all[3]]);
    assert_eq!(names(mine().with("strength", 0.0).unwrap().with("flip", false).unwrap()), [all[1]]);
    let timm = Template::load("timm-train").unwrap();
    let ops = |template: &Template| template.recipe().unwrap().augment.len();
    assert_eq!(ops(&timm.clone().with("vflip", 0.5).unwrap()), ops(&timm) + 1);
    assert_eq!(ops(&timm.clone().with("mixup", 0).unwrap()), ops(&timm));
    assert_eq!(ops(&timm.clone().with("mixup", 0).unwrap().with("cutmix", 0).unwrap()), ops(&timm) - 1);
}

#[test]
fn a_value_that_cannot_be_is_refused_with_what_it_may_be() {
    for (name, value, words) in [
        (
            "edge",
            json!(0),
            "parameter edge of recipe = 0: this is too small; give a whole number from 1 to 512",
        ),
        ("edge", json!(513), "too large"),
        ("edge", json!(32.5), "this is no whole number"),
        ("edge", json!("32"), "= \"32\": this is no whole number"),
        ("strength", json!("much"), "this is no number; give a number from 0 to 1"),
        ("flip", json!(1), "give true or false"),
        ("filter", json!("bicubi"), "this is none of its words; give `bilinear` or `bicubic`"),
        ("filter", json!(3), "this is no text"),
        ("policy", json!("x".repeat(300)), "more than 256 bytes"),
        ("scale", json!([0.5]), "this is no list of so many numbers; give 2 numbers from 0 to 1"),
        ("scale", json!([0.5, 2]), "too large"),
        ("scale", json!(0.5), "no list"),
        ("base", json!([1, 0.5]), "give 2 whole numbers from 1"),
    ] {
        let error = mine().with(name, value).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        let mut kept = mine();
        assert!(kept.set_text(name, "no such value, at all").is_err() || name == "policy");
        assert!(name == "policy" || kept.recipe().unwrap() == mine().recipe().unwrap());
    }
    let error = mine().with("policy", "rand-q9").unwrap().recipe().unwrap_err().to_string();
    assert!(error.starts_with("recipe:23: TimmRandAugment"), "{error}");
}

#[test]
fn an_unknown_parameter_is_refused_with_the_nearest_and_with_the_recipes_that_have_it() {
    let refused =
        |recipe: &str, name: &str| Template::load(recipe).unwrap().with(name, 1).unwrap_err().to_string();
    let error = refused("yolo-train", "mosiac");
    assert!(
        error.starts_with("there is no option `mosiac`, and yolo-train has no such parameter"),
        "{error}"
    );
    assert!(error.contains("did you mean `mosaic`? yolo-train has imgsz, mosaic,"), "{error}");
    let error = refused("imagenet-train", "mosaic");
    assert!(error.contains("no parameter `mosaic`: yolo-obb, yolo-segment, yolo-train have it;"), "{error}");
    assert!(
        error.ends_with("imagenet-train has crop_size, interpolation, hflip_prob, random_erase_prob"),
        "{error}"
    );
    assert!(refused("detr", "qqqqqqqqq").ends_with("detr declares no [parameters]"));
    assert!(refused("detr", "batchsize").contains("did you mean `batch_size`?"));
    assert!(refused("detr", "num_workers").contains("`num_workers`, which is an option: set it beside"));
    assert!(Template::load("yolo-trian").unwrap_err().to_string().contains("did you mean `yolo-train`?"));
}

#[test]
fn a_declaration_with_a_mistake_is_refused_with_its_line() {
    let replaced = |from: &str, to: &str| refused(&MINE.replacen(from, to, 1));
    for (from, to, words) in [
        (
            "[parameters]",
            "[parameter]",
            "recipe:3: a recipe has no key `parameter`: did you mean `parameters`?",
        ),
        ("edge = {", "edge = 3\nother = {", "recipe:4: parameter `edge`: give a table"),
        ("edge = {", "batch_size = {", "recipe:4: parameter `batch_size`: there is an option of this name"),
        ("edge = {", "num_workers = {", "there is an option of this name"),
        ("edge = {", "framework = {", "takes something else by this name"),
        ("edge = {", "\"a b\" = {", "parameter `a b`: a name has letters, digits and _"),
        (
            "edge = { default",
            "edge = { defalt",
            "parameter `edge` has no key `defalt`: did you mean `default`?",
        ),
        ("default = 64, ", "", "recipe:4: parameter `edge`: missing field `default`"),
        ("default = 64", "default = 0", "parameter `edge`: default = 0: this is too small"),
        ("default = 0.4", "default = nan", "parameter `strength`: default, min and max must be finite"),
        ("max = 1.0, about = \"how", "max = inf, about = \"how", "default, min and max must be finite"),
        ("default = 0.4", "default = []", "a list of 1 to 4 numbers"),
        ("default = 0.4", "default = 1979-05-27", "the default must be a number"),
        ("min = 1", "min = \"x\"", "recipe:4: parameter `edge`: invalid type"),
        ("default = true", "default = true, min = 0", "min and max are for numbers"),
        ("default = true", "default = true, words = [\"a\"]", "words are for texts"),
        ("default = \"bilinear\"", "default = \"nearest\"", "this is none of its words"),
        ("\"timm's text\"", "\"\"", "about must say in one line"),
        (", about = \"timm's text\"", "", "missing field `about`"),
        ("when = \"$flip\"", "when = \"flip\"", "recipe:21: when must be a number, true or false"),
        (
            "\"$policy\"",
            "\"rand-m9\"",
            "recipe:8: nothing uses the parameter `policy`: write \"$policy\" where",
        ),
        (
            "\"$policy\"",
            "\"$polisy\"",
            "recipe:25: `$polisy` stands for a parameter, and none of this name is declared: did you mean `$policy`?",
        ),
        (
            "brightness = \"$strength\"",
            "brightness = \"$filter\"",
            "recipe:31: augment[3].transforms[0]: ColorJitter: ",
        ),
    ] {
        let error = replaced(from, to);
        assert!(error.contains(words), "{from} -> {to}: {error}");
    }
    assert!(refused("name = \"x\"\nparameters = 3").contains("write [parameters]"));
    let many: String = (0..=MAX_PARAMETERS)
        .map(|number| format!("p{number} = {{ default = 1, about = \"x\" }}\n"))
        .collect();
    assert!(
        refused(&format!("name = \"x\"\n[parameters]\n{many}"))
            .contains("may have 64 parameters, and this one has 65")
    );
    assert!(
        refused("name = \"x\"\noutput.size = \"$edge\"")
            .starts_with("recipe:2: `$edge` stands for a parameter")
    );
}

#[test]
fn a_text_with_dollars_of_its_own_is_read_and_written_as_it_is() {
    let text = "name = \"x\"\noutput.size = 4\ndata.path = \"$$home\"\ndata.split = \"$home/data\"\ndata.root = \"$$$a\"";
    let recipe = Recipe::parse(text).unwrap();
    let data = &recipe.options.data;
    assert_eq!(data.path.as_deref(), Some(std::path::Path::new("$home")));
    assert_eq!(
        (data.split.as_deref(), data.root.as_deref()),
        (Some("$home/data"), Some(std::path::Path::new("$$a")))
    );
    assert_eq!(Recipe::parse(&recipe.to_toml().unwrap()).unwrap(), recipe);
    let mut plain = Recipe::parse("name = \"x\"\noutput.size = 4").unwrap();
    plain.name = "costs $5".into();
    assert_eq!(Recipe::parse(&plain.to_toml().unwrap()).unwrap(), plain);
}

#[test]
fn a_file_s_parameters_are_set_like_those_of_a_built_in_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, MINE).unwrap();
    let name = path.to_str().unwrap();
    let edge = Template::load(name).unwrap().with("edge", 16).unwrap().recipe().unwrap();
    assert_eq!(edge.output().unwrap().size.height, 16);
    let parameters = Recipe::parameters_of(name).unwrap();
    let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    assert_eq!(names, ["edge", "strength", "flip", "filter", "policy", "scale", "base"]);
    let json = serde_json::to_value(&parameters[0]).unwrap();
    let wanted = json!({"name": "edge", "type": "integer", "default": 64, "min": 1.0, "max": 512.0, "about": "edge of the samples"});
    assert_eq!(json, wanted);
    assert!(Template::load(name).unwrap().with("edge", 0).unwrap_err().to_string().contains(name));
}

#[test]
fn every_parameter_of_a_built_in_recipe_changes_it_at_both_ends_of_its_range() {
    for name in Recipe::names() {
        let template = Template::load(name).unwrap();
        let by_default = template.recipe().unwrap();
        for parameter in template.parameters() {
            assert!(!parameter.about.ends_with('.'), "{name}: {}", parameter.about);
            let words = parameter.words.iter().map(|word| json!(word));
            let ends = match parameter.kind {
                ParameterKind::Integer => {
                    vec![json!(parameter.min.unwrap() as i64 | 1), json!(parameter.max.unwrap() as i64)]
                }
                ParameterKind::Float => vec![json!(parameter.min), json!(parameter.max)],
                ParameterKind::Word => words.collect(),
                _ => Vec::new(),
            };
            let recipes = ends.iter().filter_map(|value| {
                template.clone().with(&parameter.name, value.clone()).unwrap().recipe().ok()
            });
            let others = recipes.filter(|recipe| *recipe != by_default).count();
            assert!(others > 0 || ends.is_empty(), "{name}: {} changes nothing at {ends:?}", parameter.name);
        }
    }
}
