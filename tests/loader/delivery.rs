//! Order, lengths and last batches.

use crate::support::{builder, epoch_of, flat};
use feedline::loader::{LastBatch, Status};

#[test]
fn an_epochs_length_is_exact_at_every_point() {
    for samples in [1, 2, 7, 8, 9, 16, 23] {
        for last in [LastBatch::Partial, LastBatch::Pad, LastBatch::Drop] {
            if last == LastBatch::Drop && samples < 8 {
                continue;
            }
            let loader = builder(flat(samples), 8).last_batch(last).workers(3).build().unwrap();
            let mut epoch = loader.epoch(0);
            for left in (0..loader.batches()).rev() {
                assert_eq!(epoch.len(), left + 1);
                assert!(epoch.next().unwrap().is_ok());
            }
            assert_eq!(epoch.len(), 0);
            assert!(epoch.next().is_none());
        }
    }
}

#[test]
fn without_shuffle_batches_follow_the_source_whatever_the_workers() {
    for workers in [1, 2, 8] {
        let loader = builder(flat(10), 4).last_batch(LastBatch::Partial).workers(workers).build().unwrap();
        assert_eq!(epoch_of(&loader, 0), [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9]]);
    }
}

#[test]
fn a_shuffled_epoch_shows_each_sample_once_in_an_order_of_its_own() {
    let loader = builder(flat(300), 7).last_batch(LastBatch::Partial).shuffle(true).seed(4).build().unwrap();
    let [first, second, again] = [0, 1, 0].map(|epoch| epoch_of(&loader, epoch).concat());
    assert_eq!(first, again);
    assert_ne!(first, second);
    for mut seen in [first, second] {
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..300));
    }
}

#[test]
fn drop_leaves_the_rest_out() {
    let loader = builder(flat(10), 4).last_batch(LastBatch::Drop).build().unwrap();
    assert_eq!(epoch_of(&loader, 0).concat(), (0..8).collect::<Vec<_>>());
}

#[test]
fn pad_repeats_the_start_of_the_order_and_says_so() {
    let loader = builder(flat(5), 4).last_batch(LastBatch::Pad).shuffle(true).build().unwrap();
    let batches = epoch_of(&loader, 3);
    assert_eq!(batches[1][1..], batches[0][..3]);
    let last = loader.epoch(3).nth(1).unwrap().unwrap();
    assert_eq!(last.status(), [Status::Ok, Status::Padded, Status::Padded, Status::Padded]);
    let small = builder(flat(2), 5).last_batch(LastBatch::Pad).build().unwrap();
    assert_eq!(epoch_of(&small, 0), [[0, 1, 0, 1, 0]]);
}

#[test]
fn an_epoch_resumed_at_any_batch_goes_on_as_the_whole_one() {
    let loader = builder(flat(30), 4).shuffle(true).last_batch(LastBatch::Partial).build().unwrap();
    let whole = epoch_of(&loader, 2);
    for first in 0..=whole.len() {
        let rest = loader.epoch_from(2, first);
        assert_eq!(rest.len(), whole.len() - first);
        let rest: Vec<Vec<usize>> =
            rest.map(|batch| batch.unwrap().indices().iter().map(|&i| i as usize).collect()).collect();
        assert_eq!(rest, whole[first..]);
    }
    assert_eq!(loader.epoch_from(2, 99).len(), 0);
}

#[test]
fn one_worker_reads_in_the_epochs_order_so_that_the_first_batch_comes_first() {
    let source = flat(24);
    let reads = source.reads.clone();
    let loader = builder(source, 4).shuffle(true).workers(1).build().unwrap();
    let order = epoch_of(&loader, 0).concat();
    assert_eq!(*reads.lock().unwrap(), order);
}

#[test]
fn decode_only_delivers_labels_without_pixels() {
    let loader = builder(flat(6), 4).last_batch(LastBatch::Partial).decode_only().build().unwrap();
    let batches: Vec<_> = loader.epoch(0).map(|batch| batch.unwrap()).collect();
    assert_eq!(batches[1].labels(), [4, 5]);
    assert_eq!(batches[1].shape(), [2, 3, 0, 0]);
    assert!(batches[1].images().is_empty());
    let stats = loader.stats();
    assert_eq!((stats.decode.count, stats.render.count), (6, 0));
}
