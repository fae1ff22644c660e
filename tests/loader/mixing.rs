//! Partners through the whole pipeline.

use crate::support::{Flat, builder, flat};
use feedline::augment::Augment;
use feedline::draft::Draft;
use feedline::loader::{BadSample, Loader, Planned};
use feedline::output::{DType, Layout};
use feedline::rng::Draws;

/// Lays one partner over the sample with a drawn share.
pub(crate) struct Mix;

impl Augment for Mix {
    fn name(&self) -> &'static str {
        "Mix"
    }

    fn partners(&self) -> usize {
        1
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        let share = rng.uniform();
        for partner in partners {
            let window = draft.size().rect();
            if let Err(error) = draft.blend(partner, share, window, share) {
                draft.fail(error);
            }
        }
    }
}

fn mixing(source: Flat, batch_size: usize, workers: usize) -> Loader {
    let builder = builder(source, batch_size).augment(Mix).output(DType::F32, Layout::Nchw);
    builder.shuffle(true).seed(8).partner_window(16).workers(workers).build().unwrap()
}

fn pixels(loader: &Loader, epoch: u64) -> Vec<f32> {
    loader.epoch(epoch).flat_map(|batch| batch.unwrap().as_f32().unwrap().to_vec()).collect()
}

#[test]
fn tensors_do_not_depend_on_workers_prefetch_or_batch_size() {
    let want = pixels(&mixing(flat(48), 8, 1), 1);
    assert_eq!(want.len(), 48 * 48);
    for (batch_size, workers) in [(8, 2), (8, 8), (1, 3), (16, 2), (48, 2)] {
        assert_eq!(pixels(&mixing(flat(48), batch_size, workers), 1), want, "{batch_size}, {workers}");
    }
    assert_ne!(pixels(&mixing(flat(48), 8, 1), 2), want);
}

#[test]
fn labels_follow_the_pixels_and_partners_come_from_the_window() {
    let loader = mixing(flat(48), 6, 2);
    let batches: Vec<_> = loader.epoch(0).map(|batch| batch.unwrap()).collect();
    let order: Vec<i64> = batches.iter().flat_map(|batch| batch.labels().to_vec()).collect();
    let mut partners = std::collections::HashSet::new();
    for (position, own) in order.iter().enumerate() {
        let (batch, row) = (&batches[position / 6], position % 6);
        let [(a, share_a), (b, share_b)] = *batch.label_shares(row) else { panic!("not two labels") };
        assert_eq!(a, *own);
        assert_ne!(a, b);
        assert!((share_a + share_b - 1.0).abs() < 1e-6);
        let window = &order[position / 16 * 16..][..16];
        assert!(window.contains(&b), "{b} is not in {window:?}");
        let level = (a as f32 * share_a + b as f32 * share_b) / 255.0;
        let got = batch.as_f32().unwrap()[row * 48];
        assert!((got - level).abs() < 1e-5, "{got} is not {level}");
        partners.insert(b);
    }
    assert!(partners.len() > 16, "{} different partners", partners.len());
}

#[test]
fn the_plan_told_by_hand_is_the_plan_that_is_rendered() {
    let loader = mixing(flat(40), 8, 2);
    for batch in loader.epoch(5) {
        let batch = batch.unwrap();
        for row in 0..batch.len() {
            let Planned { plan, ops, .. } = loader.plan(5, batch.indices()[row]).unwrap();
            let shares: Vec<(i64, f32)> =
                plan.labels.iter().map(|l| (plan.images[l.image as usize].index as i64, l.share)).collect();
            assert_eq!(batch.label_shares(row), shares);
            assert_eq!(ops.len(), 1);
        }
    }
    assert!(loader.plan(5, 40).is_err());
}

#[test]
fn a_bad_partner_is_named_and_costs_its_host() {
    let source = Flat { cut: vec![7], ..flat(16) };
    let builder = builder(source, 16).augment(Mix).bad_sample(BadSample::Skip);
    let loader = builder.build().unwrap();
    let batch = loader.epoch(0).next().unwrap().unwrap();
    let report = loader.report();
    assert!(report.files.iter().all(|file| file.key == "7.png"));
    assert_eq!(batch.len() as u64 + report.failures, 16);
    for row in 0..batch.len() {
        assert!(batch.label_shares(row).iter().all(|&(class, _)| class != 7));
    }
}

#[test]
fn an_image_of_a_window_is_read_and_decoded_once_however_many_samples_show_it() {
    let of = |cache: usize, workers: usize| {
        let source = flat(48);
        let reads = std::sync::Arc::clone(&source.reads);
        let builder = builder(source, 6).augment(Mix).shuffle(true).partner_window(16).image_cache(cache);
        let loader = builder.workers(workers).build().unwrap();
        let pixels: Vec<u8> =
            loader.epoch(0).flat_map(|batch| batch.unwrap().as_u8().unwrap().to_vec()).collect();
        let read = reads.lock().unwrap().len();
        (pixels, read, loader.stats())
    };
    let (pixels, read, stats) = of(1 << 20, 1);
    assert_eq!((read, stats.images, stats.samples), (48, 48, 48));
    assert_eq!(stats.images + stats.images_shared, 96);
    assert!(stats.image_cache_bytes > 0 && stats.image_cache_bytes <= 1 << 20);
    // Two threads may read one file at once, but decode it once.
    let (with_two, _, stats) = of(1 << 20, 2);
    assert_eq!((&with_two, stats.images), (&pixels, 48));
    let (without, read, stats) = of(0, 2);
    assert_eq!((&without, read, stats.images, stats.images_shared), (&pixels, 96, 96, 0));
    // A cache too small for the window costs decodes and changes nothing.
    let (with_little, _, stats) = of(600, 2);
    assert_eq!(with_little, pixels);
    assert!(stats.images > 48 && stats.images <= 96 && stats.image_cache_bytes <= 600, "{stats:?}");
}
