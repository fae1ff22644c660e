//! Shards that are packed: what is in them, what bounds them, and what becomes of an interrupted run.

#![cfg(feature = "pack")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::error::{Error, Result};
use feedline::image::{self, Format, Limits, parse_header};
use feedline::label::Label;
use feedline::pack::{Manifest, Pack, Skipped};
use feedline::policy::Damaged;
use feedline::source::{self, Folder, Memory, Shards, Source, WithClasses};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const PHOTOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos");

pub(crate) fn quietly(pack: &Pack, source: &dyn Source) -> Result<Manifest> {
    pack.run(source, &mut |_| {})
}

/// Every file of the folder that is not ours alone, by name.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| !name.starts_with('.'))
        .collect()
}

/// A source that fails at one record, as a disk does.
struct Broken<'a>(&'a dyn Source, usize);

impl Source for Broken<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        match index == self.1 {
            true => Err(Error::sample(self.key(index), index as u64, "the disk is gone")),
            false => self.0.read(index, bytes),
        }
    }
    fn key(&self, index: usize) -> Cow<'_, str> {
        self.0.key(index)
    }
    fn label(&self, index: usize) -> Label {
        self.0.label(index)
    }
    fn classes(&self) -> &[String] {
        self.0.classes()
    }
}

fn read_back(format: feedline::pack::Format, open: impl Fn(&Path) -> Result<Box<dyn Source>>) {
    let out = tempfile::tempdir().unwrap();
    let photos = Folder::open(PHOTOS).unwrap();
    let manifest = quietly(&Pack::to(out.path()).format(format).shard_records(10), &photos).unwrap();
    assert!(manifest.complete);
    assert_eq!(manifest.records, photos.len());
    assert_eq!(manifest.shards.len(), photos.len().div_ceil(10));
    assert_eq!(Manifest::read(out.path()).unwrap().unwrap(), manifest);
    let shards = open(out.path()).unwrap();
    assert_eq!((shards.len(), shards.classes()), (photos.len(), photos.classes()));
    let ends: Vec<u64> = manifest.shards.iter().map(|shard| shard.end as u64).collect();
    assert_eq!(shards.shard_ends(), ends);
    let (mut own, mut packed) = (Vec::new(), Vec::new());
    for index in 0..photos.len() {
        photos.read(index, &mut own).unwrap();
        shards.read(index, &mut packed).unwrap();
        assert!(own == packed, "bytes of record {index}");
        assert_eq!(shards.label(index), photos.label(index));
    }
}

#[test]
fn packed_records_are_read_back_as_they_were() {
    use feedline::pack::Format::{Tar, TfRecord};
    read_back(Tar, |folder| Ok(Box::new(Shards::folder(folder)?)));
    read_back(TfRecord, |folder| Ok(Box::new(source::TfRecord::open(folder)?)));
}

#[test]
fn a_shard_exceeds_its_bytes_only_for_one_large_record() {
    let out = tempfile::tempdir().unwrap();
    let photos = Folder::open(PHOTOS).unwrap();
    let manifest = quietly(&Pack::to(out.path()).shard_bytes(50_000), &photos).unwrap();
    assert!(manifest.shards.iter().any(|shard| shard.records > 1));
    assert!(manifest.shards.iter().any(|shard| shard.bytes > 50_000));
    for shard in &manifest.shards {
        assert!(shard.bytes <= 50_000 || shard.records == 1, "{shard:?}");
        assert_eq!(shard.bytes, fs::metadata(out.path().join(&shard.name)).unwrap().len());
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let photos = Folder::open(PHOTOS).unwrap();
    let packed = |workers| {
        let out = tempfile::tempdir().unwrap();
        let pack = Pack::to(out.path()).shard_records(7).resize(100).workers(workers);
        quietly(&pack, &photos).unwrap();
        files(out.path())
    };
    let one = packed(1);
    assert!(one.len() > 2);
    assert!(packed(3) == one);
}

#[test]
fn resized_images_stand_upright_and_small_ones_stay_as_they_are() {
    let out = tempfile::tempdir().unwrap();
    let photos = Folder::open(PHOTOS).unwrap();
    quietly(&Pack::to(out.path()).resize(300), &photos).unwrap();
    let shards = Shards::folder(out.path()).unwrap();
    let (mut own, mut packed, mut kept, mut turned) = (Vec::new(), Vec::new(), 0, 0);
    for index in 0..photos.len() {
        photos.read(index, &mut own).unwrap();
        shards.read(index, &mut packed).unwrap();
        let (before, after) = (parse_header(&own).unwrap(), parse_header(&packed).unwrap());
        let upright = before.orientation.apply_size(before.size);
        let edge = upright.width.min(upright.height);
        if edge <= 300 {
            assert!(own == packed, "record {index} was small enough");
            kept += 1;
            continue;
        }
        turned += usize::from(before.size != upright);
        assert_eq!(after.format, Format::Jpeg);
        assert_eq!(after.size.width.min(after.size.height), 300);
        let long = u64::from(upright.width.max(upright.height)) * 300 / u64::from(edge);
        assert_eq!(u64::from(after.size.width.max(after.size.height)), long);
        assert_eq!(after.size.width > after.size.height, upright.width > upright.height);
    }
    assert!(kept > 0 && turned > 0, "{kept} kept, {turned} turned");
}

#[test]
fn an_interrupted_run_is_gone_on_with_and_gives_the_same_bytes() {
    let photos = Folder::open(PHOTOS).unwrap();
    let whole = tempfile::tempdir().unwrap();
    quietly(&Pack::to(whole.path()).shard_records(4), &photos).unwrap();
    for broken in [0, 3, 4, 17, photos.len() - 1] {
        let out = tempfile::tempdir().unwrap();
        let pack = Pack::to(out.path()).shard_records(4);
        let error = quietly(&pack, &Broken(&photos, broken)).unwrap_err().to_string();
        assert!(error.contains("the disk is gone"), "{error}");
        let left = Manifest::read(out.path()).unwrap().unwrap();
        let hidden = |name: &str| fs::exists(out.path().join(name)).unwrap();
        assert!(!hidden(".unfinished-shard"), "what is incomplete is removed");
        // A shard is closed when the first record behind it has come.
        let whole_shards = broken.saturating_sub(1) / 4;
        assert_eq!((left.complete, left.shards.len()), (false, whole_shards));
        let mut first = None;
        pack.run(&photos, &mut |done| _ = first.get_or_insert(done)).unwrap();
        assert_eq!(first, Some(whole_shards * 4 + 1), "whole shards are not packed again");
        assert!(files(out.path()) == files(whole.path()), "broken at {broken}");
    }
}

#[test]
fn what_a_killed_run_left_of_its_manifest_is_removed_by_the_next() {
    let out = tempfile::tempdir().unwrap();
    let names = ["manifest.json.77-0123456789abcdef.tmp", "manifest.json.bak", "notes.tmp"];
    names.iter().for_each(|name| fs::write(out.path().join(name), b"{").unwrap());
    quietly(&Pack::to(out.path()).shard_records(100), &Folder::open(PHOTOS).unwrap()).unwrap();
    let left: Vec<String> = files(out.path()).into_keys().collect();
    assert_eq!(left, ["manifest.json", "manifest.json.bak", "notes.tmp", "shard-000000.tar"]);
}

#[test]
fn bad_records_end_the_run_or_are_listed() {
    let out = tempfile::tempdir().unwrap();
    let photo = fs::read(first_of(&Path::new(PHOTOS).join("cat"))).unwrap();
    let record = |name: &str, bytes: &[u8]| (name.to_owned(), bytes.to_owned(), Label::Class(0));
    let source = Memory::new(vec![
        record("a.jpg", &photo),
        record("b.jpg", b"no image"),
        record("c.jpg", &photo),
        record("d.jpg", b""),
    ]);
    let error = quietly(&Pack::to(out.path().join("fail")), &source).unwrap_err().to_string();
    assert!(error.contains("sample 1 (b.jpg)"), "{error}");
    let skip = Pack::to(out.path().join("skip")).skip_bad(true);
    let manifest = quietly(&skip, &source).unwrap();
    assert_eq!(manifest.records, 2);
    let skipped: Vec<_> = manifest.skipped.iter().map(|skipped| skipped.index).collect();
    assert_eq!(skipped, [1, 3]);
    let cut = Memory::new(vec![record("a.jpg", &photo), record("cut.jpg", &photo[..photo.len() / 2])]);
    let copied = quietly(&Pack::to(out.path().join("copied")), &cut).unwrap();
    assert_eq!((copied.records, copied.skipped.len()), (2, 0), "only headers are looked at");
    let skipped = quietly(&Pack::to(out.path().join("decoded")).skip_bad(true), &cut).unwrap().skipped;
    let [Skipped { index: 1, cause, .. }] = &skipped[..] else { panic!("{skipped:?}") };
    assert!(cause.contains("the file ends in the picture"), "{cause}");
    let damaged = Pack::to(out.path().join("damaged")).skip_bad(true).damaged(Damaged::Libjpeg);
    assert_eq!(quietly(&damaged, &cut).unwrap().records, 2);
    let mut packed = Vec::new();
    Shards::folder(out.path().join("damaged")).unwrap().read(1, &mut packed).unwrap();
    assert!(packed == photo[..photo.len() / 2], "what is not encoded anew is copied with its damage");
    let resized = Pack::to(out.path().join("resized")).resize(64).damaged(Damaged::Libjpeg);
    quietly(&resized, &cut).unwrap();
    Shards::folder(out.path().join("resized")).unwrap().read(1, &mut packed).unwrap();
    let strict = Limits { damaged: Damaged::Refuse, ..Limits::default() };
    image::verify(&packed, &strict).expect("what is encoded anew has no damage");
    let only_bad = Memory::new(vec![record("b.jpg", b"no image")]);
    let all = quietly(&Pack::to(out.path().join("none")).skip_bad(true), &only_bad).unwrap_err();
    assert!(all.to_string().contains("all 1 records are bad; the first is b.jpg"), "{all}");
}

/// The first file of a folder by name.
fn first_of(folder: &Path) -> PathBuf {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).min().unwrap()
}

#[test]
fn a_folder_of_other_shards_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let photos = Folder::open(PHOTOS).unwrap();
    let refused = |pack: Pack, source: &dyn Source, words: &str| {
        let before = files(out.path());
        let error = quietly(&pack, source).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert!(files(out.path()) == before);
    };
    fs::write(out.path().join("other.tar"), b"").unwrap();
    refused(Pack::to(out.path()), &photos, "shards that no manifest names");
    fs::remove_file(out.path().join("other.tar")).unwrap();
    quietly(&Pack::to(out.path()).shard_records(9), &photos).unwrap();
    refused(Pack::to(out.path()).shard_records(8), &photos, "made with other settings");
    let flat = Folder::flat(PHOTOS).unwrap();
    refused(Pack::to(out.path()).shard_records(9), &flat, "shards of other data");
    let renamed = WithClasses::options().rename(photos.classes()[0].clone(), "another");
    let renamed = renamed.open(Folder::open(PHOTOS).unwrap()).unwrap();
    refused(Pack::to(out.path()).shard_records(9), &renamed, "other names of classes");
    fs::remove_file(out.path().join("shard-000001.tar")).unwrap();
    refused(Pack::to(out.path()).shard_records(9), &photos, "no whole shard-000001.tar");
    fs::write(out.path().join("manifest.json"), b"{}").unwrap();
    refused(Pack::to(out.path()).shard_records(9), &photos, "it is no manifest of shards");
}

#[test]
fn damage_is_found_by_the_checksums() {
    let out = tempfile::tempdir().unwrap();
    let photos = Folder::open(PHOTOS).unwrap();
    let manifest = quietly(&Pack::to(out.path()).shard_records(15), &photos).unwrap();
    assert_eq!(manifest.verify(out.path()).unwrap(), Vec::<String>::new());
    let path = out.path().join("shard-000001.tar");
    let mut bytes = fs::read(&path).unwrap();
    bytes[5000] ^= 1;
    fs::write(&path, bytes).unwrap();
    fs::remove_file(out.path().join("shard-000002.tar")).unwrap();
    let wrong = manifest.verify(out.path()).unwrap();
    assert_eq!(
        wrong,
        ["shard-000001.tar: its bytes are not those that were written", "shard-000002.tar: it is gone"]
    );
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let photos = Folder::open(PHOTOS).unwrap();
    let out = tempfile::tempdir().unwrap();
    let pack = || Pack::to(out.path().join("never"));
    let all = [
        pack().shard_bytes(0),
        pack().shard_records(0),
        pack().resize(0),
        pack().quality(0),
        pack().quality(101),
    ];
    for wrong in all {
        assert!(matches!(quietly(&wrong, &photos), Err(Error::Config(_))), "{wrong:?}");
    }
    assert!(!out.path().join("never").exists());
}

#[test]
fn shards_are_not_written_among_the_images() {
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("images");
    std::fs::create_dir(&images).unwrap();
    std::fs::copy(Path::new(PHOTOS).join("rocket/0000.jpg"), images.join("a.jpg")).unwrap();
    let source = Folder::flat(&images).unwrap();
    for out in [images.clone(), images.join("new/shards"), images.join("../images/new")] {
        let error = quietly(&Pack::to(&out), &source).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Config(_)), "{text}");
        assert!(
            text.starts_with(&out.display().to_string()) && text.contains("name a folder elsewhere"),
            "{text}"
        );
    }
    let beside = folder.path().join("shards");
    let refused = quietly(&Pack::to(&beside).data_folder(folder.path()), &source).unwrap_err();
    assert!(refused.to_string().contains("is in the folder of the data set"), "{refused}");
    assert_eq!(std::fs::read_dir(&images).unwrap().count(), 1, "nothing is left of what was refused");
    assert_eq!(quietly(&Pack::to(&beside), &source).unwrap().records, 1);
}
