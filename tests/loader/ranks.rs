//! Several ranks: together they show every sample once, in step, and what happens to a sample is the same on any.

use crate::mixing::Mix;
use crate::support::{builder, flat};
use feedline::error::Error;
use feedline::loader::{Batch, LastBatch, Loader, Status};
use feedline::options::{DeviceWord, Options};
use feedline::output::{DType, Layout};
use std::collections::HashMap;
use std::process::Command;

/// A loader that mixes samples of a window, so that windows go round.
fn rank(rank: usize, world_size: usize, samples: usize, last: LastBatch) -> Loader {
    let builder = builder(flat(samples), 3).augment(Mix).output(DType::F32, Layout::Nchw).last_batch(last);
    builder.shuffle(true).seed(8).partner_window(8).workers(1).rank(rank, world_size).build().unwrap()
}

fn batches(loader: &Loader, epoch: u64) -> Vec<Batch> {
    loader.epoch(epoch).map(|batch| batch.unwrap()).collect()
}

/// What a row shows, bit for bit.
fn pixels(batch: &Batch, row: usize) -> Vec<u32> {
    let values = &batch.as_f32().unwrap()[row * 48..(row + 1) * 48];
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn together_the_ranks_show_each_sample_once_with_the_same_pixels_for_any_number_of_ranks() {
    let whole = rank(0, 1, 61, LastBatch::Partial);
    let mut want = HashMap::new();
    for batch in batches(&whole, 2) {
        (0..batch.len()).for_each(|row| drop(want.insert(batch.indices()[row], pixels(&batch, row))));
    }
    for world_size in 1..=17 {
        let mut seen = Vec::new();
        for number in 0..world_size {
            for batch in batches(&rank(number, world_size, 61, LastBatch::Partial), 2) {
                for row in 0..batch.len() {
                    let index = batch.indices()[row];
                    assert_eq!(pixels(&batch, row), want[&index], "sample {index} of {world_size} ranks");
                    match batch.status()[row] {
                        Status::Ok => seen.push(index),
                        other => assert_eq!(other, Status::Padded),
                    }
                }
            }
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..61), "{world_size} ranks");
    }
}

#[test]
fn every_rank_makes_the_same_steps_with_the_same_rows() {
    for last in [LastBatch::Drop, LastBatch::Partial, LastBatch::Pad] {
        let steps = |number| -> Vec<usize> {
            let loader = rank(number, 4, 61, last);
            assert_eq!(loader.batches(), loader.epoch(0).len());
            batches(&loader, 0).iter().map(Batch::len).collect()
        };
        let want = match last {
            LastBatch::Drop => vec![3; 5],
            LastBatch::Partial => vec![3, 3, 3, 3, 3, 1],
            LastBatch::Pad => vec![3; 6],
        };
        assert!((0..4).all(|number| steps(number) == want), "{last:?}");
    }
}

#[test]
fn a_window_stays_on_one_rank() {
    let order: Vec<u64> =
        batches(&rank(0, 1, 64, LastBatch::Partial), 0).iter().flat_map(|b| b.indices().to_vec()).collect();
    for number in 0..2 {
        let own = batches(&rank(number, 2, 64, LastBatch::Partial), 0);
        let own: Vec<u64> = own.iter().flat_map(|batch| batch.indices().to_vec()).collect();
        let windows = order.chunks(8).skip(number).step_by(2).flatten();
        assert!(own.iter().eq(windows), "rank {number}");
    }
}

#[test]
fn more_ranks_than_samples_repeat_the_start_of_the_order() {
    let shown = |number| {
        let batch = &batches(&rank(number, 5, 2, LastBatch::Partial), 0)[0];
        (batch.indices().to_vec(), batch.status().to_vec())
    };
    let (first, second) = (shown(0).0, shown(1).0);
    assert_eq!(shown(2), (first, vec![Status::Padded]));
    assert_eq!(shown(3), (second, vec![Status::Padded]));
}

#[test]
fn ranks_that_cannot_be_are_refused() {
    let refused = |rank, world_size, words: &str| {
        let error = builder(flat(9), 2).rank(rank, world_size).build().err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(0, 0, "world_size is 0");
    refused(4, 4, "ranks count from 0 to 3");
    refused(0, 5, "9 samples, 1 for a rank, so every batch would be dropped");
}

/// In the environment of the process that has no other test.
const ALONE: &str = "FEEDLINE_TEST_ALONE";

#[test]
fn a_device_without_a_number_is_that_of_the_local_rank_where_ranks_come_from_the_environment() {
    if std::env::var_os(ALONE).is_none() {
        let name = "ranks::a_device_without_a_number_is_that_of_the_local_rank_where_ranks_come_from_the_environment";
        let mut alone = Command::new(std::env::current_exe().unwrap());
        let alone = alone.args(["--exact", name]).env(ALONE, "1").env("RANK", "1").env("WORLD_SIZE", "2");
        let ran = alone.env("LOCAL_RANK", "777").output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let built = |device: &str, from_environment: bool| {
        let mut options = Options::default();
        options.set_text("device", device).unwrap();
        let builder = builder(flat(8), 2).options(&options);
        let built = if from_environment { builder.distributed_from_env().unwrap() } else { builder }.build();
        built.map(|loader| (loader.options().device.name, loader.options().loader.rank))
    };
    // There is no such GPU, so that the CPU takes its place, and where it is named nothing does.
    assert_eq!(built("auto", true).unwrap(), (Some(DeviceWord::Auto(Some(777))), Some(1)));
    assert_eq!(built("auto:778", true).unwrap(), (Some(DeviceWord::Auto(Some(778))), Some(1)));
    assert!(matches!(built("cuda", true), Err(Error::Unavailable { .. })));
    assert_eq!(built("auto:778", false).unwrap(), (Some(DeviceWord::Auto(Some(778))), Some(0)));
}
