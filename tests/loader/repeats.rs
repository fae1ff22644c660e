//! Repeated augmentation: the same samples several times, on different ranks, with different dice.

use crate::interrupted::{keeps_its_rows, stream};
use crate::mixing::Mix;
use crate::support::{Squash, builder, flat};
use feedline::augment::{ColorJitter, View};
use feedline::loader::{LastBatch, Loader, LoaderBuilder, Shuffle};
use feedline::recipe::Recipe;
use std::collections::{BTreeMap, BTreeSet};

const SAMPLES: usize = 300;

fn repeated(batch_size: usize) -> LoaderBuilder {
    let builder = builder(flat(SAMPLES), batch_size).augment(ColorJitter::new(0.5, 0.0, 0.0, 0.0));
    builder.shuffle(true).seed(8).repeats(3).last_batch(LastBatch::Partial)
}

fn indices(loader: &Loader, epoch: u64) -> Vec<u64> {
    stream(loader.epoch(epoch)).into_iter().flatten().map(|(_, index, _)| index).collect()
}

#[test]
fn each_sample_comes_three_times_in_a_row_in_the_order_that_it_would_have_had() {
    let plain = indices(&builder(flat(SAMPLES), 8).shuffle(true).seed(8).build().unwrap(), 1);
    let loader = repeated(8).build().unwrap();
    let shown = indices(&loader, 1);
    let want: Vec<u64> = plain.iter().flat_map(|&index| [index; 3]).take(256).collect();
    assert_eq!(shown, want);
    assert_eq!(loader.batches(), 32);
    assert_ne!(indices(&loader, 2), shown);
}

#[test]
fn copies_go_to_different_ranks_and_each_has_its_own_dice() {
    let mut copies = BTreeMap::<u64, Vec<(usize, Vec<u8>)>>::new();
    for rank in 0..3 {
        let rows = stream(repeated(5).rank(rank, 3).build().unwrap().epoch(0)).concat();
        // As the rule says, 256 / 3, and no row fills up.
        assert_eq!(rows.len(), 85);
        for (padded, index, pixels) in rows {
            assert!(!padded);
            copies.entry(index).or_default().push((rank, pixels));
        }
    }
    let thrice: Vec<_> = copies.values().filter(|copies| copies.len() == 3).collect();
    assert_eq!(thrice.len(), 85);
    for copies in thrice {
        assert_eq!(copies.iter().map(|(rank, _)| *rank).collect::<Vec<_>>(), [0, 1, 2]);
    }
    let different = |copies: &Vec<(usize, Vec<u8>)>| {
        copies.iter().map(|(_, pixels)| pixels).collect::<BTreeSet<_>>().len() == copies.len()
    };
    let alike = copies.values().filter(|copies| !different(copies)).count();
    assert!(alike < 30, "{alike} of {} samples look alike twice", copies.len());
    // The plan that is told is that of the first copy.
    let loader = repeated(5).build().unwrap();
    let first = indices(&loader, 0)[0];
    assert!(loader.plan(0, first).is_ok());
    let absent = (0..SAMPLES as u64).find(|index| !copies.contains_key(index)).unwrap();
    let error = loader.plan(0, absent).unwrap_err().to_string();
    assert!(error.contains("does not come in this epoch") && error.contains("without repeats"), "{error}");
}

#[test]
fn a_run_is_resumed_at_every_batch_on_any_ranks() {
    let make = |batch_size, rank, ranks| repeated(batch_size).rank(rank, ranks).build().unwrap();
    keeps_its_rows(&make, 32, true);
    let views = |batch_size: usize, rank, ranks| {
        let view = |edge: u32| View::new(edge).transform(ColorJitter::new(0.5, 0.0, 0.0, 0.0));
        let one = feedline::augment::Resize::new([6, 6]);
        let loader = Loader::builder(flat(SAMPLES)).batch_size(batch_size).shuffle(true).repeats(3);
        let loader = loader
            .view(View::new(6).transform(one))
            .view(view(5).transform(feedline::augment::Resize::new([5, 5])));
        let loader = loader.output(feedline::output::DType::U8, feedline::output::Layout::Nchw);
        loader.last_batch(LastBatch::Partial).rank(rank, ranks).build().unwrap()
    };
    keeps_its_rows(&views, 64, true);
}

#[test]
fn mixed_samples_have_other_partners_and_each_image_is_decoded_at_most_once_for_a_window() {
    let loader = |batch_size| {
        builder(flat(SAMPLES), batch_size).augment(Mix).shuffle(true).repeats(3).partner_window(16)
    };
    let whole = loader(16).workers(1).build().unwrap();
    let mut shown = 0;
    for batch in whole.epoch(0) {
        let batch = batch.unwrap();
        shown += batch.len();
        for row in 0..batch.len() {
            let [(own, _), (partner, _)] = *batch.label_shares(row) else { panic!("not two labels") };
            assert_ne!(own, partner, "a sample is its own partner");
        }
    }
    assert_eq!(shown, 256);
    assert!(whole.stats().images <= 256, "{} decodes", whole.stats().images);
    let make = |batch_size, rank, ranks| {
        loader(batch_size).last_batch(LastBatch::Partial).rank(rank, ranks).build().unwrap()
    };
    keeps_its_rows(&make, 24, true);
}

#[test]
fn small_data_sets_show_as_many_rows_as_they_have() {
    let loader = builder(flat(10), 3).repeats(3).last_batch(LastBatch::Pad).build().unwrap();
    assert_eq!(indices(&loader, 0), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 0, 0]);
    let of = |rank| {
        let loader = builder(flat(10), 2).repeats(3).last_batch(LastBatch::Pad).rank(rank, 3);
        stream(loader.build().unwrap().epoch(0)).concat()
    };
    let padded = |rank| of(rank).iter().map(|(padded, ..)| *padded).collect::<Vec<_>>();
    assert!((0..3).all(|rank| padded(rank) == [false, false, false, true]), "{:?}", padded(0));
}

#[test]
fn what_cannot_be_had_with_repeats_is_refused() {
    let refused = |builder: LoaderBuilder, words: &[&str]| {
        let error = builder.build().err().unwrap().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    let plain = || builder(flat(10), 1);
    refused(plain().repeats(0), &["[loader]: repeats is 0", "leave it out"]);
    refused(plain().repeats(2).weights(&[1.0; 10]), &["repeats and weights", "leave one of them out"]);
    refused(
        plain().repeats(2).rect(feedline::output::RectBatches::default()),
        &["rect shows each sample once", "leave one of them out"],
    );
    refused(
        plain().repeats(2).last_batch(LastBatch::Partial).rank(0, 11),
        &["10 rows", "11 ranks", "leave repeats out"],
    );
    let text = "name = \"x\"\n[loader]\nrepeats = 3\nweights = [1.0]\n[output]\nsize = 8\n";
    let error = Recipe::parse(text).unwrap_err().to_string();
    assert!(error.contains("repeats and weights"), "{error}");
    // Those of a subset and of local shuffles are.
    for shuffle in [Shuffle::Off, Shuffle::Window(4)] {
        let loader = plain().subset([7, 3, 5]).shuffle(shuffle).repeats(2).build().unwrap();
        assert!(indices(&loader, 0).iter().all(|index| [7, 3, 5].contains(index)));
    }
    let state = plain().repeats(2).build().unwrap().epoch(0).state();
    let error = plain().augment(Squash).repeats(3).build().unwrap().resume(&state).err().unwrap().to_string();
    assert!(error.contains("its selection is"), "{error}");
}
