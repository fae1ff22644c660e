//! What hostile files cost: a process of its own looks at each, and says how much memory it had at most, or still has.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::device::cpu::{Input, Worker};
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Interpolation, Op};
use feedline::image::{Decoder, Image, Limits, parse_header, verify};
use feedline::machine;
use feedline::output::{DType, Layout, Output};
use feedline_test_support::memory;
use feedline_test_support::png::chunk;
use std::path::Path;

const MIB: u64 = 1 << 20;
/// An edge whose square is just below `max_pixels`, and one above.
const EDGE: u32 = 13_000;
const LARGE_EDGE: u32 = 16_384;
/// The ending of files of which it is asked how much memory stays after them.
const KEPT: &str = "kept";
/// The same, where the image is rendered.
const RENDERED: &str = "rendered";

/// The most bytes that a process had while it looked at the file, and what it found.
fn cost_of(file: &[u8], path: &Path) -> (u64, String) {
    std::fs::write(path, file).unwrap();
    let cost = memory::cost_of("memory::a_file_is_looked_at_by_itself", path).unwrap();
    (cost.peak, cost.found)
}

#[test]
fn a_file_is_looked_at_by_itself() {
    let Some(path) = memory::wanted() else { return };
    let file = std::fs::read(&path).unwrap();
    let status = |field| machine::bytes_in("/proc/self/status", field).unwrap();
    if path.extension().is_some_and(|ending| ending == KEPT) {
        let header = parse_header(&file).unwrap();
        let (mut decoder, mut image, before) =
            (Decoder::new(Limits::default()), Image::default(), status("VmRSS:"));
        decoder.decode(&file, &header, header.size.rect(), &mut image).unwrap();
        drop(image);
        return memory::tell(status("VmRSS:").saturating_sub(before), "kept");
    }
    if path.extension().is_some_and(|ending| ending == RENDERED) {
        let before = status("VmRSS:");
        let mut worker = Worker::new(&Limits::default());
        render(&mut worker, &file);
        return memory::tell(status("VmRSS:").saturating_sub(before), "rendered");
    }
    let found = match verify(&file, &Limits::default()) {
        Ok(verified) => format!("ok: {:?}", verified.damage.map(|damage| damage.to_string())),
        Err(error) => error.to_string(),
    };
    memory::tell(status("VmHWM:"), &found);
}

/// Renders the image with twice its pixels across and a hundredth of them down.
fn render(worker: &mut Worker, file: &[u8]) {
    let header = parse_header(file).unwrap();
    let mut draft = Draft::new(0, header.size, header.orientation);
    let size = Extent::Two([header.size.height / 100, header.size.width * 2]);
    draft.apply(Op::Resize { size, interpolation: Interpolation::Bilinear, max_size: None, antialias: true });
    let plan = draft.freeze().unwrap();
    let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
    let mut sample = vec![0; output.sample_bytes()];
    worker.decode(&plan, &[Input { bytes: file, header: &header }]).unwrap();
    worker.render(&plan, &output, &mut sample).unwrap();
    worker.give_back();
}

/// A grey PNG of `edge` squared, with this method of interlacing and these bytes for pixels.
fn png(edge: u32, interlaced: u8, pixels: &[u8]) -> Vec<u8> {
    let head = [&edge.to_be_bytes()[..], &edge.to_be_bytes(), &[8, 0, 0, 0, interlaced]].concat();
    let chunks = [chunk(b"IHDR", &head), chunk(b"IDAT", pixels), chunk(b"IEND", b"")].concat();
    [&b"\x89PNG\r\n\x1a\n"[..], &chunks].concat()
}

/// An interlaced PNG of `edge` squared, all zeros.
fn interlaced(edge: u32) -> Vec<u8> {
    let rows: usize = [(8, 8), (8, 8), (4, 8), (4, 4), (2, 4), (2, 2), (1, 2)]
        .iter()
        .zip([0, 0, 4, 0, 2, 0, 1])
        .zip([0, 4, 0, 2, 0, 1, 0])
        .map(|((&(across, down), y), x)| {
            let count = |from: usize, step: usize| (edge as usize - from).div_ceil(step);
            count(y, down) * (count(x, across) + 1)
        })
        .sum();
    png(edge, 1, &zeros(rows))
}

/// `count` zeros, deflated: one as it is, then copies of 258 of what was just before, in the fixed codes.
fn zeros(count: usize) -> Vec<u8> {
    let mut bits = Bits { bytes: vec![0x78, 0x01], ..Bits::default() };
    // The last block, of fixed codes; codes come with their highest bit first.
    bits.put(0b011, 3);
    (0..1 + (count - 1) % 258).for_each(|_| bits.put(0b0000_1100, 8));
    (0..(count - 1) / 258).for_each(|_| bits.put(0b1010_0011, 13));
    bits.put(0, 14);
    bits.bytes.extend((((count % 65_521) as u32) << 16 | 1).to_be_bytes());
    bits.bytes
}

/// Bits one after the other, the lowest of each byte first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    held: u64,
    count: u32,
}

impl Bits {
    fn put(&mut self, code: u64, length: u32) {
        self.held |= code << self.count;
        self.count += length;
        while self.count >= 8 {
            self.bytes.push(self.held as u8);
            (self.held, self.count) = (self.held >> 8, self.count - 8);
        }
    }
}

/// A progressive JPEG of `edge` squared in three colours, whose scan holds these bytes.
fn jpeg(edge: u32, data: &[u8]) -> Vec<u8> {
    let table = |class: u8, symbol: u8| [&[0xFF, 0xC4, 0, 20, class, 1][..], &[0; 15], &[symbol]].concat();
    let [high, low] = (edge as u16).to_be_bytes();
    let frame = [0xFF, 0xC2, 0, 17, 8, high, low, high, low, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0];
    let scan = [0xFF, 0xDA, 0, 12, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0];
    let quants = [&[0xFF, 0xDB, 0, 67, 0][..], &[1; 64]].concat();
    [&[0xFF, 0xD8][..], &quants, &frame, &table(0, 0), &table(0x10, 0xE0), &scan, data].concat()
}

/// A lossless WebP of this size; `body` is what comes after that.
fn webp(width: u32, height: u32, body: &[u8]) -> Vec<u8> {
    let size = (height - 1) << 14 | (width - 1);
    let body = [&[0x2F][..], &size.to_le_bytes(), body].concat();
    let chunk = [&b"WEBPVP8L"[..], &(body.len() as u32).to_le_bytes(), &body].concat();
    [&b"RIFF"[..], &(chunk.len() as u32).to_le_bytes(), &chunk].concat()
}

/// A grey file of coefficients of `edge` squared, whose only segment is empty.
fn coefficients(edge: u16) -> Vec<u8> {
    let edge = edge.to_le_bytes();
    let size = [&b"\x89FJC\r\n\x1A\n"[..], &[1, 0, 1, 1], &edge, &edge, &[0xFF; 2], &[1, 0]].concat();
    let component = [0x11, 0, 0, 0];
    let offsets = [164u32, 168].map(u32::to_le_bytes);
    let head = [&size[..], &component, &[1; 128], offsets.as_flattened()].concat();
    let sum = crc32c::crc32c(&head).to_le_bytes();
    [&head[..], &sum, &crc32c::crc32c(&[]).to_le_bytes(), &[0; 64]].concat()
}

#[test]
fn small_files_that_claim_huge_images_cost_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let (empty, _) = cost_of(b"nothing", &path);
    let pixels = u64::from(EDGE) * u64::from(EDGE);
    for (name, file, says, bound) in [
        ("PNG of more pixels than Pillow takes", png(LARGE_EDGE, 0, b"x"), "the limit is 178956970", 4 * MIB),
        ("JPEG of as many", jpeg(LARGE_EDGE, &[]), "the limit is 178956970", 4 * MIB),
        ("coefficients of the largest size", coefficients(u16::MAX), "the limit is 178956970", 4 * MIB),
        ("no coefficients", coefficients(EDGE as u16), "fewer groups than", 4 * MIB),
        ("PNG without pixels", png(EDGE, 0, b"x"), "PNG", 4 * MIB),
        ("JPEG without coefficients", jpeg(EDGE, &[0; 2]), "truncated", 4 * MIB),
        ("WebP without pixels", webp(16_384, 10_000, &[0; 3]), "WebP", 8 * MIB),
        ("an interlaced PNG of zeros", interlaced(EDGE), "ok", 3 * pixels + 16 * MIB),
    ] {
        let (peak, found) = cost_of(&file, &path);
        let cost = peak.saturating_sub(empty);
        println!("{name}: {} bytes cost {} MiB at most: {found}", file.len(), cost / MIB);
        assert!(found.contains(says), "{name}: {found}");
        assert!(cost <= bound, "{name}: {cost} bytes, {bound} are allowed");
    }
}

#[test]
fn what_a_renderer_needed_for_a_huge_image_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file").with_extension(RENDERED);
    let rows = interlaced(5200);
    let (kept, _) = cost_of(&rows, &path);
    println!("of {} bytes {} MiB are kept", rows.len(), kept / MIB);
    assert!(kept <= 16 * MIB, "{kept} bytes");
}

/// Files whose decoders need more than 64 MiB beside the pixels.
#[test]
fn what_a_decoder_needed_for_a_huge_image_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file").with_extension(KEPT);
    // Each block takes one bit for its DC, as that of the last; 2^14 blocks without AC take fifteen.
    let dc = vec![0; 3 * 512 * 512 / 8];
    let ac = |component: u8| [&[0xFF, 0xDA, 0, 8, 1, component, 0, 1, 63, 0][..], &[0; 30]].concat();
    let end = [0xFF, 0xD9];
    let sound = [&dc[..], &ac(1), &ac(2), &ac(3), &end].concat();
    // Neither transforms nor a cache of colours; five codes of one symbol, so that no pixel takes a bit.
    let mut bits = Bits::default();
    bits.put(0, 3);
    (0..5).for_each(|_| bits.put(1, 4));
    bits.put(0, 7);
    for (name, file) in [
        ("interlaced PNG", interlaced(9_000)),
        ("progressive JPEG", jpeg(4096, &sound)),
        ("progressive JPEG, scans left out", jpeg(4096, &[&dc[..], &end].concat())),
        ("lossless WebP", webp(5000, 5000, &[&bits.bytes[..], &[0; 8]].concat())),
    ] {
        let (kept, _) = cost_of(&file, &path);
        println!("{name}: of {} bytes {} MiB are kept", file.len(), kept / MIB);
        assert!(kept <= 16 * MIB, "{name}: {kept} bytes");
    }
}
