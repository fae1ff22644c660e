//! YOLO and COCO data at URLs: the samples and labels of the same files on a disk, or an error that says what is wrong.

use crate::faults::storm;
use crate::server::{Act, Request, Server};
use crate::support::{are_alike, data_at, options, picture, says, uploaded, write};
use feedline::geometry::Size;
use feedline::label::Label;
use feedline::loader::Loader;
use feedline::options::{DataOptions, Kind};
use feedline::source::{self, Coco, OnBadLabel, Source, Yolo};
use std::path::Path;

const YAML: &str = "train: images/train\nval: val.txt\nnames: [cat, dog]\n";

/// A YOLO data set in the folder `set`: boxes, polygons, images without labels, folders below each other, and a list.
pub(crate) fn yolo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[
            ("set/data.yaml", YAML.as_bytes()),
            ("set/val.txt", b"./images/val/9.png\nimages/val/8.png\nimages/val/11.png\n"),
        ],
    );
    for number in 0..12 {
        let place = match number {
            0..4 => format!("train/{number}"),
            4..8 => format!("train/more/{number}"),
            _ => format!("val/{number}"),
        };
        write(folder.path(), &[(&format!("set/images/{place}.png"), &picture(number))]);
        let class = number % 2;
        let text = match number % 4 {
            0 => format!("{class} 0.5 0.5 0.25 0.{}\n0 0.1 0.1 0.1 0.1\n", number + 2),
            1 => format!("{class} 0.1 0.1 0.9 0.1 0.9 0.{}\n", number + 2),
            2 => String::new(),
            _ => continue,
        };
        write(folder.path(), &[(&format!("set/labels/{place}.txt"), text.as_bytes())]);
    }
    folder
}

/// Masks for some images of [`yolo`], in the folder `masks` beside it.
pub(crate) fn masks_of(folder: &Path) {
    for name in ["0", "2", "more/5"] {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 4, 4);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[name.len() as u8; 16]).unwrap();
        write(folder, &[(&format!("masks/train/{name}.png"), &bytes)]);
    }
}

fn labels_asked_for(seen: &[Request]) -> usize {
    let is_label = |request: &&Request| request.path.contains("/labels/") && request.method == "GET";
    seen.iter().filter(is_label).count()
}

#[test]
fn a_yolo_data_set_below_a_prefix_is_that_of_a_folder_through_a_storm_too() {
    let folder = yolo();
    let local = Yolo::open(folder.path().join("set")).unwrap();
    assert_eq!((local.len(), local.report().objects, local.report().backgrounds), (8, 6, 4));
    let server = Server::start(uploaded(folder.path()), false);
    let mut retries = 0;
    for (seed, url) in (1..).zip(["s3://bucket/set", "s3://bucket/set/", "s3://bucket/set/data.yaml"]) {
        server.rule(storm(seed));
        let remote = options(&server).open(url).unwrap();
        are_alike(&remote, &local);
        assert_eq!(remote.report().as_ref(), Some(local.report()));
        retries += remote.io_stats().retries;
    }
    assert!(retries > 12, "the storm was none: {retries}");
    server.rule(|_| Act::Serve);
    let before = server.seen().len();
    options(&server).open("s3://bucket/set").unwrap();
    // One request for each label file that there is, and none for those that are not.
    assert_eq!(labels_asked_for(&server.seen()[before..]), 6);
    let val = Yolo::options().split("val").open(folder.path().join("set")).unwrap();
    are_alike(&options(&server).split("val").open("s3://bucket/set").unwrap(), &val);
    // Without a data.yaml.
    std::fs::remove_file(folder.path().join("set/data.yaml")).unwrap();
    let all = Yolo::open(folder.path().join("set")).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    are_alike(&options(&server).open("s3://bucket/set").unwrap(), &all);
    let train = Yolo::options().split("train").open(folder.path().join("set")).unwrap();
    are_alike(
        &options(&server).yolo(Yolo::options().split("train")).open("s3://bucket/set").unwrap(),
        &train,
    );
    // Of a prefix that looks like one, the images alone.
    assert_eq!(options(&server).flat(true).open("s3://bucket/set").unwrap().label(0), Label::Unlabelled);
}

#[test]
fn behind_a_plain_server_a_data_yaml_names_lists() {
    let folder = yolo();
    let local = Yolo::options().split("val").open(folder.path().join("set")).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    let url = format!("{}/bucket/set/data.yaml", server.url());
    server.rule(storm(3));
    let remote = options(&server).split("val").open(&url).unwrap();
    are_alike(&remote, &local);
    assert_eq!(remote.report().unwrap().backgrounds, 1, "the missing label file");
    server.rule(|_| Act::Serve);
    says(options(&server).open(&url), &["set/images/train", "cannot say what"]);
    server.put("bucket/set/empty.txt", b"images/val/7.png\n".to_vec());
    server.put("bucket/set/other.yaml", YAML.replace("val.txt", "empty.txt").into_bytes());
    let other = format!("{}/bucket/set/other.yaml", server.url());
    says(
        options(&server).split("val").open(&other),
        &["none of 1 images has a label file", "labels/val/7.txt"],
    );
}

#[test]
fn labels_are_kept_in_a_file_and_on_disk_until_one_changes() {
    let (folder, kept) = (yolo(), tempfile::tempdir().unwrap());
    let local = Yolo::open(folder.path().join("set")).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    let cached = |url: &str, split: &str| {
        let how = Yolo::options().cache(kept.path().join(format!("{split}.labels")));
        let remote = options(&server).yolo(how).split(split).open(url).unwrap();
        (remote.report().unwrap().cache.unwrap(), remote)
    };
    let http = format!("{}/bucket/set/data.yaml", server.url());
    for (url, split, asked) in [("s3://bucket/set", "train", 6), (&http, "val", 3)] {
        let before = server.seen().len();
        assert!(cached(url, split).0.contains("was not there yet"));
        assert_eq!(labels_asked_for(&server.seen()[before..]), asked, "{url}");
        let before = server.seen().len();
        let (told, remote) = cached(url, split);
        assert!(told.contains("gave the labels"), "{told}");
        assert_eq!(labels_asked_for(&server.seen()[before..]), 0, "{url}");
        if split == "train" {
            are_alike(&remote, &local);
        }
    }
    server.put("bucket/set/labels/train/1.txt", b"1 0.5 0.5 0.5 0.5\n".to_vec());
    let (told, remote) = cached("s3://bucket/set", "train");
    assert!(told.contains("s3://bucket/set/labels/train/1.txt has changed"), "{told}");
    assert_ne!(remote.label(1), local.label(1));
    // The cache of objects keeps label files one by one.
    let disk = kept.path().join("disk");
    let open = || options(&server).cache(&disk, 1 << 20).open("s3://bucket/set").unwrap();
    are_alike(&open(), &remote);
    server.put("bucket/set/labels/train/1.txt", b"0 0.5 0.5 0.5 0.5\n".to_vec());
    let before = server.seen().len();
    assert_ne!(open().label(1), remote.label(1));
    assert_eq!(labels_asked_for(&server.seen()[before..]), 1);
}

#[test]
fn labels_that_are_bad_denied_or_gone_are_said_with_their_url() {
    let folder = yolo();
    write(folder.path(), &[("set/labels/train/2.txt", b"7 0.5 0.5 0.1 0.1\n")]);
    let server = Server::start(uploaded(folder.path()), false);
    let open = || options(&server).open("s3://bucket/set");
    says(open(), &["1 bad label", "s3://bucket/set/labels/train/2.txt, line 1", "on_bad_label"]);
    let skipping = Yolo::options().on_bad_label(OnBadLabel::SkipImage);
    let lenient = || options(&server).yolo(skipping.clone()).open("s3://bucket/set").unwrap();
    let local = skipping.clone().open(folder.path().join("set")).unwrap();
    are_alike(&lenient(), &local);
    server.put("bucket/set/labels/train/2.txt", vec![b' '; (64 << 20) + 1]);
    says(open(), &["1 bad label", "s3://bucket/set/labels/train/2.txt", "more than 67108864 bytes"]);
    are_alike(&lenient(), &local);
    server.put("bucket/set/labels/train/2.txt", Vec::new());
    for (status, words) in [(403, ["403", "credentials"]), (404, ["404", "open the data set again"])] {
        server.rule(move |request| match request.path.ends_with("labels/train/0.txt") {
            true => Act::Refuse(status, String::new()),
            false => Act::Serve,
        });
        says(open(), &["s3://bucket/set/labels/train/0.txt", words[0], words[1]]);
    }
    server.rule(|_| Act::Serve);
    server.put("bucket/set/data.yaml", YAML.replace("images/train", "images/none").into_bytes());
    says(open(), &["s3://bucket/set/data.yaml", "is not at s3://bucket/set/images/none", "root"]);
    server.put("bucket/set/data.yaml", b"train: [".to_vec());
    says(open(), &["s3://bucket/set/data.yaml", "mend the YAML"]);
    says(
        options(&server).open("s3://bucket/none.yaml"),
        &["s3://bucket/none.yaml is not there", "data.yaml"],
    );
    let rooted = |root: &str| {
        server.put("bucket/far/data.yaml", YAML.as_bytes().to_vec());
        options(&server).yolo(Yolo::options().split("val").root(root)).open("s3://bucket/far/data.yaml")
    };
    assert_eq!(rooted("s3://bucket/set").unwrap().len(), 3);
    says(rooted("/local"), &["no URL of a remote data set"]);
}

fn coco() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let image = |id: usize| format!(r#"{{"id": {id}, "file_name": "a/{id}.png", "width": 4, "height": 4}}"#);
    let images: Vec<String> = (0..5).map(image).collect();
    let annotation = |id: usize| {
        format!(
            r#"{{"id": {id}, "image_id": {}, "category_id": 3, "bbox": [0, 1, {}, 2]}}"#,
            id % 4,
            1 + id % 3
        )
    };
    let annotations: Vec<String> = (0..7).map(annotation).collect();
    let json = format!(
        r#"{{"images": [{}], "annotations": [{}], "categories": [{{"id": 3, "name": "cat"}}]}}"#,
        images.join(","),
        annotations.join(",")
    );
    write(folder.path(), &[("set/coco.json", json.as_bytes())]);
    for number in 0..5 {
        write(folder.path(), &[(&format!("set/a/{number}.png"), &picture(number))]);
        write(folder.path(), &[(&format!("far/a/{number}.png"), &picture(50 + number))]);
    }
    folder
}

#[test]
fn coco_annotations_are_read_from_a_url_or_beside_remote_images() {
    let folder = coco();
    let json = folder.path().join("set/coco.json");
    let local = Coco::open(&json, folder.path().join("set")).unwrap();
    let far = Coco::open(&json, folder.path().join("far")).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    for (seed, root) in (1..).zip(["s3://bucket".to_owned(), format!("{}/bucket", server.url())]) {
        server.rule(storm(seed));
        let url = format!("{root}/set/coco.json");
        let remote = options(&server).open(&url).unwrap();
        are_alike(&remote, &local);
        assert_eq!((remote.report().as_ref(), remote.category_ids()), (Some(local.report()), &[3][..]));
        assert_eq!((remote.image_id(4), remote.image_size(4)), (Some(4), Some([4, 4])));
        let images = format!("{root}/far");
        are_alike(&options(&server).image_dir(&images).open(&url).unwrap(), &far);
        are_alike(&options(&server).image_dir(&images).open(json.to_str().unwrap()).unwrap(), &far);
    }
    let one = options(&server).image_dir("s3://bucket/far");
    are_alike(&one.open(&format!("{}/bucket/set/coco.json", server.url())).unwrap(), &far);
}

#[test]
fn coco_annotations_that_are_gone_wrong_or_of_other_images_are_refused_with_the_url() {
    let folder = coco();
    let server = Server::start(uploaded(folder.path()), false);
    let open = |url: &str| options(&server).open(url);
    says(open("s3://bucket/set/none.json"), &["s3://bucket/set/none.json", "404", "restore the object"]);
    server.put("bucket/set/bad.json", b"{\"images\": [}".to_vec());
    says(open("s3://bucket/set/bad.json"), &["s3://bucket/set/bad.json", "line 1", "mend the JSON"]);
    let elsewhere = options(&server).image_dir("s3://bucket/nowhere").open("s3://bucket/set/coco.json");
    says(elsewhere, &["s3://bucket/nowhere/a/0.png is not there", "file_name"]);
    says(options(&server).image_dir("far").open("s3://bucket/set/coco.json"), &["`far` is no URL"]);
    let (kept, asked) = (tempfile::tempdir().unwrap(), |seen: &[Request]| {
        seen.iter().filter(|request| request.path.ends_with(".json") && request.method == "GET").count()
    });
    let cached = || {
        let how = Coco::options().cache(kept.path().join("labels"));
        let remote = options(&server).coco(how).open("s3://bucket/set/coco.json").unwrap();
        remote.report().unwrap().cache.unwrap()
    };
    assert!(cached().contains("was not there yet"));
    let before = server.seen().len();
    assert!(cached().contains("gave the labels"));
    assert_eq!(asked(&server.seen()[before..]), 0);
    // Another version appears between the look at the object and its reading.
    let changed = server.seen().len();
    server.rule(move |request| match request.path.ends_with("coco.json") && request.method == "GET" {
        true => Act::Refuse(412, String::new()),
        false => Act::Serve,
    });
    says(open("s3://bucket/set/coco.json"), &["s3://bucket/set/coco.json", "412", "open the data set again"]);
    assert!(server.seen().len() > changed);
}

#[test]
fn options_open_labelled_data_at_urls_for_a_loader() {
    let (folder, coco) = (yolo(), coco());
    let mut objects = uploaded(folder.path());
    objects.extend(uploaded(coco.path()));
    let server = Server::start(objects, false);
    let opened = |url: &str, more: DataOptions| source::open(&data_at(&server, url, more)).unwrap();
    let yolo = opened("s3://bucket/set", DataOptions { split: Some("val".into()), ..Default::default() });
    assert_eq!((yolo.kind, yolo.objects, yolo.labels.unwrap().objects), (Kind::Remote, true, 3));
    let loader =
        Loader::builder_boxed(yolo.source).batch_size(2).output_size(Size::new(4, 4)).build().unwrap();
    assert!(loader.epoch(0).next().unwrap().unwrap().objects().is_some());
    let local = coco.path().join("set/coco.json");
    let more = DataOptions { image_dir: Some("s3://bucket/far".into()), ..Default::default() };
    let coco = opened(local.to_str().unwrap(), more);
    assert_eq!((coco.kind, coco.objects, coco.stated_sizes.len()), (Kind::Remote, true, 5));
    assert_eq!(coco.labels.unwrap().backgrounds, 1);
}
