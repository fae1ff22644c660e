//! Who is mixed with whom, by whose dice, and when not at all.

use crate::support::{builder, flat, png};
use feedline::augment::{Augment, CopyPaste, CutMix, MixUp, MixupMode, Mosaic, TimmMixup, YoloPerspective};
use feedline::geometry::Size;
use feedline::label::{Label, Object, Objects, Unit};
use feedline::loader::{Loader, LoaderBuilder};
use feedline::output::{DType, Layout};
use feedline::plan::Plan;
use feedline::recipe::Recipe;
use feedline::source::Memory;
use std::sync::Arc;

const WINDOW: usize = 16;

fn mixing(augment: impl Augment + 'static) -> Loader {
    let builder = builder(flat(48), 8).augment(augment).output(DType::F32, Layout::Nchw);
    builder.shuffle(true).seed(8).partner_window(WINDOW as u64).build().unwrap()
}

/// The shares of an epoch's labels, sample by sample in its order.
fn shares(loader: &Loader) -> Vec<Vec<(i64, f32)>> {
    let rows = loader.epoch(0).flat_map(|batch| {
        let batch = batch.unwrap();
        (0..batch.len()).map(|row| batch.label_shares(row).to_vec()).collect::<Vec<_>>()
    });
    rows.collect()
}

#[test]
fn torchvisions_mixes_take_the_previous_sample_and_one_lambda_a_window() {
    let shares = shares(&mixing(MixUp::default()));
    let mut lambdas = Vec::new();
    for window in shares.chunks(WINDOW) {
        for (at, sample) in window.iter().enumerate() {
            let previous = &window[(at + WINDOW - 1) % WINDOW];
            assert_eq!((sample.len(), sample[1].0), (2, previous[0].0));
            assert_eq!(sample[0].1, window[0][0].1);
            assert!((sample[0].1 + sample[1].1 - 1.0).abs() < 1e-6);
        }
        lambdas.push(window[0][0].1.to_bits());
    }
    lambdas.dedup();
    assert_eq!(lambdas.len(), 3, "each window has a lambda of its own");
}

#[test]
fn a_cut_mixs_shares_are_the_areas_that_are_seen() {
    let loader = mixing(CutMix::default());
    let mut cut = 0;
    for batch in loader.epoch(0) {
        let batch = batch.unwrap();
        for row in 0..batch.len() {
            let [(own, share), (other, rest)] = *batch.label_shares(row) else { panic!("not two labels") };
            let red = &batch.as_f32().unwrap()[row * 48..][..16];
            let of =
                |class: i64| red.iter().filter(|&&level| (level * 255.0).round() as i64 == class).count();
            assert_eq!((of(own) as f32 / 16.0, of(other) as f32 / 16.0), (share, rest));
            cut += of(other);
        }
    }
    assert!(cut > 0);
}

#[test]
fn timms_modes_throw_their_dice_for_a_window_a_pair_or_a_sample() {
    let of = |mode| shares(&mixing(TimmMixup::new(1.0, 0.0).mode(mode)));
    let (batch, pair, elem) = (of(MixupMode::Batch), of(MixupMode::Pair), of(MixupMode::Elem));
    let different = |window: &[Vec<(i64, f32)>]| {
        let mut lambdas: Vec<u32> = window.iter().map(|sample| sample[0].1.to_bits()).collect();
        lambdas.sort_unstable();
        lambdas.dedup();
        lambdas.len()
    };
    for (mode, lambdas) in [(&batch, 1), (&pair, WINDOW / 2), (&elem, WINDOW)] {
        for window in mode.chunks(WINDOW) {
            assert_eq!(different(window), lambdas);
            for (sample, partner) in window.iter().zip(window.iter().rev()) {
                assert_eq!(sample[1].0, partner[0].0, "the partner is at the mirrored position");
            }
        }
    }
    for window in pair.chunks(WINDOW) {
        assert!(window.iter().zip(window.iter().rev()).all(|(one, other)| one[0].1 == other[0].1));
    }
    let rarely = shares(&mixing(TimmMixup::new(1.0, 0.0).mode(MixupMode::Elem).prob(0.25)));
    let mixed = rarely.iter().filter(|sample| sample.len() == 2).count();
    assert!((4..22).contains(&mixed), "{mixed} of 48 samples are mixed with a chance of a quarter");
}

fn detection(p: f32) -> LoaderBuilder {
    let builder = Loader::builder(flat(48)).batch_size(8).augment(Mosaic::new(32).p(p));
    builder.augment(YoloPerspective::new(32)).output(DType::U8, Layout::Nchw).partner_window(WINDOW as u64)
}

fn plans(loader: &Loader, epoch: u64) -> Vec<Plan> {
    (0..48).map(|index| loader.plan(epoch, index).unwrap().plan).collect()
}

#[test]
fn no_partner_is_planned_where_none_is_wanted() {
    let images = |p: f32| {
        let loader = detection(p).build().unwrap();
        plans(&loader, 0).iter().map(|plan| plan.images.len()).collect::<Vec<_>>()
    };
    assert!(images(1.0).iter().all(|&images| images == 4));
    assert!(images(0.0).iter().all(|&images| images == 1));
    let half = images(0.5);
    assert!(half.iter().all(|&images| images == 1 || images == 4));
    assert!((12..36).contains(&half.iter().filter(|&&images| images == 4).count()), "{half:?}");
}

#[test]
fn from_the_closing_epoch_on_nothing_is_mixed_and_the_rest_stays() {
    let loader = detection(1.0).mixing_off_epoch(3).build().unwrap();
    let open = detection(1.0).build().unwrap();
    for epoch in 0..5 {
        let closed = plans(&loader, epoch);
        match epoch {
            0..3 => assert_eq!(closed, plans(&open, epoch)),
            _ => assert!(closed.iter().all(|plan| plan.images.len() == 1 && plan.layers.len() == 2)),
        }
    }
    let batch = loader.epoch(4).next().unwrap().unwrap();
    assert_eq!((batch.len(), batch.as_u8().unwrap().len()), (8, 8 * 3 * 32 * 32));
}

#[test]
fn what_pastes_a_samples_own_objects_is_closed_with_the_mosaics() {
    let outline = vec![[0.1, 0.2], [0.3, 0.2], [0.2, 0.4]];
    let object = Object { bbox: [0.1, 0.2, 0.3, 0.4], polygons: vec![outline], ..Object::default() };
    let objects = Objects { unit: Unit::Normalized, list: vec![object], ..Objects::default() };
    let label = Label::Objects(Arc::new(objects));
    let records = (0..8).map(|index| (format!("{index}"), png([index as u8; 3], 40, 30), label.clone()));
    let loader = Loader::builder(Arc::new(Memory::new(records.collect())))
        .batch_size(4)
        .augment(CopyPaste::new(1.0))
        .output_size(Size::new(40, 30))
        .mixing_off_epoch(2)
        .build()
        .unwrap();
    let seen = |epoch| loader.objects(&loader.plan(epoch, 5).unwrap().plan).unwrap().len();
    assert_eq!([0, 1, 2, 3].map(seen), [2, 2, 1, 1]);
}

#[test]
fn a_recipe_closes_its_mosaics_too() {
    // By its name, and by that of Ultralytics.
    for name in ["mixing_off_epoch", "close_mosaic"] {
        let text = Recipe::text_of("yolo-train").unwrap().replace("shuffle = true", &format!("{name} = 2"));
        let recipe = Recipe::parse(&text).unwrap();
        assert!(recipe.to_toml().unwrap().contains("\nmixing_off_epoch = 2\n"));
        let loader = Loader::builder(flat(48)).recipe(&recipe).build().unwrap();
        let images = |epoch| loader.plan(epoch, 5).unwrap().plan.images.len();
        assert_eq!([0, 1, 2, 9].map(images), [4, 4, 1, 1]);
    }
}
