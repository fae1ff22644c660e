//! Whole epochs over the bundled photographs: what a trainer would get; and what a shared cache costs at each read.

use divan::{Bencher, counter::ItemsCount};
use feedline::augment::{RandomHorizontalFlip, RandomResizedCrop};
use feedline::color::{IMAGENET_MEAN, IMAGENET_STD};
use feedline::loader::Loader;
use feedline::source::{Folder, Source};
#[cfg(target_os = "linux")]
use feedline::source::{SharedCache, Version};

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

/// Files of so many bytes, with dates of long ago.
#[cfg(target_os = "linux")]
fn files(bytes: usize) -> (tempfile::TempDir, Folder) {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..64u8 {
        let path = folder.path().join(format!("{number}.jpg"));
        std::fs::write(&path, vec![number; bytes]).expect("room for a file");
        let file = std::fs::File::options().write(true).open(path).expect("it was written");
        file.set_modified(std::time::UNIX_EPOCH).expect("its date can be set");
    }
    // The system's clock has moved on when the last one counts as settled.
    let last = folder.path().join("63.jpg");
    while Version::of_file(&last) == Version::Changing {
        std::hint::spin_loop();
    }
    let source = Folder::flat(folder.path()).expect("a folder of images");
    (folder, source)
}

#[cfg(target_os = "linux")]
fn read_all(bencher: Bencher<'_, '_>, source: &dyn Source) {
    let mut bytes = Vec::new();
    bencher.counter(ItemsCount::new(source.len())).bench_local(|| {
        (0..source.len()).for_each(|index| source.read(index, &mut bytes).expect("a record"));
    });
}

#[cfg(target_os = "linux")]
#[divan::bench(args = [10_000, 100_000, 1_000_000])]
fn files_in_the_page_cache(bencher: Bencher<'_, '_>, bytes: usize) {
    let (_folder, source) = files(bytes);
    read_all(bencher, &source);
}

#[cfg(target_os = "linux")]
#[divan::bench(args = [10_000, 100_000, 1_000_000])]
fn hits_of_a_shared_cache(bencher: Bencher<'_, '_>, bytes: usize) {
    let (folder, source) = files(bytes);
    let source = SharedCache::in_memory().limit(1 << 30).open(source).expect("a cache");
    (0..source.len()).for_each(|index| source.read(index, &mut Vec::new()).expect("a record"));
    read_all(bencher, &source);
    assert_eq!(source.io_stats().shared_misses, 64, "{}", folder.path().display());
}

/// What a hit costs to notice that a file has changed.
#[cfg(target_os = "linux")]
#[divan::bench]
fn versions_of_files(bencher: Bencher<'_, '_>) {
    let (_folder, source) = files(1);
    bencher.counter(ItemsCount::new(source.len())).bench_local(|| {
        (0..source.len()).for_each(|index| _ = divan::black_box(source.version(index)));
    });
}
