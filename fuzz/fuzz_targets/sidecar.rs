//! Any bytes as the records of a file of decode indexes, whose head and checksum are right: all of them are read or none, and
//! what was read is written and read again.
#![no_main]

mod scratch;

use feedline::index::{DataSet, IndexStore, load, save};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use twox_hash::XxHash3_64;

/// Magic, version, number of samples, hash of their keys.
const HEAD_BYTES: usize = 36;
const BUDGET: usize = 1 << 20;

fn set() -> DataSet {
    DataSet::of(["a.jpg", "b.jpg", "c.jpg", "d.jpg"].iter())
}

/// How each file of the data set begins.
fn head() -> &'static [u8] {
    static HEAD: OnceLock<Vec<u8>> = OnceLock::new();
    HEAD.get_or_init(|| {
        let path = scratch::write("sound.index", b"");
        save(&IndexStore::new(BUDGET), &path, set()).expect("an empty store can be saved");
        let mut bytes = std::fs::read(path).expect("it was saved");
        bytes.truncate(HEAD_BYTES);
        bytes
    })
}

fuzz_target!(|input: &[u8]| {
    let mut bytes = [head(), input].concat();
    bytes.extend_from_slice(&XxHash3_64::oneshot(&bytes).to_le_bytes());
    let store = IndexStore::new(BUDGET);
    let read = load(&store, &scratch::write("fuzzed.index", &bytes), set());
    let stats = store.stats();
    assert!(stats.bytes <= BUDGET && (read.is_ok() || stats.images == 0));
    let path = scratch::folder().join("again.index");
    save(&store, &path, set()).expect("what was read can be saved");
    let again = IndexStore::new(BUDGET);
    load(&again, &path, set()).expect("what was saved can be read");
    assert_eq!((again.stats().images, again.stats().bytes), (stats.images, stats.bytes));
});
