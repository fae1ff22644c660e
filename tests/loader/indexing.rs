//! Decode indexes in the loader: they save work from the second epoch on, and change nothing else.

use crate::support::png;
use feedline::augment::RandomResizedCrop;
use feedline::index::IndexMode;
use feedline::label::Label;
use feedline::loader::{Loader, LoaderBuilder, build_index};
use feedline::output::{DType, Layout};
use feedline::source::Memory;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use std::fs;
use std::path::{Path, PathBuf};

const FILES: u16 = 12;

/// A JPEG whose rows of pixels differ, so that a wrong start shows.
fn jpeg(number: u16) -> Vec<u8> {
    let (width, height) = (70 + number, 150 + number * 8);
    let count = usize::from(width) * usize::from(height) * 3;
    let pixels: Vec<u8> =
        (0..count).map(|at| (at * at / 977 + at / 500 * usize::from(number)) as u8).collect();
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, 80);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    if number.is_multiple_of(3) {
        encoder.set_restart_interval(number + 1);
    }
    encoder.encode(&pixels, width, height, ColorType::Rgb).unwrap();
    out
}

fn data_set(files: impl Iterator<Item = u16>) -> Memory {
    Memory::new(files.map(|number| (format!("{number}.jpg"), jpeg(number), Label::Class(0))).collect())
}

fn builder(source: Memory, mode: IndexMode) -> LoaderBuilder {
    let loader = Loader::builder(source).batch_size(4).shuffle(true).workers(2).decode_index(mode);
    loader.output(DType::U8, Layout::Nhwc).augment(RandomResizedCrop::new(24))
}

fn pixels(loader: &Loader, epochs: u64) -> Vec<u8> {
    (0..epochs).flat_map(|at| loader.epoch(at)).flat_map(|batch| batch.unwrap().images().to_vec()).collect()
}

fn sidecar() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("photos.index");
    (directory, path)
}

/// What the statistics say of the sidecar when a loader finds it like this.
fn told(path: &Path) -> String {
    let loader = builder(data_set(0..FILES), IndexMode::File(path.to_owned())).build().unwrap();
    loader.stats().index.sidecar.unwrap()
}

#[test]
fn the_pixels_are_the_same_with_and_without_indexes() {
    let off = builder(data_set(0..FILES), IndexMode::Off).build().unwrap();
    let expected = pixels(&off, 6);
    assert_eq!((off.stats().index.hits, off.stats().index.budget), (0, 0));
    for budget in [0, 1000, 1 << 20] {
        let loader = builder(data_set(0..FILES), IndexMode::Memory).index_budget(budget).build().unwrap();
        assert!(pixels(&loader, 6) == expected, "budget {budget}");
        let stats = loader.stats().index;
        assert!(stats.bytes <= budget, "{stats:?}");
        assert_eq!(stats.hits > 0, budget > 0, "{stats:?}");
        assert_eq!(stats.refused > 0, budget < 1 << 20, "{stats:?}");
        assert_eq!((stats.stale, stats.sidecar), (0, None));
    }
}

#[test]
fn a_sidecar_serves_the_next_run_and_only_the_same_files() {
    let (_directory, path) = sidecar();
    assert!(told(&path).contains("is not there yet"));
    let first = builder(data_set(0..FILES), IndexMode::File(path.clone())).build().unwrap();
    let expected = pixels(&first, 1);
    assert!(path.is_file(), "an epoch that found everything saves it");
    let found = first.stats().index;
    drop(first);
    let second = builder(data_set(0..FILES), IndexMode::File(path.clone())).build().unwrap();
    let loaded = second.stats().index;
    assert_eq!((loaded.images, loaded.bytes), (found.images, found.bytes));
    assert!(loaded.sidecar.unwrap().contains("gave the indexes of"));
    assert!(pixels(&second, 1) == expected);
    let stats = second.stats().index;
    assert!(stats.hits > 0 && stats.stale == 0, "{stats:?}");
    drop(second);

    // Another list of files is another data set.
    let other = builder(data_set(1..FILES), IndexMode::File(path.clone())).build().unwrap();
    assert!(other.stats().index.sidecar.unwrap().contains("another list of files"));
    // The same names with other content pass the sidecar's check, and each file's own check finds them out.
    let swapped = |mode| {
        let records = (0..FILES).map(|at| (format!("{at}.jpg"), jpeg(at ^ 1), Label::Class(0)));
        builder(Memory::new(records.collect()), mode).build().unwrap()
    };
    let changed = swapped(IndexMode::File(path.clone()));
    assert!(pixels(&changed, 2) == pixels(&swapped(IndexMode::Off), 2));
    assert!(changed.stats().index.stale > 0);
}

#[test]
fn a_damaged_sidecar_is_left_aside_with_a_reason() {
    let (_directory, path) = sidecar();
    let loader = builder(data_set(0..4), IndexMode::File(path.clone())).build().unwrap();
    let expected = pixels(&loader, 1);
    drop(loader);
    let sound = fs::read(&path).unwrap();
    let set = feedline::index::DataSet::of((0..4).map(|at| format!("{at}.jpg")));
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let store = feedline::index::IndexStore::new(1 << 20);
        let loaded = feedline::index::load(&store, &path, set);
        assert_eq!((store.stats().images, store.stats().bytes) == (0, 0), loaded.is_err());
        loaded.is_err_and(|reason| reason.contains("was ignored"))
    };
    assert!(!refused(&sound));
    for at in 0..sound.len() {
        let mut damaged = sound.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(refused(&damaged), "byte {at} of {}", sound.len());
    }
    for end in 0..sound.len() {
        assert!(refused(&sound[..end]), "cut at {end}");
    }
    assert!(refused(&[&sound[..], &[0]].concat()), "a byte too many");
    fs::write(&path, &sound[..sound.len() / 2]).unwrap();
    let loader = builder(data_set(0..4), IndexMode::File(path.clone())).build().unwrap();
    assert!(loader.stats().index.sidecar.unwrap().contains("damaged"));
    assert!(pixels(&loader, 1) == expected);
    drop(loader);
    assert!(!refused(&fs::read(&path).unwrap()), "a sound one has taken its place");
}

#[test]
fn a_file_of_another_kind_is_never_written_over() {
    let (directory, path) = sidecar();
    fs::write(&path, "my notes").unwrap();
    let loader = builder(data_set(0..FILES), IndexMode::File(path.clone())).build().unwrap();
    pixels(&loader, 1);
    assert!(loader.save_index().unwrap_err().to_string().contains("is no decode index"));
    assert!(loader.stats().index.sidecar.unwrap().contains("was not saved"));
    drop(loader);
    assert_eq!(fs::read(&path).unwrap(), b"my notes");
    let missing = directory.path().join("no/such/directory/photos.index");
    let loader = builder(data_set(0..FILES), IndexMode::File(missing)).build().unwrap();
    assert!(!pixels(&loader, 1).is_empty(), "a place that cannot be written to ends no run");
    assert!(loader.save_index().is_err());
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "no half-written file stays: {left:?}");
}

#[test]
fn saving_without_a_file_is_refused() {
    let loader = builder(data_set(0..FILES), IndexMode::Memory).build().unwrap();
    assert!(loader.save_index().unwrap_err().to_string().contains("IndexMode::File"));
}

#[test]
fn an_index_that_was_built_ahead_serves_from_the_first_epoch_on() {
    let (_directory, path) = sidecar();
    let mut told = Vec::new();
    let built = build_index(data_set(0..FILES), &path, Some(2), &mut |done| told.push(done)).unwrap();
    assert_eq!((built.samples, built.images, built.report.failures), (12, 12, 0));
    assert_eq!(told, [12]);
    let loader = builder(data_set(0..FILES), IndexMode::File(path.clone())).build().unwrap();
    let found = pixels(&loader, 1);
    assert!(found == pixels(&builder(data_set(0..FILES), IndexMode::Off).build().unwrap(), 1));
    let stats = loader.stats().index;
    assert!(stats.hits > 0 && stats.bytes == built.bytes, "nothing is left to be found: {stats:?}");
    let again = build_index(data_set(0..FILES), &path, None, &mut |_| ()).unwrap();
    assert_eq!(again, built);
}

#[test]
fn building_an_index_lists_bad_files_and_leaves_out_what_has_none() {
    let (_directory, path) = sidecar();
    let mut cut = jpeg(5);
    cut.truncate(cut.len() / 2);
    let files = [("good.jpg", jpeg(4)), ("cut.jpg", cut), ("flat.png", png([1, 2, 3], 40, 40))];
    let records = files.map(|(key, bytes)| (key.to_owned(), bytes, Label::Class(0))).to_vec();
    let built = build_index(Memory::new(records), &path, Some(1), &mut |_| ()).unwrap();
    assert_eq!((built.samples, built.images, built.report.failures), (3, 1, 1));
    assert_eq!(built.report.files[0].key, "cut.jpg");
}
