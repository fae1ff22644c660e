//! Shards of coefficients: the same pixels, what stays as it is, and what becomes of an interrupted run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::pack::{PHOTOS, quietly};
use feedline::field::{Field, FieldValue};
use feedline::image::{self, Decoder, Image, Limits};
use feedline::label::Label;
use feedline::pack::{Format, Pack, Profile};
use feedline::source::{Folder, Memory, Shards, Source, TfRecord};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;

fn pack(out: &Path) -> Pack {
    Pack::to(out).format(Format::Coefficients).shard_records(10)
}

fn pixels(file: &[u8]) -> (image::Format, Vec<u8>) {
    let header = image::parse_header(file).unwrap();
    let mut image = Image::default();
    Decoder::new(Limits::default()).decode(file, &header, header.size.rect(), &mut image).unwrap();
    image.data.truncate(image.stride * image.region.height as usize);
    (header.format, image.data)
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The JSON of every record.
fn abouts(shards: &Path) -> Vec<Value> {
    let shards = Shards::options().fields([Field::json("about").from("json")]).folder(shards).unwrap();
    let mut values = Vec::new();
    let about = |index| {
        shards.values(index, &mut values).unwrap();
        let [FieldValue::Json(text)] = &values[..] else { panic!("{values:?}") };
        serde_json::from_str(text).unwrap()
    };
    (0..shards.len()).map(about).collect()
}

#[test]
fn packed_jpegs_keep_their_pixels_and_labels_and_say_what_they_were() {
    let photos = Folder::open(PHOTOS).unwrap();
    for profile in [Profile::Small, Profile::Fast] {
        let out = tempfile::tempdir().unwrap();
        let manifest = quietly(&pack(out.path()).profile(profile), &photos).unwrap();
        assert_eq!((manifest.records, manifest.settings.format), (photos.len(), Format::Coefficients));
        assert!(manifest.verify(out.path()).unwrap().is_empty());
        let shards = Shards::folder(out.path()).unwrap();
        let (mut own, mut packed, mut converted) = (Vec::new(), Vec::new(), 0);
        for index in 0..photos.len() {
            photos.read(index, &mut own).unwrap();
            shards.read(index, &mut packed).unwrap();
            assert_eq!(shards.label(index), photos.label(index));
            let (wanted, found) = (pixels(&own), pixels(&packed));
            assert!(wanted.1 == found.1, "pixels of record {index}");
            assert_eq!(found.0 == image::Format::Coefficients, wanted.0 == image::Format::Jpeg);
            converted += usize::from(found.0 == image::Format::Coefficients);
        }
        assert!(converted >= 40);
        for (index, about) in abouts(out.path()).iter().enumerate() {
            photos.read(index, &mut own).unwrap();
            let sum = (pixels(&own).0 == image::Format::Jpeg).then(|| sha256(&own));
            assert_eq!(about["jpeg_sha256"].as_str(), sum.as_deref(), "record {index}");
        }
    }
}

#[test]
fn what_has_no_coefficients_stays_as_it_is() {
    let photos = Folder::open(PHOTOS).unwrap();
    let mut jpeg = Vec::new();
    photos.read(0, &mut jpeg).unwrap();
    let mut damaged = jpeg.clone();
    let end = damaged.len() - 2;
    damaged.splice(end..end, [0x12; 50]);
    let arithmetic = include_bytes!("../decode/arithmetic/progressive.jpg").to_vec();
    let png = feedline_test_support::png::flat([9, 90, 200], 7, 5);
    let kept = [damaged, arithmetic, png];
    let records = kept.iter().enumerate().map(|(i, file)| (i.to_string(), file.clone(), Label::Unlabelled));
    let out = tempfile::tempdir().unwrap();
    quietly(&pack(out.path()), &Memory::new(records.collect())).unwrap();
    let shards = Shards::folder(out.path()).unwrap();
    let mut packed = Vec::new();
    for (index, file) in kept.iter().enumerate() {
        shards.read(index, &mut packed).unwrap();
        assert!(packed == *file, "record {index}");
    }
}

#[test]
fn what_is_resized_first_is_held_as_coefficients_too() {
    let photos = Folder::open(PHOTOS).unwrap();
    let [resized, both] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    quietly(&Pack::to(resized.path()).resize(100), &photos).unwrap();
    quietly(&pack(both.path()).resize(100), &photos).unwrap();
    let (resized, both) = (Shards::folder(resized.path()).unwrap(), Shards::folder(both.path()).unwrap());
    let (mut wanted, mut found) = (Vec::new(), Vec::new());
    for index in 0..photos.len() {
        resized.read(index, &mut wanted).unwrap();
        both.read(index, &mut found).unwrap();
        assert!(pixels(&wanted).1 == pixels(&found).1, "record {index}");
    }
}

#[test]
fn coefficients_that_are_packed_again_stay_as_they_are_and_say_what_they_were() {
    let photos = Folder::open(PHOTOS).unwrap();
    let [first, again, resized] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    quietly(&pack(first.path()), &photos).unwrap();
    let packed = Shards::folder(first.path()).unwrap();
    let wanted = abouts(first.path());
    for settings in [pack(again.path()), Pack::to(again.path())] {
        fs::remove_dir_all(again.path()).unwrap();
        quietly(&settings, &packed).unwrap();
        let shards = Shards::folder(again.path()).unwrap();
        let (mut own, mut found) = (Vec::new(), Vec::new());
        for (index, (about, was)) in abouts(again.path()).iter().zip(&wanted).enumerate() {
            packed.read(index, &mut own).unwrap();
            shards.read(index, &mut found).unwrap();
            assert!(own == found, "record {index}");
            assert_eq!(about["jpeg_sha256"], was["jpeg_sha256"], "record {index}");
            assert_eq!(shards.jpeg_sha256(index).unwrap().as_deref(), was["jpeg_sha256"].as_str());
        }
    }
    quietly(&Pack::to(resized.path()).resize(100), &packed).unwrap();
    let other = abouts(resized.path());
    let is_kept = |(about, was): &(&Value, &Value)| !about["jpeg_sha256"].is_null() && about == was;
    assert_eq!(other.iter().zip(&wanted).filter(is_kept).count(), 0, "they are of other images");
}

#[test]
fn the_jpeg_is_named_by_the_json_of_the_own_sample_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (archive, sum) = (folder.path().join("some.archive.tar"), "ab".repeat(32));
    let says = format!("{{\"jpeg_sha256\": \"{sum}\"}}");
    let long = vec![b'x'; 9000];
    let image = &b"an image"[..];
    let members: [(&str, &[u8]); 12] = [
        ("./in/a.fjc", image),
        ("./in/a.txt", &long),
        ("./in/a.json", says.as_bytes()),
        ("b.fjc", image),
        ("c.json", says.as_bytes()),
        ("c.fjc", image),
        ("d.fjc", image),
        ("d.json", b"[no JSON"),
        ("e.fjc", image),
        ("e.json", b"{\"jpeg_sha256\": 7}"),
        ("f.json", says.as_bytes()),
        ("g.fjc", image),
    ];
    let mut tar = tar::Builder::new(Vec::new());
    for (path, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        // As tar writes the names that it is given.
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_cksum();
        tar.append(&header, content).unwrap();
    }
    let whole = tar.into_inner().unwrap();
    // Some writers leave out the two blocks that end an archive.
    for end in [whole.len(), whole.len() - 1024] {
        fs::write(&archive, &whole[..end]).unwrap();
        let shards = Shards::open([&archive]).unwrap();
        let found = (0..shards.len()).map(|index| shards.jpeg_sha256(index).unwrap());
        assert_eq!(found.collect::<Vec<_>>(), [Some(sum.clone()), None, None, None, None, None]);
        assert!(shards.jpeg_sha256(6).unwrap_err().to_string().contains("there is none at 6"));
        fs::remove_file(&archive).unwrap();
        // A copy has no open file.
        let gone = shards.clone().jpeg_sha256(0).unwrap_err().to_string();
        assert!(gone.contains("a.fjc") && gone.contains("restore the archive"), "{gone}");
    }
}

#[test]
fn tfrecord_files_hold_coefficients_as_they_are_and_say_so() {
    let [first, again] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    quietly(&pack(first.path()), &Folder::open(PHOTOS).unwrap()).unwrap();
    let packed = Shards::folder(first.path()).unwrap();
    quietly(&Pack::to(again.path()).format(Format::TfRecord), &packed).unwrap();
    let format = Field::text("format").from("image/format");
    let records = TfRecord::options().fields([format]).open(again.path()).unwrap();
    let (mut own, mut found, mut values) = (Vec::new(), Vec::new(), Vec::new());
    packed.read(0, &mut own).unwrap();
    records.read(0, &mut found).unwrap();
    records.values(0, &mut values).unwrap();
    assert!(own == found && values == ["fjc".into()], "{values:?}");
}

#[test]
fn a_profile_without_coefficients_is_refused() {
    let photos = Folder::open(PHOTOS).unwrap();
    for format in [Format::Tar, Format::TfRecord] {
        let out = tempfile::tempdir().unwrap();
        let error = quietly(&Pack::to(out.path()).format(format).profile(Profile::Fast), &photos);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("profile") && error.contains("set the format `coefficients`"), "{error}");
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 0, "nothing is written");
    }
}

#[test]
fn another_profile_is_another_set_of_shards() {
    let out = tempfile::tempdir().unwrap();
    let photos = Folder::open(PHOTOS).unwrap();
    quietly(&pack(out.path()), &photos).unwrap();
    let error = quietly(&pack(out.path()).profile(Profile::Fast), &photos).unwrap_err().to_string();
    assert!(error.contains("other settings"), "{error}");
}
