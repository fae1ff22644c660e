//! Each vector stage against its scalar oracle, on random and on extreme values.

use super::header::ColorModel;
use super::output::{convert, upsample};
#[cfg(target_arch = "x86_64")]
use super::transform::{BATCH, Batch, Quants};
use super::transform::{Quant, Target, idct};
use crate::simd::Avx2;
#[cfg(target_arch = "x86_64")]
use crate::simd::Avx512;

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

fn avx2() -> Option<Avx2> {
    let avx2 = Avx2::detected();
    if avx2.is_none() {
        println!("NOT RUN: this machine has no AVX2");
    }
    avx2
}

/// A batch of blocks, each with its component and its target.
#[cfg(target_arch = "x86_64")]
fn batch(blocks: &[[i16; 64]], components: &[usize], targets: &[Target]) -> Batch {
    let mut batch = Batch::new();
    batch.count = blocks.len();
    batch.blocks[..blocks.len()].copy_from_slice(blocks);
    batch.components[..blocks.len()].copy_from_slice(components);
    batch.targets[..blocks.len()].copy_from_slice(targets);
    batch
}

#[cfg(target_arch = "x86_64")]
#[test]
fn several_blocks_at_once_are_the_same_blocks() {
    let (Some(avx2), avx512) = (avx2(), Avx512::detected()) else { return };
    if avx512.is_none() {
        println!("NOT RUN: this machine has no AVX-512");
    }
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
        let mut vector = vec![7; scalar.len()];
        let mut two = batch(&blocks, &components, &targets);
        idct::avx2::transform(avx2, &mut two, &quants, &mut vector);
        assert_eq!(scalar, vector, "round {round}, two at once: {blocks:?}");
        assert!(all_done(&two));
        if let Some(avx512) = avx512 {
            let mut vector = vec![7; scalar.len()];
            let mut four = batch(&blocks, &components, &targets);
            idct::avx512::transform(avx512, &mut four, &quants, &mut vector);
            assert_eq!(scalar, vector, "round {round}, four at once: {blocks:?}");
            assert!(all_done(&four));
        }
    }
}

/// Transforms two blocks, the second to the given offset and stride; at 100 and 50 it ends where the planes end.
#[cfg(target_arch = "x86_64")]
fn transform_near_the_end(offset: usize, stride: usize) {
    // Where there is no AVX2, the scalar version panics as well.
    let targets = [Target { offset: 0, stride: 8, size: 8 }, Target { offset, stride, size: 8 }];
    let (mut batch, mut planes) = (batch(&[[1; 64]; 2], &[0; 2], &targets), vec![0; 100 + 7 * 50 + 8]);
    let quants = Quants::new([Quant([1; 64]); 4]);
    match Avx2::detected() {
        Some(avx2) => idct::avx2::transform(avx2, &mut batch, &quants, &mut planes),
        None => idct::transform(&batch.blocks[1], &quants.each[0], targets[1], &mut planes),
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn blocks_may_go_up_to_the_end_of_the_planes() {
    transform_near_the_end(100, 50);
}

#[cfg(target_arch = "x86_64")]
#[test]
#[should_panic]
fn a_block_does_not_go_one_byte_beyond_the_planes() {
    transform_near_the_end(101, 50);
}

#[cfg(target_arch = "x86_64")]
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
    let Some(avx2) = avx2() else { return };
    let mut rng = TestRng(3);
    for count in (1..200).step_by(SKIPPED.min(7)) {
        let (near, far) = (rng.bytes(count + upsample::SLACK), rng.bytes(count + upsample::SLACK));
        let mut lines = vec![vec![0; 2 * count + upsample::SLACK]; 4];
        upsample::h2v1(None, &near, count, &mut lines[0]);
        upsample::h2v1(Some(avx2), &near, count, &mut lines[1]);
        upsample::h2v2(None, &near, &far, count, &mut lines[2]);
        upsample::h2v2(Some(avx2), &near, &far, count, &mut lines[3]);
        assert_eq!(lines[0][..2 * count], lines[1][..2 * count]);
        assert_eq!(lines[2][..2 * count], lines[3][..2 * count]);
    }
}

#[test]
fn vector_conversion_is_scalar_conversion_for_every_chroma() {
    let Some(avx2) = avx2() else { return };
    let mut rng = TestRng(4);
    for cb in (0..=255).step_by(SKIPPED) {
        let (luma, cr) = (rng.bytes(256), (0..=255).collect::<Vec<u8>>());
        for model in [ColorModel::YCbCr, ColorModel::Ycck] {
            let rows: [&[u8]; 4] = [&luma, &[cb; 256], &cr, &luma];
            let width = 256 - usize::from(cb) / 3;
            let (mut scalar, mut vector) = (vec![1; width * 3], vec![2; width * 3]);
            convert::row(None, model, rows, &mut scalar);
            convert::row(Some(avx2), model, rows, &mut vector);
            assert_eq!(scalar, vector, "Cb {cb}");
        }
    }
}

#[test]
fn no_ink_is_white_and_full_black_is_black() {
    let mut out = [9; 6];
    convert::row(None, ColorModel::Cmyk, [&[255, 10], &[255, 20], &[255, 30], &[255, 0]], &mut out);
    assert_eq!(out, [255, 255, 255, 0, 0, 0]);
}
