//! Bad samples under each policy, and panics.

use crate::support::{Flat, Squash, builder, epoch_of, flat, shown};
use feedline::augment::Augment;
use feedline::draft::Draft;
use feedline::error::{Error, Result};
use feedline::image::Limits;
use feedline::label::Label;
use feedline::loader::{BadSample, Batch, LastBatch, Loader, Stage, Status};
use feedline::policy::Damaged;
use feedline::rng::Draws;
use feedline::source::{Memory, Source};
use feedline_test_support::jpeg::{Jpeg, SamplingFactor};
use std::borrow::Cow;
use std::time::Duration;

fn bad(samples: usize, cut: &[usize]) -> Flat {
    Flat { cut: cut.to_vec(), ..flat(samples) }
}

fn index_of(batch: Option<Result<Batch>>) -> u64 {
    match batch {
        Some(Err(Error::Sample { index, .. })) => index,
        other => panic!("not a sample's error: {other:?}"),
    }
}

#[test]
fn fail_ends_the_epoch_at_the_batch_with_the_bad_sample() {
    for workers in [1, 8] {
        let loader = builder(bad(20, &[6, 9]), 4).workers(workers).build().unwrap();
        let mut epoch = loader.epoch(0);
        assert!(epoch.next().unwrap().is_ok());
        assert_eq!(index_of(epoch.next()), 6);
        assert_eq!(epoch.len(), 0);
        assert!(epoch.next().is_none());
        let report = loader.report();
        assert_eq!((report.failures, report.files[0].stage), (1, Stage::Decode));
        assert_eq!(report.files[0].key, "6.png");
        assert!(loader.epoch(1).next().unwrap().is_ok(), "the loader is still good");
    }
}

/// Twelve JPEGs, of which the fifth has a marker in its data, and the eighth no end.
fn jpegs() -> Memory {
    let file = Jpeg { restart: 3, ..Jpeg::new(SamplingFactor::F_2_2) }.picture(64, 48, 3);
    let mut samples: Vec<_> = (0..12).map(|i| (format!("{i}.jpg"), file.clone(), Label::Class(0))).collect();
    let middle = file.len() / 2;
    samples[4].1[middle..middle + 2].copy_from_slice(&[0xFF, 0x01]);
    samples[7].1.truncate(middle);
    Memory::new(samples)
}

#[test]
fn what_becomes_of_damaged_files_is_an_option_and_the_report_lists_those_that_were_decoded() {
    for (damaged, shown, listed) in
        [(Damaged::Refuse, 10, &[][..]), (Damaged::Torchvision, 11, &[4]), (Damaged::Libjpeg, 12, &[4, 7])]
    {
        let builder = Loader::builder(jpegs()).augment(Squash).batch_size(4).bad_sample(BadSample::Skip);
        let limits = Limits { damaged, ..Limits::default() };
        let loader = builder.limits(limits).workers(2).build().unwrap();
        let found = loader.epoch(0).map(|batch| batch.unwrap().len()).sum::<usize>();
        let (mut report, count) = (loader.report(), loader.stats().damaged);
        assert_eq!((found, report.failures), (shown, 12 - shown as u64), "{damaged:?}");
        report.damaged_files.sort_by_key(|file| file.index);
        assert!(report.damaged_files.iter().map(|file| file.index).eq(listed.iter().copied()));
        assert_eq!((report.damaged, count), (listed.len() as u64, listed.len() as u64));
        if let Some(file) = report.damaged_files.first() {
            assert_eq!((file.key.as_str(), file.times), ("4.jpg", 1));
            assert!(file.damage.to_string().starts_with("Corrupt JPEG data"), "{}", file.damage);
        }
    }
}

#[test]
fn a_sample_that_cannot_be_read_keeps_the_sources_words() {
    let loader = builder(Flat { unreadable: vec![1], ..flat(4) }, 4).build().unwrap();
    let error = loader.epoch(0).next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "sample 1 (1.png): the disk said no");
    assert_eq!(loader.report().files[0].stage, Stage::Read);
}

#[test]
fn skip_closes_the_gaps() {
    let loader =
        builder(bad(12, &[0, 2, 4, 5, 6, 7, 11]), 4).bad_sample(BadSample::Skip).workers(4).build().unwrap();
    assert_eq!(loader.epoch(0).len(), 3);
    assert_eq!(epoch_of(&loader, 0), [vec![1, 3], vec![], vec![8, 9, 10]]);
    let report = loader.report();
    assert_eq!(report.failures, 7);
    assert!(report.files.iter().map(|file| file.index).eq([0, 2, 4, 5, 6, 7, 11]));
    let empty = loader.epoch(0).nth(1).unwrap().unwrap();
    assert!(empty.is_empty() && empty.images().is_empty());
    assert_eq!(empty.shape(), [0, 3, 4, 4]);
}

#[test]
fn substitutes_fill_every_batch_and_are_the_same_for_any_number_of_workers() {
    let rows = |workers| {
        let builder = builder(bad(20, &[3, 4, 17]), 4).bad_sample(BadSample::Substitute);
        let loader = builder.workers(workers).build().unwrap();
        let indices = epoch_of(&loader, 0).concat();
        let status: Vec<Status> =
            loader.epoch(0).flat_map(|batch| batch.unwrap().status().to_vec()).collect();
        (indices, status)
    };
    let (indices, status) = rows(1);
    assert_eq!((indices.clone(), status.clone()), rows(8));
    for position in 0..20 {
        let is_bad = [3, 4, 17].contains(&position);
        let for_index = position as u64;
        let want = if is_bad { Status::Substituted { for_index } } else { Status::Ok };
        assert_eq!(status[position], want);
        assert_eq!(indices[position] == position, !is_bad);
        assert!(![3, 4, 17].contains(&indices[position]));
    }
}

#[test]
fn a_set_without_any_good_sample_fails_instead_of_searching_for_ever() {
    let all: Vec<usize> = (0..6).collect();
    let loader = builder(bad(6, &all), 3).bad_sample(BadSample::Substitute).build().unwrap();
    let mut epoch = loader.epoch(0);
    let Some(Err(error @ Error::Sample { index: 0, .. })) = epoch.next() else {
        panic!("not the first sample's own failure")
    };
    assert!(error.to_string().contains("16 substitutes for it were bad too"), "{error}");
    assert!(epoch.next().is_none());
}

#[test]
fn more_bad_samples_than_max_failures_end_the_epoch() {
    let loader = |most| {
        let builder = builder(bad(16, &[1, 5, 9]), 4).bad_sample(BadSample::Skip);
        builder.max_failures(most).build().unwrap()
    };
    assert_eq!(loader(3).epoch(0).filter(|batch| batch.is_ok()).count(), 4);
    let strict = loader(1);
    let mut epoch = strict.epoch(0);
    assert!(epoch.next().unwrap().is_ok());
    let error = epoch.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("5.png") && error.contains("max_failures is 1"), "{error}");
    assert!(epoch.next().is_none());
    assert!(strict.epoch(1).next().unwrap().is_ok(), "each epoch counts for itself");
}

#[test]
fn a_sample_of_another_size_is_that_samples_fault() {
    let source = Flat { wide: Some(2), ..flat(4) };
    let size = feedline::geometry::Size::new(8, 6);
    let loader = Loader::builder(source).batch_size(4).output_size(size).bad_sample(BadSample::Skip).build();
    let loader = loader.unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    assert_eq!(batch.indices(), [0, 1, 3]);
    let file = &loader.report().files[0];
    assert_eq!(file.stage, Stage::Plan);
    assert!(file.cause.contains("end at 9x6 but the output is 8x6"), "{}", file.cause);
}

/// Panics at images that are 9 pixels wide.
struct Fragile;

impl Augment for Fragile {
    fn name(&self) -> &'static str {
        "Fragile"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        assert!(draft.size().width != 9, "cannot bear {}", draft.size());
    }
}

#[test]
fn a_panic_in_an_augmentation_is_an_error_at_its_batch_under_every_policy() {
    for policy in [BadSample::Fail, BadSample::Skip, BadSample::Substitute] {
        let source = Flat { wide: Some(5), ..flat(12) };
        let builder = Loader::builder(source).batch_size(4).augment(Fragile).augment(Squash);
        let loader = builder.bad_sample(policy).workers(2).build().unwrap();
        let mut epoch = loader.epoch(0);
        assert!(epoch.next().unwrap().is_ok());
        match epoch.next() {
            Some(Err(Error::Panic { key, index: 5, message })) => {
                assert_eq!((key.as_str(), message.as_str()), ("5.png", "cannot bear 9x6"));
            }
            other => panic!("{other:?}"),
        }
        assert!(epoch.next().is_none());
        assert!(loader.epoch(1).next().unwrap().is_ok(), "the worker works on");
    }
}

/// A source that cannot even name its samples.
struct Nameless(Flat);

impl Source for Nameless {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.0.read(index, bytes)
    }

    fn key(&self, _index: usize) -> Cow<'_, str> {
        panic!("no names here")
    }

    fn label(&self, index: usize) -> Label {
        self.0.label(index)
    }
}

#[test]
fn a_source_that_panics_while_a_panic_is_reported_does_not_hang_the_loader() {
    let loader = Loader::builder(Nameless(flat(4))).batch_size(2).augment(Squash).build().unwrap();
    assert!(matches!(loader.epoch(0).next(), Some(Err(Error::Panic { .. }))));
}

/// Panics again when what it panicked with is dropped.
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

struct Planted;

impl Augment for Planted {
    fn name(&self) -> &'static str {
        "Planted"
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, _rng: &mut dyn Draws) {
        if draft.size().width == 9 {
            std::panic::panic_any(Explosive);
        }
    }
}

#[test]
fn a_panic_that_ends_a_worker_thread_ends_its_epoch_and_all_later_ones_with_an_error() {
    let source = Flat { wide: Some(5), ..flat(12) };
    let builder = Loader::builder(source).batch_size(4).augment(Planted).augment(Squash);
    let loader = builder.workers(1).build().unwrap();
    for number in 0..2 {
        let mut epoch = loader.epoch(number);
        let error = loop {
            assert!(epoch.wait(Duration::from_secs(60)), "the consumer would wait for ever");
            if let Err(error) = epoch.next().unwrap() {
                break error;
            }
        };
        assert!(matches!(error, Error::Unavailable { .. }), "{error}");
        assert!(error.to_string().contains("make the loader anew"), "{error}");
    }
}

#[test]
fn padding_that_repeats_a_bad_sample_is_skipped_again() {
    let builder = builder(bad(5, &[0]), 4).bad_sample(BadSample::Skip).last_batch(LastBatch::Pad);
    let loader = builder.build().unwrap();
    let last = loader.epoch(0).nth(1).unwrap().unwrap();
    assert_eq!(last.indices(), [4, 1, 2]);
    assert_eq!((shown(&last, 0), shown(&last, 1)), (4, 1));
    assert_eq!(last.status(), [Status::Ok, Status::Padded, Status::Padded]);
}
