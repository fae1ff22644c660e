//! Options and data from C: every option, masks, and an object store.

use crate::{root, run};
use feedline::loader::Loader;
use feedline::options::{Entry, Options, catalogue};
use feedline::recipe::Recipe;
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

fn values() -> Map<String, Value> {
    serde_json::from_str(include_str!("../../../tests/option_values.json")).unwrap()
}

/// A value as text.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A line for the program: a recipe, then the option and what must be said with it.
fn line(entry: &Entry, values: &Map<String, Value>, recipe: &Path) -> String {
    let of = values.get(entry.name).expect("tests/option_values.json has a value for every option");
    let recipe = if entry.name == "decode_only" { "decode-only" } else { recipe.to_str().unwrap() };
    let mut line = format!("{recipe}\t{}\t{}", entry.name, text(&of["value"]));
    for (name, value) in of.get("with").and_then(Value::as_object).into_iter().flatten() {
        line += &format!("\t{name}\t{}", text(value));
    }
    line + "\n"
}

#[test]
fn every_option_can_be_set_from_c() {
    let folder = tempfile::tempdir().unwrap();
    let (recipe, list) = (folder.path().join("x.toml"), folder.path().join("options.txt"));
    fs::write(&recipe, "name = \"x\"\noutput.size = 64\n").unwrap();
    let values = values();
    fs::write(&list, catalogue().iter().map(|entry| line(entry, &values, &recipe)).collect::<String>())
        .unwrap();
    let printed = run("capi/tests/c/options.c", &[list.to_str().unwrap()]);
    let texts: Vec<&str> = printed.split("---\n").collect();
    assert_eq!(texts.len(), catalogue().len() + 1, "{printed}");
    for (entry, text) in catalogue().iter().zip(texts) {
        let recipe = Recipe::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(recipe.options.get(entry.name).unwrap(), values[entry.name]["value"], "{text}");
    }
}

fn png(path: &Path, color: png::ColorType, level: u8) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut encoder = png::Encoder::new(fs::File::create(path).unwrap(), 8, 6);
    encoder.set_color(color);
    let image = vec![level; 48 * color.samples()];
    encoder.write_header().unwrap().write_image_data(&image).unwrap();
}

/// A recipe that keeps the 8x6 pixels of the images as they are.
const AS_IT_IS: &str = "name = \"plain\"\n[output]\ndtype = \"u8\"\nsize = [6, 8]\n";

#[test]
fn a_segmentation_loader_runs_from_c() {
    let folder = tempfile::tempdir().unwrap();
    for (name, level, class) in [("a", 10, 3), ("b", 20, 4)] {
        png(&folder.path().join(format!("images/{name}.png")), png::ColorType::Rgb, level);
        png(&folder.path().join(format!("masks/{name}.png")), png::ColorType::Grayscale, class);
    }
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (images, masks) = (at("images"), at("masks"));
    let said =
        ["recipe_text", AS_IT_IS, "data", &images, "mask_dir", &masks, "batch_size", "2", "byte_cache", "1M"];
    let printed = run("capi/tests/c/data.c", &said);
    for line in ["samples 2", "images 4320", "masks 336", "mask_fill = 255", "byte_cache = 1048576"] {
        assert!(printed.lines().any(|printed| printed == line), "{line}: {printed}");
    }
}

#[test]
fn masks_of_objects_and_rotated_boxes_are_seen_from_c() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    png(&folder.path().join("a.png"), png::ColorType::Rgb, 10);
    // Twelve pixels above eight, of which it covers four.
    let outlines = [[1, 1, 5, 1, 5, 4, 1, 4], [3, 2, 7, 2, 7, 4, 3, 4]];
    let object = |(id, outline): (usize, &[i32; 8])| json!({"id": id, "image_id": 1, "category_id": 1, "segmentation": [outline]});
    let annotations = json!({
        "images": [{"id": 1, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "thing"}],
        "annotations": outlines.iter().enumerate().map(object).collect::<Vec<_>>(),
    });
    fs::write(at("a.json"), annotations.to_string()).unwrap();
    let printed = |kind: &str, ratio: &str, format: &str| {
        let said =
            ["recipe_text", AS_IT_IS, "data", &at("a.json"), "instance_masks", kind, "mask_ratio", ratio];
        let said = [&said[..], &["box_format", format]].concat();
        run("capi/tests/c/data.c", &said).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let each = printed("per-object", "1", "xywhr");
    assert!(each.contains(&"instance_masks 3: 2 x 6 x 8, sum of bytes 20".to_owned()), "{each:?}");
    assert!(each.contains(&"boxes 2 x 5".to_owned()), "{each:?}");
    let one = printed("overlap", "1", "xyxyxyxy");
    assert!(one.contains(&"instance_masks 6: 1 x 6 x 8, sum of bytes 24".to_owned()), "{one:?}");
    assert!(one.contains(&"boxes 2 x 8".to_owned()), "{one:?}");
}

#[test]
fn several_classes_are_seen_from_c_and_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let labels = ["0|2", "", "1"];
    let mut table = "path,label\n".to_owned();
    for (number, labels) in labels.iter().enumerate() {
        png(&folder.path().join(format!("{number}.png")), png::ColorType::Rgb, 7);
        table += &format!("{number}.png,{labels}\n");
    }
    let list = folder.path().join("list.csv");
    fs::write(&list, table).unwrap();
    let printed = run("capi/tests/c/targets.cpp", &[list.to_str().unwrap()]);
    assert_eq!(
        printed,
        "1 0 1 0\n0 0 0 0\n0 1 0 0\n0.625 0.125 0.625 0.125\n0.125 0.125 0.125 0.125\n0.125 0.625 0.125 0.125\n"
    );
}

#[test]
fn places_of_images_and_page_locked_memory_are_seen_from_c_and_cpp() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.png", "b.png"] {
        png(&folder.path().join(name), png::ColorType::Rgb, 7);
    }
    let folder = folder.path().to_str().unwrap();
    let printed = |ops: &str| {
        let recipe = format!("name = \"placed\"\noutput.size = [32, 32]\n{ops}");
        run("capi/tests/c/places.cpp", &[folder, &recipe])
    };
    let resized = "augment = [{ op = \"ResizeLongest\", imgsz = 32 }, { op = \"LetterBox\", size = 32 }";
    let mut options = Options::default();
    options.data.path = Some(folder.into());
    options.device.pin_memory = Some(true);
    let (here, _) = Loader::open(&Recipe::parse(AS_IT_IS).unwrap().with(options).unwrap()).unwrap();
    let unpinned = here.unpinned().unwrap_or_default();
    assert_eq!(printed(&format!("{resized}]")), format!("6 x 8: 4 4, 0 4\n6 x 8: 4 4, 0 4\n{unpinned}\n"));
    let mirrored = format!("{resized}, {{ op = \"RandomHorizontalFlip\", p = 1.0 }}]");
    assert_eq!(printed(&mirrored), format!("6 x 8\n6 x 8\n{unpinned}\n"));
}

#[test]
fn fields_are_seen_from_c_and_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let photo = fs::read(root().join("data/photos/cat/0000.jpg")).unwrap();
    let members: [(&str, &[u8]); 10] = [
        ("1.jpg", &photo),
        ("1.txt", "ä cat".as_bytes()),
        ("1.json", b"{}"),
        ("1.n", b"7"),
        ("2.jpg", &photo),
        ("2.txt", b""),
        ("2.json", b"[1]"),
        ("2.score", b"0.25"),
        ("3.jpg", &photo),
        ("3.txt", b"a dog"),
    ];
    let mut archive = tar::Builder::new(fs::File::create(&path).unwrap());
    let twins = ["1", "2", "3"].map(|name| format!("{name}.twin.jpg"));
    let last = twins.iter().map(|name| (&**name, &photo[..]));
    // The members of a sample follow each other.
    let mut members: Vec<_> = members.into_iter().chain([("3.json", &b"null"[..])]).chain(last).collect();
    members.sort_by_key(|(name, _)| name.as_bytes()[0]);
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, bytes).unwrap();
    }
    archive.finish().unwrap();
    let printed = run("capi/tests/c/fields.cpp", &[path.to_str().unwrap()]);
    assert_eq!(printed, "ä cat|{}|7|0.5\n|[1]|-1|0.25\na dog|null|-1|0.5\n");
}

#[test]
fn bad_and_damaged_files_are_listed_for_c() {
    let folder = tempfile::tempdir().unwrap();
    let sound = fs::read(root().join("data/photos/rocket/0000.jpg")).unwrap();
    let mut damaged = sound.clone();
    damaged[sound.len() / 2..][..2].copy_from_slice(&[0xFF, 0x01]);
    for (name, bytes) in [("a/damaged.jpg", &damaged[..]), ("b/none \"x\".jpg", b"none")] {
        let path = folder.path().join(name);
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let data = folder.path().to_str().unwrap();
    let as_it_is = AS_IT_IS.replace("[6, 8]", "[427, 640]");
    let said = ["recipe_text", &as_it_is, "data", data, "batch_size", "2"];
    let printed = run("capi/tests/c/data.c", &[&said[..], &["bad_sample", "substitute"]].concat());
    let report = printed.lines().find_map(|line| line.strip_prefix("report ")).expect("a report");
    let report: Value = serde_json::from_str(report).unwrap();
    // A substitute that is drawn may be the bad file again.
    assert!(report["failures"].as_u64().unwrap() >= 1, "{report}");
    assert_eq!(report["files"].as_array().unwrap().len(), 1, "{report}");
    let bad = &report["files"][0];
    assert!(bad["key"].as_str().unwrap().ends_with("b/none \"x\".jpg"), "{report}");
    assert_eq!((&bad["stage"], &bad["index"]), (&json!("decode"), &json!(1)), "{report}");
    assert!(bad["cause"].as_str().unwrap().contains("not an image"), "{report}");
    let decoded = &report["damaged_files"][0];
    assert!(decoded["key"].as_str().unwrap().ends_with("a/damaged.jpg"), "{report}");
    assert!(
        decoded["damage"].as_str().is_some_and(|damage| damage.starts_with("Corrupt JPEG data")),
        "{report}"
    );
    assert_eq!((&decoded["index"], &decoded["times"]), (&json!(0), &report["damaged"]), "{report}");
    assert!(report["damaged"].as_u64().unwrap() >= 1, "{report}");
}

#[test]
#[cfg(feature = "remote")]
#[ignore = "needs an S3 server: FEEDLINE_S3 names its host:port"]
fn an_object_store_is_read_from_c() {
    let server = std::env::var("FEEDLINE_S3").expect("FEEDLINE_S3 names host:port of an S3 server");
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, bytes: &[u8]| {
        let mut stream = TcpStream::connect(&server).unwrap();
        let head = format!(
            "PUT /{path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            bytes.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    };
    put("from-c", b"");
    for (name, level) in [("even/0.png", 10), ("odd/1.png", 20), ("loose.png", 30)] {
        let path = folder.path().join(name);
        png(&path, png::ColorType::Rgb, level);
        put(&format!("from-c/train/{name}"), &fs::read(&path).unwrap());
    }
    let (endpoint, cache) = (format!("http://{server}"), folder.path().join("cache"));
    let said = [
        "recipe_text",
        AS_IT_IS,
        "data",
        "s3://from-c/train",
        "endpoint",
        &endpoint,
        "cache_dir",
        cache.to_str().unwrap(),
        "cache_bytes",
        "1M",
        "timeout_s",
        "20",
        "batch_size",
        "2",
    ];
    let printed = run("capi/tests/c/data.c", &said);
    for line in ["samples 2", "images 4320", "timeout_s = 20.0"] {
        assert!(printed.lines().any(|printed| printed == line), "{line}: {printed}");
    }
    assert!(printed.contains("note ") && printed.contains("1 images"), "{printed}");
    assert!(fs::read_dir(&cache).unwrap().count() > 1, "what was fetched is kept");
}
