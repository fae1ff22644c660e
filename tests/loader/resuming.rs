//! A run that is saved and resumed: the same batches on the same ranks, the same samples on others.

use crate::mixing::Mix;
use crate::support::{Flat, Squash, builder, flat};
use feedline::augment::RandomHorizontalFlip;
use feedline::error::Result;
use feedline::label::Label;
use feedline::loader::{Epoch, LastBatch, Loader, LoaderBuilder, Shuffle, State, Status};
use feedline::output::{DType, Layout};
use feedline::source::Source;
use std::borrow::Cow;
use std::collections::BTreeMap;

const SAMPLES: usize = 61;

/// Mixes samples of windows of eight.
fn mixing(batch_size: usize) -> LoaderBuilder {
    let builder = builder(flat(SAMPLES), batch_size).augment(Mix).output(DType::F32, Layout::Nchw);
    builder.shuffle(true).seed(8).partner_window(8).last_batch(LastBatch::Partial).workers(1)
}

/// Sample and pixels of a row, bit for bit.
type Row = (u64, Vec<u32>);

/// All rows of each batch, padding included.
fn stream(epoch: Epoch) -> Vec<Vec<Row>> {
    let pixels = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
    let batches = epoch.map(|batch| {
        let batch = batch.unwrap();
        let rows = batch.as_f32().unwrap().chunks(48).map(pixels);
        batch.indices().iter().copied().zip(rows).collect()
    });
    batches.collect()
}

/// Takes `steps` batches and tells where the run stands; the rows that were no padding go into `seen`.
fn advance(mut epoch: Epoch, steps: usize, seen: &mut BTreeMap<u64, Vec<u32>>) -> State {
    for _ in 0..steps {
        let Some(batch) = epoch.next() else { break };
        let batch = batch.unwrap();
        for (row, values) in batch.as_f32().unwrap().chunks(48).enumerate() {
            if batch.status()[row] != Status::Padded {
                let bits = values.iter().map(|value| value.to_bits()).collect();
                assert!(seen.insert(batch.indices()[row], bits).is_none(), "a sample came twice");
            }
        }
    }
    let state = epoch.state();
    // Through JSON, as a checkpoint would take it.
    serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap()
}

#[test]
fn a_run_resumed_at_any_batch_goes_on_with_the_same_batches_whatever_the_workers() {
    let loader = |workers| mixing(4).rank(1, 2).workers(workers).build().unwrap();
    let (first, same, other) = (loader(1), loader(1), loader(3));
    let whole = stream(first.epoch(2));
    for steps in 0..=whole.len() {
        let state = advance(first.epoch(2), steps, &mut BTreeMap::new());
        assert_eq!((state.epoch, state.steps, state.before), (2, steps as u64, None));
        for loader in [&same, &other] {
            let rest = loader.resume(&state).unwrap();
            assert_eq!(rest.len(), whole.len() - steps);
            assert_eq!(stream(rest), whole[steps..], "after {steps} batches");
        }
    }
}

#[test]
fn batches_that_were_only_made_ahead_come_again() {
    let loader = mixing(4).prefetch(8).build().unwrap();
    let mut epoch = loader.epoch(0);
    assert!(epoch.next().unwrap().is_ok());
    while loader.stats().samples < 30 {
        std::thread::yield_now();
    }
    assert_eq!(epoch.state().steps, 1);
}

#[test]
fn other_ranks_and_batches_go_on_with_the_samples_that_were_left_and_their_plans() {
    let mut want = BTreeMap::new();
    advance(mixing(8).build().unwrap().epoch(3), usize::MAX, &mut want);
    for (world_size, batch_size, steps) in [(2, 3, 4), (3, 5, 2), (2, 8, 2), (4, 4, 4)] {
        for (then, rows) in [(1, 8), (3, 4), (5, 2)] {
            let mut seen = BTreeMap::new();
            let mut states = Vec::new();
            for rank in 0..world_size {
                let loader = mixing(batch_size).rank(rank, world_size).build().unwrap();
                states.push(advance(loader.epoch(3), steps, &mut seen));
            }
            assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "the state is the same on all ranks");
            // One step on other ranks, and the rest on two.
            let again: Vec<State> = (0..then)
                .map(|rank| {
                    let loader = mixing(rows).rank(rank, then).build().unwrap();
                    advance(loader.resume(&states[0]).unwrap(), 1, &mut seen)
                })
                .collect();
            assert!(again.windows(2).all(|pair| pair[0] == pair[1]));
            for rank in 0..2 {
                let loader = mixing(7).rank(rank, 2).build().unwrap();
                let rest = loader.resume(&again[0]).unwrap();
                advance(rest, usize::MAX, &mut seen);
            }
            assert!(seen == want, "{world_size} ranks of {batch_size}, then {then} of {rows}");
        }
    }
}

#[test]
fn an_epoch_of_other_ranks_can_be_resumed_in_its_own_batches() {
    let state = advance(mixing(3).rank(0, 2).build().unwrap().epoch(1), 3, &mut BTreeMap::new());
    let loader = mixing(4).rank(2, 3).build().unwrap();
    let whole = stream(loader.resume(&state).unwrap());
    assert!(whole.len() > 2);
    for steps in 0..=whole.len() {
        let later = advance(loader.resume(&state).unwrap(), steps, &mut BTreeMap::new());
        assert_eq!(stream(loader.resume(&later).unwrap()), whole[steps..]);
    }
}

/// The same files in other classes.
struct Relabelled(Flat);

impl Source for Relabelled {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.0.read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.0.key(index)
    }

    fn label(&self, index: usize) -> Label {
        Label::Class((index / 2) as i64)
    }
}

#[test]
fn a_state_that_does_not_fit_is_refused_with_the_field_that_differs() {
    let plain = |source: Flat| builder(source, 4).augment(RandomHorizontalFlip::new(0.5)).seed(3);
    let state = plain(flat(40)).build().unwrap().epoch(0).state();
    let refused = |loader: Loader, words: &str| {
        let error = loader.resume(&state).err().expect(words).to_string();
        assert!(error.contains(&format!("its {words}")), "{error}");
    };
    refused(plain(flat(40)).seed(4).build().unwrap(), "seed is 3, and this loader's is 4");
    refused(plain(flat(41)).build().unwrap(), "samples is 40, and this loader's is 41");
    refused(plain(flat(40)).shuffle(true).build().unwrap(), "shuffle is Off, and this loader's is Full");
    refused(plain(flat(40)).augment(Mix).build().unwrap(), "block is 1, and this loader's is 128");
    refused(plain(flat(41)).subset(0..40).build().unwrap(), "source is");
    let relabelled = Loader::builder(Relabelled(flat(40))).batch_size(4).augment(Squash).seed(3);
    refused(relabelled.build().unwrap(), "source is");
    refused(plain(flat(40)).weights(&[1.0; 40]).build().unwrap(), "selection is");
    refused(plain(flat(40)).output(DType::F16, Layout::Nchw).build().unwrap(), "recipe is");
    refused(plain(flat(40)).augment(Squash).build().unwrap(), "recipe is");
    let chance = builder(flat(40), 4).augment(RandomHorizontalFlip::new(0.53)).seed(3);
    refused(chance.build().unwrap(), "recipe is");
    let loader = plain(flat(40)).build().unwrap();
    let changed = |change: fn(&mut State)| {
        let mut other = state.clone();
        change(&mut other);
        loader.resume(&other)
    };
    let older = changed(|state| state.version = 1).err().unwrap().to_string();
    assert!(older.contains("version is 1") && older.contains("start at the next epoch"), "{older}");
    assert!(changed(|state| state.version = 3).err().unwrap().to_string().contains("version is 3"));
    assert!(changed(|state| state.world_size = 0).err().unwrap().to_string().contains("world_size is 0"));
    let beyond = changed(|state| (state.steps, state.batch_size) = (u64::MAX, u64::MAX));
    assert_eq!(beyond.unwrap().len(), 0);
    assert!(loader.resume(&state).is_ok());
}

#[test]
fn behind_a_failed_batch_a_run_goes_on_with_that_batch() {
    let loader = |cut: Vec<usize>| builder(Flat { cut, ..flat(12) }, 4).build().unwrap();
    let broken = loader(vec![5]);
    let mut epoch = broken.epoch(0);
    assert!(epoch.next().unwrap().is_ok());
    assert!(epoch.next().unwrap().is_err());
    let state = epoch.state();
    assert_eq!(state.steps, 1);
    let mended = loader(Vec::new());
    let batch = mended.resume(&state).unwrap().next().unwrap().unwrap();
    assert_eq!((batch.number(), batch.indices()), (1, &[4, 5, 6, 7][..]));
}

#[test]
fn subsets_weights_and_windows_are_resumed_too() {
    let plain = || builder(flat(30), 4).seed(2).output(DType::F32, Layout::Nchw);
    let rising: Vec<f64> = (0..30).map(f64::from).collect();
    let loaders = || {
        [
            plain().subset((0..30).step_by(2)).shuffle(true),
            plain().weights(&rising),
            plain().shuffle(Shuffle::Window(7)),
        ]
        .map(|builder| builder.build().unwrap())
    };
    for (loader, other) in loaders().into_iter().zip(loaders()) {
        let whole = stream(loader.epoch(1));
        let mut epoch = loader.epoch(1);
        epoch.by_ref().take(2).for_each(|batch| drop(batch.unwrap()));
        assert_eq!(stream(other.resume(&epoch.state()).unwrap()), whole[2..]);
    }
}
