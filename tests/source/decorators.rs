//! What is laid round a source hands on all that the source says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::error::Error;
use feedline::label::Label;
use feedline::source::{
    Cached, IoStats, Mix, MixOrder, SharedCache, Source, Storage, Throttled, Version, WithClasses, WithMasks,
};

fn class_names() -> Vec<String> {
    vec!["cat".to_owned(), "dog".to_owned()]
}

/// A source of which every answer differs from the one that a source gives without an implementation of its own.
struct Unusual;

impl Source for Unusual {
    fn len(&self) -> usize {
        3
    }
    fn read(&self, _: usize, bytes: &mut Vec<u8>) -> Result<(), Error> {
        *bytes = b"bytes".to_vec();
        Ok(())
    }
    fn key(&self, index: usize) -> std::borrow::Cow<'_, str> {
        format!("{index}.jpg").into()
    }
    fn file(&self, _: usize) -> Option<std::borrow::Cow<'_, std::path::Path>> {
        Some(std::path::PathBuf::from("/a/shard.tar").into())
    }
    fn version(&self, index: usize) -> Version {
        Version::of_numbers(&[index as u64])
    }
    fn label(&self, index: usize) -> Label {
        Label::Class(index as i64 % 2)
    }
    fn mask(&self, _: usize, bytes: &mut Vec<u8>) -> Result<bool, Error> {
        *bytes = b"mask".to_vec();
        Ok(true)
    }
    fn jpeg_sha256(&self, index: usize) -> Result<Option<String>, Error> {
        Ok(Some(format!("sum {index}")))
    }
    fn classes(&self) -> &[String] {
        static CLASSES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(class_names);
        &CLASSES
    }
    fn shard_ends(&self) -> Vec<u64> {
        vec![1, 3]
    }
    fn record(&self, _: usize) -> usize {
        2
    }
    fn mix_order(&self) -> Option<MixOrder> {
        Some(MixOrder { mix: Mix::Chain, ..MixOrder::default() })
    }
    fn io_stats(&self) -> IoStats {
        let mut stats = IoStats::default();
        stats.requests = 7;
        stats
    }
}

#[test]
fn what_is_laid_round_a_source_hands_all_of_it_on() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("1.png"), b"another mask").unwrap();
    let masked = WithMasks::options().allow_missing(true).open(Unusual, folder.path()).unwrap();
    let classed = WithClasses::options().open(Unusual).unwrap();
    let mut all: Vec<(&str, Box<dyn Source>, bool)> = vec![
        ("WithClasses", Box::new(classed), true),
        ("Cached", Box::new(Cached::new(Unusual, 50_000)), true),
        ("WithMasks", Box::new(masked), false),
        ("Arc", Box::new(std::sync::Arc::new(Unusual)), true),
        ("&", Box::new(&Unusual), true),
    ];
    if cfg!(target_os = "linux") {
        let shared = SharedCache::on_disk().file(folder.path().join("cache")).limit(1 << 20);
        all.push(("SharedCache", Box::new(shared.open(Unusual).unwrap()), true));
    }
    all.push(("Throttled", Box::new(Throttled::new(Unusual, Storage::NVME)), true));
    for (name, source, with_mask) in all {
        let mut bytes = Vec::new();
        assert_eq!(source.version(1), Version::of_numbers(&[1]), "{name}");
        source.read(1, &mut bytes).unwrap();
        assert_eq!((source.len(), source.is_empty(), &bytes[..]), (3, false, &b"bytes"[..]), "{name}");
        assert_eq!((source.key(1).as_ref(), source.label(1)), ("1.jpg", Label::Class(1)), "{name}");
        assert_eq!(source.file(1).unwrap().to_str(), Some("/a/shard.tar"), "{name}");
        let is_kept = name == "Cached";
        assert_eq!(
            source.version(1) == Version::Unknown,
            is_kept,
            "{name}: it does not change with its file"
        );
        assert_eq!((source.classes(), source.shard_ends()), (&class_names()[..], vec![1, 3]), "{name}");
        assert_eq!((source.record(1), source.io_stats().requests), (2, 7), "{name}");
        assert_eq!(source.jpeg_sha256(1).unwrap().as_deref(), Some("sum 1"), "{name}");
        assert_eq!(source.mix_order().map(|order| order.mix), Some(Mix::Chain), "{name}");
        assert!(source.mask(1, &mut bytes).unwrap());
        assert_eq!(bytes, if with_mask { &b"mask"[..] } else { b"another mask" }, "{name}");
    }
}
