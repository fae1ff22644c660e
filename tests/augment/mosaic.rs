//! Mosaics through one warp of each image, against the two steps that others make of it; and their labels.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod account;
mod labels;
mod outlines;
mod region;
mod two_step;

use feedline::augment::{Augment, Mosaic, YoloPerspective};
use feedline::device::{cpu::Renderer, region};
use feedline::draft::Draft;
use feedline::draft::op::{Fill, Op};
use feedline::geometry::{Orientation, Size};
use feedline::image::{Decoder, Image, Limits, parse_header};
use feedline::output::{DType, Layout, Output};
use feedline::plan::Plan;
use feedline::rng::{Draws, Rng};
use feedline::source::{Folder, Source};
use two_step::Floats;

/// Edge of the samples.
const EDGE: u32 = 192;

struct Photo {
    bytes: Vec<u8>,
    whole: Image,
}

/// Some bundled photographs, decoded.
fn photos() -> Vec<Photo> {
    let folder = Folder::open(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")).unwrap();
    let photo = |index: usize| {
        let mut bytes = Vec::new();
        folder.read(index, &mut bytes).unwrap();
        let header = parse_header(&bytes).unwrap();
        let mut whole = Image::default();
        Decoder::new(Limits::default()).decode(&bytes, &header, header.size.rect(), &mut whole).unwrap();
        Photo { bytes, whole }
    };
    (0..folder.len()).step_by(folder.len().div_ceil(12)).map(photo).collect()
}

fn floats(image: &Image) -> Floats {
    let Size { width, height } = image.stored;
    let mut out = Floats::filled(image.stored, 0.0);
    for y in 0..height as usize {
        let row = &image.data[y * image.stride..][..width as usize * 3];
        for (x, pixel) in row.chunks_exact(3).enumerate() {
            out.levels[y * width as usize + x] = [0, 1, 2].map(|c| f32::from(pixel[c]));
        }
    }
    out
}

/// u8 levels of a plan, each image decoded as far as the plan reads it.
fn rendered(plan: &Plan, photos: &[Photo]) -> Vec<u8> {
    let decoded = |number: usize| {
        let photo = &photos[plan.images[number].index as usize];
        let header = parse_header(&photo.bytes).unwrap();
        let mut image = Image::default();
        let part = region(plan, number);
        Decoder::new(Limits::default()).decode(&photo.bytes, &header, part, &mut image).unwrap();
        image
    };
    let images: Vec<Image> = (0..plan.images.len()).map(decoded).collect();
    let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let mut levels = vec![0; output.sample_bytes()];
    Renderer::default().render(plan, &images, &output, &mut levels).unwrap();
    levels
}

fn inverse(m: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    // Gauss and Jordan on the matrix with the identity beside it.
    let mut rows: [[f64; 6]; 3] = std::array::from_fn(|i| {
        [m[i][0], m[i][1], m[i][2], f64::from(i == 0), f64::from(i == 1), f64::from(i == 2)]
    });
    for column in 0..3 {
        let pivot =
            (column..3).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs())).unwrap();
        rows.swap(column, pivot);
        let lead = rows[column][column];
        rows[column].iter_mut().for_each(|number| *number /= lead);
        let above = rows[column];
        for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let part = row[column];
            assert_ne!(i, column);
            row.iter_mut().zip(above).for_each(|(number, above)| *number -= part * above);
        }
    }
    rows.map(|row| [row[3], row[4], row[5]])
}

/// The sample of four photographs by the augmentations, and by two steps with the same numbers.
fn both(photos: &[Photo], chosen: [usize; 4], perspective: &YoloPerspective, seed: u64) -> (Vec<u8>, Floats) {
    let antialias = perspective.antialias;
    let mosaic = Mosaic::new(EDGE).antialias(antialias);
    let draft = |index: usize| Draft::new(index as u64, photos[index].whole.stored, Orientation::UPRIGHT);
    let dice = || Rng::new(seed, 0, 0, 0);
    let mut host = draft(chosen[0]);
    mosaic.plan(&mut host, chosen[1..].iter().map(|&index| draft(index)).collect(), &mut dice());
    perspective.plan(&mut host, Vec::new(), &mut dice());
    let plan = host.freeze().unwrap();
    let passes = if antialias { 1 } else { 2 };
    assert_eq!(
        (plan.passes.len(), plan.images.len()),
        (passes, 4),
        "each image is sampled once, or as others do"
    );

    let [x, y] = mosaic.make_params(&mut dice());
    let two = Size::new(2 * EDGE, 2 * EDGE);
    let mut canvas = Floats::filled(two, 114.0);
    for (tile, &index) in chosen.iter().enumerate() {
        let stored = photos[index].whole.stored;
        let ratio = f64::from(EDGE) / f64::from(stored.width.max(stored.height));
        let edge = |length: u32| ((f64::from(length) * ratio).ceil() as u32).min(EDGE);
        let size = Size::new(edge(stored.width), edge(stored.height));
        let (width, height) = (size.width as i32, size.height as i32);
        let at = [[x - width, y - height], [x, y - height], [x - width, y], [x, y]][tile];
        canvas.paste(&floats(&photos[index].whole).resized(size, antialias), at, tile as u8 + 1);
    }
    if !antialias {
        canvas.levels.iter_mut().flatten().for_each(|level| *level = level.round());
    }
    let matrix = perspective.make_params(two, &mut dice()).matrix;
    let want = canvas.warped(&inverse(&matrix), Size::new(EDGE, EDGE), 114.0, antialias);
    (rendered(&plan, photos), want)
}

/// Decibels between levels, pixels within one of a seam left out, and the part of pixels that is left.
fn psnr(got: &[u8], want: &Floats) -> (f64, f64) {
    let (mut sum, mut count) = (0.0, 0u32);
    for (at, (pixel, level)) in got.chunks_exact(3).zip(&want.levels).enumerate() {
        if want.is_within(at % want.width, at / want.width) {
            sum += (0..3).map(|c| (f64::from(pixel[c]) - f64::from(level[c])).powi(2)).sum::<f64>() / 3.0;
            count += 1;
        }
    }
    let mean = sum / f64::from(count.max(1));
    (10.0 * (255.0f64 * 255.0 / mean.max(1e-4)).log10(), f64::from(count) / want.levels.len() as f64)
}

#[test]
fn a_warp_that_shrinks_blends_four_pixels_or_all_that_a_pixel_covers() {
    let photos = photos();
    let (size, around) = (Size::new(150, 120), 114.0);
    let matrix = [[0.31, 0.12, 5.0], [-0.09, 0.27, 20.0], [0.0, 0.0002, 1.0]];
    let mut whole = floats(&photos[0].whole);
    whole.shows.fill(1);
    let levels = [false, true].map(|antialias| {
        let mut draft = Draft::new(0, photos[0].whole.stored, Orientation::UPRIGHT);
        draft.apply(Op::WarpPerspective { matrix, size: size.into(), fill: Fill::Grey(114), antialias });
        let got = rendered(&draft.freeze().unwrap(), &photos);
        let want = whole.warped(&inverse(&matrix), size, around, antialias);
        let (figure, left) = psnr(&got, &want);
        assert!(figure > 50.0 && left > 0.5, "antialias {antialias}: {figure} dB of {left}");
        got
    });
    let [rough, smooth] = levels.map(|levels| {
        let steps = levels.windows(4).map(|pair| f64::from(pair[0].abs_diff(pair[3])));
        steps.sum::<f64>() / levels.len() as f64
    });
    assert!(rough > 1.1 * smooth, "{rough} and {smooth} from pixel to pixel");
}

#[test]
fn a_mosaic_sampled_once_looks_like_one_that_is_resized_and_then_warped() {
    let photos = photos();
    let usual = YoloPerspective::new(EDGE);
    let any = usual.degrees(10.0).shear(5.0).perspective(0.0005);
    for (name, perspective, [least, middle]) in [
        ("default", usual, [26.0, 32.0]),
        ("turned", any, [26.0, 32.0]),
        ("by steps", any.antialias(false), [50.0, 52.0]),
    ] {
        let mut figures: Vec<f64> = (0..10)
            .map(|seed| {
                let mut rng = Rng::new(31, 0, seed, 0);
                let chosen = [0; 4].map(|_| rng.below(photos.len() as u32) as usize);
                let (got, want) = both(&photos, chosen, &perspective, seed);
                let (figure, left) = psnr(&got, &want);
                assert!(left > 0.9, "{left} of the pixels are compared");
                figure
            })
            .collect();
        figures.sort_by(f64::total_cmp);
        println!("{name}: {figures:.1?}");
        assert!(figures[0] > least && figures[5] > middle, "{name}: {figures:.1?} dB");
    }
}
