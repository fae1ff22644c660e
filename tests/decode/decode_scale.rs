//! How far fast decoding is from exact decoding, on photographs.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use feedline::augment::{CenterCrop, RandomHorizontalFlip, RandomResizedCrop, RandomVerticalFlip, Resize};
use feedline::label::Label;
use feedline::loader::{LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout};
use feedline::policy::DecodeScale;
use feedline::source::{Folder, Memory};

fn photos() -> LoaderBuilder {
    let folder = Folder::open(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")).unwrap();
    let loader = Loader::builder(folder).batch_size(1).last_batch(LastBatch::Partial).workers(2);
    loader.output(DType::U8, Layout::Nhwc)
}

fn samples(builder: LoaderBuilder) -> Vec<Vec<u8>> {
    let loader = builder.build().unwrap();
    loader.epoch(0).map(|batch| batch.unwrap().images().to_vec()).collect()
}

/// Peak signal to noise ratio in dB of each pair that differs.
fn psnr(exact: &[Vec<u8>], fast: &[Vec<u8>]) -> Vec<f64> {
    let error = |(a, b): (&Vec<u8>, &Vec<u8>)| {
        let squares = a.iter().zip(b).map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2));
        squares.sum::<f64>() / a.len() as f64
    };
    let errors = exact.iter().zip(fast).map(error).filter(|&error| error > 0.0);
    errors.map(|error| 10.0 * (255.0 * 255.0 / error).log10()).collect()
}

fn compare(name: &str, build: impl Fn() -> LoaderBuilder) -> (f64, f64, usize) {
    let exact = samples(build());
    let fast = samples(build().decode_scale(DecodeScale::Fast));
    let differing = psnr(&exact, &fast);
    let mean = differing.iter().sum::<f64>() / differing.len() as f64;
    let least = differing.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{name}: {} of {} samples differ, mean {mean:.1} dB, least {least:.1} dB",
        differing.len(),
        exact.len()
    );
    (mean, least, differing.len())
}

#[test]
fn fast_decoding_is_close_to_exact_decoding() {
    for size in [32, 64, 112] {
        let (mean, least, differing) = compare(&format!("Resize, CenterCrop {size}"), || {
            photos().augment(Resize::new(size)).augment(CenterCrop::new(size))
        });
        assert!(differing > 20 && mean > 25.0 && least > 15.0, "{size}: {mean} {least} {differing}");
        let (mean, least, differing) =
            compare(&format!("RandomResizedCrop {size}"), || photos().augment(RandomResizedCrop::new(size)));
        assert!(differing > 5 && mean > 25.0 && least > 15.0, "{size}: {mean} {least} {differing}");
    }
}

#[test]
fn a_size_that_a_scale_hits_exactly_is_decoded_at_it_and_only_cropped() {
    let pixels: Vec<u8> =
        (0..768 * 512).flat_map(|at| [(at % 768 / 4) as u8, (at / 768 / 3) as u8, 90]).collect();
    let mut file = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut file, 90);
    encoder.encode(&pixels, 768, 512, jpeg_encoder::ColorType::Rgb).unwrap();
    let build = |p| {
        let source = Memory::new(vec![("slope.jpg".to_owned(), file.clone(), Label::Class(0))]);
        let loader = Loader::builder(source).output(DType::U8, Layout::Nhwc).augment(Resize::new(64));
        loader
            .augment(CenterCrop::new(60))
            .augment(RandomHorizontalFlip { p })
            .augment(RandomVerticalFlip { p })
    };
    for p in [0.0, 1.0] {
        let exact = samples(build(p));
        let fast = samples(build(p).decode_scale(DecodeScale::Fast));
        let worst = exact[0].iter().zip(&fast[0]).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst <= Some(3), "{worst:?}");
    }
}

#[test]
fn what_is_not_made_smaller_by_half_is_decoded_exactly() {
    let build = || photos().augment(Resize::new(500)).augment(CenterCrop::new(400));
    assert!(samples(build().decode_scale(DecodeScale::Fast)) == samples(build()));
}
