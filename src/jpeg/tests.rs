//! Each vector stage against its scalar oracle, on random and on extreme values.

use super::header::ColorModel;
use super::output::{convert, upsample};
use super::transform::{BATCH, Batch, Quant, Quants, Target, idct};
use crate::simd::{Level, Vectors};

/// Every how many-th case is tested: few under Miri, which interprets every instruction.
const SKIPPED: usize = if cfg!(miri) { 97 } else { 1 };

/// A small generator (xorshift), so that failures repeat.
struct TestRng(u64);

impl TestRng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        // Many extreme values: they are where clamping and edges go wrong.
        let byte = |x: u64| if x & 0x300 == 0 { (x & 1) as u8 * 255 } else { x as u8 };
        (0..count).map(|_| byte(self.next())).collect()
    }

    fn block(&mut self) -> [i16; 64] {
        let (kind, mut block) = (self.next() % 5, [0; 64]);
        let last = if kind == 4 { 8 } else { 64 };
        for value in &mut block[..last] {
            *value = match kind {
                0 => self.next() as i16,
                1 => (self.next() % 64) as i16 - 32,
                2 if self.next() & 7 != 0 => 0,
                3 => [i16::MIN, i16::MAX, 0, 1][(self.next() % 4) as usize],
                _ => (self.next() % 4096) as i16 - 2048,
            };
        }
        if self.next().is_multiple_of(2) {
            // Only the left top quarter, and sometimes one value that may lie outside of it.
            (0..64).filter(|i| i % 8 > 3 || *i > 31).for_each(|i| block[i] = 0);
            if self.next().is_multiple_of(4) {
                block[self.next() as usize % 64] = 1;
            }
        }
        block
    }
}

/// Each of this machine's vector instructions; none is a line in the test's output.
fn all_vectors() -> Vec<(Level, Vectors)> {
    let all = [Level::Neon, Level::Avx2, Level::Avx512];
    let (found, missing): (Vec<_>, Vec<_>) = all
        .into_iter()
        .map(|level| (level, Vectors::detected(level)))
        .partition(|(level, vectors)| match level {
            Level::Scalar => true,
            Level::Neon => vectors.neon().is_some(),
            Level::Avx2 => vectors.avx2().is_some(),
            Level::Avx512 => vectors.avx512().is_some(),
        });
    for (level, _) in missing {
        println!("NOT RUN: this machine has no {level:?}");
    }
    found
}

/// The inverse DCT of these instructions.
fn transform(vectors: Vectors, batch: &mut Batch, quants: &Quants, planes: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    match (vectors.avx512(), vectors.avx2()) {
        (Some(avx512), _) => return idct::avx512::transform(avx512, batch, quants, planes),
        (None, Some(avx2)) => return idct::avx2::transform(avx2, batch, quants, planes),
        (None, None) => {}
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(neon) = vectors.neon() {
        return idct::neon::transform(neon, batch, quants, planes);
    }
    panic!(
        "{vectors:?} transform nothing: {} blocks, {} samples",
        batch.count,
        quants.each.len() + planes.len()
    );
}

/// A batch of blocks, each with its component and its target.
fn batch(blocks: &[[i16; 64]], components: &[usize], targets: &[Target]) -> Batch {
    let mut batch = Batch::new();
    batch.count = blocks.len();
    batch.blocks[..blocks.len()].copy_from_slice(blocks);
    batch.components[..blocks.len()].copy_from_slice(components);
    batch.targets[..blocks.len()].copy_from_slice(targets);
    batch
}

#[test]
fn several_blocks_at_once_are_the_same_blocks() {
    let vectors = all_vectors();
    let mut rng = TestRng(1);
    for round in (0..8_000).step_by(SKIPPED) {
        let count = 1 + round % BATCH;
        let blocks: Vec<_> = (0..count).map(|_| rng.block()).collect();
        let quants =
            [(); 4].map(|()| Quant(rng.block().map(|q| if round & 1 == 0 { q } else { q & 63 | 1 })));
        let quants = Quants::new(quants);
        let components: Vec<_> = (0..count).map(|_| rng.next() as usize % 4).collect();
        let targets: Vec<_> =
            (0..count).map(|i| Target { offset: 3 + 9 * i, stride: 230, size: 8 }).collect();
        let mut scalar = vec![7; 8 * 230];
        for ((block, component), target) in blocks.iter().zip(&components).zip(&targets) {
            idct::transform(block, &quants.each[*component], *target, &mut scalar);
        }
        let all_done = |batch: &Batch| batch.count == 0 && batch.blocks == [[0; 64]; Batch::ROOM];
        for (level, vectors) in &vectors {
            let mut vector = vec![7; scalar.len()];
            let mut batch = batch(&blocks, &components, &targets);
            transform(*vectors, &mut batch, &quants, &mut vector);
            assert_eq!(scalar, vector, "round {round}, {level:?}: {blocks:?}");
            assert!(all_done(&batch));
        }
    }
}

/// Transforms two blocks, the second to the given offset and stride; at 100 and 50 it ends where the planes end.
fn transform_near_the_end(offset: usize, stride: usize) {
    // Where there are no vector instructions, the scalar version panics as well.
    let targets = [Target { offset: 0, stride: 8, size: 8 }, Target { offset, stride, size: 8 }];
    let (mut batch, mut planes) = (batch(&[[1; 64]; 2], &[0; 2], &targets), vec![0; 100 + 7 * 50 + 8]);
    let quants = Quants::new([Quant([1; 64]); 4]);
    match all_vectors().last() {
        Some((_, vectors)) => transform(*vectors, &mut batch, &quants, &mut planes),
        None => idct::transform(&batch.blocks[1], &quants.each[0], targets[1], &mut planes),
    }
}

#[test]
fn blocks_may_go_up_to_the_end_of_the_planes() {
    transform_near_the_end(100, 50);
}

#[test]
#[should_panic]
fn a_block_does_not_go_one_byte_beyond_the_planes() {
    transform_near_the_end(101, 50);
}

#[test]
#[should_panic]
fn rows_do_not_go_one_byte_beyond_the_planes() {
    transform_near_the_end(100, 51);
}

#[test]
fn a_block_of_one_coefficient_needs_no_transform() {
    let mut rng = TestRng(2);
    let target = Target { offset: 0, stride: 8, size: 8 };
    for dc in (i16::MIN..=i16::MAX).step_by(7 * SKIPPED) {
        let mut block = [0; 64];
        block[0] = dc;
        let quant = Quant([rng.next() as i16; 64]);
        let (mut full, mut short) = (vec![0; 64], vec![1; 64]);
        idct::transform(&block, &quant, target, &mut full);
        idct::fill_dc(dc, &quant, target, &mut short);
        assert_eq!(full, short, "dc {dc}");
    }
}

#[test]
fn vector_upsampling_is_scalar_upsampling() {
    let all = all_vectors();
    let mut rng = TestRng(3);
    for count in (1..200).step_by(SKIPPED.min(7)) {
        let (near, far) = (rng.bytes(count + upsample::SLACK), rng.bytes(count + upsample::SLACK));
        let upsampled = |vectors| {
            let mut lines = [(); 4].map(|()| vec![0; 2 * count + upsample::SLACK]);
            upsample::h2v1(vectors, &near, count, &mut lines[0]);
            upsample::h2v2(vectors, &near, &far, count, &mut lines[1]);
            upsample::h1v2(vectors, &near, &far, 1, count, &mut lines[2]);
            upsample::h1v2(vectors, &near, &far, 2, count, &mut lines[3]);
            lines.iter().zip([2, 2, 1, 1]).map(|(line, times)| line[..times * count].to_vec()).collect()
        };
        let scalar: Vec<_> = upsampled(Vectors::NONE);
        for (level, vectors) in &all {
            assert_eq!(scalar, upsampled(*vectors), "{level:?}, {count} samples");
        }
    }
}

#[test]
fn vector_conversion_is_scalar_conversion_for_every_chroma() {
    let all = all_vectors();
    let mut rng = TestRng(4);
    for cb in (0..=255).step_by(SKIPPED) {
        let (luma, cr) = (rng.bytes(256), (0..=255).collect::<Vec<u8>>());
        for model in [ColorModel::YCbCr, ColorModel::Ycck, ColorModel::Rgb, ColorModel::Grey] {
            let rows: [&[u8]; 4] = [&luma, &[cb; 256], &cr, &luma];
            let width = 256 - usize::from(cb) / 3;
            let mut scalar = vec![1; width * 3];
            convert::row(Vectors::NONE, model, rows, &mut scalar);
            for (level, vectors) in &all {
                let mut vector = vec![2; width * 3];
                convert::row(*vectors, model, rows, &mut vector);
                assert_eq!(scalar, vector, "{model:?}, {level:?}, Cb {cb}");
            }
        }
    }
}

#[test]
fn no_ink_is_white_and_full_black_is_black() {
    let mut out = [9; 6];
    convert::row(Vectors::NONE, ColorModel::Cmyk, [&[255, 10], &[255, 20], &[255, 30], &[255, 0]], &mut out);
    assert_eq!(out, [255, 255, 255, 0, 0, 0]);
}
