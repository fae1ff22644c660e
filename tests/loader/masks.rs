//! Semantic masks through the whole pipeline.

use crate::support::{Flat, MaskOf, Squash, builder, flat, mask};
use feedline::augment::{MmsegRandomCrop, PadIfSmaller};
use feedline::draft::op::Op;
use feedline::error::Result;
use feedline::geometry::Size;
use feedline::image::{Limits, decode_mask};
use feedline::label::Label;
use feedline::loader::{BadSample, Loader};
use feedline::options::Options;
use feedline::source::Source;
use std::borrow::Cow;

/// Columns 0 to 7 have the classes 10 to 17; every third image has no mask.
fn columns(index: usize) -> Option<Vec<u8>> {
    let classes: Vec<u8> = (10..18).collect::<Vec<u8>>().repeat(6);
    (index % 3 != 2).then(|| mask(png::ColorType::Grayscale, png::BitDepth::Eight, [8, 6], &classes))
}

#[test]
fn masks_come_as_rows_of_classes_and_as_fill_where_there_is_none() {
    let source = Flat { masks: Some(columns), cut: vec![1], ..flat(4) };
    let loader = builder(source, 4).bad_sample(BadSample::Skip).masks(255).build().unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    assert_eq!(batch.indices(), [0, 2, 3]);
    // Nearest: the columns 0, 2, 4 and 6.
    let row = [10, 12, 14, 16].repeat(4);
    assert_eq!(batch.masks().unwrap(), [row.clone(), vec![255; 16], row].concat());
    let unasked = builder(Flat { masks: Some(columns), ..flat(4) }, 4).build().unwrap();
    assert!(unasked.epoch(0).next().unwrap().unwrap().masks().is_none());
}

#[test]
fn a_mask_of_another_size_or_kind_is_a_bad_sample() {
    let cause = |masks: MaskOf| {
        let loader = builder(Flat { masks: Some(masks), ..flat(1) }, 1).masks(255).build().unwrap();
        loader.epoch(0).next().unwrap().unwrap_err().to_string()
    };
    let small = cause(|_| Some(mask(png::ColorType::Grayscale, png::BitDepth::Eight, [4, 6], &[0; 24])));
    assert!(small.contains("its mask has 4x6 pixels and the image 8x6"), "{small}");
    let colours = cause(|_| Some(crate::support::png([1, 2, 3], 8, 6)));
    assert!(colours.contains("but is Rgb of 8 bits"), "{colours}");
}

#[test]
fn a_mask_of_no_bytes_is_damaged_and_not_missing() {
    let none = |index: usize| if index == 1 { Some(Vec::new()) } else { columns(index) };
    let loader = builder(Flat { masks: Some(none), ..flat(3) }, 3).masks(255).bad_sample(BadSample::Skip);
    let loader = loader.build().unwrap();
    assert_eq!(loader.epoch(0).next().unwrap().unwrap().indices(), [0, 2]);
    let file = loader.report().files[0].clone();
    assert!(file.index == 1 && file.cause.contains("PNG"), "{}", file.cause);
}

/// Images of which there is no more than a header, with more pixels than any memory holds.
struct Huge;

impl Source for Huge {
    fn len(&self) -> usize {
        2
    }

    fn read(&self, _index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        *bytes = crate::support::png([1, 2, 3], 8, 6);
        let header = &mut bytes[12..29];
        header[4..8].copy_from_slice(&30_000_000u32.to_be_bytes());
        header[8..12].copy_from_slice(&30_000_000u32.to_be_bytes());
        let bit = |sum: u32, _| (sum >> 1) ^ (0xEDB8_8320 & (sum & 1).wrapping_neg());
        let byte = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), bit);
        let sum = (!header.iter().fold(!0, byte)).to_be_bytes();
        bytes[29..33].copy_from_slice(&sum);
        Ok(())
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        Cow::Owned(format!("{index}.png"))
    }

    fn label(&self, _index: usize) -> Label {
        Label::Unlabelled
    }
}

#[test]
fn an_image_with_too_many_pixels_is_refused_before_a_mask_is_made_for_it() {
    let loader = Loader::builder(Huge).augment(Squash).masks(255).build().unwrap();
    let error = loader.epoch(0).next().unwrap().unwrap_err().to_string();
    assert!(error.contains("0.png") && error.contains("raise `max_pixels`"), "{error}");
}

#[test]
fn a_run_does_not_go_on_with_masks_of_another_kind() {
    let loader = |outlines: &str| {
        let mut options = Options::default();
        options.set_text("outline_masks", outlines).unwrap();
        options.set_text("mask_fill", "255").unwrap();
        let source = Flat { masks: Some(columns), objects: Some(crate::support::outlined), ..flat(4) };
        builder(source, 2).options(&options).build().unwrap()
    };
    let state = loader("false").epoch(0).state();
    assert!(loader("false").resume(&state).is_ok() && loader("true").resume(&state).is_err());
    assert_eq!(loader("true").outputs().len(), 1, "masks are no view");
}

#[test]
fn classes_are_read_as_they_are_stored_whatever_their_bits_and_palette() {
    use png::{BitDepth, ColorType};
    for (color, bits, most) in [
        (ColorType::Grayscale, BitDepth::One, 1),
        (ColorType::Indexed, BitDepth::Two, 3),
        (ColorType::Indexed, BitDepth::Four, 15),
        (ColorType::Grayscale, BitDepth::Four, 15),
        (ColorType::Indexed, BitDepth::Eight, 15),
    ] {
        let classes: Vec<u8> = (0..35u8).map(|at| at.wrapping_mul(11) & most).collect();
        let (mut read, limits) = (vec![9; 3], Limits::default());
        let size = decode_mask(&mask(color, bits, [7, 5], &classes), &limits, &mut read).unwrap();
        assert_eq!((size, read), (Size::new(7, 5), classes), "{color:?} of {bits:?}");
    }
    let limits = Limits { max_pixels: 34, ..Limits::default() };
    let large = mask(ColorType::Grayscale, BitDepth::Eight, [7, 5], &[0; 35]);
    assert!(decode_mask(&large, &limits, &mut Vec::new()).unwrap_err().to_string().contains("35 pixels"));
}

#[test]
fn class_0_is_ignored_and_the_others_count_from_0_where_that_is_asked_for() {
    let zero = |_: usize| {
        let row = [0, 1, 2, 150, 255, 254, 255, 0];
        Some(mask(png::ColorType::Grayscale, png::BitDepth::Eight, [8, 6], &row.repeat(6)))
    };
    let read = |fill: u8| {
        let mut options = Options::default();
        options.set_text("ignore_index", &fill.to_string()).unwrap();
        options.set_text("reduce_zero_label", "true").unwrap();
        let loader = Loader::builder(Flat { masks: Some(zero), ..flat(1) }).augment(Move).options(&options);
        let batch = loader.build().unwrap().epoch(0).next().unwrap().unwrap();
        batch.masks().unwrap()[..8].to_vec()
    };
    // mmseg: 0 becomes 255, all are less by one, and 254 becomes 255. Mirrored, and what shows no image beyond.
    assert_eq!(read(255), [253, 255, 149, 1, 0, 255, 255, 255]);
    assert_eq!(read(9), [253, 9, 149, 1, 0, 9, 9, 9]);
}

#[test]
fn classes_cannot_be_reduced_where_there_are_no_masks() {
    let mut options = Options::default();
    options.set_text("reduce_zero_label", "true").unwrap();
    let error = builder(flat(1), 1).options(&options).build().map(drop).unwrap_err().to_string();
    assert!(
        error.contains("[labels]: reduce_zero_label means nothing") && error.contains("mask_dir"),
        "{error}"
    );
}

/// Mirrors and shifts, so that a mask that stays behind is seen.
struct Move;

impl feedline::augment::Augment for Move {
    fn name(&self) -> &'static str {
        "Move"
    }

    fn plan(
        &self,
        draft: &mut feedline::draft::Draft,
        _partners: Vec<feedline::draft::Draft>,
        _rng: &mut dyn feedline::rng::Draws,
    ) {
        draft.apply(Op::Hflip {});
        draft.apply(Op::Crop { top: 0, left: 2, height: 6, width: 8 });
    }
}

#[test]
fn masks_move_with_their_images() {
    let source = Flat { masks: Some(columns), ..flat(1) };
    let loader = Loader::builder(source).augment(Move).augment(Squash).masks(99).build().unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    assert_eq!(batch.masks().unwrap()[..4], [15, 13, 11, 99]);
}

/// The PNG file as one that is to be turned clockwise by a quarter: the orientation is 6.
pub(crate) fn on_its_side(mut file: Vec<u8>) -> Vec<u8> {
    // Little endian, one entry.
    let mut chunk = b"eXIfII*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
    let (length, crc) = (chunk.len() as u32 - 4, feedline_test_support::png::crc32(&chunk));
    chunk.splice(0..0, length.to_be_bytes());
    chunk.extend(crc.to_be_bytes());
    // Behind the signature and the header's chunk.
    file.splice(33..33, chunk);
    file
}

/// An image that is stored on its side, and is 6 wide and 8 high as it is seen.
struct OnItsSide;

impl Source for OnItsSide {
    fn len(&self) -> usize {
        1
    }

    fn read(&self, _index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        *bytes = on_its_side(crate::support::png([1, 2, 3], 8, 6));
        Ok(())
    }

    fn key(&self, _index: usize) -> Cow<'_, str> {
        "turned.png".into()
    }

    fn label(&self, _index: usize) -> Label {
        Label::Unlabelled
    }

    fn mask(&self, _index: usize, bytes: &mut Vec<u8>) -> Result<bool> {
        let rows: Vec<u8> = (0..8).flat_map(|row| [row; 6]).collect();
        *bytes = mask(png::ColorType::Grayscale, png::BitDepth::Eight, [6, 8], &rows);
        Ok(true)
    }
}

#[test]
fn a_mask_is_that_of_the_image_as_it_is_seen() {
    let loader = Loader::builder(OnItsSide).augment(Squash).masks(99).build().unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    assert_eq!(batch.masks().unwrap(), [[0; 4], [2; 4], [4; 4], [6; 4]].concat());
}

/// Five columns of one class, and three of another.
fn two_classes(_index: usize) -> Option<Vec<u8>> {
    let row = [1, 1, 1, 1, 1, 2, 2, 2];
    Some(mask(png::ColorType::Grayscale, png::BitDepth::Eight, [8, 6], &row.repeat(6)))
}

/// Of 400 crops of 4x4, how many show two columns of each class; each batch is also compared with the plans of its samples.
fn even_crops(crop: MmsegRandomCrop) -> usize {
    let source = Flat { masks: Some(two_classes), ..flat(400) };
    let loader = Loader::builder(source)
        .augment(crop)
        .augment(PadIfSmaller::new(4))
        .batch_size(40)
        .masks(255)
        .build()
        .unwrap();
    let batches: Vec<_> = loader.epoch(0).map(|batch| batch.unwrap()).collect();
    let masks = batches.iter().flat_map(|batch| batch.masks().unwrap().chunks(16).map(<[u8]>::to_vec));
    let indices = batches.iter().flat_map(|batch| batch.indices().to_vec());
    let shown: Vec<(u64, Vec<u8>)> = indices.zip(masks).collect();
    assert_eq!(shown.len(), 400);
    for (index, mask) in &shown {
        let planned = loader.plan(0, *index).unwrap();
        assert_eq!(loader.mask(&planned.plan).unwrap().as_ref(), Some(mask), "sample {index}");
    }
    shown.iter().filter(|(_, mask)| mask[..4] == [1, 1, 2, 2]).count()
}

#[test]
fn crops_are_drawn_again_while_a_class_prevails() {
    let crop = MmsegRandomCrop::new(4);
    // One place in five shows both evenly; it is missed by ten crops in a row, and the next, once in eleven.
    assert!((50..110).contains(&even_crops(crop)));
    assert!((345..=385).contains(&even_crops(crop.cat_max_ratio(0.6))));
    // Three columns of four are less than all, and no crop is without a class that has half of it.
    let unlike = even_crops(crop.cat_max_ratio(0.8));
    assert!((100..170).contains(&unlike), "{unlike}");
    assert!((50..110).contains(&even_crops(crop.cat_max_ratio(0.5))));
    // Of what is left there is one class.
    assert!((50..110).contains(&even_crops(crop.cat_max_ratio(0.6).ignore_index(2))));
}

#[test]
fn crops_that_look_at_masks_say_which_cannot_be_read_and_need_none() {
    let crop = MmsegRandomCrop::new(4).cat_max_ratio(0.6);
    let build = |masks: Option<MaskOf>| {
        let source = Flat { masks, ..flat(3) };
        Loader::builder(source)
            .augment(crop)
            .augment(PadIfSmaller::new(4))
            .batch_size(3)
            .masks(255)
            .build()
            .unwrap()
    };
    let small: MaskOf = |_| Some(mask(png::ColorType::Grayscale, png::BitDepth::Eight, [4, 6], &[0; 24]));
    let error = build(Some(small)).epoch(0).next().unwrap().unwrap_err().to_string();
    assert!(error.contains("its mask has 4x6 pixels and the image 8x6"), "{error}");
    assert_eq!(build(Some(|_| None)).epoch(0).next().unwrap().unwrap().len(), 3);
    let without =
        Loader::builder(flat(3)).augment(crop).augment(PadIfSmaller::new(4)).batch_size(3).build().unwrap();
    assert_eq!(without.epoch(0).next().unwrap().unwrap().len(), 3);
}

#[test]
fn a_run_is_not_resumed_with_another_limit_or_another_ignored_class() {
    let build = |crop: MmsegRandomCrop| {
        let source = Flat { masks: Some(two_classes), ..flat(40) };
        let loader = Loader::builder(source).augment(crop).augment(PadIfSmaller::new(4));
        loader.batch_size(4).masks(255).build().unwrap()
    };
    let crops: Vec<MmsegRandomCrop> = [1.0, 0.9, 0.75, 0.5, 0.4, 0.3, 0.2]
        .into_iter()
        .flat_map(|ratio| {
            [255, 254, 0].map(|class| MmsegRandomCrop::new(4).cat_max_ratio(ratio).ignore_index(class))
        })
        .collect();
    let states: Vec<_> = crops.iter().map(|&crop| build(crop).epoch(0).state()).collect();
    for (at, &crop) in crops.iter().enumerate() {
        let loader = build(crop);
        for (other, state) in states.iter().enumerate() {
            // At 1 no mask is looked at, so that what is ignored means nothing.
            let is_same = at == other || (at < 3 && other < 3);
            assert_eq!(loader.resume(state).is_ok(), is_same, "{crop:?}, {:?}", crops[other]);
        }
    }
}
