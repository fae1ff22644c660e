//! Second images and depth maps through the whole pipeline: they go where the images of their records go.

use crate::support::{Flat, Squash, flat, mask, outlined};
use feedline::augment::{
    ColorJitter, MixUp, Mosaic, RandomAffine, RandomHorizontalFlip, RandomResizedCrop, RandomShortestSize,
    View,
};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::error::Result;
use feedline::field::{Field, FieldType, FieldValue};
use feedline::geometry::Size;
use feedline::label::Label;
use feedline::loader::{Batch, Loader, LoaderBuilder};
use feedline::options::Options;
use feedline::output::{DType, Layout};
use feedline::pack::Pack;
use feedline::source::{Folder, List, Shards, Source, WithImages};
use std::borrow::Cow;
use std::path::Path;

#[path = "../../examples/pairs.rs"]
#[expect(dead_code, reason = "its main() is run elsewhere")]
mod example;

/// Photographs whose second images and depths `files` makes of an index and its file.
struct Paired<F> {
    photos: Folder,
    fields: Vec<Field>,
    files: F,
}

impl<F: Fn(usize, &[u8]) -> Vec<Vec<u8>> + Send + Sync> Source for Paired<F> {
    fn len(&self) -> usize {
        self.photos.len().min(8)
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.photos.read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.photos.key(index)
    }

    fn label(&self, index: usize) -> Label {
        self.photos.label(index)
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        let mut file = Vec::new();
        self.photos.read(index, &mut file)?;
        values.clear();
        values.extend((self.files)(index, &file).into_iter().map(FieldValue::Bytes));
        Ok(())
    }
}

fn photos() -> Folder {
    Folder::open(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")).unwrap()
}

/// Photographs that are their own second images.
fn twins() -> impl Source {
    Paired {
        photos: photos(),
        fields: vec![Field::image("target")],
        files: |_, file: &[u8]| vec![file.to_vec()],
    }
}

fn batches(builder: LoaderBuilder) -> Vec<Batch> {
    builder.build().unwrap().epoch(0).map(|batch| batch.unwrap()).collect()
}

#[test]
fn an_image_that_is_its_own_second_image_stays_that_through_all_moves_and_mixes() {
    let plain = |builder: LoaderBuilder| {
        builder.augment(RandomResizedCrop::new(96)).augment(RandomHorizontalFlip::default())
    };
    let turned = |builder: LoaderBuilder| {
        builder.augment(RandomAffine::new(30.0).translate([0.2, 0.1])).augment(RandomResizedCrop::new(80))
    };
    let mixed = |builder: LoaderBuilder| builder.augment(Mosaic::new(64)).augment(MixUp::new(1.0));
    let padded = |builder: LoaderBuilder| {
        let builder = builder.augment(RandomShortestSize::new([50, 90]).max_size(128));
        crate::instances::asked(builder.output_size(Size::new(128, 128)), &[("pad_to_largest", "true")])
    };
    for (what, chain) in [
        ("crops", &plain as &dyn Fn(LoaderBuilder) -> LoaderBuilder),
        ("warps", &turned),
        ("mixes", &mixed),
        ("padding", &padded),
    ] {
        for (dtype, layout) in
            [(DType::F32, Layout::Nchw), (DType::U8, Layout::Nhwc), (DType::F16, Layout::Nhwc)]
        {
            let builder =
                chain(Loader::builder(twins()).batch_size(3).seed(3).workers(2).output(dtype, layout));
            let builder = match dtype {
                DType::U8 => builder,
                _ => builder.normalize(IMAGENET_MEAN, IMAGENET_STD),
            };
            for batch in batches(builder) {
                let target = batch.picture("target").unwrap();
                assert_eq!((target.shape(), target.dtype()), (&batch.shape()[..], dtype), "{what}");
                assert_eq!(target.bytes(), batch.images(), "{what}, {dtype:?}");
            }
        }
    }
}

#[test]
fn colours_are_the_images_own() {
    let crop = || Loader::builder(twins()).batch_size(4).seed(9).augment(RandomResizedCrop::new(64));
    let jitter = ColorJitter::new(0.9, 0.9, 0.9, 0.0);
    let (plain, coloured) = (batches(crop()), batches(crop().augment(jitter)));
    for (plain, coloured) in plain.iter().zip(&coloured) {
        assert_ne!(plain.images(), coloured.images());
        assert_eq!(coloured.picture("target").unwrap().bytes(), plain.images());
        assert!(coloured.picture("other").is_none() && coloured.fields().is_empty());
        assert_eq!(coloured.picture_names().collect::<Vec<_>>(), ["target"]);
    }
}

#[test]
fn each_view_has_its_second_images() {
    let view = |size: u32, count: usize| View::new(size).count(count).transform(RandomResizedCrop::new(size));
    let builder = Loader::builder(twins()).batch_size(4).view(view(64, 2)).view(view(32, 1));
    for batch in batches(builder) {
        assert_eq!(batch.view_count(), 3);
        for (view, edge) in batch.views().zip([64, 64, 32]) {
            let target = view.picture("target").unwrap();
            assert_eq!(target.shape()[2..], [edge, edge]);
            assert_eq!(target.bytes(), view.images());
        }
        assert_ne!(batch.view(0).unwrap().images(), batch.view(1).unwrap().images());
    }
}

/// A PNG of one grey channel of 16 bits.
fn deep([width, height]: [u32; 2], levels: &[u16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Sixteen);
    let levels: Vec<u8> = levels.iter().flat_map(|level| level.to_be_bytes()).collect();
    encoder.write_header().unwrap().write_image_data(&levels).unwrap();
    bytes
}

/// 8x6 images with a field each.
struct Flats(Vec<Field>, fn(usize) -> Vec<u8>);

impl Source for Flats {
    fn len(&self) -> usize {
        3
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        flat(3).read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        format!("{index}.png").into()
    }

    fn label(&self, _: usize) -> Label {
        Label::Unlabelled
    }

    fn fields(&self) -> &[Field] {
        &self.0
    }

    fn values(&self, index: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        values.clear();
        values.push(FieldValue::Bytes((self.1)(index)));
        Ok(())
    }
}

#[test]
fn depths_are_the_levels_of_the_nearest_pixels() {
    let levels = |index: usize| (0..48u16).map(|at| 1000 * index as u16 + 300 * at).collect::<Vec<_>>();
    let source = Flats(vec![Field::depth("depth")], |index| {
        deep([8, 6], &(0..48u16).map(|at| 1000 * index as u16 + 300 * at).collect::<Vec<_>>())
    });
    let builder = Loader::builder(source)
        .output_size(Size::new(8, 6))
        .batch_size(3)
        .augment(RandomHorizontalFlip::new(1.0));
    let batch = batches(builder).remove(0);
    let depth = batch.picture("depth").unwrap();
    assert_eq!((depth.shape(), depth.dtype()), (&[3, 6, 8][..], DType::F32));
    for (index, plane) in depth.as_f32().unwrap().chunks(48).enumerate() {
        let want = levels(index);
        let want = want.chunks(8).flat_map(|row| row.iter().rev());
        assert!(plane.iter().zip(want).all(|(depth, &level)| *depth == f32::from(level)), "{plane:?}");
    }
    // Of 8 bits: the levels.
    let grey = Flats(vec![Field::depth("depth")], |_| {
        mask(png::ColorType::Grayscale, png::BitDepth::Eight, [8, 6], &[200; 48])
    });
    let batch = batches(Loader::builder(grey).output_size(Size::new(8, 6)).batch_size(3)).remove(0);
    assert_eq!(batch.picture("depth").unwrap().as_f32(), Some(&[200.0; 144][..]));
}

#[test]
fn a_picture_of_another_size_or_kind_is_a_bad_sample_and_named() {
    let cause = |field: Field, file: fn(usize) -> Vec<u8>| {
        let loader = Loader::builder(Flats(vec![field], file)).augment(Squash).batch_size(1).build().unwrap();
        loader.epoch(0).next().unwrap().unwrap_err().to_string()
    };
    let small = cause(Field::image("target"), |_| crate::support::png([1, 2, 3], 4, 6));
    assert!(small.contains("0.png") && small.contains("field `target`"), "{small}");
    assert!(
        small.contains("its second image has 4x6 pixels and the image 8x6: make one of that size"),
        "{small}"
    );
    let colours = cause(Field::depth("depth"), |_| crate::support::png([1, 2, 3], 8, 6));
    assert!(
        colours.contains("must be a PNG of one grey channel") && colours.contains("is Rgb of 8 bits"),
        "{colours}"
    );
    let nothing = cause(Field::image("target"), |_| b"no image".to_vec());
    assert!(nothing.contains("field `target`") && nothing.contains("not an image"), "{nothing}");
}

/// The photograph of rows that are all different, with a tag that asks for a turn.
fn turned_photo(orientation: u8) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut file, 95);
    let exif = [
        b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".as_slice(),
        &[orientation, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    encoder.add_app_segment(1, exif).unwrap();
    let pixels: Vec<u8> =
        (0..24 * 16).flat_map(|at| [(at % 24 * 10) as u8, (at / 24 * 15) as u8, 90]).collect();
    encoder.encode(&pixels, 24, 16, jpeg_encoder::ColorType::Rgb).unwrap();
    file
}

/// One image, and a second one.
struct Two(Vec<u8>, Vec<u8>, [Field; 1]);

impl Source for Two {
    fn len(&self) -> usize {
        1
    }

    fn read(&self, _: usize, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clone_from(&self.0);
        Ok(())
    }

    fn key(&self, _: usize) -> Cow<'_, str> {
        "one".into()
    }

    fn label(&self, _: usize) -> Label {
        Label::Unlabelled
    }

    fn fields(&self) -> &[Field] {
        &self.2
    }

    fn values(&self, _: usize, values: &mut Vec<FieldValue>) -> Result<()> {
        *values = vec![FieldValue::Bytes(self.1.clone())];
        Ok(())
    }
}

#[test]
fn a_second_image_may_be_stored_otherwise_than_its_image() {
    for orientation in 1..=8u8 {
        let photo = turned_photo(orientation);
        let shape = |file: &[u8], other: &[u8]| {
            let source = Two(file.to_vec(), other.to_vec(), [Field::image("target")]);
            let size = if orientation < 5 { Size::new(24, 16) } else { Size::new(16, 24) };
            let chain =
                Loader::builder(source).output_size(size).batch_size(1).output(DType::U8, Layout::Nhwc);
            batches(chain.augment(RandomHorizontalFlip::new(1.0))).remove(0)
        };
        // The upright pixels, stored upright.
        let upright = shape(&photo, &photo);
        let [_, height, width, _] = upright.shape();
        let mut stored = Vec::new();
        let mut encoder = png::Encoder::new(&mut stored, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let unflipped: Vec<u8> = upright
            .images()
            .chunks(width * 3)
            .flat_map(|row| row.chunks(3).rev().flatten().copied().collect::<Vec<u8>>())
            .collect();
        encoder.write_header().unwrap().write_image_data(&unflipped).unwrap();
        for batch in [shape(&photo, &stored), shape(&stored, &photo)] {
            assert_eq!(
                batch.picture("target").unwrap().bytes(),
                upright.images(),
                "orientation {orientation}"
            );
            assert_eq!(batch.images(), upright.images());
        }
    }
}

fn all_values(source: &dyn Source) -> Vec<Vec<FieldValue>> {
    let values = |index: usize| {
        let mut values = Vec::new();
        source.values(index, &mut values).unwrap();
        values
    };
    (0..source.len()).map(values).collect()
}

fn put(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Pairs in folders, in a table and in an archive.
fn pairs_below(folder: &Path) {
    let at = |name: &str| folder.join(name);
    let mut archive = tar::Builder::new(Vec::new());
    let mut table = "path,clear\n".to_owned();
    for number in 0..3u8 {
        let [one, other] = [[number, 1, 2], [number, 9, 9]].map(|color| crate::support::png(color, 8, 6));
        put(&at(&format!("in/{number}.png")), &one);
        put(&at(&format!("out/{number}.png")), &other);
        table += &format!("in/{number}.png,out/{number}.png\n");
        for (ending, bytes) in [("png", &one), ("target.png", &other)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            archive.append_data(&mut header, format!("{number}.{ending}"), &bytes[..]).unwrap();
        }
    }
    put(&at("data.csv"), table.as_bytes());
    put(&at("data.tar"), &archive.into_inner().unwrap());
}

#[test]
fn second_images_come_from_folders_lists_and_archives() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    pairs_below(folder.path());
    let out = at("out").display().to_string();
    let opened: [Box<dyn Source>; 3] = [
        Box::new(
            WithImages::open(Folder::flat(at("in")).unwrap(), [Field::image("clear").from(out)]).unwrap(),
        ),
        Box::new(List::options().fields([Field::image("clear")]).open(at("data.csv")).unwrap()),
        Box::new(
            Shards::options()
                .fields([Field::image("clear").from("target.png")])
                .open([at("data.tar")])
                .unwrap(),
        ),
    ];
    for (source, what) in opened.into_iter().zip(["folder", "list", "archive"]) {
        let batch = batches(
            Loader::builder(source)
                .output_size(Size::new(8, 6))
                .batch_size(3)
                .output(DType::U8, Layout::Nhwc),
        )
        .remove(0);
        for (number, (row, target)) in
            batch.images().chunks(144).zip(batch.picture("clear").unwrap().bytes().chunks(144)).enumerate()
        {
            assert_eq!(
                (&row[..3], &target[..3]),
                (&[number as u8, 1, 2][..], &[number as u8, 9, 9][..]),
                "{what}"
            );
        }
    }
    // Packed, and read back without an option.
    let paired = List::options().fields([Field::image("clear")]).open(at("data.csv")).unwrap();
    Pack::to(at("packed")).run(&paired, &mut |_| ()).unwrap();
    let shards = Shards::find(at("packed"), None).unwrap();
    assert_eq!(all_values(&shards), all_values(&paired));
    assert!(shards.fields()[0].kind() == FieldType::Image && shards.fields()[0].name() == "clear");
    let shrunk = Pack::to(at("shrunk")).resize(4).run(&paired, &mut |_| ()).unwrap_err().to_string();
    assert!(shrunk.contains("the field `clear` is image") && shrunk.contains("leave resize out"), "{shrunk}");
    // By options, and what is wrong with them.
    let open = |fields: &str| {
        let mut options = Options::default();
        options.set_text("data", &at("in").display().to_string()).unwrap();
        options.set_text("flat", "true").unwrap();
        options.set_text("fields", fields).unwrap();
        feedline::source::open(&options.data).map(|opened| opened.source)
    };
    let shown = at("out").display().to_string();
    assert!(open(&format!("clear = {{ type = \"image\", from = \"{shown}\" }}")).is_ok());
    let refused = |fields: &str| open(fields).err().unwrap().to_string();
    assert!(refused("clear = \"text\"").contains("folders hold pictures alone"));
    assert!(refused("clear = \"image\"").contains("name the folder that holds its files (from)"));
    std::fs::remove_file(at("out/1.png")).unwrap();
    let missing = refused(&format!("clear = {{ type = \"depth\", from = \"{shown}\" }}"));
    assert!(missing.contains("1 of 3 images have no file") && missing.contains("1.png"), "{missing}");
}

#[test]
fn masks_are_made_of_outlines_where_there_are_none() {
    let mut options = Options::default();
    options.set_text("outline_masks", "true").unwrap();
    let source = Flat { objects: Some(outlined), ..flat(3) };
    let loader = Loader::builder(source)
        .output_size(Size::new(8, 6))
        .batch_size(3)
        .options(&options)
        .output(DType::U8, Layout::Nchw);
    let batch = batches(loader).remove(0);
    let masks = batch.masks().unwrap();
    // Image 2 has an outline, a triangle of class 2 with its legs along the edges.
    assert!(masks[..96].iter().all(|&class| class == 0), "{masks:?}");
    for (at, &class) in masks[96..].iter().enumerate() {
        let (x, y) = ((at % 8) as f32 + 0.5, (at / 8) as f32 + 0.5);
        assert_eq!(class, if x / 8.0 + y / 6.0 < 1.0 { 3 } else { 0 }, "{x} {y}");
    }
    let without = Loader::builder(flat(3)).options(&options).build().err().unwrap().to_string();
    assert!(without.contains("outline_masks are made of outlines"), "{without}");
}

#[test]
fn the_example_shows_each_pair() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..3u8 {
        for (name, level) in [("day", 200), ("night", 40)] {
            let file = crate::support::png([level, level, number], 40, 30);
            put(&folder.path().join(format!("{name}/{number}.png")), &file);
        }
    }
    let mut said = Vec::new();
    example::pairs(folder.path(), &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    assert_eq!(said.lines().count(), 2, "{said}");
    let first = said.lines().next().unwrap();
    assert!(first.starts_with("[2, 3, 24, 24] and [2, 3, 24, 24]: means 0.5"), "{said}");
    assert!(first.ends_with(" and 0.105"), "{said}");
}
