//! Any bytes as a TFRecord file, or as the data of records whose lengths and checksums are right: an error or samples, the
//! same ones in any order.
//!
//! The first byte chooses. As records, each begins with two bytes that say how long its data are.
#![no_main]

mod records;
mod scratch;

use feedline::source::{Source, TfRecord};
use libfuzzer_sys::fuzz_target;

/// CRC-32C, as TFRecord files store it.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes()
}

/// A file of sound frames around the data.
fn framed(mut rest: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    while let Some((&length, data)) = rest.split_first_chunk() {
        let (data, behind) = data.split_at(data.len().min(usize::from(u16::from_le_bytes(length))));
        let length = (data.len() as u64).to_le_bytes();
        for part in [&length[..], &checksum(&length), data, &checksum(data)] {
            file.extend_from_slice(part);
        }
        rest = behind;
    }
    file
}

fuzz_target!(|input: &[u8]| {
    let Some((&choice, rest)) = input.split_first() else { return };
    let file = if choice & 1 == 0 { rest.to_vec() } else { framed(rest) };
    let Ok(source) = TfRecord::open(scratch::write("any.tfrecord", &file)) else { return };
    // Length, its checksum, and that of the data.
    assert!(source.len() <= file.len() / 16);
    records::check(&source);
});
