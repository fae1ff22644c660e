//! `preview`: a sheet that is a PNG, or a JPEG, of the size that its pairs need.

use crate::support::{Array, fail, folder_with_a_bad_file, succeed, word};

#[test]
fn the_sheet_is_a_picture_of_the_pairs_that_were_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("new/sheet.png");
    let draw = |seed: &str| {
        succeed(&[
            "preview",
            "--recipe",
            "imagenet-train",
            "--seed",
            seed,
            "--count",
            "4",
            "--out",
            word(&out),
        ]);
        std::fs::read(&out).expect("the sheet")
    };
    let first = draw("1");
    assert!(first.starts_with(b"\x89PNG\r\n\x1a\n"));
    let edge = |at: usize| u32::from_be_bytes([first[at], first[at + 1], first[at + 2], first[at + 3]]);
    assert!(edge(16) > 3 * 448 && edge(20) > 2 * 224 && edge(20) < 3 * 224);
    assert_eq!(first, draw("1"));
    assert_ne!(first, draw("2"));
}

#[test]
fn a_sheet_has_a_pair_for_each_view_or_for_the_one_that_was_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("sheet.png");
    let height = |more: &[&str]| {
        let draw = ["preview", "--recipe", "dinov2", "--seed", "1", "--count", "3", "--out", word(&out)];
        succeed(&[&draw[..], more].concat());
        let sheet = std::fs::read(&out).expect("the sheet");
        u32::from_be_bytes([sheet[20], sheet[21], sheet[22], sheet[23]])
    };
    let (all, one) = (height(&[]), height(&["--view", "9"]));
    assert!(all > 4 * one, "{all} beside {one}");
    let many = ["preview", "--recipe", "dinov2", "--count", "30", "--out", word(&out)];
    assert!(fail(&many).contains("30 samples have 10 views each"));
}

#[test]
fn the_ending_of_its_name_says_what_file_the_sheet_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let draw = |name: &str| {
        let out = folder.path().join(name);
        succeed(&[
            "preview",
            "--recipe",
            "imagenet-train",
            "--seed",
            "1",
            "--count",
            "2",
            "--out",
            word(&out),
        ]);
        let decoded = folder.path().join("decoded.npy");
        succeed(&["decode", word(&out), "--out", word(&decoded)]);
        (Array::read(&decoded), std::fs::metadata(&out).expect("the sheet").len())
    };
    let (png, png_bytes) = draw("sheet.png");
    let (jpeg, jpeg_bytes) = draw("sheet.JPG");
    assert_eq!(png.shape, jpeg.shape);
    assert!(jpeg_bytes * 3 < png_bytes, "{jpeg_bytes} of {png_bytes} bytes");
    let differences = png.data.iter().zip(&jpeg.data).map(|(&one, &other)| u64::from(one.abs_diff(other)));
    let mean = differences.sum::<u64>() as f64 / png.data.len() as f64;
    assert!(mean > 0.0 && mean < 8.0, "{mean} levels apart");
}

#[test]
fn a_sheet_of_nothing_is_refused() {
    assert!(fail(&["preview", "--count", "0", "--out", "out/never.png"]).contains("--count"));
}

#[test]
fn a_file_that_the_recipe_tolerates_is_drawn() {
    let folder = folder_with_a_bad_file(1);
    let [strict, lenient] = [("strict", false), ("lenient", true)].map(|(name, tolerate)| {
        let recipe = folder.path().join(format!("{name}.toml"));
        let text = format!("name = \"{name}\"\n[decode]\ntolerate_truncated = {tolerate}\n{CROP}");
        std::fs::write(&recipe, text).expect("the recipe");
        recipe
    });
    let out = folder.path().join("sheet/s.png");
    let with =
        |recipe| ["preview", "--data", word(folder.path()), "--recipe", word(recipe), "--out", word(&out)];
    assert!(fail(&with(&strict)).contains("z_bad.jpg"));
    succeed(&with(&lenient));
}

const CROP: &str = "[[augment]]\nop = \"CenterCrop\"\nsize = 32\n[output]\nsize = [32, 32]\n";
