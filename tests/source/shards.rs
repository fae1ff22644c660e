//! Tar shards: which members make a sample, and what is refused with which words.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::augment::{CenterCrop, Resize};
use feedline::error::Error;
use feedline::label::Label;
use feedline::loader::{LastBatch, Loader, Shuffle};
use feedline::source::{Shards, Source};
use std::error::Error as _;
use std::fs::{File, write};
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// Name and bytes.
type Member<'a> = (&'a str, &'a [u8]);

fn archive(folder: &Path, name: &str, members: &[Member]) -> PathBuf {
    let path = folder.join(name);
    crate::write::tar(&path, members);
    path
}

fn refused(path: &Path, words: &str) {
    let error = Shards::open([path]).unwrap_err().to_string();
    assert!(error.contains(words) && error.contains(path.to_str().unwrap()), "{error}");
}

#[test]
fn a_name_of_megabytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.tar");
    let mut archive = Builder::new(File::create(&path).unwrap());
    let name = vec![b'a'; 2 << 20];
    for (kind, bytes) in [(EntryType::GNULongName, &name[..]), (EntryType::Regular, b"an image")] {
        let mut header = Header::new_gnu();
        header.set_path("1.jpg").unwrap();
        header.set_entry_type(kind);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        archive.append(&header, bytes).unwrap();
    }
    archive.finish().unwrap();
    refused(&path, "the headers of a member have more than 1048576 bytes");
}

#[test]
fn members_of_one_stem_are_one_sample_and_others_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}/7.JPG", "a-directory-with-a-long-name".repeat(8));
    let members: [Member; 10] = [
        ("./n01/1.jpg", b"one"),
        ("./n01/1.json", b"{}"),
        ("./n01/1.seg.png", b"a mask"),
        ("./n01/1.cls", b" 12\n"),
        ("n01/2.cls", b"3"),
        ("n01/2.webp", b"two"),
        ("n02/2.png", b"another two"),
        ("README", b"text"),
        (".hidden.jpg", b"nothing"),
        (&long, b"seven"),
    ];
    let shards = Shards::open([archive(folder.path(), "a.tar", &members)]).unwrap();
    let mut bytes = Vec::new();
    let mut got = Vec::new();
    for index in 0..shards.len() {
        shards.read(index, &mut bytes).unwrap();
        got.push((
            shards.key(index).into_owned(),
            String::from_utf8(bytes.clone()).unwrap(),
            shards.label(index),
        ));
    }
    let record = |key: &str, text: &str, label| (format!("a.tar/{key}"), text.to_owned(), label);
    assert_eq!(
        got,
        [
            record("n01/1.jpg", "one", Label::Class(12)),
            record("n01/2.webp", "two", Label::Class(3)),
            record("n02/2.png", "another two", Label::Unlabelled),
            record(&long, "seven", Label::Unlabelled),
        ]
    );
}

#[test]
fn shards_follow_each_other_by_name_or_as_given() {
    let folder = tempfile::tempdir().unwrap();
    let second = archive(folder.path(), "1.tar", &[("b.jpg", b"b"), ("c.jpg", b"c")]);
    let empty = archive(folder.path(), "2.tar", &[]);
    let first = archive(folder.path(), "0.tar", &[("a.jpg", b"a")]);
    write(folder.path().join("0.txt"), "no archive").unwrap();
    let keys = |shards: Shards| (0..shards.len()).map(|at| shards.key(at).into_owned()).collect::<Vec<_>>();
    let sorted = keys(Shards::folder(folder.path()).unwrap());
    assert_eq!(sorted, ["0.tar/a.jpg", "1.tar/b.jpg", "1.tar/c.jpg"]);
    let shards = Shards::open([&second, &empty, &first]).unwrap();
    let mut bytes = Vec::new();
    shards.read(2, &mut bytes).unwrap();
    assert_eq!(bytes, b"a");
    assert_eq!(keys(shards), ["1.tar/b.jpg", "1.tar/c.jpg", "0.tar/a.jpg"]);
}

#[test]
fn compressed_archives_are_refused_with_what_unpacks_them() {
    let folder = tempfile::tempdir().unwrap();
    let heads: [(&str, &[u8], &str); 4] = [
        ("a.tar.gz", b"\x1f\x8b\x08\0", "compressed with gzip"),
        ("a.tgz", b"\x1f\x8b\x08\0", "gunzip"),
        ("a.tar.zst", b"\x28\xb5\x2f\xfd\0", "unzstd"),
        ("a.tar.xz", b"\xfd7zXZ\0", "unxz"),
    ];
    for (name, head, words) in heads {
        let path = folder.path().join(name);
        write(&path, head).unwrap();
        assert!(Shards::is_archive(&path));
        refused(&path, words);
    }
    assert!(!Shards::is_archive(Path::new("list.txt")) && !Shards::is_archive(Path::new("a.gz")));
}

#[test]
fn archives_that_are_not_whole_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), "a.tar", &[("a.jpg", &[7; 3000]), ("b.jpg", &[8; 3000])]);
    let bytes = std::fs::read(&path).unwrap();
    write(&path, &bytes[..6000]).unwrap();
    refused(&path, "ends in the middle of b.jpg");
    write(&path, vec![b'x'; 2048]).unwrap();
    refused(&path, "copy it again if it is damaged");
    refused(&folder.path().join("none.tar"), "No such file");
    let error = Shards::open([archive(folder.path(), "b.tar", &[("a.txt", b"a")])]).unwrap_err().to_string();
    assert!(error.contains("no image is in them"), "{error}");
    std::fs::remove_file(folder.path().join("a.tar")).unwrap();
    std::fs::remove_file(folder.path().join("b.tar")).unwrap();
    assert!(Shards::folder(folder.path()).unwrap_err().to_string().contains("no file that ends in .tar"));
}

#[test]
fn members_that_make_no_sample_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&[Member], &str); 4] = [
        (&[("a.jpg", b"a"), ("b.jpg", b"b"), ("a.cls", b"1")], "a.cls has no image next to it"),
        (&[("a.jpg", b"a"), ("a.cls", b"cat")], "a.cls is no class"),
        (&[("a.jpg", b"a"), ("a.cls", b"-1")], "a.cls is no class"),
        (&[("a.jpg", b"a"), ("a.png", b"b")], "two members `a` of one kind"),
    ];
    for (members, words) in cases {
        refused(&archive(folder.path(), "a.tar", members), words);
    }
    let path = folder.path().join("b.tar");
    let mut archive = Builder::new(File::create(&path).unwrap());
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Symlink);
    header.set_size(0);
    archive.append_link(&mut header, "a.jpg", "b.jpg").unwrap();
    archive.finish().unwrap();
    refused(&path, "a.jpg is a link");
}

#[test]
fn an_archive_that_changes_or_vanishes_makes_bad_samples() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), "a.tar", &[("a.jpg", &[7; 3000]), ("b.jpg", &[8; 3000])]);
    let shards = Shards::open([&path]).unwrap();
    let mut bytes = vec![1];
    let cause = |index: usize, bytes: &mut Vec<u8>| {
        let error = shards.read(index, bytes).unwrap_err();
        assert!(bytes.is_empty());
        assert!(matches!(&error, Error::Sample { key, .. } if key.starts_with("a.tar/")), "{error}");
        error.source().unwrap().to_string()
    };
    shards.read(0, &mut bytes).unwrap();
    File::options().write(true).open(&path).unwrap().set_len(5000).unwrap();
    shards.read(0, &mut bytes).unwrap();
    assert!(cause(1, &mut bytes).contains("restore the archive"));
    assert!(cause(0, &mut bytes).contains("it was changed since the source was opened; restore the archive"));
    std::fs::remove_file(&path).unwrap();
    assert!(cause(0, &mut bytes).contains("No such file"));
    let path = archive(folder.path(), "a.tar", &[("a.jpg", &[7; 3000])]);
    let error = Shards::open([path]).unwrap().max_file_bytes(2999).read(0, &mut bytes).unwrap_err();
    assert!(error.to_string().contains("raise max_file_bytes"), "{error}");
}

/// Bytes that this process has in memory.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    feedline::machine::bytes_in("/proc/self/status", "VmRSS:").unwrap() as usize
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "long: packs a hundred thousand records, and measures time"]
fn a_hundred_thousand_small_records_cost_microseconds_and_bounded_memory() {
    const SHARDS: usize = 20;
    const EACH: usize = 5000;
    let folder = tempfile::tempdir().unwrap();
    for shard in 0..SHARDS {
        let members: Vec<_> = (0..EACH)
            .flat_map(|record| {
                let name = format!("{:09}", shard * EACH + record);
                [(format!("{name}.jpg"), name.clone().into_bytes()), (format!("{name}.cls"), b"7".to_vec())]
            })
            .collect();
        let members: Vec<Member> = members.iter().map(|(name, bytes)| (&name[..], &bytes[..])).collect();
        archive(folder.path(), &format!("{shard:02}.tar"), &members);
    }
    let before = resident();
    let shards = Shards::folder(folder.path()).unwrap();
    let opened = resident() - before;
    let mut bytes = Vec::new();
    let begun = std::time::Instant::now();
    for number in 0..SHARDS * EACH {
        let index = number * 7919 % (SHARDS * EACH);
        shards.read(index, &mut bytes).unwrap();
        assert_eq!(bytes, format!("{index:09}").as_bytes());
    }
    let each = begun.elapsed() / (SHARDS * EACH) as u32;
    let grown = resident() - before;
    println!("{each:?} a record, {opened} bytes for the open source, {grown} after reading all");
    assert!(each.as_micros() < 12, "{each:?} a record");
    // 32 bytes and a key of 20 a record, twice while the tables grow.
    assert!(grown < 24 << 20, "{grown} bytes");
}

#[test]
fn shards_are_shuffled_a_few_at_a_time_and_a_run_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let photo = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/photos/rocket/0000.jpg")).unwrap();
    let names: Vec<String> = (0..30).map(|record| format!("{record:03}.jpg")).collect();
    for (shard, names) in names.chunks(7).enumerate() {
        let members: Vec<Member> = names.iter().map(|name| (&name[..], &photo[..])).collect();
        archive(folder.path(), &format!("{shard}.tar"), &members);
    }
    let loader = || {
        let source = Shards::folder(folder.path()).unwrap();
        let builder = Loader::builder(source).batch_size(4).last_batch(LastBatch::Partial);
        builder
            .shuffle(Shuffle::Shards(2))
            .augment(Resize::new(8))
            .augment(CenterCrop::new(8))
            .build()
            .unwrap()
    };
    let keys = |epoch: feedline::loader::Epoch| -> Vec<String> {
        epoch.flat_map(|batch| batch.unwrap().keys().to_vec()).collect()
    };
    let whole = keys(loader().epoch(1));
    let mut sorted = whole.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!((whole.len(), sorted.len()), (30, 30));
    let shard_of = |key: &String| key.split('/').next().unwrap().to_owned();
    // Five shards of 7, 7, 7, 7 and 2 records, two at a time: the first two groups touch no shard of each other.
    let first: std::collections::HashSet<_> = whole[..9].iter().map(shard_of).collect();
    assert!(first.len() <= 3, "{first:?}");
    let running = loader();
    let mut epoch = running.epoch(1);
    for _ in 0..3 {
        epoch.next().unwrap().unwrap();
    }
    let state = epoch.state();
    let again = loader();
    assert_eq!(keys(again.resume(&state).unwrap()), whole[12..]);
}

#[test]
fn a_table_beside_an_archive_spares_its_headers_as_long_as_it_is_its_own() {
    use std::time::{Duration, SystemTime};
    let folder = tempfile::tempdir().unwrap();
    let members: [Member; 4] = [("a.jpg", b"one"), ("a.cls", b"3"), ("b.png", b"two"), ("c.webp", b"three")];
    let path = archive(folder.path(), "0.tar", &members);
    let all = || -> Vec<(String, Label, Vec<u8>)> {
        let shards = Shards::open([&path]).unwrap();
        let record = |index| {
            let mut bytes = Vec::new();
            shards.read(index, &mut bytes).unwrap();
            (shards.key(index).into_owned(), shards.label(index), bytes)
        };
        (0..shards.len()).map(record).collect()
    };
    let scanned = all();
    let tables = Shards::open([&path]).unwrap().write_tables().unwrap();
    assert_eq!(tables, [folder.path().join("0.tar.index")]);
    assert_eq!(all(), scanned);
    // The headers gone, but not the images: only the table can still say where those are.
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[..512].fill(b'x');
    write(&path, &bytes).unwrap();
    let set = |time: SystemTime| File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    set(written);
    assert_eq!(all(), scanned);
    set(SystemTime::now() + Duration::from_secs(60));
    assert!(Shards::open([&path]).is_err(), "the archive is newer than the table");
    set(written);
    let table = std::fs::read(&tables[0]).unwrap();
    write(&tables[0], &table[..table.len() - 1]).unwrap();
    assert!(Shards::open([&path]).is_err(), "the table is damaged");
    write(&tables[0], &table).unwrap();
    bytes.extend([0; 512]);
    write(&path, &bytes).unwrap();
    set(written);
    assert!(Shards::open([&path]).is_err(), "the archive has another length");
}
