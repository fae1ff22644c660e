//! COCO annotations: good ones, and every bad one of docs/labels.md.

use super::{objects, says, write};
use feedline::error::Result;
use feedline::label::{Keypoint, Unit};
use feedline::source::{Coco, OnBadLabel, Source};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Two images of 20 x 10 pixels and two categories, with these annotations.
fn data_set(annotations: Value) -> TempDir {
    whole(json!({
        "info": {"year": 2017, "nested": [[{}]]},
        "images": [
            {"id": 9, "file_name": "b.jpg", "width": 20, "height": 10, "license": 3},
            {"id": 4, "file_name": "deep/a.jpg", "width": 20, "height": 10},
        ],
        "annotations": annotations,
        "categories": [{"id": 18, "name": "dog", "supercategory": "animal"}, {"id": 3, "name": "cat"}],
    }))
}

fn whole(json: Value) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.json", &json.to_string()), ("images/b.jpg", ""), ("images/deep/a.jpg", "")]);
    folder
}

fn open(folder: &Path) -> Result<Coco> {
    Coco::open(folder.join("a.json"), folder.join("images"))
}

/// An annotation of image 4 and category 18, with what `more` says of it.
fn annotation(more: Value) -> Value {
    let mut annotation =
        json!({"id": 77, "image_id": 4, "category_id": 18, "bbox": [1, 2, 3, 4], "area": 12.5});
    for (key, value) in more.as_object().unwrap() {
        annotation[key] = value.clone();
    }
    annotation
}

#[test]
fn images_come_in_the_order_of_ids_and_classes_count_the_categories() {
    let folder =
        data_set(json!([annotation(json!({})), annotation(json!({"category_id": 3, "image_id": 9}))]));
    let source = open(folder.path()).unwrap();
    assert_eq!((source.key(0).as_ref(), source.key(1).as_ref()), ("deep/a.jpg", "b.jpg"));
    assert_eq!((source.image_id(0), source.image_id(1), source.image_id(2)), (Some(4), Some(9), None));
    assert_eq!(
        (source.classes(), source.category_ids()),
        (&["cat".to_owned(), "dog".into()][..], &[3, 18][..])
    );
    assert_eq!(source.image_size(0), Some([20, 10]));
    let read = objects(&source, 0);
    assert_eq!((read.unit, read.list.len(), read.list[0].class), (Unit::Pixels, 1, 1));
    assert_eq!(read.list[0].bbox, [1.0, 2.0, 4.0, 6.0]);
    assert_eq!(objects(&source, 1).list[0].class, 0);
}

#[test]
fn the_parts_of_an_object_are_polygons_of_one_object() {
    let parts = json!([[1, 1, 5, 1, 5, 5], [6, 6, 8, 6, 8, 8.5, 6, 8]]);
    let folder = data_set(json!([
        annotation(json!({"segmentation": parts})),
        annotation(json!({"segmentation": []}))
    ]));
    let list = objects(&open(folder.path()).unwrap(), 0).list.clone();
    let second = vec![[6.0, 6.0], [8.0, 6.0], [8.0, 8.5], [6.0, 8.0]];
    assert_eq!(list[0].polygons, [vec![[1.0, 1.0], [5.0, 1.0], [5.0, 5.0]], second]);
    assert_eq!(list[1].polygons.len(), 0);
}

#[test]
fn a_crowd_is_kept_with_the_outline_of_its_mask() {
    // Column 1, rows 2 to 4; column 2, rows 2 to 4: 12 pixels ahead, 3, 7 between, 3, the rest.
    let list = json!({"size": [10, 20], "counts": [12, 3, 7, 3, 175]});
    // The same as differences: 175 follows 7, so 168 = 0b101_01000; 3 follows 3.
    let text = json!({"size": [10, 20], "counts": "<370X5"});
    for mask in [list, text] {
        let crowd = json!({"iscrowd": 1, "segmentation": mask, "bbox": null});
        let folder = data_set(json!([annotation(crowd)]));
        let object = objects(&open(folder.path()).unwrap(), 0).list[0].clone();
        assert!(object.crowd);
        assert_eq!(object.bbox, [1.0, 2.0, 3.0, 5.0]);
        let mut corners = object.polygons[0].clone();
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(
            (object.polygons.len(), corners),
            (1, vec![[1.0, 2.0], [1.0, 5.0], [3.0, 2.0], [3.0, 5.0]])
        );
    }
}

#[test]
fn keypoints_are_named_by_their_category_and_change_sides_in_a_mirror() {
    let mut folder_json = json!({
        "images": [{"id": 4, "file_name": "b.jpg", "width": 20, "height": 10}],
        "annotations": [annotation(json!({"keypoints": [1, 2, 2, 3, 4, 1, 50, 60, 0], "num_keypoints": 2}))],
        "categories": [{"id": 18, "name": "dog", "keypoints": ["nose", "left_ear", "right_ear"], "skeleton": [[1, 2]]}],
    });
    let source = open(whole(folder_json.clone()).path()).unwrap();
    let skeleton = source.skeleton().unwrap();
    assert_eq!((skeleton.count, &skeleton.flip), (3, &vec![0, 2, 1]));
    let point = |x, y, visibility| Keypoint { x, y, visibility };
    let read = objects(&source, 0);
    assert_eq!(read.list[0].keypoints, [point(1.0, 2.0, 2.0), point(3.0, 4.0, 1.0), Keypoint::default()]);
    assert_eq!(read.skeleton.as_deref(), Some(skeleton));
    for (keypoints, cause) in [
        (json!([1, 2, 2, 3, 4, 1]), "2 keypoints, but the category names 3"),
        (json!([1, 2, 2, 3]), "4 numbers of keypoints"),
        (json!([1, 2, 2, 3, 4, 7, 0, 0, 0]), "the visibility 7"),
        (json!([1, 20, 2, 3, 4, 1, 0, 0, 0]), "20 is beyond the image of 20 x 10"),
    ] {
        folder_json["annotations"][0]["keypoints"] = keypoints;
        says(&open(whole(folder_json.clone()).path()).unwrap_err(), &["annotation 77 (image 4)", cause]);
    }
}

#[test]
fn every_kind_of_bad_annotation_is_named_with_its_ids() {
    let mask = |size: Value, counts: Value| json!({"segmentation": {"size": size, "counts": counts}});
    let cases = [
        (json!({"bbox": [1, 2, 0, 4]}), "the size 0 x 4"),
        (json!({"bbox": [1, 2, 3, -4]}), "the size 3 x -4"),
        (json!({"bbox": [1, 2, 3]}), "the box has 3 numbers"),
        (json!({"bbox": null}), "neither a box nor an outline"),
        (json!({"bbox": [1, 2, 3, 1e300]}), "no size"),
        (json!({"bbox": [15, 2, 10, 4]}), "25 is beyond the image of 20 x 10"),
        (json!({"bbox": [-1, 2, 10, 4]}), "-1 is beyond the image"),
        (json!({"bbox": [20, 2, 0.1, 4]}), "nothing of the object is inside"),
        (json!({"category_id": 5}), "no category with the id 5"),
        (json!({"image_id": 5}), "no image with the id 5"),
        (json!({"segmentation": [[1, 2, 3, 4]]}), "a polygon of 4 numbers"),
        (json!({"segmentation": [[1, 2, 3, 4, 5, 6, 7]]}), "a polygon of 7 numbers"),
        (json!({"segmentation": [[1, 2, 3, 4, 5, 16]]}), "16 is beyond"),
        (json!({"segmentation": [[1, 2, 3, 4, 5, 6]]}), "no area"),
        (json!({"segmentation": {"size": [10, 20]}}), "`size` and `counts`"),
        (mask(json!([10, 20]), json!([12, 3])), "add up to 15, but the mask has 200"),
        (mask(json!([20, 10]), json!([12, 3, 185])), "the mask has 10 x 20 pixels, the image 20 x 10"),
        (mask(json!([10, 20]), json!([200])), "the mask is empty"),
        (mask(json!([10, 20]), json!("\u{e9}")), "has no place among run lengths"),
        (mask(json!([10, 20]), json!("P")), "in the middle of a number"),
    ];
    for (more, cause) in cases {
        let folder = data_set(json!([annotation(json!({"bbox": [0, 0, 20, 10]})), annotation(more.clone())]));
        let error = open(folder.path()).unwrap_err();
        says(&error, &["1 bad label: ", "a.json, annotation 77 (image ", cause, "on_bad_label"]);
        let skipping = Coco::options().on_bad_label(OnBadLabel::SkipObject);
        let skipping = skipping.open(folder.path().join("a.json"), folder.path().join("images")).unwrap();
        assert_eq!((skipping.report().bad_labels, objects(&skipping, 0).list.len()), (1, 1), "{more}");
    }
}

#[test]
fn an_image_with_a_bad_annotation_can_be_left_out() {
    let folder =
        data_set(json!([annotation(json!({"bbox": [0, 0, 0, 0]})), annotation(json!({"image_id": 9}))]));
    let source = Coco::options().on_bad_label(OnBadLabel::SkipImage);
    let source = source.open(folder.path().join("a.json"), folder.path().join("images")).unwrap();
    assert_eq!((source.len(), source.image_id(0), source.report().skipped_images), (1, Some(9), 1));
}

#[test]
fn an_object_that_is_there_twice_is_taken_once_and_what_reaches_out_is_cut() {
    let out = json!({"bbox": [-0.1, 0, 20.2, 10]});
    let folder = data_set(json!([annotation(json!({})), annotation(json!({"id": 78})), annotation(out)]));
    let source = open(folder.path()).unwrap();
    let report = source.report();
    assert_eq!((report.objects, report.duplicates, report.clipped, report.backgrounds), (2, 1, 1, 1));
    assert_eq!(objects(&source, 0).list[1].bbox, [0.0, 0.0, 20.0, 10.0]);
}

#[test]
fn a_file_that_is_no_coco_json_is_refused_with_the_place() {
    let good = json!({
        "images": [{"id": 1, "file_name": "b.jpg"}],
        "annotations": [],
        "categories": [{"id": 1, "name": "a"}],
    });
    let with = |key: &str, value: Value| {
        let mut json = good.clone();
        json[key] = value;
        json.to_string()
    };
    let image = json!({"id": 1, "file_name": "b.jpg"});
    let nose = json!({"id": 2, "name": "b", "keypoints": ["nose"]});
    let eye = json!({"id": 1, "name": "a", "keypoints": ["eye"]});
    for (text, words) in [
        ("[]".to_owned(), &["line 1 column", "an object with `images`"][..]),
        ("{\"images\": [}".to_owned(), &["line 1 column 13"]),
        ("{\"images\": []".to_owned(), &["EOF"]),
        (good.to_string() + "x", &["trailing characters"]),
        (json!({"annotations": [], "categories": []}).to_string(), &["no list `images`"]),
        (json!({"annotations": [], "images": []}).to_string(), &["no list `categories`"]),
        (with("images", json!([])), &["names no image"]),
        (with("images", json!([image, image])), &["two images have the id 1"]),
        (with("categories", json!([eye, eye])), &["two categories have the id 1"]),
        (with("categories", json!([eye, nose])), &["different keypoints"]),
        (with("annotations", json!([{"id": 5}])), &["missing field `image_id`", "line 1 column"]),
        (
            with("annotations", json!([annotation(json!({"bbox": ["1", 2, 3, 4]}))])),
            &["line 1 column", "mend"],
        ),
        (with("annotations", json!([annotation(json!({"iscrowd": 2}))])), &["iscrowd is 2"]),
        (with("annotations", json!(7)), &["a list of annotations"]),
        (good.to_string().replace("[]", "[{\"bbox\": [NaN]}]"), &["line 1 column"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("a.json", &text), ("images/b.jpg", "")]);
        says(&open(folder.path()).unwrap_err(), &[words, &["a.json"]].concat());
    }
}

#[test]
fn a_folder_without_the_images_is_refused() {
    let folder = data_set(json!([]));
    let error = Coco::open(folder.path().join("a.json"), folder.path()).unwrap_err();
    says(&error, &["a.jpg is not there", "name the folder"]);
}
