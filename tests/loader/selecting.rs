//! Subsets, weights, and shuffles that stay local.

use crate::support::{builder, epoch_of, flat};
use feedline::augment::RandomHorizontalFlip;
use feedline::loader::{BadSample, LastBatch, Shuffle, Status};
use std::collections::HashSet;

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
