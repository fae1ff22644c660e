//! Any bytes as a tar archive: an error or samples, and by the table of the archive the same ones. Or as the table beside a
//! sound archive, with a checksum that is right: the samples lie inside of the archive.
//!
//! The first byte chooses; the rest is the file.
#![no_main]

mod records;
mod scratch;

use feedline::source::{Shards, Source};
use libfuzzer_sys::fuzz_target;
use twox_hash::XxHash3_64;

/// Keys, labels and bytes of the first samples.
fn samples(source: &Shards) -> Vec<(String, String, Option<Vec<u8>>)> {
    let one = |index| {
        let mut bytes = Vec::new();
        let read = source.read(index, &mut bytes).is_ok();
        (source.key(index).into_owned(), format!("{:?}", source.label(index)), read.then_some(bytes))
    };
    (0..source.len().min(records::RECORDS)).map(one).collect()
}

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else { return };
    if choice & 1 == 0 {
        drop(std::fs::remove_file(scratch::folder().join("any.tar.index")));
        let file = scratch::write("any.tar", rest);
        let Ok(source) = Shards::open([&file]) else { return };
        records::check(&source);
        let tables = source.write_tables().expect("what was opened can be described");
        assert_eq!(tables.len(), 1);
        let again = Shards::open([&file]).expect("an archive opens with its table as without it");
        assert!(again.len() == source.len() && samples(&again) == samples(&source));
        return;
    }
    // An archive of zeros has no image; so whatever is found in it comes from the table.
    let file = scratch::write("sound.tar", &[0; 2048]);
    let mut table = b"feedline tar index 1\n2048\t".to_vec();
    table.extend_from_slice(rest);
    table.extend_from_slice(format!("{:016x}\n", XxHash3_64::oneshot(&table)).as_bytes());
    scratch::write("sound.tar.index", &table);
    if let Ok(source) = Shards::open([file]) {
        records::check(&source);
        for (_, _, bytes) in samples(&source) {
            assert!(bytes.expect("a range inside of the archive").iter().all(|&byte| byte == 0));
        }
    }
});
