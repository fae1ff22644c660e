//! Any bytes as a file of coefficients whose checksums are right, decoded by the device's kernels on this machine, with any records
//! of groups: nothing beyond what an image's record allows is touched, all kernels end, and they take what the CPU takes, to its
//! pixels.
//!
//! | bytes | |
//! |---|---|
//! | 1 | bits 0 and 1: how many edits; bit 2: whether a second part of the file is decoded besides; bits 4 to 7: the order in which threads run |
//! | 4 | the region: left, top, width and height |
//! | 6 each | edits of the groups' records |
//! | | the file |
#![no_main]

#[expect(dead_code, reason = "points of decode indexes are for the target `kernels`")]
#[path = "../../tests/cuda/bare_device.rs"]
mod device;
#[path = "kernels/double.rs"]
mod double;
#[path = "../../tests/support/src/packed.rs"]
mod packed;

use device::{Device, ROUNDS};
use double::{allow_steps, run};
use feedline::device::cuda::jpeg::layout::JpegPacked;
use feedline::device::cuda::jpeg::{FilePart, FileScan};
use feedline::geometry::Rect;
use feedline::image::{Decoder, Format, Image, Limits, parse_header};
use libfuzzer_sys::fuzz_target;
use packed::mend_checksums;

/// The largest image, so that an input takes some milliseconds.
const MOST_PIXELS: u64 = 1 << 15;
/// Steps of all kernels together: some hundred times what sound files take.
const MOST_STEPS: u64 = 100_000_000;

/// The upper bits of `field` say what becomes of it: it is set, added to, or has bits flipped.
fn edit(group: &mut JpegPacked, field: u8, value: u32) {
    let of = |old: u32| match field >> 4 & 3 {
        0 | 1 => value,
        2 => old.wrapping_add(value),
        _ => old ^ value,
    };
    match field & 7 {
        0 => group.length = of(group.length.into()) as u16,
        1 => group.count = of(group.count.into()) as u8,
        2 => group.component = of(group.component.into()) as u8,
        3 => group.column = of(group.column.into()) as u16,
        4 => group.row = of(group.row.into()) as u16,
        _ => group.at = of(group.at),
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&[choice, x, y, width, height], rest)) = input.split_first_chunk() else { return };
    let Some((edits, file)) = rest.split_at_checked(usize::from(choice & 3) * 6) else { return };
    let mut file = file.to_vec();
    mend_checksums(&mut file);
    let Ok(header) = parse_header(&file) else { return };
    if header.format != Format::Coefficients || header.size.pixels() > MOST_PIXELS {
        return;
    }
    let region = Rect::new(x.into(), y.into(), 1 + u32::from(width), 1 + u32::from(height));
    let part = |region: Rect| FilePart {
        bytes: &file,
        region: Some(region.intersect(header.size.rect())),
        index: None,
    };
    let mut parts = vec![part(region)];
    // Whatever the records of the first say, the second must come out right.
    if choice & 4 != 0 {
        parts.push(part(Rect::new(0, 0, 24, 24)));
    }
    let scans: Option<Vec<FileScan>> = parts.iter().map(FileScan::read).collect();
    let Some(scans) = scans else { return };
    let mut tables = FileScan::tables(&scans);
    let mut first: Vec<&mut JpegPacked> = tables.packed.iter_mut().filter(|group| group.image == 0).collect();
    for &[group, field, value @ ..] in edits.as_chunks::<6>().0 {
        let count = first.len();
        edit(first[usize::from(group) % count], field, u32::from_le_bytes(value));
    }
    let mut device = Device::new(tables, &scans);
    allow_steps(MOST_STEPS);
    let order = u64::from(choice >> 4);
    device.decode(ROUNDS, &mut |name, size, values| run(name, size, order, values));
    let mut decoder = Decoder::new(Limits::default());
    for (number, part) in parts.iter().enumerate() {
        if number == 0 && !edits.is_empty() {
            continue;
        }
        let mut image = Image::default();
        let decoded = decoder.decode(&file, &header, part.region.unwrap_or_default(), &mut image);
        assert_eq!(decoded.is_ok(), device.is_sound(number), "{decoded:?}");
        assert!(decoded.is_err() || image.data.starts_with(device.pixels(number)), "{:?}", part.region);
    }
});
