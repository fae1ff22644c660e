//! YOLO and COCO data sets on the command line.

use crate::support::{fail, feedline, photo, word};
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

/// Three copies of a photograph with labels of both kinds.
fn data_set(bad_line: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("images/train")).expect("a folder");
    fs::create_dir_all(path("labels/train")).expect("a folder");
    for name in ["a", "b", "c"] {
        fs::copy(photo(), path(&format!("images/train/{name}.jpg"))).expect("a copy");
    }
    fs::write(path("labels/train/a.txt"), "0 0.5 0.5 0.25 0.25\n1 0.5 0.5 0.5 0.5\n").expect("labels");
    fs::write(path("labels/train/b.txt"), format!("1 0.5 0.5 0.5 0.5\n{bad_line}")).expect("labels");
    fs::write(path("data.yaml"), "train: images/train\nnames: [cat, dog]\n").expect("a data.yaml");
    let image = |id: i64, name: &str| json!({"id": id, "file_name": name, "width": 100, "height": 50});
    let coco = json!({
        "images": [image(1, "images/train/a.jpg"), image(2, "images/train/b.jpg")],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 7, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 0]}],
    });
    fs::write(path("coco.json"), coco.to_string()).expect("annotations");
    folder
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn what_a_data_set_is_taken_for_is_said_unless_the_user_says_it() {
    let folder = data_set("");
    for data in [folder.path().to_owned(), folder.path().join("data.yaml")] {
        let (plan, notes) = text(&feedline(&["plan", "--data", word(&data)]));
        assert!(plan.contains("images/train/a.jpg"), "{plan}");
        assert!(
            notes.contains("taken for a YOLO data set of 3 images (1 of them background) and 3 objects"),
            "{notes}"
        );
        let (_, notes) = text(&feedline(&["plan", "--data", word(&data), "--source", "yolo"]));
        assert_eq!(notes, "");
    }
    let json = folder.path().join("coco.json");
    let (_, notes) = text(&feedline(&["plan", "--data", word(&json), "--on-bad-label", "skip-object"]));
    assert!(notes.contains("taken for a COCO data set of 2 images (2 of them background)"), "{notes}");
    assert!(
        notes.contains("1 bad labels are left out") && notes.contains("annotation 7 (image 1)"),
        "{notes}"
    );
    let wrong = fail(&["plan", "--data", word(&folder.path().join("data.yaml")), "--source", "coco"]);
    assert!(wrong.contains("name COCO annotations"), "{wrong}");
}

#[test]
fn a_plan_shows_what_is_pasted_and_its_ops_paste_it_again() {
    let folder = data_set("");
    let labels = folder.path().join("labels/train/c.txt");
    fs::write(labels, "0 0.1 0.1 0.3 0.1 0.2 0.4\n").expect("labels");
    let recipe = folder.path().join("r.toml");
    let text = "name = \"p\"\n[[augment]]\nop = \"LetterBox\"\nsize = 96\n[[augment]]\nop = \"CopyPaste\"\n\
                p = 1.0\nmode = \"flip\"\n[output]\nsize = [96, 96]\ndtype = \"u8\"\n";
    fs::write(&recipe, text).expect("a recipe");
    let data = folder.path();
    let (plan, _) =
        self::text(&feedline(&["plan", "--data", word(data), "--recipe", word(&recipe), "--index", "2"]));
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!(plan["objects"].as_array().map(Vec::len), Some(2), "{plan}");
    let masked = plan["layers"].as_array().expect("layers").iter().filter(|layer| layer["masked"] == true);
    assert_eq!(masked.count(), 1, "{plan}");
    let out = data.join("out.npy");
    let image = data.join("images/train/c.jpg");
    let done = feedline(&["apply", "--ops", &plan["ops"].to_string(), word(&image), "--out", word(&out)]);
    assert!(done.status.success(), "{done:?}");
    let sheet = data.join("sheet");
    let done = feedline(&[
        "preview",
        "--data",
        word(data),
        "--recipe",
        word(&recipe),
        "--count",
        "3",
        "--out",
        word(&sheet),
    ]);
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn a_bad_label_stops_a_run_unless_it_may_be_skipped() {
    let folder = data_set("5 0.5 0.5 0.5 0.5");
    let data = word(folder.path());
    let error = fail(&["plan", "--data", data]);
    assert!(error.contains("b.txt, line 2: the class 5 is not below the 2 classes"), "{error}");
    let skipping = feedline(&["plan", "--data", data, "--on-bad-label", "skip-image", "--index", "1"]);
    assert!(text(&skipping).0.contains("images/train/c.jpg"), "{skipping:?}");
}

#[test]
fn verify_lists_every_bad_label_and_images_of_another_size() {
    let folder = data_set("5 0.5 0.5 0.5 0.5\n0 9 9 9 9");
    let (lines, _) = text(&feedline(&["verify", word(folder.path())]));
    assert!(lines.contains("ok      images/train/a.jpg"), "{lines}");
    assert!(
        lines.contains("b.txt, line 2: the class 5") && lines.contains("b.txt, line 3: 9 is out"),
        "{lines}"
    );
    assert!(lines.contains("3 objects, 1 images without one: 2 bad labels"), "{lines}");
    let output = feedline(&["verify", "--json", word(&folder.path().join("coco.json"))]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<Value> = text(&output)
        .0
        .lines()
        .map(|line| serde_json::from_str(line).expect("one JSON object a line"))
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["status"], &lines[2]["status"]), (&json!("bad"), &json!("bad label")));
    assert!(lines[0]["cause"].to_string().contains("the annotations say 100x50"), "{}", lines[0]);
    assert!(lines[2]["path"].to_string().contains("annotation 7 (image 1)"), "{}", lines[2]);
}

#[test]
fn labels_are_kept_where_the_user_says_so() {
    let folder = data_set("");
    let cache = folder.path().join("kept");
    let run = || text(&feedline(&["plan", "--data", word(folder.path()), "--label-cache", word(&cache)])).1;
    assert!(run().contains("was not there yet"));
    assert!(run().contains("gave the labels"));
}

#[test]
fn verify_says_that_it_looks_at_one_split() {
    let folder = data_set("");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("data.yaml"), "train: images/train\nval: images/val\nnames: [cat, dog]\n")
        .expect("a data.yaml");
    fs::create_dir_all(path("images/val")).expect("a folder");
    fs::create_dir_all(path("labels/val")).expect("a folder");
    fs::copy(photo(), path("images/val/d.jpg")).expect("a copy");
    fs::write(path("labels/val/d.txt"), "9 0.5 0.5 0.5 0.5").expect("labels");
    let train = feedline(&["verify", word(folder.path())]);
    assert_eq!(train.status.code(), Some(0));
    assert!(text(&train).1.contains("only the split `train` is checked: --split"), "{train:?}");
    let val = feedline(&["verify", word(folder.path()), "--split", "val"]);
    assert_eq!((val.status.code(), text(&val).1.as_str()), (Some(1), ""));
    let cached = fail(&["verify", word(folder.path()), "--label-cache", word(&path("kept"))]);
    assert!(cached.contains("leave --label-cache out") && !path("kept").exists(), "{cached}");
}

#[test]
fn an_option_that_means_nothing_for_the_data_is_refused() {
    let folder = data_set("");
    let (images, json) = (folder.path().join("images"), folder.path().join("coco.json"));
    for [option, value] in
        [["--split", "val"], ["--image-dir", "x"], ["--on-bad-label", "fail"], ["--label-cache", "x"]]
    {
        for words in [["plan", "--data", word(&images)].as_slice(), &["verify", word(&images)]] {
            let error = fail(&[words, &[option, value]].concat());
            assert!(
                error.contains(&format!("{} is for ", option.trim_start_matches("--").replace('-', "_")))
                    && error.contains("read as `folder`"),
                "{error}"
            );
        }
    }
    let error = fail(&["plan", "--data", word(&json), "--split", "val"]);
    assert!(
        error.contains("split is for data of the kind yolo") && error.contains("leave it out"),
        "{error}"
    );
}

/// A mask for each image of [`data_set`], as large as those but for the last one.
fn add_masks(folder: &std::path::Path) {
    let image = image_size();
    for (name, size) in [("a", image), ("b", image), ("c", [3, 2])] {
        let path = folder.join(format!("masks/train/{name}.png"));
        fs::create_dir_all(folder.join("masks/train")).expect("a folder");
        let mut encoder = png::Encoder::new(fs::File::create(path).expect("a mask"), size[0], size[1]);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().expect("a head");
        writer.write_image_data(&vec![2; (size[0] * size[1]) as usize]).expect("classes");
    }
}

fn image_size() -> [u32; 2] {
    let bytes = fs::read(photo()).expect("the photograph");
    let header = feedline::image::parse_header(&bytes).expect("a header");
    let size = header.orientation.apply_size(header.size);
    [size.width, size.height]
}

#[test]
fn masks_are_checked_drawn_and_rendered() {
    let folder = data_set("");
    add_masks(folder.path());
    let (data, masks) = (folder.path().join("images"), folder.path().join("masks"));
    let verify = |extra: &[&str]| text(&feedline(&[&["verify", word(&data)], extra].concat()));
    assert!(verify(&[]).0.contains("3 files: 3 ok"));
    let (found, _) = verify(&["--mask-dir", word(&masks)]);
    assert!(found.contains("3 files: 2 ok, 0 damaged, 1 bad"), "{found}");
    assert!(found.contains("its mask has 3x2 pixels and the image"), "{found}");
    let alone = feedline(&["verify", word(&data.join("train/a.jpg")), "--mask-dir", word(&masks)]);
    assert!(text(&alone).1.contains("--mask-dir is for a data set"));
    let sheet = folder.path().join("sheet.png");
    let preview = |extra: &[&str]| {
        let words = ["preview", "--data", word(&data), "--count", "1", "--out", word(&sheet)];
        text(&feedline(&[&words, extra].concat()));
        fs::read(&sheet).expect("the sheet")
    };
    assert_ne!(preview(&[]), preview(&["--mask-dir", word(&masks)]), "nothing was laid over the pictures");
    let bench =
        ["bench", "--data", word(&data), "--images", "3", "--device", "cpu", "--mask-dir", word(&masks)];
    assert!(fail(&bench).contains("its mask has 3x2 pixels"));
    assert!(fail(&["plan", "--data", word(&data), "--mask-dir", word(&data)]).contains("have no mask"));
}
