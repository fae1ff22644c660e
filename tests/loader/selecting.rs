//! Subsets, weights, and shuffles that stay local.

use crate::interrupted::{keeps_its_rows, stream};
use crate::mixing::Mix;
use crate::support::{builder, epoch_of, flat};
use feedline::augment::{ColorJitter, RandomHorizontalFlip};
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder, Shuffle, Status};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Eight samples of fifty, two of them four times and one twice: 15 entries.
const OVERSAMPLED: [u64; 15] = [40, 7, 21, 7, 8, 7, 33, 40, 0, 7, 49, 40, 21, 12, 40];

fn indices(loader: &Loader, epoch: u64) -> Vec<u64> {
    loader.epoch(epoch).flat_map(|batch| batch.unwrap().indices().to_vec()).collect()
}

fn oversampled(batch_size: usize, shuffle: bool) -> LoaderBuilder {
    let builder = builder(flat(50), batch_size).augment(ColorJitter::new(0.5, 0.0, 0.0, 0.0));
    builder.subset(OVERSAMPLED).shuffle(shuffle).seed(4).last_batch(LastBatch::Partial)
}

#[test]
fn a_subset_shows_its_samples_and_no_other() {
    let subset = || builder(flat(50), 2).subset([40, 7, 21, 8]);
    assert_eq!(epoch_of(&subset().build().unwrap(), 0), [[40, 7], [21, 8]]);
    let mut seen = epoch_of(&subset().shuffle(true).build().unwrap(), 5).concat();
    seen.sort_unstable();
    assert_eq!(seen, [7, 8, 21, 40]);
    let loader = subset().augment(RandomHorizontalFlip::new(0.5)).build().unwrap();
    let whole = builder(flat(50), 2).augment(RandomHorizontalFlip::new(0.5)).build().unwrap();
    assert_eq!(loader.plan(3, 21).unwrap().ops, whole.plan(3, 21).unwrap().ops, "a sample keeps its plan");
    assert!(loader.plan(0, 6).unwrap_err().to_string().contains("sample 6 is not in the loader's subset"));
}

#[test]
fn a_sample_that_is_named_again_comes_again_and_is_augmented_anew() {
    let plain = oversampled(4, false).build().unwrap();
    assert_eq!(indices(&plain, 0), OVERSAMPLED);
    assert_eq!(plain.batches(), 4);
    let shuffled = oversampled(4, true).build().unwrap();
    let mut copies = BTreeMap::<u64, Vec<Vec<u8>>>::new();
    for (_, index, pixels) in stream(shuffled.epoch(1)).concat() {
        copies.entry(index).or_default().push(pixels);
    }
    let counts: Vec<(u64, usize)> = copies.iter().map(|(index, copies)| (*index, copies.len())).collect();
    assert_eq!(counts, [(0, 1), (7, 4), (8, 1), (12, 1), (21, 2), (33, 1), (40, 4), (49, 1)]);
    for index in [7, 40] {
        let different = copies[&index].iter().collect::<BTreeSet<_>>().len();
        assert!(different > 1, "all copies of sample {index} look alike");
    }
    assert!(shuffled.plan(1, 7).is_ok());
    let error = shuffled.plan(1, 6).unwrap_err().to_string();
    assert!(error.contains("sample 6 is not in the loader's subset"), "{error}");
    let weighted = oversampled(4, false).weights(&[1.0; 15]).build().unwrap();
    assert!(indices(&weighted, 0).iter().all(|index| OVERSAMPLED.contains(index)));
}

#[test]
fn ranks_share_the_entries_of_a_subset_that_names_samples_again_and_a_run_of_them_is_resumed() {
    for shuffle in [false, true] {
        let make =
            |batch_size, rank, ranks| oversampled(batch_size, shuffle).rank(rank, ranks).build().unwrap();
        keeps_its_rows(&make, 2, false);
        let mixed = |batch_size, rank, ranks| -> Loader {
            let builder = oversampled(batch_size, shuffle).augment(Mix).partner_window(4);
            builder.rank(rank, ranks).build().unwrap()
        };
        keeps_its_rows(&mixed, 2, false);
    }
    let state = oversampled(2, true).build().unwrap().epoch(0).state();
    let once = oversampled(2, true).subset(0..15).build().unwrap();
    let error = once.resume(&state).err().unwrap().to_string();
    assert!(error.contains("its selection is"), "{error}");
}

#[test]
fn substitutes_come_from_the_subset() {
    let source = crate::support::Flat { cut: vec![7], ..flat(50) };
    let loader = builder(source, 4).subset([40, 7, 21, 8]).bad_sample(BadSample::Substitute).build().unwrap();
    for epoch in 0..20 {
        let batch = loader.epoch(epoch).next().unwrap().unwrap();
        assert_eq!(batch.status()[1], Status::Substituted { for_index: 7 });
        assert!([40, 21, 8].contains(&batch.indices()[1]));
    }
}

#[test]
fn weighted_samples_repeat_within_an_epoch_and_keep_to_their_chances() {
    let mut weights = vec![1.0; 200];
    weights[..100].fill(0.0);
    let loader = builder(flat(200), 10).weights(&weights).build().unwrap();
    let epoch = epoch_of(&loader, 0).concat();
    assert_eq!(epoch.len(), 200);
    assert!(epoch.iter().all(|index| *index >= 100));
    let different = epoch.iter().collect::<HashSet<_>>().len();
    assert!((70..100).contains(&different), "{different} of 100 came");
    assert_ne!(epoch, epoch_of(&loader, 1).concat());
    assert!(loader.plan(0, 150).unwrap_err().to_string().contains("drawn by weights"));
}

#[test]
fn a_local_shuffle_keeps_runs_together_and_shows_every_sample() {
    let loader = builder(flat(50), 4).shuffle(Shuffle::Window(8)).last_batch(LastBatch::Partial).build();
    let order = epoch_of(&loader.unwrap(), 1).concat();
    assert_eq!(order.iter().collect::<HashSet<_>>().len(), 50);
    let mut runs: Vec<usize> = order.iter().map(|index| index / 8).collect();
    runs.dedup();
    assert_eq!(runs.len(), 7);
    assert!(!runs.is_sorted());
}

#[test]
fn selections_without_meaning_are_refused() {
    let refused = |builder: feedline::loader::LoaderBuilder, words: &str| {
        let error = builder.build().err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(builder(flat(5), 1).subset([5]), "sample 5, but the source has 5");
    refused(builder(flat(5), 1).weights(&[1.0; 4]), "4 weights for 5 samples");
    refused(builder(flat(5), 1).shuffle(Shuffle::Window(0)), "window of 0 samples");
    refused(builder(flat(5), 4).subset([1, 2]), "every batch would be dropped");
}
