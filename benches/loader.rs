//! Whole epochs over the bundled photographs: what a trainer would get.

use divan::{Bencher, counter::ItemsCount};
use feedline::augment::{RandomHorizontalFlip, RandomResizedCrop};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::loader::Loader;
use feedline::source::{Folder, Source};

fn main() {
    divan::main();
}

#[divan::bench(args = [1, 2])]
fn imagenet_train(bencher: Bencher<'_, '_>, workers: usize) {
    let photos = Folder::open_any(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos")).expect("photographs");
    let samples = photos.len();
    let loader = Loader::builder(photos)
        .batch_size(16)
        .shuffle(true)
        .workers(workers)
        .augment(RandomResizedCrop::new(224))
        .augment(RandomHorizontalFlip::default())
        .normalize(IMAGENET_MEAN, IMAGENET_STD)
        .build()
        .expect("a loader");
    let mut epoch = 0;
    bencher.counter(ItemsCount::new(samples)).bench_local(|| {
        for batch in loader.epoch(epoch) {
            divan::black_box(batch.expect("a batch"));
        }
        epoch += 1;
    });
}
