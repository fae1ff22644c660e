//! The file of a shared cache, any bytes of which are changed: whatever is in it, every record comes back as its source has it.
//!
//! The first byte says whether head and entries get checksums that fit what was made of them, then everything is read without a
//! panic and without memory that the file does not hold. Then come changes, of four bytes each: where, twice, and what.
#![no_main]

mod scratch;

use feedline::source::{List, SharedCache, Source, Version};
use libfuzzer_sys::fuzz_target;
use std::path::Path;
use std::sync::OnceLock;
use twox_hash::XxHash3_64;

const RECORDS: [&[u8]; 4] = [b"a record", b"", b"another one, which is longer", b"the last"];
/// Where entries begin, their length, and where what is stored begins.
const ENTRIES: usize = 4096;
const ENTRY_BYTES: usize = 64;
const STORED: usize = 8192;

fn open(path: &Path) -> Option<SharedCache<List>> {
    let list = List::open(scratch::folder().join("list.txt")).expect("a list");
    // More than there is memory, so that only the length of the file bounds what entries may claim.
    SharedCache::on_disk().file(path).limit(1 << 40).open(list).ok()
}

/// A file that holds all records.
fn sound() -> &'static [u8] {
    static SOUND: OnceLock<Vec<u8>> = OnceLock::new();
    SOUND.get_or_init(|| {
        for (number, bytes) in RECORDS.iter().enumerate() {
            let path = scratch::write(&format!("{number}.jpg"), bytes);
            let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
            let file = std::fs::File::options().write(true).open(&path).expect("it was written");
            file.set_modified(old).expect("its date can be set");
            while Version::of_file(&path) == Version::Changing {
                std::hint::spin_loop();
            }
        }
        scratch::write("list.txt", b"0.jpg 0\n1.jpg 0\n2.jpg 0\n3.jpg 0\n");
        let path = scratch::folder().join("sound.cache");
        let source = open(&path).expect("a new cache");
        (0..RECORDS.len()).for_each(|index| source.read(index, &mut Vec::new()).expect("a record"));
        drop(source);
        std::fs::read(path).expect("the cache was written")
    })
}

fn sign(bytes: &mut [u8], seed: u64) {
    let (said, place) = bytes.split_at_mut(bytes.len() - 8);
    place.copy_from_slice(&XxHash3_64::oneshot_with_seed(seed, said).to_le_bytes());
}

fuzz_target!(|input: &[u8]| {
    let Some((&kind, changes)) = input.split_first() else { return };
    let mut bytes = sound().to_vec();
    let end = bytes.len();
    for change in changes.as_chunks::<4>().0 {
        let place = usize::from(u16::from_le_bytes([change[0], change[1]]));
        // Most of the file is empty.
        let place = match change[2] % 4 {
            0 => place % 80,
            1 => ENTRIES + place % (RECORDS.len() * ENTRY_BYTES),
            2 => STORED + place % (end - STORED),
            _ => place % end,
        };
        bytes[place] = change[3];
    }
    let is_signed = kind % 2 == 1;
    if is_signed {
        sign(&mut bytes[..64], 0);
        sign(&mut bytes[64..80], 64);
        for record in 0..RECORDS.len() {
            sign(&mut bytes[ENTRIES + record * ENTRY_BYTES..][..ENTRY_BYTES], record as u64);
        }
    }
    bytes.truncate(end - usize::from(kind / 2) * end / 128);
    let Some(source) = open(&scratch::write("fuzzed.cache", &bytes)) else { return };
    for turn in 0..2 * RECORDS.len() {
        let (index, mut read) = (turn % RECORDS.len(), Vec::new());
        source.read(index, &mut read).expect("the record's own file is there");
        // With checksums made for it, other bytes are what was stored.
        assert!(is_signed || read == RECORDS[index], "record {index}");
        assert!(read.len() <= bytes.len());
    }
});
