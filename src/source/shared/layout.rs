//! What a shared cache looks like as a file: a page that says what it is of, a fixed entry for each record, then what the records
//! are stored as, in the order in which they came. Numbers are little-endian.
//!
//! | at | bytes | what |
//! |-|-|-|
//! | 0 | 16 | magic |
//! | 16 | 8 | format |
//! | 24 | 8 | settings: what the stored bytes depend on besides the records |
//! | 32 | 8 | keys: where the records lie and what they are called |
//! | 40 | 8 | number of records |
//! | 48 | 8 | limit: the file never becomes longer |
//! | 56 | 8 | XXH3-64 of all that |
//! | 64 | 8 | end: room up to here is taken |
//! | 72 | 8 | XXH3-64 of the end |
//! | 4096 | 64 a record | entries; zero for a record that is not stored |
//! | next page | | what is stored |
//!
//! Whatever the process or the machine dies of, an entry is believed only with both of its checksums, its own and that of what it
//! points to.

use std::num::NonZeroU64;
use twox_hash::XxHash3_64;

pub(super) const MAGIC: &[u8; 16] = b"feedline cache\r\n";
const FORMAT: u64 = 1;
const PAGE: u64 = 4096;
pub(super) const HEAD_BYTES: usize = 64;
/// Where the end stands.
pub(super) const END_AT: u64 = HEAD_BYTES as u64;
pub(super) const END_BYTES: usize = 16;
pub(super) const ENTRY_BYTES: usize = 64;
/// Most records, so that no sum of offsets overflows.
pub(super) const MAX_RECORDS: u64 = 1 << 40;

/// What a cache is of. One of anything else is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Of {
    pub(super) settings: u64,
    pub(super) keys: u64,
    pub(super) records: u64,
}

impl Of {
    /// Where the stored bytes begin; `None` for more records than there may be.
    pub(super) fn start(self) -> Option<u64> {
        let is_possible = self.records <= MAX_RECORDS;
        is_possible.then(|| (PAGE + self.records * ENTRY_BYTES as u64).next_multiple_of(PAGE))
    }
}

/// The first 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) of: Of,
    pub(super) limit: u64,
}

impl Head {
    pub(super) fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let Of { settings, keys, records } = self.of;
        let mut bytes = [0; HEAD_BYTES];
        bytes[..16].copy_from_slice(MAGIC);
        put(&mut bytes[16..], &[FORMAT, settings, keys, records, self.limit]);
        sign(&mut bytes, 0);
        bytes
    }

    /// What the bytes say; `None` where they are damaged, or of another format.
    pub(super) fn read(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let [format, settings, keys, records, limit] = numbers(&bytes[16..]);
        let head = Self { of: Of { settings, keys, records }, limit };
        (bytes.starts_with(MAGIC) && format == FORMAT && is_signed(bytes, 0)).then_some(head)
    }
}

/// The end with its checksum.
pub(super) fn end_to_bytes(end: u64) -> [u8; END_BYTES] {
    let mut bytes = [0; END_BYTES];
    put(&mut bytes, &[end]);
    sign(&mut bytes, END_AT);
    bytes
}

/// The end that the bytes say; `None` where they are damaged.
pub(super) fn read_end(bytes: &[u8; END_BYTES]) -> Option<u64> {
    let [end] = numbers(bytes);
    is_signed(bytes, END_AT).then_some(end)
}

/// Where an entry stands.
pub(super) fn entry_at(record: u64) -> u64 {
    PAGE + record * ENTRY_BYTES as u64
}

/// What is known of a stored record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) offset: u64,
    pub(super) length: u64,
    /// Of the record when it was read; `None` where its file had been written a moment before.
    pub(super) version: Option<NonZeroU64>,
    /// The hash of the record as its source has it.
    pub(super) content: u64,
    /// The hash of what is stored.
    pub(super) stored: u64,
    /// What it took to read it from its source, and to make what is stored of it.
    pub(super) nanoseconds: u64,
}

impl Entry {
    /// The bytes of the entry of `record`, which are no other record's.
    pub(super) fn to_bytes(self, record: u64) -> [u8; ENTRY_BYTES] {
        let Self { offset, length, version, content, stored, nanoseconds } = self;
        let mut bytes = [0; ENTRY_BYTES];
        put(&mut bytes, &[offset, length, version.map_or(0, NonZeroU64::get), content, stored, nanoseconds]);
        sign(&mut bytes, record);
        bytes
    }

    /// What the bytes say of `record`; `None` where nothing is stored, and where they are damaged or half written.
    pub(super) fn read(bytes: &[u8; ENTRY_BYTES], record: u64) -> Option<Self> {
        let [offset, length, version, content, stored, nanoseconds] = numbers(bytes);
        let version = NonZeroU64::new(version);
        let entry = Self { offset, length, version, content, stored, nanoseconds };
        is_signed(bytes, record).then_some(entry)
    }
}

/// The hash of a record, or of what is stored of it.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

fn put(bytes: &mut [u8], numbers: &[u64]) {
    for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number.to_le_bytes());
    }
}

fn numbers<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut numbers = [0; N];
    for (number, place) in numbers.iter_mut().zip(bytes.as_chunks().0) {
        *number = u64::from_le_bytes(*place);
    }
    numbers
}

/// Writes into the last eight bytes the hash of those ahead of them. What stands elsewhere has another `seed`.
fn sign(bytes: &mut [u8], seed: u64) {
    let (said, place) = bytes.split_at_mut(bytes.len() - 8);
    place.copy_from_slice(&XxHash3_64::oneshot_with_seed(seed, said).to_le_bytes());
}

fn is_signed(bytes: &[u8], seed: u64) -> bool {
    let (said, place) = bytes.split_at(bytes.len() - 8);
    *place == XxHash3_64::oneshot_with_seed(seed, said).to_le_bytes()
}
