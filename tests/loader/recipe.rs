//! Recipes: what they say, and what they say when something is wrong.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::augment::{
    Augmentation, CenterCrop, ColorJitter, Compose, CopyPaste, GaussianBlur, LetterBox, Mosaic, OneOf,
    RandomChoice, RandomErasing, RandomGrayscale, RandomHorizontalFlip, RandomInvert, RandomResizedCrop,
    RandomVerticalFlip, Resize, ResizeLongest, YoloCutMix, YoloMixUp, YoloPerspective,
};
use feedline::color::Normalize;
use feedline::draft::Draft;
use feedline::geometry::{Orientation, Size};
use feedline::label::{BoxFormat, Unit};
use feedline::options::NormalizeOptions;
use feedline::output::{DType, Layout, MultiScale, Output, RectBatches};
use feedline::policy::{BadSample, DecodeScale, LastBatch};
use feedline::recipe::Recipe;
use feedline::rng::{Draws, Rng};

fn error(text: &str) -> String {
    Recipe::parse(text).unwrap_err().to_string()
}

const WHOLE: &str = r#"
name = "mine"

[[augment]]
op = "RandomResizedCrop"
size = [96, 128]
scale = [0.25, 1]
interpolation = "bicubic"

[[augment]]
op = "ColorJitter"
brightness = 0.4
contrast = [0.5, 1.5]

[[augment]]
op = "RandomErasing"
value = "random"

[output]
dtype = "f16"
layout = "nhwc"
size = [96, 128]

[normalize]
mean = [0.5, 0.5, 0.5]
std = [0.25, 0.25, 0.25]

[loader]
batch_size = 256
shuffle = true
seed = 42
last_batch = "drop"
bad_sample = "substitute"
workers = 8
prefetch = 2

[decode]
max_pixels = 100000000
max_scans = 256
tolerate_truncated = true
exif = false
scale = "fast"
"#;

#[test]
fn the_built_in_recipes_are_torchvisions_reference() {
    let output = |dtype| Output {
        size: Size::new(224, 224),
        dtype,
        layout: Layout::Nchw,
        normalize: Some(Normalize::IMAGENET),
    };
    let train = Recipe::built_in("imagenet-train").unwrap();
    let names: Vec<&str> = train.augmentations().iter().map(|augment| augment.name()).collect();
    assert_eq!(names, ["RandomResizedCrop", "RandomHorizontalFlip"]);
    assert_eq!(train.augment[0], RandomResizedCrop::new(224).into());
    assert_eq!((train.output(), train.options.loader.shuffle), (Some(output(DType::F32)), Some(true)));
    let eval = Recipe::load("imagenet-eval").unwrap();
    assert_eq!(eval.augment, [Augmentation::from(Resize::new(256)), CenterCrop::new(224).into()]);
    assert_eq!((eval.output(), eval.options.loader.shuffle), (Some(output(DType::F32)), Some(false)));
    let decode = Recipe::built_in("decode-only").unwrap();
    assert!(decode.options.output.decode_only() && decode.augment.is_empty() && decode.output().is_none());
}

#[test]
fn the_detection_recipes_have_ultralytics_hyper_parameters() {
    let train = Recipe::built_in("yolo-train").unwrap();
    let [mosaic, copy_paste, perspective, mix_up, cut_mix, .., flipud, fliplr] = train.augment.as_slice()
    else {
        panic!("{:?}", train.augment)
    };
    assert_eq!(*mosaic, Mosaic::default().into());
    assert_eq!(*copy_paste, CopyPaste::default().into());
    assert_eq!(*perspective, YoloPerspective::new(640).into());
    assert_eq!(*mix_up, YoloMixUp::default().into());
    assert_eq!(*cut_mix, YoloCutMix::default().into());
    assert_eq!(
        [flipud, fliplr],
        [&RandomVerticalFlip::new(0.0).into(), &RandomHorizontalFlip::new(0.5).into()]
    );
    let eval = Recipe::built_in("yolo-eval").unwrap();
    let letter_box = LetterBox::new(640).scaleup(false);
    assert_eq!(eval.augment, [Augmentation::from(ResizeLongest::new(640)), letter_box.into()]);
    for recipe in [train, eval] {
        let output = recipe.output().unwrap();
        assert_eq!(
            (output.size, output.dtype, output.layout),
            (Size::new(640, 640), DType::U8, Layout::Nchw)
        );
        assert_eq!(recipe.options.labels.format, Some(BoxFormat::Cxcywh));
        assert_eq!(recipe.options.labels.unit, Some(Unit::Normalized));
    }
}

#[test]
fn a_built_in_recipe_is_called_by_its_own_name_and_ends_at_its_output_size() {
    for name in Recipe::names() {
        let recipe = Recipe::built_in(name).unwrap();
        assert_eq!(recipe.name, name);
        let Some(output) = recipe.output() else { continue };
        let mut draft = Draft::new(0, Size::new(500, 375), Orientation::UPRIGHT);
        for (op, augment) in recipe.augmentations().iter().enumerate() {
            augment.plan(&mut draft, Vec::new(), &mut Rng::new(0, 0, 0, op as u32));
        }
        let (made, most) = (draft.size(), output.size);
        let is_right = match recipe.options.loader.pad_to_largest == Some(true) {
            true => made.width <= most.width && made.height <= most.height,
            false => made == most,
        };
        assert!(is_right, "{name}: {made}, and {most}");
        draft.freeze().unwrap();
    }
}

#[test]
fn every_key_is_read() {
    let recipe = Recipe::parse(WHOLE).unwrap();
    assert_eq!(recipe.augment[1], ColorJitter::new(0.4, [0.5, 1.5], 0.0, 0.0).into());
    assert!(matches!(recipe.augment[2], Augmentation::RandomErasing(RandomErasing { p: 0.5, .. })));
    let output = recipe.output().unwrap();
    assert_eq!((output.size, output.dtype, output.layout), (Size::new(128, 96), DType::F16, Layout::Nhwc));
    assert_eq!(output.normalize, Some(Normalize { mean: [0.5; 3], std: [0.25; 3] }));
    let loader = &recipe.options.loader;
    assert_eq!((loader.batch_size, loader.seed, loader.workers), (Some(256), Some(42), Some(8)));
    assert_eq!((loader.last_batch, loader.bad_sample), (Some(LastBatch::Drop), Some(BadSample::Substitute)));
    assert_eq!((recipe.options.decode.max_scans, recipe.options.decode.exif), (Some(256), Some(false)));
    assert_eq!(recipe.options.decode.scale, Some(DecodeScale::Fast));
}

#[test]
fn a_recipe_survives_being_written() {
    let texts = Recipe::names().filter_map(Recipe::text_of).chain([WHOLE]);
    for text in texts {
        let recipe = Recipe::parse(text).unwrap();
        let written = recipe.to_toml().unwrap();
        assert_eq!(Recipe::parse(&written).unwrap(), recipe, "{written}");
    }
    let mut large = Recipe::parse(WHOLE).unwrap();
    large.options.loader.seed = Some(u64::MAX);
    assert_eq!(Recipe::parse(&large.to_toml().unwrap()).unwrap(), large);
}

#[test]
fn a_misspelt_word_is_named_with_its_line_and_the_nearest_right_one() {
    let replaced = |from: &str, to: &str| error(&WHOLE.replacen(from, to, 1));
    let message = replaced("interpolation =", "interpolate =");
    assert!(message.starts_with("recipe:8: RandomResizedCrop has no key `interpolate`"), "{message}");
    assert!(message.contains("did you mean `interpolation`?"), "{message}");
    let message = replaced("RandomResizedCrop", "RandomResizeCrop");
    assert!(
        message.starts_with("recipe:5: unknown op `RandomResizeCrop`: did you mean `RandomResizedCrop`?")
    );
    let message = replaced("batch_size", "batchsize");
    assert!(message.starts_with("recipe:29: [loader] has no key `batchsize`: did you mean `batch_size`?"));
    let message = replaced("[decode]", "[decoder]");
    assert!(
        message.starts_with("recipe:37: a recipe has no key `decoder`: did you mean `decode`?"),
        "{message}"
    );
    let message = Recipe::load("imagenet-trian").unwrap_err().to_string();
    assert!(message.contains("no recipe `imagenet-trian`: did you mean `imagenet-train`?"), "{message}");
}

#[test]
fn a_wrong_value_is_named_with_its_line() {
    let replaced = |from: &str, to: &str| error(&WHOLE.replacen(from, to, 1));
    for (from, to, want) in [
        ("size = [96, 128]", "size = \"big\"", "recipe:6: RandomResizedCrop: a length, or [height, width]"),
        ("scale = [0.25, 1]", "scale = 0.25", "recipe:7: RandomResizedCrop: "),
        (
            "scale = [0.25, 1]",
            "scale = [1.0, 0.25]",
            "recipe:4: RandomResizedCrop: scale should be of kind (min, max)",
        ),
        ("\"bicubic\"", "\"lanczos\"", "recipe:8: RandomResizedCrop: unknown variant `lanczos`"),
        ("size = [96, 128]\n", "", "recipe:4: RandomResizedCrop: missing field `size`"),
        ("brightness = 0.4", "brightness = -0.4", "brightness is a single number, it must be non negative"),
        ("\"random\"", "\"noise\"", "a number, [r, g, b] or \"random\""),
        ("op = \"ColorJitter\"\n", "", "recipe:10: this augmentation has no op: there are Affine, AugMix"),
        ("op = \"ColorJitter\"", "op = 3", "recipe:11: unknown op"),
        ("\"f16\"", "\"f64\"", "recipe:20: unknown variant `f64`"),
        ("\"f16\"", "\"u8\"", "u8 output cannot hold normalised values"),
        ("mean = [0.5, 0.5, 0.5]\n", "", "either a preset by its name, or both mean and std"),
        ("std = [0.25,", "std = [0,", "every std greater than 0"),
        ("batch_size = 256", "batch_size = -1", "recipe:29: "),
        ("name = \"mine\"", "", "missing field `name`"),
        ("name = \"mine\"", "name = \"mine", "recipe:2: "),
        ("name = \"mine\"", "name = \"mine\"\ndecode_only = true", "decode_only renders nothing"),
        (
            "workers = 8",
            "byte_cache = \"4g\"",
            "is no number of bytes; give a number of bytes, as 4096, \"512K\"",
        ),
    ] {
        let message = replaced(from, to);
        assert!(message.contains(want), "{from} -> {to}: {message}");
    }
    assert!(error("name = \"x\"").contains("the output has no size"));
    let twice = error("name = \"x\"\ndecode_only = true\n[output]\ndecode_only = false");
    assert!(twice.contains("at the top and under [output] as well: leave one of them out"), "{twice}");
    assert!(error("name = \"x\"\naugment = 3").starts_with("recipe:2: augment must be a list"));
    assert!(error("name = \"x\"\naugment = [3]").starts_with("recipe:2: augment must be a list"));
    assert!(error("name = \"x\"\n[output]\nsize = [0, 5]").contains("not from 1 to"));
}

const TREE: &str = r#"
name = "tree"

[[augment]]
op = "RandomResizedCrop"
size = 64
p = 1.0

[[augment]]
op = "RandomChoice"
p = [0.25, 0.75]

[[augment.transforms]]
op = "ColorJitter"
brightness = 0.4
p = 0.8

[[augment.transforms]]
op = "Compose"
transforms = [
    { op = "RandomGrayscale", p = 0.2 },
    { op = "OneOf", transforms = [{ op = "RandomInvert" }, { op = "GaussianBlur", kernel_size = 3, p = 0.1 }] },
]

[output]
size = [64, 64]
"#;

#[test]
fn containers_hold_augmentations_to_any_depth() {
    let recipe = Recipe::parse(TREE).unwrap();
    let blur = Augmentation::from(GaussianBlur::new(3)).with_p(0.1);
    let one = OneOf::new([RandomInvert::new(0.5).into(), blur]);
    let branch = Compose::new([RandomGrayscale::new(0.2).into(), one.into()]);
    let jitter = Augmentation::from(ColorJitter::new(0.4, 0.0, 0.0, 0.0)).with_p(0.8);
    let choice = RandomChoice::new([jitter, branch.into()]).p([0.25, 0.75]);
    assert_eq!(recipe.augment, [RandomResizedCrop::new(64).into(), choice.into()]);
    assert_eq!(Recipe::parse(&recipe.to_toml().unwrap()).unwrap(), recipe);
}

#[test]
fn what_is_wrong_in_a_container_is_named_by_its_line_and_its_place() {
    let replaced = |from: &str, to: &str| error(&TREE.replacen(from, to, 1));
    for (from, to, want) in [
        (
            "ColorJitter",
            "ColorJiter",
            "recipe:14: augment[1].transforms[0]: unknown op `ColorJiter`: did you mean",
        ),
        (
            "brightness",
            "brightnes",
            "recipe:15: augment[1].transforms[0]: ColorJitter has no key `brightnes`: did you",
        ),
        ("0.8", "8", "recipe:13: augment[1].transforms[0]: ColorJitter: p should be"),
        ("0.8", "\"often\"", "recipe:16: augment[1].transforms[0]: ColorJitter: invalid type: string"),
        (
            "kernel_size = 3",
            "kernel_size = 4",
            "recipe:22: augment[1].transforms[1].transforms[1].transforms[1]: Gauss",
        ),
        (
            "\"RandomInvert\"",
            "\"Invert\"",
            "recipe:22: augment[1].transforms[1].transforms[1].transforms[0]: unknown op",
        ),
        (
            "[0.25, 0.75]",
            "[0.25, 0.5]",
            "recipe:9: RandomChoice: the probabilities [0.25, 0.5] sum to 0.75 and not to 1",
        ),
        ("[0.25, 0.75]", "[1.0]", "recipe:9: RandomChoice: p has 1 probabilities for 2 transforms"),
        (
            "{ op = \"RandomGrayscale\", p = 0.2 }",
            "[]",
            "recipe:21: augment[1].transforms[1].transforms[0]: a transform is",
        ),
        (
            "{ op = \"RandomGrayscale\", p = 0.2 }",
            "{}",
            "augment[1].transforms[1].transforms[0]: this augmentation has no op",
        ),
    ] {
        let message = replaced(from, to);
        assert!(message.contains(want), "{from} -> {to}: {message}");
    }
    let deep = |levels: usize| {
        let opened = "{ op = \"Compose\", transforms = [".repeat(levels);
        let text = format!(
            "name = \"x\"\naugment = [{opened}{{ op = \"RandomInvert\" }}{}]\n[output]\nsize = 4",
            "] }".repeat(levels)
        );
        Recipe::parse(&text)
    };
    deep(8).unwrap();
    assert!(deep(9).unwrap_err().to_string().contains("more than 8 deep: use fewer levels"));
    let mut recipe = Recipe::parse(TREE).unwrap();
    recipe.augment = vec![Compose::new(vec![RandomInvert::new(0.5).into(); 64]).into()];
    assert!(recipe.check().unwrap_err().to_string().contains("64 augmentations"));
}

#[test]
fn a_file_is_named_in_its_errors_and_a_missing_one_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    let name = path.to_str().unwrap();
    assert!(Recipe::load(name).unwrap_err().to_string().contains("my.toml"));
    std::fs::write(&path, WHOLE).unwrap();
    assert_eq!(Recipe::load(name).unwrap(), Recipe::parse(WHOLE).unwrap());
    std::fs::write(&path, WHOLE.replace("seed", "sead")).unwrap();
    let message = Recipe::load(name).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{name}:31: [loader] has no key `sead`")), "{message}");
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(Recipe::load(name).unwrap_err().to_string().contains("larger than"));
}

#[test]
fn a_recipe_made_by_hand_is_checked_too() {
    let mut recipe = Recipe::built_in("imagenet-train").unwrap();
    recipe.options.normalize.mean = Some([0.5; 3]);
    assert!(recipe.check().is_err());
    recipe.options.normalize = NormalizeOptions::default();
    recipe.check().unwrap();
    recipe.augment = vec![CenterCrop::new(0).into()];
    assert!(recipe.check().unwrap_err().to_string().starts_with("CenterCrop"));
    recipe.augment = vec![CenterCrop::new(1).into(); 65];
    assert!(recipe.check().unwrap_err().to_string().contains("64 augmentations"));
}

#[test]
fn damaged_text_is_an_error_and_never_a_panic() {
    let mut rng = Rng::new(3, 0, 0, 0);
    let odd = [
        "[",
        "]",
        "\"",
        "=",
        "\n",
        "é",
        "\u{feff}",
        "-1",
        "1e400",
        "nan",
        "{}",
        "[[augment]]\n",
        "'''",
        "\0",
    ];
    for _ in 0..3000 {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for _ in 0..1 + rng.below(3) {
            let place = rng.below(text.len() as u32) as usize;
            let cut = (place + rng.below(9) as usize).min(text.len());
            let put = odd[rng.below(odd.len() as u32) as usize];
            text.splice(place..cut, put.chars());
        }
        let _ = Recipe::parse(&text.into_iter().collect::<String>());
    }
    let _ = Recipe::parse(&"[".repeat(100_000));
    let _ = Recipe::parse(&format!("a = {}", "[".repeat(100_000)));
    let _ = Recipe::parse(&format!("a = {}", "{a=".repeat(100_000)));
    let _ = Recipe::parse(&format!("{} = 1", "a.".repeat(100_000)));
}

#[test]
fn a_local_shuffle_has_a_size_and_does_not_contradict_shuffle() {
    let recipe = |loader: &str| format!("name = \"a\"\ndecode_only = true\n[loader]\n{loader}\n");
    let read = Recipe::parse(&recipe("shuffle_window = 1000")).unwrap();
    assert_eq!((read.options.loader.shuffle, read.options.loader.shuffle_window), (None, Some(1000)));
    assert!(error(&recipe("shuffle_window = 0")).contains("shuffle_window is 0"));
    assert_eq!(Recipe::parse(&recipe("shuffle_shards = 3")).unwrap().options.loader.shuffle_shards, Some(3));
    assert!(error(&recipe("shuffle_shards = 0")).contains("shuffle_shards is 0"));
    assert!(error(&recipe("shuffle = false\nshuffle_shards = 8")).contains("leave one of them out"));
    assert!(error(&recipe("shuffle_shards = 2\nshuffle_window = 8")).contains("two orders"));
    assert!(error(&recipe("shuffle = false\nshuffle_window = 8")).contains("leave one of them out"));
}

#[test]
fn batches_that_differ_in_size_are_asked_for_by_keys_of_the_loader() {
    let recipe = |loader: &str| format!("name = \"a\"\n[output]\nsize = [64, 64]\n[loader]\n{loader}\n");
    let read = |loader: &str| {
        let recipe = Recipe::parse(&recipe(loader)).unwrap();
        assert_eq!(Recipe::parse(&recipe.to_toml().unwrap()).unwrap(), recipe);
        (recipe.options.loader.rect_batches(), recipe.options.loader.drawn_sizes())
    };
    let usual = RectBatches::default();
    let squares = MultiScale::Sizes(vec![Size::new(32, 32), Size::new(96, 64)]);
    assert_eq!(read("rect = true"), (Some(usual), None));
    assert_eq!(
        read("rect = true\nstride = 64\nrect_pad = 0.0"),
        (Some(RectBatches { stride: 64, pad: 0.0 }), None)
    );
    assert_eq!(read("multi_scale = 0.5"), (None, Some(MultiScale::around(0.5))));
    assert_eq!(
        read("multi_scale = 0.25\nstride = 16"),
        (None, Some(MultiScale::Around { by: 0.25, stride: 16 }))
    );
    assert_eq!(read("sizes = [32, [64, 96]]"), (None, Some(squares)));
    for none in ["", "rect = false", "multi_scale = 0.0"] {
        assert_eq!(read(none), (None, None), "{none}");
    }
    for name in ["yolo-train", "yolo-eval"] {
        let loader = Recipe::built_in(name).unwrap().options.loader;
        assert_eq!((loader.rect_batches(), loader.drawn_sizes()), (None, None));
    }
    for (loader, want) in [
        ("stride = 32", "stride means nothing here: set rect = true, multi_scale or pad_to_largest = true"),
        ("multi_scale = 0.5\nrect_pad = 0.5", "rect_pad means nothing here: set rect = true"),
        ("multi_scale = 0.5\nsizes = [32]", "leave one of them out"),
        ("multi_scale = 1.5", "above 0 and below 1"),
        ("rect = true\nstride = 0", "stride is 0"),
        ("sizes = [0]", "from 1 to 65535 a side"),
        ("multi_scales = 0.5", "did you mean `multi_scale`?"),
    ] {
        let message = error(&recipe(loader));
        assert!(message.contains(want), "{loader}: {message}");
    }
}

#[test]
fn labels_are_asked_for_in_a_section_of_their_own() {
    use feedline::label::{BoxFormat, Unit};
    let text = "name = \"boxes\"\n[output]\nsize = [8, 8]\n[labels]\nformat = \"cxcywh\"\nunit = \"normalized\"\nmin_area = 4.0\n";
    let recipe = Recipe::parse(text).unwrap();
    let labels = &recipe.options.labels;
    assert_eq!((labels.format, labels.unit), (Some(BoxFormat::Cxcywh), Some(Unit::Normalized)));
    assert_eq!((labels.min_area, labels.min_visibility), (Some(4.0), None));
    assert_eq!(Recipe::parse(&recipe.to_toml().unwrap()).unwrap(), recipe);
    let misspelt = Recipe::parse(&text.replace("min_area", "min_aera")).unwrap_err().to_string();
    assert!(
        misspelt.contains("[labels] has no key `min_aera`") && misspelt.contains("`min_area`"),
        "{misspelt}"
    );
}
