//! Every option of the catalogue as a flag, and a flag on every command that opens data.

use crate::support::{fail, feedline, photo, succeed, word};
use feedline::index::IndexMode;
use feedline::options::{Entry, catalogue};
use feedline::recipe::{Recipe, Template};
use feedline_test_support::png;
use serde_json::{Map, Value};

fn values() -> Map<String, Value> {
    serde_json::from_str(include_str!("../option_values.json")).expect("the values")
}

/// `--batch-size=3` and what must be said with it.
fn flags(entry: &Entry, values: &Map<String, Value>) -> Vec<String> {
    let of = values.get(entry.name).expect("tests/option_values.json has a value for every option");
    let flag = |(name, value): (&str, &Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("--{}={text}", name.replace('_', "-"))
    };
    let with = of.get("with").and_then(Value::as_object).into_iter().flatten();
    [(entry.name, &of["value"])]
        .into_iter()
        .chain(with.map(|(name, value)| (name.as_str(), value)))
        .map(flag)
        .collect()
}

#[test]
fn every_option_is_a_flag() {
    let folder = tempfile::tempdir().expect("a folder");
    let values = values();
    for entry in catalogue() {
        let path = folder.path().join("x.toml");
        std::fs::write(&path, "name = \"x\"\noutput.size = 64\n").expect("a recipe");
        let recipe = if entry.name == "decode_only" { "decode-only" } else { word(&path) };
        let flags = flags(entry, &values);
        let all: Vec<&str> =
            ["recipe", "--recipe", recipe].into_iter().chain(flags.iter().map(String::as_str)).collect();
        let printed = Recipe::parse(&succeed(&all)).expect("a recipe is printed");
        assert_eq!(
            printed.options.get(entry.name).expect("an option"),
            values[entry.name]["value"],
            "{all:?}"
        );
    }
}

#[test]
fn recipes_are_listed_with_what_they_are() {
    let listed = succeed(&["recipes"]);
    for name in Recipe::names() {
        let line = listed.lines().find(|line| line.split(' ').next() == Some(name)).expect("each has a line");
        assert!(line.ends_with('.') && line.len() > name.len() + 20, "{line}");
    }
    let json: serde_json::Value = serde_json::from_str(&succeed(&["recipes", "--json"])).expect("JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(Recipe::names().count()));
    let dinov2 = json.as_array().and_then(|all| all.iter().find(|recipe| recipe["name"] == "dinov2"));
    let about = dinov2.and_then(|recipe| recipe["about"].as_str());
    assert!(about.is_some_and(|about| about.contains("two large crops")), "{json}");
}

#[test]
fn parameters_are_listed_and_set() {
    let listed = succeed(&["recipes", "yolo-train"]);
    let line = |name: &str| {
        let line = listed.lines().find(|line| line.split(' ').next() == Some(name));
        line.expect("each has a line").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("mosaic"), "mosaic float 1.0 a number from 0 to 1 share of the samples that are mosaics");
    assert!(line("copy_paste_mode").starts_with("copy_paste_mode word flip `flip` or `mixup` whose"));
    assert_eq!(succeed(&["recipes", "detr"]), "detr has no parameters\n");
    let json: Value = serde_json::from_str(&succeed(&["recipes", "yolo-train", "--json"])).expect("JSON");
    assert_eq!((&json[0]["name"], &json[0]["default"]), (&"imgsz".into(), &640.into()));
    let set = ["--param", "imgsz=320", "--param", "copy_paste_mode=mixup", "--param", "hsv_h=.5"];
    let printed = succeed(&[&["recipe", "--recipe", "yolo-train"], &set[..]].concat());
    let by_hand = Template::load("yolo-train").expect("it is built in");
    let by_hand = [("imgsz", Value::from(320)), ("copy_paste_mode", "mixup".into()), ("hsv_h", 0.5.into())]
        .into_iter()
        .fold(by_hand, |recipe, (name, value)| recipe.with(name, value).expect("it has this parameter"));
    assert_eq!(Recipe::parse(&printed).expect("a recipe"), by_hand.recipe().expect("a recipe"));
    let plan = ["plan", "--recipe", "imagenet-train", "--param", "crop_size=64"];
    assert!(succeed(&plan).contains("64") && succeed(&plan) != succeed(&plan[..3]));
    let refused = |set: &str| fail(&["recipe", "--recipe", "yolo-train", "--param", set]);
    assert!(refused("mosiac=1").contains("did you mean `mosaic`?"));
    assert!(
        refused("mosaic=2")
            .contains("mosaic of yolo-train = 2.0: this is too large; give a number from 0 to 1")
    );
    assert_eq!(feedline(&["recipe", "--param", "mosaic"]).status.code(), Some(2));
}

#[test]
fn every_command_that_opens_data_takes_their_options_and_those_that_load_take_all() {
    for (command, all) in [
        ("bench", true),
        ("plan", true),
        ("preview", true),
        ("recipe", true),
        ("inspect", false),
        ("pack", false),
        ("index", false),
        ("verify", false),
    ] {
        let help = succeed(&[command, "--help"]);
        for entry in catalogue().iter().filter(|entry| all || entry.section == "data" && entry.name != "data")
        {
            let flag = format!("--{}", entry.name.replace('_', "-"));
            let is_there = help.split_whitespace().any(|word| word.split(['=', '[']).next() == Some(&flag));
            assert!(is_there, "{command} has no {flag}");
        }
    }
}

#[test]
fn a_flag_that_cannot_be_is_refused_with_its_option_its_value_and_what_it_may_be() {
    let refused = |arguments: &[&str]| {
        let output = feedline(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let text = refused(&["bench", "--dtype", "f64"]);
    assert!(text.contains("option dtype = \"f64\"") && text.contains("`bf16`"), "{text}");
    let text = refused(&["plan", "--batch-size", "many"]);
    assert!(text.contains("--batch-size") && text.contains("give a whole number"), "{text}");
    let text = refused(&["plan", "--batchsize", "4"]);
    assert!(text.contains("--batch-size"), "{text}");
    let text = fail(&["plan", "--shuffle=false", "--shuffle-window", "9"]);
    assert!(text.contains("leave one of them out"), "{text}");
}

#[test]
fn a_benchmark_shows_its_own_defaults() {
    // Without the ends of its lines, which may stand in a default.
    let help = |command: &str| succeed(&[command, "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    let default = |help: &str, flag: &str| {
        let about = help.split(&format!("--{flag} ")).nth(1).expect("a flag").to_owned();
        let after = about.split("[default: ").nth(1).expect("a default").to_owned();
        after.split(']').next().expect("a default").to_owned()
    };
    let (bench, plan) = (help("bench"), help("plan"));
    for (flag, of_bench, of_plan) in
        [("batch-size", "64", "1"), ("device", "auto", "cpu"), ("last-batch", "partial", "drop")]
    {
        assert_eq!((default(&bench, flag).as_str(), default(&plan, flag).as_str()), (of_bench, of_plan));
    }
}

#[test]
fn a_flag_is_no_value_of_the_flag_before_it() {
    let output = feedline(&["inspect", "--data", "--json"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(text.contains("a value is required for '--data"), "{text}");
    let printed = succeed(&["recipe", "--mean", "-0.5,0,0", "--std", "1,1,1", "--data=--json"]);
    let options = Recipe::parse(&printed).expect("a recipe is printed").options;
    assert_eq!(options.normalize.mean, Some([-0.5, 0.0, 0.0]));
    assert_eq!(options.data.path, Some("--json".into()));
}

#[test]
fn what_becomes_of_a_damaged_file_is_a_flag_wherever_images_are_decoded() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| word(&folder.path().join(name)).to_owned();
    let sound = std::fs::read(photo()).expect("the photograph");
    let (cut, recipe, out, data) = (at("data/a/cut.jpg"), at("x.toml"), at("out.npy"), at("data"));
    std::fs::create_dir_all(folder.path().join("data/a")).expect("a folder");
    std::fs::write(&cut, &sound[..sound.len() / 2]).expect("half a file");
    let shards = |name: &str| at(&format!("shards-{name}"));
    let (refused, taken) = (shards("refused"), shards("taken"));
    for (command, packed) in [
        (vec!["decode", &cut, "--out", &out], None),
        (vec!["apply", "--ops", "[]", &cut, "--out", &out], None),
        (vec!["pack", "--data", &data, "--resize", "64"], Some((&refused, &taken))),
    ] {
        let to = |out: Option<&String>| out.map_or(Vec::new(), |out| vec!["--out".to_owned(), out.clone()]);
        let run = |out: Vec<String>, damaged: &[&'static str]| {
            let words = command.iter().copied().chain(out.iter().map(String::as_str));
            feedline(&words.chain(damaged.iter().copied()).collect::<Vec<_>>())
        };
        let (refused, taken) = packed.unzip();
        for damaged in [&[][..], &["--damaged", "refuse"]] {
            let output = run(to(refused), damaged);
            let error = String::from_utf8(output.stderr).expect("UTF-8");
            assert_eq!(output.status.code(), Some(1), "{command:?} {damaged:?}: {error}");
            assert!(error.contains("cut.jpg"), "{error}");
            if let Some(refused) = refused {
                std::fs::remove_dir_all(refused).expect("a folder of no shards");
            }
        }
        let output = run(to(taken), &["--damaged", "libjpeg"]);
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // A flag counts more than a recipe, by either name.
    std::fs::write(&recipe, "name = \"x\"\noutput.size = [427, 640]\n[decode]\ndamaged = \"refuse\"\n")
        .expect("a recipe");
    let bench = ["bench", "--recipe", &recipe, "--data", &data, "--images", "1", "--batch-size", "1"];
    let told = fail(&bench);
    assert!(told.contains("cut.jpg") && told.contains("damaged = "), "{told}");
    for flag in [&["--damaged", "libjpeg"][..], &["--tolerate-truncated"]] {
        succeed(&[&bench[..], flag].concat());
    }
}

#[test]
fn numbers_are_read_as_people_write_them() {
    let printed =
        succeed(&["recipe", "--seed", "18446744073709551615", "--min-area", ".5", "--workers", "08"]);
    let options = Recipe::parse(&printed).expect("a recipe is printed").options;
    assert_eq!((options.loader.seed, options.loader.workers), (Some(u64::MAX), Some(8)));
    assert_eq!(options.labels.min_area, Some(0.5));
}

#[test]
fn a_misspelt_word_is_no_file_of_decode_indexes() {
    let output = feedline(&["plan", "--decode-index", "of"]);
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(text.contains("`of` is neither") && text.contains("`off`"), "{text}");
    for path in ["./of", "of.feedline-index"] {
        let printed = succeed(&["recipe", "--decode-index", path]);
        let options = Recipe::parse(&printed).expect("a recipe is printed").options;
        assert_eq!(options.decode.index, Some(IndexMode::File(path.into())));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_need_not_be_text() {
    use std::os::unix::ffi::OsStringExt;
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join(std::ffi::OsString::from_vec(b"fotos-\xff".to_vec()));
    std::fs::create_dir(&data).expect("a folder");
    std::fs::write(data.join("a.png"), png::flat([1, 2, 3], 8, 6)).expect("an image");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_feedline"));
    let output = command.args(["inspect", "--json", "--data"]).arg(&data).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["records"], 1);
}
