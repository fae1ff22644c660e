//! What hostile files cost: a process of its own looks at each, and says how much memory it had at most.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::image::{Limits, verify};
use feedline::machine;
use feedline_test_support::png::chunk;
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;
/// Names the file to look at, in the process that does so.
const FILE: &str = "FEEDLINE_TEST_MEMORY_OF";
/// An edge whose square is just below `max_pixels`.
const EDGE: u32 = 13_000;

/// The most bytes that a process had while it looked at the file, and what it found.
fn cost_of(file: &[u8], path: &Path) -> (u64, String) {
    std::fs::write(path, file).unwrap();
    let arguments = ["--exact", "memory::a_file_is_looked_at_by_itself", "--nocapture"];
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.args(arguments).env(FILE, path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let line = text.lines().find_map(|line| line.split_once("memory: ")).unwrap().1;
    let (bytes, found) = line.split_once(' ').unwrap();
    (bytes.parse().unwrap(), found.to_owned())
}

#[test]
fn a_file_is_looked_at_by_itself() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let found = match verify(&std::fs::read(path).unwrap(), &Limits::default()) {
        Ok(verified) => format!("ok: {:?}", verified.damage.map(|damage| damage.to_string())),
        Err(error) => error.to_string(),
    };
    println!("memory: {} {found}", machine::bytes_in("/proc/self/status", "VmHWM:").unwrap());
}

/// A PNG of `EDGE` squared, with this method of interlacing and these bytes for pixels.
fn png(interlaced: u8, pixels: &[u8]) -> Vec<u8> {
    let head = [&EDGE.to_be_bytes()[..], &EDGE.to_be_bytes(), &[8, 0, 0, 0, interlaced]].concat();
    let chunks = [chunk(b"IHDR", &head), chunk(b"IDAT", pixels), chunk(b"IEND", b"")].concat();
    [&b"\x89PNG\r\n\x1a\n"[..], &chunks].concat()
}

/// `count` zeros, deflated: one as it is, then copies of 258 of what was just before, in the fixed codes.
fn zeros(count: usize) -> Vec<u8> {
    let (mut bytes, mut held, mut bits) = (vec![0x78, 0x01], 0u64, 0u32);
    let mut put = |code: u64, length: u32| {
        held |= code << bits;
        bits += length;
        while bits >= 8 {
            bytes.push(held as u8);
            (held, bits) = (held >> 8, bits - 8);
        }
    };
    // The last block, of fixed codes; codes come with their highest bit first.
    put(0b011, 3);
    (0..1 + (count - 1) % 258).for_each(|_| put(0b0000_1100, 8));
    (0..(count - 1) / 258).for_each(|_| put(0b1010_0011, 13));
    put(0, 7);
    put(0, 7);
    bytes.extend((((count % 65_521) as u32) << 16 | 1).to_be_bytes());
    bytes
}

/// A progressive JPEG of `EDGE` squared in three colours, whose scan holds nothing.
fn jpeg() -> Vec<u8> {
    let table = |class: u8, symbol: u8| [&[0xFF, 0xC4, 0, 20, class, 1][..], &[0; 15], &[symbol]].concat();
    let [high, low] = (EDGE as u16).to_be_bytes();
    let frame = [0xFF, 0xC2, 0, 17, 8, high, low, high, low, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0];
    let scan = [0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0];
    let quants = [&[0xFF, 0xDB, 0, 67, 0][..], &[1; 64]].concat();
    [&[0xFF, 0xD8][..], &quants, &frame, &table(0, 0), &table(0x10, 0xE0), &scan].concat()
}

/// A lossless WebP that claims 16384 times 10000 pixels and has none.
fn webp() -> Vec<u8> {
    let size = (10_000u32 - 1) << 14 | (16_384 - 1);
    let body = [&[0x2F][..], &size.to_le_bytes(), &[0; 3]].concat();
    let chunk = [&b"WEBPVP8L"[..], &(body.len() as u32).to_le_bytes(), &body].concat();
    [&b"RIFF"[..], &(chunk.len() as u32).to_le_bytes(), &chunk].concat()
}

#[test]
fn small_files_that_claim_huge_images_cost_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (empty, _) = cost_of(b"nothing", &path);
    let pixels = u64::from(EDGE) * u64::from(EDGE);
    let rows: usize = [(8, 8), (8, 8), (4, 8), (4, 4), (2, 4), (2, 2), (1, 2)]
        .iter()
        .zip([0, 0, 4, 0, 2, 0, 1])
        .zip([0, 4, 0, 2, 0, 1, 0])
        .map(|((&(across, down), y), x)| {
            let count = |from: usize, step: usize| (EDGE as usize - from).div_ceil(step);
            count(y, down) * (count(x, across) + 1)
        })
        .sum();
    for (name, file, says, bound) in [
        ("PNG without pixels", png(0, b"x"), "PNG", 4 * MIB),
        ("JPEG without coefficients", jpeg(), "truncated", 4 * MIB),
        ("WebP without pixels", webp(), "WebP", 8 * MIB),
        ("an interlaced PNG of zeros", png(1, &zeros(rows)), "ok", 3 * pixels + 16 * MIB),
    ] {
        let (peak, found) = cost_of(&file, &path);
        let cost = peak.saturating_sub(empty);
        println!("{name}: {} bytes cost {} MiB at most: {found}", file.len(), cost / MIB);
        assert!(found.contains(says), "{name}: {found}");
        assert!(cost <= bound, "{name}: {cost} bytes, {bound} are allowed");
    }
}
