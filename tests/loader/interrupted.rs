//! What every order promises of a run that is interrupted: the same batches on the same ranks, the same rows on others.

use feedline::loader::{Epoch, Loader, Status};
use std::collections::BTreeMap;

/// Makes the loaders of one run: rows of a batch, rank, ranks.
pub(crate) type Make<'a> = &'a dyn Fn(usize, usize, usize) -> Loader;

/// Whether it only fills the batch up, the sample, and its pixels in all views.
pub(crate) type Row = (bool, u64, Vec<u8>);

/// The rows of each batch.
pub(crate) fn stream(epoch: Epoch) -> Vec<Vec<Row>> {
    let rows = |batch: feedline::error::Result<feedline::loader::Batch>| {
        let batch = batch.unwrap();
        let of_row = |row: usize| {
            let views = batch.views().map(|view| {
                let bytes = view.images().len() / batch.len();
                view.images()[row * bytes..][..bytes].to_vec()
            });
            let pixels = views.collect::<Vec<_>>().concat();
            (batch.status()[row] == Status::Padded, batch.indices()[row], pixels)
        };
        (0..batch.len()).map(of_row).collect()
    };
    epoch.map(rows).collect()
}

/// How often each row came that was no padding.
#[derive(Default)]
pub(crate) struct Seen(BTreeMap<(u64, Vec<u8>), usize>);

impl Seen {
    pub(crate) fn add(&mut self, batches: &[Vec<Row>]) {
        for (_, index, pixels) in batches.iter().flatten().filter(|(padded, ..)| !padded) {
            *self.0.entry((*index, pixels.clone())).or_default() += 1;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.values().sum()
    }

    /// Every row is one of `whole`, and all but `lacking` of those came.
    #[track_caller]
    pub(crate) fn is_nearly(&self, whole: &Self, lacking: usize, when: &str) {
        for (row, count) in &self.0 {
            let there = whole.0.get(row).copied().unwrap_or(0);
            assert!(*count <= there, "sample {} came {count} times, not {there}: {when}", row.0);
        }
        let (got, want) = (self.len(), whole.len());
        assert!(got + lacking >= want, "{got} rows of {want} came: {when}");
    }
}

/// Interrupts epoch 2 after every batch on 1, 2 and 3 ranks, and after some goes on with other ranks and batches. Where
/// ranks have no padding, `cut` says that what they cannot share evenly is left out.
pub(crate) fn keeps_its_rows(make: Make<'_>, batch_size: usize, cut: bool) {
    let mut whole = Seen::default();
    whole.add(&stream(make(batch_size, 0, 1).epoch(2)));
    let loss = |ranks: usize| if cut { ranks - 1 } else { 0 };
    for ranks in 1..=3 {
        let mut seen = Seen::default();
        for rank in 0..ranks {
            let [first, same] = [(), ()].map(|()| make(batch_size, rank, ranks));
            let all = stream(first.epoch(2));
            seen.add(&all);
            let mut epoch = first.epoch(2);
            for steps in 0..=all.len() {
                let state = serde_json::to_string(&epoch.state()).unwrap();
                let rest = same.resume(&serde_json::from_str(&state).unwrap()).unwrap();
                assert_eq!(rest.len(), all.len() - steps);
                assert_eq!(stream(rest), all[steps..], "rank {rank} of {ranks} after {steps} batches");
                drop(epoch.next());
            }
        }
        seen.is_nearly(&whole, loss(ranks), &format!("{ranks} ranks"));
        for (then, rows, steps) in [(1, 5, 1), (2, 3, 2), (3, batch_size, 1)] {
            let mut seen = Seen::default();
            let mut states = Vec::new();
            for rank in 0..ranks {
                let loader = make(batch_size, rank, ranks);
                let mut epoch = loader.epoch(2);
                let batches: Vec<_> = epoch.by_ref().take(steps).map(|batch| batch.unwrap()).collect();
                assert_eq!(batches.len(), steps);
                states.push(epoch.state());
                seen.add(&stream(loader.epoch(2))[..steps]);
            }
            assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "the state is the same on all ranks");
            for rank in 0..then {
                seen.add(&stream(make(rows, rank, then).resume(&states[0]).unwrap()));
            }
            seen.is_nearly(&whole, loss(then), &format!("{ranks} ranks, then {then} in batches of {rows}"));
        }
    }
}
