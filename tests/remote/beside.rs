//! Masks and second images in stores, beside images wherever those are.

use crate::faults::storm;
use crate::labelled::{masks_of, yolo};
use crate::server::{Act, Server};
use crate::support::{are_alike, data_at, options, picture, says, uploaded, write};
use feedline::field::Field;
use feedline::options::{DataOptions, Fields};
use feedline::source::{self, Folder, List, MaskOptions, Source, WithImages, WithMasks, Yolo};
use std::path::Path;

/// Class folders in `day`, and a second image for each in `night`.
fn pairs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..9 {
        let name = format!("{}/{number} é.png", number % 2);
        write(folder.path(), &[(&format!("day/{name}"), &picture(number))]);
        write(folder.path(), &[(&format!("night/{name}"), &picture(100 + number))]);
    }
    folder
}

fn night(place: &Path) -> [Field; 1] {
    [Field::image("night").from(place.to_str().unwrap())]
}

/// Fields have another place; all else is alike.
fn has_the_values_of(one: &dyn Source, other: &dyn Source) {
    let values = |source: &dyn Source, index| {
        let mut values = Vec::new();
        source.values(index, &mut values).unwrap();
        values
    };
    assert_eq!(one.len(), other.len());
    assert!((0..one.len()).all(|index| values(one, index) == values(other, index)));
}

#[test]
fn second_images_below_a_url_are_those_of_a_folder() {
    let folder = pairs();
    let local = Folder::open(folder.path().join("day")).unwrap();
    let local = WithImages::open(local, night(&folder.path().join("night"))).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    server.rule(storm(7));
    let how = options(&server);
    let url = night(Path::new("s3://bucket/night"));
    let both = how.images(how.clone().open("s3://bucket/day").unwrap(), url.clone()).unwrap();
    has_the_values_of(&both, &local);
    let beside_local = how.images(Folder::open(folder.path().join("day")).unwrap(), url).unwrap();
    has_the_values_of(&beside_local, &local);
    assert!(beside_local.io_stats().requests >= 9, "{:?}", beside_local.io_stats());
    let fields: Fields =
        serde_json::from_str(r#"{"night": {"type": "image", "from": "s3://bucket/night"}}"#).unwrap();
    let asked = DataOptions { fields: Some(fields), ..DataOptions::default() };
    for data in ["s3://bucket/day", folder.path().join("day").to_str().unwrap()] {
        let opened = source::open(&data_at(&server, data, asked.clone())).unwrap();
        has_the_values_of(&opened.source, &local);
    }
    server.rule(|_| Act::Serve);
    server.put("bucket/night/0/0 é.png", picture(7));
    says(both.values(0, &mut Vec::new()), &["0/0 é.png", "not the one that was there"]);
    let none = night(Path::new("s3://bucket/dawn"));
    says(
        how.images(Folder::flat(folder.path()).unwrap(), none),
        &["`night`", "s3://bucket/dawn holds nothing"],
    );
    let some = night(Path::new("s3://bucket/night/0"));
    let source = Folder::open(folder.path().join("day")).unwrap();
    says(how.images(source, some), &["9 of 9 images have no file", "s3://bucket/night/0/0/0 é.png"]);
    for secret in ["https://me:s3cret@host/x", "https://host/x?sig=s3cret"] {
        let source = Folder::open(folder.path().join("day")).unwrap();
        let refused = how.images(source, night(Path::new(secret))).unwrap_err().to_string();
        assert!(refused.contains("`night`") && !refused.contains("s3cret"), "{refused}");
    }
    let plain = night(Path::new(&format!("{}/bucket/night", server.url()))).to_vec();
    let source = Folder::open(folder.path().join("day")).unwrap();
    says(how.images(source, plain), &["cannot say what it holds", "archives (.tar)"]);
}

#[test]
fn masks_below_a_url_are_those_of_a_folder() {
    let folder = yolo();
    masks_of(folder.path());
    let local = Yolo::open(folder.path().join("set")).unwrap();
    let local = WithMasks::options().allow_missing(true).open(local, folder.path().join("masks")).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    server.rule(storm(9));
    let how = options(&server);
    let images = || how.clone().open("s3://bucket/set").unwrap();
    let masks = |how_masks: MaskOptions| how.masks(images(), "s3://bucket/masks", how_masks);
    let remote = masks(WithMasks::options().allow_missing(true)).unwrap();
    assert_eq!((remote.masks(), local.masks()), (3, 3));
    are_alike(&remote, &local);
    write(folder.path(), &[("set/images/rows.txt", b"./train/0.png\n./train/more/5.png\n")]);
    let list = List::open(folder.path().join("set/images/rows.txt")).unwrap();
    assert_eq!(how.masks(list, "s3://bucket/masks", WithMasks::options()).unwrap().masks(), 2);
    // What a mixture says of URLs holds for data on a disk whose masks lie at one.
    let sets = serde_json::json!([
        {"path": folder.path().join("set"), "mask_dir": "s3://bucket/masks", "allow_missing_masks": true},
    ]);
    let sets = Some(serde_json::from_value(sets).unwrap());
    let opened =
        source::open(&DataOptions { path: None, sets, ..data_at(&server, "", DataOptions::default()) });
    let (opened, mut mask, mut same) = (opened.unwrap().source, Vec::new(), Vec::new());
    for index in 0..local.len() {
        assert_eq!(opened.mask(index, &mut mask).unwrap(), local.mask(index, &mut same).unwrap());
        assert_eq!(mask, same);
    }
    says(
        masks(WithMasks::options()),
        &["5 of 8 images have no mask", "s3://bucket/masks/train/1.png", "allow_missing_masks"],
    );
    let asked = DataOptions {
        mask_dir: Some("s3://bucket/masks".into()),
        allow_missing_masks: Some(true),
        ..DataOptions::default()
    };
    are_alike(&source::open(&data_at(&server, "s3://bucket/set", asked)).unwrap().source, &local);
    let small = masks(WithMasks::options().allow_missing(true).max_file_bytes(5)).unwrap();
    says(small.mask(0, &mut Vec::new()), &["s3://bucket/masks/train/0.png", "max_file_bytes = 5"]);
}
