//! Semantic masks in a folder beside the images: which belongs to which, and what becomes of those that cannot be
//! right.

use super::says;
use feedline::augment::Resize;
use feedline::draft::op::Extent;
use feedline::image::decode_mask;
use feedline::loader::{BadSample, Loader};
use feedline::source::{Folder, Source, WithMasks, Yolo};
use png::{BitDepth, ColorType, Encoder};
use std::path::Path;

/// A PNG of 4 x 2 pixels; bytes of rows as they are stored.
fn png(color: ColorType, depth: BitDepth, rows: &[u8]) -> Vec<u8> {
    sized(color, depth, [4, 2], rows)
}

fn sized(color: ColorType, depth: BitDepth, [width, height]: [u32; 2], rows: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == ColorType::Indexed {
        // All places have one colour, so that a reader of colours would see one class.
        encoder.set_palette(vec![9; 3 * 256]);
    }
    encoder.write_header().unwrap().write_image_data(rows).unwrap();
    bytes
}

fn grey(rows: [u8; 8]) -> Vec<u8> {
    png(ColorType::Grayscale, BitDepth::Eight, &rows)
}

fn put(folder: &Path, path: &str, bytes: &[u8]) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Images in images/, each with the mask of its name in masks/.
fn data(masks: &[(&str, Option<Vec<u8>>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("masks")).unwrap();
    for (name, mask) in masks {
        put(
            folder.path(),
            &format!("images/{name}.webp.png"),
            &png(ColorType::Rgb, BitDepth::Eight, &[7; 24]),
        );
        if let Some(mask) = mask {
            put(folder.path(), &format!("masks/{name}.webp.png"), mask);
        }
    }
    folder
}

fn open(folder: &tempfile::TempDir) -> feedline::error::Result<WithMasks<Folder>> {
    WithMasks::open(Folder::flat(folder.path().join("images"))?, folder.path().join("masks"))
}

/// The masks of a batch of all images, or its error.
fn masks(source: impl Source + 'static) -> Result<Vec<u8>, String> {
    let rows = source.len();
    let loader =
        Loader::builder(source).augment(Resize::new(Extent::Two([2, 4]))).batch_size(rows).masks(255);
    let batch = loader.build().unwrap().epoch(0).next().unwrap().map_err(|error| error.to_string())?;
    Ok(batch.masks().unwrap().to_vec())
}

#[test]
fn masks_lie_as_their_images_do() {
    let folder = data(&[("b/1", Some(grey([1; 8]))), ("a", Some(grey([2, 3, 4, 5, 6, 7, 8, 255])))]);
    let source = open(&folder).unwrap();
    assert_eq!((source.len(), source.masks()), (2, 2));
    assert_eq!(masks(source).unwrap(), [[2, 3, 4, 5, 6, 7, 8, 255], [1; 8]].concat());
}

#[test]
fn classes_are_places_in_a_palette_and_no_colours() {
    let mut bytes = Vec::new();
    let want = [[0, 1, 2, 21, 255, 5, 6, 7], [0, 1, 2, 3, 4, 15, 9, 8]];
    let folder = data(&[
        ("a", Some(png(ColorType::Indexed, BitDepth::Eight, &want[0]))),
        ("b", Some(png(ColorType::Indexed, BitDepth::Four, &[0x01, 0x23, 0x4F, 0x98]))),
    ]);
    let source = open(&folder).unwrap();
    for (index, want) in want.iter().enumerate() {
        let mut classes = Vec::new();
        assert!(source.mask(index, &mut bytes).unwrap());
        decode_mask(&bytes, &Default::default(), &mut classes).unwrap();
        assert_eq!(&classes, want);
    }
    assert_eq!(masks(source).unwrap(), want.concat());
}

#[test]
fn a_mask_that_is_missing_is_an_error_that_names_where_it_would_be() {
    let folder = data(&[("a", Some(grey([1; 8]))), ("b", None), ("c", None)]);
    let error = open(&folder).unwrap_err();
    says(
        &error,
        &[
            "2 of 3 images have no mask",
            "masks/b.webp.png of the image b.webp.png",
            "masks/c.webp.png",
            "allow_missing",
        ],
    );
    let images = || Folder::flat(folder.path().join("images")).unwrap();
    let allowed = WithMasks::options().allow_missing(true);
    let source = allowed.open(images(), folder.path().join("masks")).unwrap();
    assert_eq!(source.masks(), 1);
    assert_eq!(masks(source).unwrap(), [[1; 8], [255; 8], [255; 8]].concat());
    // Not one mask is a wrong folder, whatever is allowed.
    put(folder.path(), "other/a.png", b"");
    let error = allowed.open(images(), folder.path().join("other")).unwrap_err();
    says(&error, &["3 of 3 images have no mask", "name the folder whose files are called as the images"]);
    says(&WithMasks::open(images(), folder.path().join("none")).unwrap_err(), &["none is not there"]);
    says(&WithMasks::open(images(), folder.path().join("other/a.png")).unwrap_err(), &["is no folder"]);
}

#[test]
fn a_mask_of_another_size_of_16_bits_or_of_colours_is_a_bad_sample() {
    let cause = |mask: Vec<u8>| masks(open(&data(&[("a", Some(mask))])).unwrap()).unwrap_err();
    let other = sized(ColorType::Grayscale, BitDepth::Eight, [2, 4], &[0; 8]);
    says(&cause(other), &["a.webp.png", "its mask has 2x4 pixels and the image 4x2"]);
    let wide = png(ColorType::Grayscale, BitDepth::Sixteen, &[0; 16]);
    says(&cause(wide), &["a.webp.png", "is Grayscale of 16 bits: write one class per pixel"]);
    let coloured = png(ColorType::Rgb, BitDepth::Eight, &[0; 24]);
    says(&cause(coloured), &["is Rgb of 8 bits"]);
    says(&cause(b"no mask".to_vec()), &["a.webp.png"]);
    let folder = data(&[("a", Some(b"no mask".to_vec())), ("b", Some(grey([3; 8])))]);
    let loader = Loader::builder(open(&folder).unwrap()).augment(Resize::new(Extent::Two([2, 4])));
    let loader = loader.batch_size(2).bad_sample(BadSample::Skip).masks(0).build().unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    assert_eq!((batch.indices(), batch.masks().unwrap()), (&[1][..], &[3; 8][..]));
}

#[test]
fn a_mask_that_went_after_opening_is_named() {
    let folder = data(&[("a", Some(grey([1; 8])))]);
    let source = open(&folder).unwrap();
    std::fs::remove_file(folder.path().join("masks/a.webp.png")).unwrap();
    says(&masks(source).unwrap_err(), &["its mask a.webp.png", "restore the file"]);
}

#[test]
fn a_yolo_data_set_has_masks_beside_its_boxes() {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in
        [("labels/train/a.txt", "0 0.5 0.5 0.5 0.5"), ("data.yaml", "train: images/train\nnames: [cat]")]
    {
        put(folder.path(), path, text.as_bytes());
    }
    put(folder.path(), "images/train/a.png", &png(ColorType::Rgb, BitDepth::Eight, &[7; 24]));
    put(folder.path(), "masks/train/a.png", &grey([4; 8]));
    let source = WithMasks::open(Yolo::open(folder.path()).unwrap(), folder.path().join("masks")).unwrap();
    assert_eq!(super::objects(&source, 0).list.len(), 1);
    assert_eq!(source.classes(), ["cat"]);
    assert_eq!(masks(source).unwrap(), [4; 8]);
}
