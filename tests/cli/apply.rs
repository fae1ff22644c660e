//! `apply`: formats, errors that say where, and many cases at once.

use crate::support::{Array, fail, feedline, photo, report, succeed, word};
use tempfile::tempdir;

const NORMALIZE: &str = r#"{"op":"normalize","mean":[0.5,0.5,0.5],"std":[0.5,0.25,1.0]}"#;

/// The array that `ops` make of the photograph.
fn apply(ops: &str, more: &[&str]) -> Array {
    let folder = tempdir().expect("a folder");
    let out = folder.path().join("new/folder/o.npy");
    let image = photo();
    succeed(&[&["apply", "--ops", ops, word(&image), "--out", word(&out)], more].concat());
    Array::read(&out)
}

#[test]
fn levels_come_as_u8_rows_of_pixels_and_normalised_values_as_f32_planes() {
    let levels = apply(r#"[{"op":"resize","size":[20,30]}]"#, &[]);
    assert_eq!((levels.descr.as_str(), levels.shape.as_slice()), ("|u1", &[20, 30, 3][..]));
    let values = apply(&format!(r#"[{{"op":"resize","size":[20,30]}},{NORMALIZE}]"#), &[]);
    assert_eq!((values.descr.as_str(), values.shape.as_slice()), ("<f4", &[3, 20, 30][..]));
    let green_of_pixel_7 = f32::from(levels.data[7 * 3 + 1]) / 255.0;
    let value = values.floats()[600 + 7];
    assert!((value - (green_of_pixel_7 - 0.5) / 0.25).abs() < 1e-5);
}

#[test]
fn the_number_format_and_the_layout_can_be_chosen() {
    let ops = r#"[{"op":"center_crop","output_size":[8,9]}]"#;
    let levels = apply(ops, &[]);
    let floats = apply(ops, &["--dtype", "f32"]);
    assert_eq!(floats.shape, [8, 9, 3]);
    let scaled: Vec<f32> = levels.data.iter().map(|&level| f32::from(level) * (1.0 / 255.0)).collect();
    assert!(floats.floats().iter().zip(&scaled).all(|(a, b)| (a - b).abs() < 1e-6));
    let planes = apply(ops, &["--layout", "chw"]);
    assert_eq!((planes.shape.as_slice(), planes.data[8 * 9]), (&[3, 8, 9][..], levels.data[1]));
    assert_eq!(apply(ops, &["--dtype", "f16"]).descr, "<f2");
    let bits = apply(ops, &["--dtype", "bf16"]);
    let upper = |at: usize| u32::from(u16::from_le_bytes([bits.data[2 * at], bits.data[2 * at + 1]]));
    assert_eq!(bits.descr, "<u2");
    assert!((f32::from_bits(upper(5) << 16) - scaled[5]).abs() <= scaled[5] / 128.0);
}

#[test]
fn labels_are_printed_where_the_ops_move_them_to() {
    let folder = tempdir().expect("a folder");
    let (image, out, labels) = (photo(), folder.path().join("o.npy"), folder.path().join("l.txt"));
    std::fs::write(&labels, "7 0.5 0.5 0.5 0.5\n\n3 0 0 1 0 0 1\n").expect("written");
    let moved = |ops: &str, labels: &str| {
        let arguments = ["apply", "--ops", ops, word(&image), "--out", word(&out), "--labels", labels];
        report(&arguments)["objects"].clone()
    };
    let square = r#"[{"op":"resize","size":[100,100]},{"op":"hflip"},{"op":"crop","top":0,"left":0,"height":100,"width":40}]"#;
    let seen = moved(square, word(&labels));
    assert_eq!((&seen[0]["class"], &seen[1]["class"]), (&7.into(), &3.into()));
    assert_eq!(seen[0]["bbox"], serde_json::json!([25.0, 25.0, 40.0, 75.0]));
    assert_eq!(seen[1]["polygons"][0].as_array().expect("a polygon").len(), 3);
    let boxed = moved(r#"[{"op":"pad","padding":3}]"#, r#"[{"class": 1, "bbox": [1, 2, 3, 4]}]"#);
    assert_eq!(boxed[0]["bbox"], serde_json::json!([4.0, 5.0, 6.0, 7.0]));
    std::fs::write(&labels, "7 0.5 0.5 0.5\n").expect("written");
    let error = fail(&["apply", "--ops", "[]", word(&image), "--out", word(&out), "--labels", word(&labels)]);
    assert!(error.contains("l.txt, line 1: 4 columns, expected 5"), "{error}");
}

#[test]
fn a_mirrored_part_is_pasted_with_a_copy_of_its_object() {
    let folder = tempdir().expect("a folder");
    let (image, out) = (photo(), folder.path().join("p.npy"));
    let corners = "[[[40, 10], [60, 10], [60, 30], [40, 30]]]";
    let ops = format!(r#"[{{"op": "paste_mirrored", "polygons": {corners}, "objects": [1]}}]"#);
    let labels = r#"[{"class": 0, "bbox": [1, 2, 3, 4]}, {"class": 5, "bbox": [10, 10, 30, 30]}]"#;
    let json = succeed(&["apply", "--ops", &ops, word(&image), "--out", word(&out), "--labels", labels]);
    let (pasted, plain) = (Array::read(&out), apply("[]", &[]));
    let mirrored = apply(r#"[{"op":"hflip"}]"#, &[]);
    let width = plain.shape[1];
    for (at, pixel) in pasted.data.chunks_exact(3).enumerate() {
        let covered = (40..60).contains(&(at % width)) && (10..30).contains(&(at / width));
        let from = if covered { &mirrored } else { &plain };
        assert_eq!(pixel, &from.data[at * 3..at * 3 + 3]);
    }
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let objects = json["objects"].as_array().expect("objects");
    let right = width as f64 - 10.0;
    assert_eq!((objects.len(), &objects[2]["class"]), (3, &serde_json::json!(5)));
    assert_eq!(objects[2]["bbox"], serde_json::json!([right - 20.0, 10.0, right, 30.0]));
}

#[test]
fn an_op_or_field_that_does_not_exist_is_named_with_its_place_and_the_nearest_one() {
    let image = photo();
    let error = |ops: &str| fail(&["apply", "--ops", ops, word(&image), "--out", "out/never.npy"]);
    let unknown = error(r#"[{"op":"hflip"},{"op":"hfilp"}]"#);
    assert!(
        unknown.contains("op 1") && unknown.contains("hfilp") && unknown.contains("`hflip`"),
        "{unknown}"
    );
    let field = error(r#"[{"op":"crop","top":0,"left":0,"height":4,"widht":4}]"#);
    assert!(field.contains("op 0") && field.contains("`widht`") && field.contains("`width`?"), "{field}");
    let mixed = error(&format!(r#"[{NORMALIZE},{{"op":"brightness","factor":2.0}}]"#));
    assert!(mixed.contains("move normalize to the end"), "{mixed}");
}

#[test]
fn u8_cannot_hold_normalised_values() {
    let image = photo();
    let ops = format!("[{NORMALIZE}]");
    let arguments = ["apply", "--ops", &ops, word(&image), "--out", "out/never.npy", "--dtype", "u8"];
    assert!(fail(&arguments).contains("choose f32, f16 or bf16"));
}

#[test]
fn many_cases_run_in_one_process_and_a_bad_one_names_its_line() {
    let folder = tempdir().expect("a folder");
    let (cases, first, second) =
        (folder.path().join("c.jsonl"), folder.path().join("1.npy"), folder.path().join("2.npy"));
    let line = |ops: &str, out: &std::path::Path, more: &str| {
        format!(r#"{{"ops":{ops},"input":"{}","out":"{}"{more}}}"#, word(&photo()), word(out))
    };
    let good = [
        line(r#"[{"op":"hflip"},{"op":"resize","size":[5,6]}]"#, &first, ""),
        line(r#"[{"op":"resize","size":[5,6]}]"#, &second, r#","dtype":"f16","layout":"chw""#),
    ];
    std::fs::write(&cases, good.join("\n")).expect("the cases");
    succeed(&["apply", "--batch", word(&cases)]);
    assert_eq!(Array::read(&first), apply(r#"[{"op":"hflip"},{"op":"resize","size":[5,6]}]"#, &[]));
    assert_eq!((Array::read(&second).descr.as_str(), Array::read(&second).shape[0]), ("<f2", 3));
    let bad = line(r#"[{"op":"nothing"}]"#, &first, "");
    std::fs::write(&cases, format!("{}\n\n{bad}\n", good[0])).expect("the cases");
    let error = fail(&["apply", "--batch", word(&cases)]);
    assert!(error.contains("line 3") && error.contains("nothing"), "{error}");
}

#[test]
fn the_image_that_is_read_is_never_written_over() {
    let folder = tempdir().expect("a folder");
    let copy = folder.path().join("a.jpg");
    std::fs::copy(photo(), &copy).expect("a copy");
    for arguments in [&["decode"][..], &["apply", "--ops", "[]"]] {
        let error = fail(&[arguments, &[word(&copy), "--out", word(&copy)]].concat());
        assert!(error.contains("would overwrite"), "{error}");
    }
    assert_eq!(std::fs::read(&copy).ok(), std::fs::read(photo()).ok());
}

#[test]
fn wrong_usage_exits_with_2() {
    assert_eq!(feedline(&["apply", "--nothing"]).status.code(), Some(2));
    assert_eq!(feedline(&["apply"]).status.code(), Some(2));
}
