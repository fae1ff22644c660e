//! Shards of coefficients: the same pixels, what stays as it is, and what becomes of an interrupted run.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::pack::{PHOTOS, quietly};
use feedline::image::{self, Decoder, Image, Limits};
use feedline::label::Label;
use feedline::pack::{Format, Pack, Profile};
use feedline::source::{Folder, Memory, Shards, Source};
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
        let first = std::fs::read(out.path().join("shard-000000.tar")).unwrap();
        photos.read(0, &mut own).unwrap();
        let sum: String = Sha256::digest(&own).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(first.windows(sum.len()).any(|text| text == sum.as_bytes()), "the JSON names the JPEG");
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
