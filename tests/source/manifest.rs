//! Manifests that are wrong, shards that are not as their manifest says, and what `pack` refuses beside images.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::fields::{all, cause, refused};
use feedline::error::Result;
use feedline::field::{Field, FieldValue};
use feedline::label::Label;
use feedline::pack::{Manifest, Pack};
use feedline::source::{Folder, Memory, Shards, Source, WithImages, WithMasks};
use feedline_test_support::png;
use std::fs;
use std::path::Path;

/// The archive of these members in a folder with this manifest.
fn opened(manifest: &str, members: &[(&str, &[u8])]) -> Result<Shards> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("manifest.json"), manifest).unwrap();
    crate::write::tar(&folder.path().join("a.tar"), members);
    Shards::folder(folder.path())
}

fn holding(holds: &str) -> String {
    format!(r#"{{"kind": "feedline shards", "classes": ["a"], "holds": {holds}}}"#)
}

const OBJECTS: &[u8] = br#"{"unit": "pixels", "objects": [{"label": 0, "box": [0, 0, 1, 1]}]}"#;
const WHOLE: [(&str, &[u8]); 2] = [("7.jpg", b"x"), ("7.json", OBJECTS)];

#[test]
fn a_manifest_of_ours_with_a_mistake_is_refused_and_another_ones_is_left_alone() {
    let whole = holding(r#"{"objects": "json"}"#);
    assert!(matches!(opened(&whole, &WHOLE).unwrap().label(0), Label::Objects(_)));
    for (wrong, words) in [
        (whole.replace("}}", ",}}"), "cannot be understood (key must be"),
        (whole[..whole.len() - 5].to_owned(), "cannot be understood (EOF"),
        (whole.replace("objects", "object"), "unknown field `object`"),
        (whole.replace(r#""classes": ["a"], "#, ""), "missing field `classes`"),
        (holding(r#"{"fields": [{"name": "a", "type": "string", "from": "txt"}]}"#), "`string`"),
        (holding(r#"{"fields": [{"name": "a", "type": "text", "form": "txt"}]}"#), "`form`"),
        (holding(r#"{"objects": "json", "skeleton": {"count": 1000000000000}}"#), "1 to 10000 keypoints"),
        (holding(r#"{"objects": "json", "skeleton": {"count": 2, "flip": [1]}}"#), "lead back"),
        (holding(r#"{"objects": "json", "skeleton": {"count": 2, "flip": [0, 0]}}"#), "lead back"),
    ] {
        refused(opened(&wrong, &WHOLE), &["manifest.json: ", words]);
    }
    for others in ["", "{", "[1, 2]", r#"{"kind": 7}"#, r#"{"kind": "webdataset", "holds": 1}"#, "\u{0}"] {
        assert_eq!(opened(others, &WHOLE).unwrap().label(0), Label::Unlabelled, "{others}");
    }
}

#[test]
fn a_manifest_that_names_no_shards_is_of_those_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("manifest.json"), holding(r#"{"objects": "json"}"#)).unwrap();
    crate::write::tar(&folder.path().join("a.tar"), &WHOLE);
    let one = Shards::open([folder.path().join("a.tar")]).unwrap();
    assert!(matches!(one.label(0), Label::Objects(_)));
}

#[test]
fn members_that_lie_apart_or_are_nowhere_are_refused_where_they_are_wanted() {
    let apart: [(&str, &[u8]); 4] =
        [("6.jpg", b"x"), ("7.jpg", b"x"), ("6.json", OBJECTS), ("7.json", OBJECTS)];
    let holds = holding(r#"{"objects": "json"}"#);
    refused(opened(&holds, &apart), &["the members of 6 lie apart", "--sort=name"]);
    let behind = [apart[2], apart[1], apart[3], apart[0]];
    refused(opened(&holds, &behind), &["the members of 6 lie apart"]);
    // Archives that were joined have stems that come again.
    let joined =
        opened(&holds, &[&WHOLE[..], &[("8.jpg", b"y"), ("8.json", OBJECTS)], &WHOLE].concat()).unwrap();
    assert!((0..3).all(|index| matches!(joined.label(index), Label::Objects(_))));
    // Nobody asks for them here.
    assert_eq!(opened("", &apart).unwrap().len(), 2);
    refused(
        opened(&holding(r#"{"objects": "jsn"}"#), &WHOLE),
        &["says that objects are in the member with the ending `jsn`, and no image has one"],
    );
    refused(opened(&holding(r#"{"objects": "json", "masks": "seg.png"}"#), &WHOLE), &["masks", "`seg.png`"]);
}

#[test]
fn an_archive_that_is_cut_in_a_member_that_nobody_wants_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    crate::write::tar(&path, &[("6.jpg", b"x"), ("6.json", &[b' '; 2000]), ("7.jpg", b"x")]);
    assert_eq!(Shards::open([&path]).unwrap().len(), 2);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(2048).unwrap();
    refused(Shards::open([&path]), &["ends in the middle of 6.json"]);
}

#[test]
fn a_sparse_member_that_nobody_wants_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let mut archive = tar::Builder::new(fs::File::create(&path).unwrap());
    let mut add = |name: &str, kind, size: u64, stored: u64| {
        let mut header = tar::Header::new_gnu();
        header.set_path(name).unwrap();
        header.set_entry_type(kind);
        header.set_size(stored);
        if kind == tar::EntryType::GNUSparse {
            let numbers = &mut header.as_mut_bytes()[386..495];
            // Offset and length of a piece at the start and of one at the end, and the size of the whole.
            for (at, number) in [(0, 0), (12, stored), (24, size), (36, 0), (97, size)] {
                numbers[at..at + 12].copy_from_slice(format!("{number:011o}\0").as_bytes());
            }
        }
        header.set_cksum();
        archive.append(&header, &vec![b'x'; stored as usize][..]).unwrap();
    };
    add("1.jpg", tar::EntryType::Regular, 9, 9);
    add("1.npy", tar::EntryType::GNUSparse, 20 << 20, 512);
    add("2.jpg", tar::EntryType::Regular, 9, 9);
    archive.into_inner().unwrap();
    assert_eq!(Shards::open([&path]).unwrap().len(), 2);
}

#[test]
fn a_part_of_the_shards_need_not_have_what_all_have() {
    let folder = tempfile::tempdir().unwrap();
    let masks = folder.path().join("m");
    for number in 0..2 {
        fs::create_dir_all(folder.path().join("i")).unwrap();
        fs::write(folder.path().join(format!("i/{number}.png")), png::flat([1, 2, 3], 4, 2)).unwrap();
    }
    fs::create_dir(&masks).unwrap();
    fs::write(masks.join("0.png"), grey(4, 2)).unwrap();
    let source = WithMasks::options().allow_missing(true);
    let source = source.open(Folder::flat(folder.path().join("i")).unwrap(), masks).unwrap();
    let out = folder.path().join("o");
    Pack::to(&out).shard_records(1).run(&source, &mut |_| {}).unwrap();
    let last = Shards::open([out.join("shard-000001.tar")]).unwrap();
    assert!(last.has_masks() && !last.mask(0, &mut Vec::new()).unwrap());
    assert!(Shards::folder(&out).unwrap().mask(0, &mut Vec::new()).unwrap());
}

#[test]
fn packing_goes_on_where_the_manifest_does_not_say_where_fields_lay() {
    let folder = tempfile::tempdir().unwrap();
    let tar = folder.path().join("a.tar");
    crate::write::tar(&tar, &[("7.png", &png::flat([1, 2, 3], 4, 2)[..]), ("7.txt", b"a")]);
    let fields = vec![Field::text("caption").from("txt")];
    let source = Shards::options().fields(fields).open([tar]).unwrap();
    let out = folder.path().join("o");
    packed(&out, &source).unwrap();
    let text = fs::read_to_string(out.join("manifest.json")).unwrap();
    let before: String = text.lines().filter(|line| !line.contains("\"source\": \"txt\"")).collect();
    assert!(before.len() < text.len() - 20);
    fs::write(out.join("manifest.json"), before.replace("\"caption.txt\",", "\"caption.txt\"")).unwrap();
    assert_eq!(packed(&out, &source).unwrap().records, 1);
}

#[test]
fn a_box_that_ends_before_it_begins_is_refused() {
    let sized = br#"{"unit": "pixels", "objects": [{"label": 0, "box": [10, 10, 5, 20]}]}"#;
    let holds = holding(r#"{"objects": "json"}"#);
    let refusal = opened(&holds, &[("7.jpg", b"x"), ("7.json", sized)]);
    refused(refusal, &["a.tar/7.jpg: object 0", "ends before it begins"]);
}

/// Folders with one photograph, a mask and a picture each, whose files these are.
fn beside(folder: &Path, mask: &[u8], depth: &[u8]) {
    for (name, file) in [("i/0.png", &png::flat([1, 2, 3], 4, 2)[..]), ("m/0.png", mask), ("d/0.png", depth)]
    {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
}

fn grey(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, width, height);
    encoder.set_color(::png::ColorType::Grayscale);
    let levels = vec![1; (width * height) as usize];
    encoder.write_header().unwrap().write_image_data(&levels).unwrap();
    file
}

fn with_depth(folder: &Path, name: &str) -> WithImages<Folder> {
    let depth = Field::depth(name).from(folder.join("d").to_str().unwrap());
    WithImages::open(Folder::flat(folder.join("i")).unwrap(), [depth]).unwrap()
}

fn packed(out: &Path, source: &dyn Source) -> Result<Manifest> {
    Pack::to(out).run(source, &mut |_| {})
}

#[test]
fn names_of_fields_that_members_have_anyway_are_numbered() {
    let folder = tempfile::tempdir().unwrap();
    let (masks, out) = (folder.path().join("m"), folder.path().join("o"));
    beside(folder.path(), &grey(4, 2), &grey(4, 2));
    let source = WithMasks::open(with_depth(folder.path(), "seg"), masks).unwrap();
    assert_eq!(packed(&out, &source).unwrap().holds.fields[0].from, "field-0.png");
    let shards = Shards::folder(&out).unwrap();
    assert_eq!(all(&shards), [[FieldValue::Bytes(grey(4, 2))]]);
    assert!(shards.mask(0, &mut Vec::new()).unwrap());

    let member = [("7.png", &png::flat([1, 2, 3], 4, 2)[..]), ("7.ids.json", b"[0, 1]")];
    let tar = folder.path().join("a.tar");
    crate::write::tar(&tar, &member);
    let fields = vec![Field::integers("classes").from("ids.json")];
    let source = Shards::options().fields(fields).open([tar]).unwrap();
    let out = folder.path().join("p");
    let held = packed(&out, &source).unwrap().holds.fields.remove(0);
    assert_eq!((held.from.as_str(), held.source.as_deref()), ("field-0.json", Some("ids.json")));
    let shards = Shards::folder(&out).unwrap();
    assert_eq!(shards.label(0), Label::Unlabelled);
    assert_eq!(all(&shards), [[FieldValue::Integers(vec![0, 1])]]);
}

#[test]
fn shards_without_what_is_now_packed_are_other_shards() {
    let folder = tempfile::tempdir().unwrap();
    beside(folder.path(), &grey(4, 2), &grey(4, 2));
    let (images, out) = (Folder::flat(folder.path().join("i")).unwrap(), folder.path().join("o"));
    packed(&out, &images).unwrap();
    let with_masks = WithMasks::open(images.clone(), folder.path().join("m")).unwrap();
    refused(packed(&out, &with_masks), &["shards with other fields, objects or masks"]);
    let out = folder.path().join("p");
    packed(&out, &with_depth(folder.path(), "d")).unwrap();
    fs::rename(folder.path().join("d"), folder.path().join("e")).unwrap();
    let depth = Field::depth("d").from(folder.path().join("e").to_str().unwrap());
    let moved = WithImages::open(images, [depth]).unwrap();
    refused(packed(&out, &moved), &["shards with other fields, objects or masks"]);
}

#[test]
fn masks_and_pictures_that_no_training_can_use_are_left_out() {
    let right = grey(4, 2);
    for (mask, depth, words) in [
        (&right[..], &right[..], None),
        (&grey(5, 5), &right, Some("its mask has 5x5 pixels and the image 4x2")),
        (b"no mask", &right, Some("its mask: ")),
        (&right, &grey(5, 5), Some("its field `d`: it has 5x5 pixels and the image 4x2")),
        (&right, b"no picture", Some("its field `d`: ")),
    ] {
        for quality in [None, Some(80)] {
            let folder = tempfile::tempdir().unwrap();
            beside(folder.path(), mask, depth);
            let masks = folder.path().join("m");
            let source = WithMasks::open(with_depth(folder.path(), "d"), masks).unwrap();
            let mut pack = Pack::to(folder.path().join("o")).skip_bad(true);
            if let Some(quality) = quality {
                pack = pack.quality(quality);
            }
            let done = pack.run(&source, &mut |_| {});
            match words {
                None => assert_eq!((done.as_ref().unwrap().records, done.unwrap().skipped.len()), (1, 0)),
                Some(words) => refused(done, &["0.png: ", words]),
            }
        }
    }
}

#[test]
fn a_picture_above_the_limit_is_refused_wherever_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let file = png::flat([1, 2, 3], 4, 2);
    beside(folder.path(), &grey(4, 2), &grey(4, 2));
    let most = file.len() as u64 - 1;
    let tar = folder.path().join("a.tar");
    crate::write::tar(&tar, &[("7.jpg", b"x"), ("7.two.png", &file)]);
    let fields = vec![Field::image("two").from("two.png")];
    let shards = Shards::options().fields(fields).open([tar]).unwrap().max_file_bytes(most);
    let says = cause(&shards, 0);
    assert!(says.contains("`two`") && says.contains(&format!("max_file_bytes = {most}")), "{says}");

    let depth = with_depth(folder.path(), "d").max_file_bytes(10);
    let says = depth.values(0, &mut Vec::new()).unwrap_err().to_string();
    assert!(says.contains("(0.png): the field `d`") && says.contains("d/0.png: "), "{says}");
    assert!(cause(&depth, 0).contains("max_file_bytes"), "{says}");
}

#[test]
fn memory_is_packed_as_ever() {
    let out = tempfile::tempdir().unwrap();
    let source = Memory::new(vec![("a".into(), png::flat([1, 2, 3], 4, 4), Label::Class(0))]);
    let manifest = packed(out.path(), &source).unwrap();
    assert_eq!((manifest.records, packed(out.path(), &source).unwrap()), (1, manifest.clone()));
}
