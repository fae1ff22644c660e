//! `plan`: the same bytes whatever the topology, and the same pixels when applied by hand.

use crate::support::{Array, fail, has_keys, photos, report, succeed, word};
use feedline::augment::{ColorJitter, RandomErasing, RandomHorizontalFlip, RandomResizedCrop};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::loader::Loader;
use feedline::source::{Folder, Source};
use std::path::Path;

const CHAIN: &str = r#"
name = "all-sorts"
[[augment]]
op = "RandomResizedCrop"
size = 64
[[augment]]
op = "RandomHorizontalFlip"
[[augment]]
op = "ColorJitter"
brightness = 0.4
contrast = 0.4
saturation = 0.4
hue = 0.1
[[augment]]
op = "RandomErasing"
p = 1.0
[normalize]
preset = "imagenet"
[output]
size = [64, 64]
"#;

/// The sample as a batch holds it.
fn from_the_loader(loader: &Loader, index: u64) -> Vec<f32> {
    for batch in loader.epoch(3) {
        let batch = batch.expect("the bundled photographs are whole");
        if let Some(row) = batch.indices().iter().position(|&own| own == index) {
            let values = batch.as_f32().expect("f32 was asked for");
            let each = values.len() / batch.len();
            return values[row * each..][..each].to_vec();
        }
    }
    panic!("the epoch has no sample {index}");
}

#[test]
fn applying_a_plans_ops_gives_the_pixels_that_the_loader_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    let (recipe, ops, out) =
        (folder.path().join("r.toml"), folder.path().join("ops.json"), folder.path().join("o.npy"));
    std::fs::write(&recipe, CHAIN).expect("the recipe");
    let source = Folder::open(photos()).expect("the bundled photographs");
    let loader = Loader::builder(source.clone())
        .batch_size(8)
        .seed(5)
        .augment(RandomResizedCrop::new(64))
        .augment(RandomHorizontalFlip::default())
        .augment(ColorJitter::new(0.4, 0.4, 0.4, 0.1))
        .augment(RandomErasing { p: 1.0, ..RandomErasing::default() })
        .normalize(IMAGENET_MEAN, IMAGENET_STD)
        .build()
        .expect("a sound chain");
    for index in [0, 7, 21, 30, 38] {
        let index_word = index.to_string();
        let plan = report(&[
            "plan",
            "--recipe",
            word(&recipe),
            "--seed",
            "5",
            "--epoch",
            "3",
            "--index",
            &index_word,
        ]);
        std::fs::write(&ops, plan["ops"].to_string()).expect("the ops");
        let image = photos().join(source.key(index as usize).as_ref());
        succeed(&["apply", "--ops", word(&ops), word(&image), "--out", word(&out)]);
        let applied = Array::read(&out);
        assert_eq!(applied.shape, [3, 64, 64]);
        assert!(applied.floats() == from_the_loader(&loader, index), "sample {index} differs");
    }
}

#[test]
fn the_plan_is_the_same_bytes_whatever_the_batch_size_and_the_workers() {
    let plan = |more: &[&str]| {
        let fixed = ["plan", "--recipe", "imagenet-train", "--seed", "9", "--epoch", "1", "--index", "11"];
        succeed(&[&fixed, more].concat())
    };
    let base = plan(&[]);
    assert_eq!(base, plan(&["--workers", "7"]));
    assert_eq!(base, plan(&["--rank", "2", "--world-size", "3"]));
    assert_eq!(base, plan(&["--batch-size", "3", "--workers", "1"]));
    assert_ne!(base, succeed(&["plan", "--seed", "9", "--epoch", "2", "--index", "11"]));
}

#[test]
fn a_plan_for_batches_that_differ_in_size_is_that_of_the_samples_own_batch() {
    let output = |more: &[&str]| {
        report(&[&["plan", "--recipe", "yolo-eval", "--index", "3"], more].concat())["output"].take()
    };
    let size = |more: &[&str]| (output(more)["width"].take(), output(more)["height"].take());
    assert_eq!(size(&[]), (640.into(), 640.into()));
    // It is 334 wide and 500 high, and so are most of the batch that it comes in.
    assert_eq!(size(&["--rect"]), (448.into(), 672.into()));
    assert_eq!(size(&["--rect", "--batch-size", "43"]), (672.into(), 672.into()));
    assert_eq!(size(&["--rect", "--batch-size", "1", "--world-size", "43"]), (672.into(), 672.into()));
    let (width, height) = size(&["--multi-scale", "0.5"]);
    assert!(width == height && (10..=30).any(|strides| width == strides * 32), "{width}");
}

#[test]
fn a_plan_says_what_is_read_what_is_drawn_and_what_comes_out() {
    let plan = report(&["plan", "--recipe", "imagenet-train", "--seed", "1", "--epoch", "0", "--index", "2"]);
    has_keys(
        &plan,
        &[
            "key", "index", "seed", "epoch", "recipe", "header", "ops", "choices", "output", "passes",
            "layers", "steps",
        ],
    );
    has_keys(&plan["header"], &["width", "height", "orientation", "format"]);
    has_keys(&plan["layers"][0], &["clip", "scaled", "offset", "mirror", "orientation", "window"]);
    has_keys(&plan["region"], &["x", "y", "width", "height"]);
    assert_eq!(plan["ops"][0]["op"], "resized_crop");
    assert_eq!(plan["ops"].as_array().and_then(|ops| ops.last()).expect("ops")["op"], "normalize");
    assert_eq!((&plan["output"]["width"], &plan["output"]["dtype"]), (&224.into(), &"f32".into()));
    assert_eq!((&plan["passes"], &plan["recipe"]), (&1.into(), &"imagenet-train".into()));
}

#[test]
fn a_recipe_with_several_views_has_a_plan_for_each() {
    let plan =
        |view: &str| report(&["plan", "--recipe", "dinov2", "--seed", "1", "--index", "2", "--view", view]);
    let (first, last) = (plan("0"), plan("9"));
    assert_eq!((&first["view"], &last["view"]), (&0.into(), &9.into()));
    assert_eq!((&first["output"]["width"], &last["output"]["height"]), (&224.into(), &96.into()));
    assert_ne!(first["ops"][0], last["ops"][0]);
    let place = last["choices"][0]["place"].as_str().expect("a place");
    assert!(place.starts_with("views[2].transforms["), "{place}");
    let error = fail(&["plan", "--recipe", "dinov2", "--view", "10"]);
    assert!(error.contains("there is no view 10: a sample has 10"), "{error}");
    assert!(report(&["plan", "--recipe", "imagenet-train"]).get("view").is_none());
}

#[test]
fn a_plan_says_what_containers_have_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = folder.path().join("r.toml");
    let choice = r#"
[[augment]]
op = "RandomChoice"
transforms = [{ op = "RandomInvert", p = 1.0 }, { op = "Compose", transforms = [{ op = "RandomSolarize", threshold = 9.0, p = 1.0 }] }]
[normalize]"#;
    std::fs::write(
        &recipe,
        CHAIN.replace("[[augment]]\nop = \"RandomErasing\"\np = 1.0\n[normalize]", choice),
    )
    .expect("the recipe");
    let mut seen = [false; 2];
    for index in ["0", "1", "2", "3", "4", "5", "6", "7"] {
        let plan = report(&["plan", "--recipe", word(&recipe), "--index", index]);
        let choices = plan["choices"].as_array().expect("choices");
        assert_eq!((&choices[0]["place"], &choices[0]["op"]), (&"augment[3]".into(), &"RandomChoice".into()));
        let chosen = choices[0]["chosen"][0].as_u64().expect("an index") as usize;
        let ops: Vec<&str> =
            plan["ops"].as_array().expect("ops").iter().filter_map(|op| op["op"].as_str()).collect();
        assert!(
            ops.contains(&["invert", "solarize"][chosen]) && !ops.contains(&["solarize", "invert"][chosen])
        );
        assert_eq!(choices.len(), 1 + chosen);
        seen[chosen] = true;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn an_index_behind_the_end_is_refused_with_the_number_of_samples() {
    let error = fail(&["plan", "--index", "43"]);
    assert!(error.contains("no sample 43") && error.contains("43"), "{error}");
}

#[test]
fn a_misspelt_recipe_or_key_is_refused_with_the_nearest_name() {
    assert!(fail(&["plan", "--recipe", "imagenet-trian"]).contains("did you mean `imagenet-train`"));
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = folder.path().join("r.toml");
    std::fs::write(&recipe, CHAIN.replace("brightness", "brigthness")).expect("the recipe");
    let error = fail(&["plan", "--recipe", word(&recipe)]);
    assert!(error.contains("brigthness") && error.contains("did you mean `brightness`"), "{error}");
    assert!(Path::new(&recipe).exists());
}
