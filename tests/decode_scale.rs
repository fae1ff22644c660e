//! How far fast decoding is from exact decoding, on photographs.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use feedline::augment::{CenterCrop, RandomResizedCrop, Resize};
use feedline::loader::{LastBatch, Loader, LoaderBuilder};
use feedline::output::{DType, Layout};
use feedline::policy::DecodeScale;
use feedline::source::Folder;

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
fn what_is_not_made_smaller_by_half_is_decoded_exactly() {
    let build = || photos().augment(Resize::new(500)).augment(CenterCrop::new(400));
    assert!(samples(build().decode_scale(DecodeScale::Fast)) == samples(build()));
}
