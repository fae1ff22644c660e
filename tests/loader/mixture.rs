//! Mixtures of data sets through the whole pipeline: their orders, resumed at every batch, and what they refuse.

use crate::interrupted::{keeps_its_rows, stream};
use crate::mixing::Mix;
use crate::support::{Flat, Squash, flat, outlined};
use feedline::augment::{ColorJitter, Resize, View};
use feedline::error::Result;
use feedline::label::Label;
use feedline::loader::{LastBatch, Loader, LoaderBuilder, Shuffle};
use feedline::output::{DType, Layout};
use feedline::source::{Mixture, MixtureOptions, Source, StoppingStrategy};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

#[path = "../../examples/mixture.rs"]
#[expect(dead_code, reason = "its main() is run elsewhere")]
mod example;

/// Data sets of 40, 7 and 90 samples.
fn sets() -> MixtureOptions {
    Mixture::options().set("a", flat(40)).set("b", flat(7)).set("c", flat(90))
}

fn weighted() -> MixtureOptions {
    sets().weights([0.5, 0.2, 0.3]).stopping_strategy(StoppingStrategy::AllExhausted)
}

/// An epoch of 300 samples.
fn long() -> MixtureOptions {
    sets().weights([0.5, 0.2, 0.3]).epoch_samples(300u64)
}

fn builder(mixture: MixtureOptions, batch_size: usize) -> LoaderBuilder {
    let loader = Loader::builder(mixture.open().unwrap()).batch_size(batch_size).augment(Squash);
    let loader = loader.augment(ColorJitter::new(0.5, 0.0, 0.0, 0.0)).output(DType::U8, Layout::Nchw);
    loader.shuffle(true).seed(8).last_batch(LastBatch::Partial)
}

fn indices(loader: &Loader, epoch: u64) -> Vec<u64> {
    stream(loader.epoch(epoch)).into_iter().flatten().map(|(_, index, _)| index).collect()
}

#[test]
fn a_weighted_mixture_is_resumed_at_every_batch_on_any_ranks() {
    // The 90 of `c` at three of ten, but for what is rounded.
    assert_eq!(builder(weighted(), 8).build().unwrap().batches(), 38);
    keeps_its_rows(
        &|rows, rank, ranks| builder(weighted(), rows).rank(rank, ranks).build().unwrap(),
        32,
        false,
    );
    let windows = |rows, rank, ranks| {
        let loader = builder(weighted(), rows).shuffle(Shuffle::Window(8)).augment(Mix).partner_window(16);
        loader.rank(rank, ranks).build().unwrap()
    };
    keeps_its_rows(&windows, 40, false);
}

#[test]
fn so_is_one_with_views_and_one_with_repeats() {
    let views = |repeats: u64| {
        move |rows: usize, rank, ranks| {
            let view = |edge: u32| {
                let jitter = ColorJitter::new(0.5, 0.0, 0.0, 0.0);
                View::new(edge).transform(Resize::new([edge, edge])).transform(jitter)
            };
            let loader = Loader::builder(long().open().unwrap()).batch_size(rows).view(view(5)).view(view(4));
            let loader = loader.output(DType::U8, Layout::Nchw).shuffle(true).repeats(repeats);
            loader.last_batch(LastBatch::Partial).rank(rank, ranks).build().unwrap()
        }
    };
    keeps_its_rows(&views(1), 48, false);
    keeps_its_rows(&views(3), 48, true);
}

#[test]
fn repeats_that_would_leave_data_sets_out_are_refused() {
    let refused = |mixture| builder(mixture, 8).repeats(3).build().map(drop).unwrap_err().to_string();
    let says = refused(sets().chain());
    assert!(
        says.contains("repeats = 3") && says.contains("chain") && says.contains("set repeats to 1"),
        "{says}"
    );
    assert!(refused(weighted()).contains("all_exhausted"));
    assert!(builder(sets().weights([0.5, 0.2, 0.3]).epoch_samples(90u64), 8).repeats(3).build().is_ok());
    assert!(builder(sets().chain(), 8).repeats(1).build().is_ok());
}

#[test]
fn data_sets_that_are_chained_or_one_are_resumed_as_well() {
    let chained = |rows, rank, ranks| builder(sets().chain(), rows).rank(rank, ranks).build().unwrap();
    keeps_its_rows(&chained, 16, false);
    let order = indices(&chained(8, 0, 1), 3);
    for (from, to) in [(0, 40), (40, 47), (47, 137)] {
        let mut own = order[from..to].to_vec();
        assert!(!own.is_sorted());
        own.sort_unstable();
        assert!(own.into_iter().eq(from as u64..to as u64));
    }
    let one = |rows, rank, ranks| builder(sets(), rows).rank(rank, ranks).build().unwrap();
    keeps_its_rows(&one, 16, false);
    let plain = Loader::builder(flat(137)).batch_size(8).augment(Squash).output(DType::U8, Layout::Nchw);
    let plain = plain.shuffle(true).seed(8).last_batch(LastBatch::Partial).build().unwrap();
    assert_eq!(indices(&one(8, 0, 1), 3), indices(&plain, 3), "one data set in several files");
    let subset = builder(sets(), 1).subset([3, 46]).shuffle(false).build().unwrap();
    assert_eq!(
        subset.epoch(0).map(|batch| batch.unwrap().keys()[0].clone()).collect::<Vec<_>>(),
        ["a:3.png", "b:6.png"]
    );
}

#[test]
fn a_sample_that_comes_again_is_augmented_anew() {
    let mixture = Mixture::options().set("a", flat(2)).weights([1.0]).epoch_samples(40u64);
    let rows = stream(builder(mixture, 4).build().unwrap().epoch(0)).concat();
    let mut different: Vec<_> = rows.iter().map(|(_, index, pixels)| (index, pixels)).collect();
    different.sort();
    different.dedup();
    assert!(rows.len() == 40 && different.len() > 20, "{} of 40", different.len());
}

#[test]
fn classes_of_images_and_objects_may_be_mixed() {
    let boxed = Flat { objects: Some(outlined), ..flat(6) };
    let mixture = Mixture::options().set("a", flat(3)).set("b", boxed);
    let loader = builder(mixture, 9).shuffle(false).build().unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    assert_eq!(batch.labels(), [0, 1, 2, -1, -1, -1, -1, -1, -1]);
    let objects = batch.objects().unwrap();
    // As many as the index modulo 3.
    assert_eq!(objects.batch_index, [4, 5, 5, 7, 8, 8]);
    assert!(matches!(loader.source().label(8), Label::Objects(_)));
}

#[test]
fn a_state_of_another_mixture_is_refused() {
    let state = builder(weighted(), 4).build().unwrap().epoch(0).state();
    let refused = |mixture: MixtureOptions, words: &str| {
        let error = builder(mixture, 4).build().unwrap().resume(&state).err().expect(words).to_string();
        assert!(error.contains(&format!("its {words}")), "{error}");
    };
    let samples = builder(weighted(), 4).build().unwrap().state_ahead_of(0).samples;
    refused(weighted().stopping_strategy(StoppingStrategy::FirstExhausted), "samples is 297");
    refused(sets().weights([0.4, 0.3, 0.3]).epoch_samples(samples), "selection is");
    refused(sets().chain(), "samples is 297");
    let renamed = Mixture::options().set("a", flat(40)).set("z", flat(7)).set("c", flat(90));
    refused(renamed.weights([0.5, 0.2, 0.3]).epoch_samples(samples), "source is");
    let same = sets().weights([0.5, 0.2, 0.3]).epoch_samples(samples);
    assert!(builder(same, 4).build().unwrap().resume(&state).is_ok());
    let chained = builder(sets().chain(), 4).build().unwrap().epoch(0).state();
    let error = builder(sets(), 4).build().unwrap().resume(&chained).err().unwrap().to_string();
    assert!(error.contains("its selection is"), "{error}");
}

#[test]
fn orders_that_a_mixture_leaves_no_room_for_are_refused() {
    let refused = |builder: LoaderBuilder, words: &[&str]| {
        let error = builder.build().err().unwrap().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    refused(
        builder(weighted(), 4).subset([1]),
        &["[loader]: subset", "mix = \"weighted\"", "set mix to concat"],
    );
    refused(builder(sets().chain(), 4).weights(&[1.0; 137]), &["[loader]: weights", "mix = \"chain\""]);
    refused(builder(weighted(), 4).shuffle(Shuffle::Shards(2)), &["shards"]);
    let rect = feedline::output::RectBatches::default();
    refused(builder(sets().chain(), 4).shuffle(false).rect(rect), &["rect", "mix = \"chain\""]);
    refused(builder(weighted(), 4).shuffle(false).rect(rect), &["rect", "weights"]);
    let loader = builder(weighted(), 4).build().unwrap();
    assert!(loader.plan(0, 3).unwrap_err().to_string().contains("mix = \"concat\""));
}

#[test]
fn the_example_shows_three_of_four_from_one_data_set_with_common_classes() {
    let folder = tempfile::tempdir().unwrap();
    for (there, here, count) in
        [("cat", "street/cat", 4), ("rocket", "street/rocket", 4), ("cat", "studio/kitten", 2)]
    {
        std::fs::create_dir_all(folder.path().join(here)).unwrap();
        for number in 0..count {
            let photo = format!("data/photos/{there}/000{number}.jpg");
            std::fs::copy(photo, folder.path().join(here).join(format!("{number}.jpg"))).unwrap();
        }
    }
    let mut out = Vec::new();
    example::mixture(folder.path(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("10 samples of the classes cat, rocket\n"), "{out}");
    // Eight samples of three in four positions, and what fills no batch is dropped.
    assert_eq!(out.lines().count(), 1 + 8, "{out}");
    for line in out.lines().skip(1) {
        let there = line.contains("rocket/") && line.ends_with(" rocket");
        assert!(there || line.ends_with(" cat") && !line.contains("rocket/"), "{out}");
    }
    assert!((4..=8).contains(&out.matches("street:").count()), "{out}");
}

/// Images whose names and labels are known once the first of them is read.
struct Late(Flat, AtomicBool);

impl Source for Late {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.1.store(true, Ordering::Relaxed);
        self.0.read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        if self.1.load(Ordering::Relaxed) { self.0.key(index) } else { Cow::Borrowed("") }
    }

    fn label(&self, index: usize) -> Label {
        if self.1.load(Ordering::Relaxed) { self.0.label(index) } else { Label::Unlabelled }
    }

    fn is_known_ahead(&self) -> bool {
        false
    }
}

#[test]
fn a_run_over_records_that_are_not_known_ahead_is_resumed() {
    let loader = || {
        let late = Late(flat(40), AtomicBool::new(false));
        builder(Mixture::options().set("late", late).set("b", flat(7)).chain(), 8).build().unwrap()
    };
    let (first, fresh) = (loader(), loader());
    let whole = stream(first.epoch(0));
    let mut epoch = first.epoch(0);
    assert!(epoch.next().unwrap().is_ok());
    assert_eq!(stream(fresh.resume(&epoch.state()).unwrap()), whole[1..]);
}
