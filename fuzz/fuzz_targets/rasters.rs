//! Any bytes as an idx file of images, packed or not, with labels that fit, and as a file of CIFAR: an error or samples, no more
//! of them than the file has bytes, and the same ones when asked again.
#![no_main]

mod records;
mod scratch;

use feedline::source::{Cifar, Idx, Source};
use libfuzzer_sys::fuzz_target;

/// Labels of files that do not say how many images they have, or say that they have more.
const LABELS: u32 = 3;

fuzz_target!(|input: &[u8]| {
    let images = scratch::write("a-images-idx3-ubyte", input);
    let said = input.get(4..8).map_or(LABELS, |count| u32::from_be_bytes([count[0], count[1], count[2], count[3]]));
    let count = if said < 4096 { said } else { LABELS };
    let labels = [&[0, 0, 8, 1][..], &count.to_be_bytes(), &vec![1; count as usize]].concat();
    scratch::write("a-labels-idx1-ubyte", &labels);
    if let Ok(source) = Idx::open(&images) {
        assert_eq!(source.len(), count as usize);
        records::check(&source);
    }
    let file = scratch::write("test_batch.bin", input);
    if let Ok(source) = Cifar::open(&file) {
        assert_eq!(source.len(), input.len() / 3073);
        records::check(&source);
    }
    if let Ok(source) = Cifar::options().labels("coarse").open(scratch::write("test.bin", input)) {
        assert_eq!(source.len(), input.len() / 3074);
        records::check(&source);
    }
});
