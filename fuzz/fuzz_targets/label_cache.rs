//! A cache of labels with any bytes in its body and a checksum that is right: no panic, whatever the labels are then.
//!
//! The first byte says how much of the head of a sound cache is kept ahead of the input.
#![no_main]

mod scratch;

use feedline::source::{Source, Yolo};
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use twox_hash::XxHash3_64;

/// What a loader would ask of a source.
fn open(cache: &std::path::Path) -> Option<u64> {
    let yaml = scratch::folder().join("set.yaml");
    let source = Yolo::options().cache(cache).open(yaml).ok()?;
    (0..source.len()).for_each(|index| drop(source.label(index)));
    Some(source.report().objects)
}

/// A sound cache of two images.
fn sound() -> &'static [u8] {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    SOUND.get_or_init(|| {
        scratch::write("set.yaml", b"train: images\nnames: [a, b]\n");
        for (name, text) in
            [("a", "0 0.5 0.5 0.5 0.5\n1 0.1 0.1 0.9 0.1 0.9 0.9"), ("b", "1 0.5 0.5 0.1 0.1")]
        {
            scratch::write(&format!("images/{name}.jpg"), b"");
            scratch::write(&format!("labels/{name}.txt"), text.as_bytes());
        }
        let cache = scratch::folder().join("sound.cache");
        assert_eq!(open(&cache), Some(3));
        std::fs::read(cache).expect("the cache was written")
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((&kept, rest)) = input.split_first() else { return };
    let sound = sound();
    let body = &sound[..sound.len() - 8];
    let mut bytes = body[..usize::from(kept).min(body.len())].to_vec();
    bytes.extend_from_slice(rest);
    // Behind the input, the rest of the sound one, so that a few bytes that differ are all that differs.
    if let Some(tail) = body.get(bytes.len()..) {
        bytes.extend_from_slice(tail);
    }
    bytes.extend_from_slice(&XxHash3_64::oneshot(&bytes).to_le_bytes());
    let cache = scratch::write("fuzzed.cache", &bytes);
    open(&cache);
});
