//! Any bytes of a file, any decode index and any records of pieces, decoded by the device's kernels on this machine: nothing
//! beyond what an image's record allows is touched, all kernels end, and what they take as sound has the CPU's pixels and
//! its decode index.
//!
//! What a host makes of its own counts, whatever a file says, stays as it is: the images' records, and the numbers of images,
//! cuts and codes. `kernels/input.rs` says what the bytes of an input mean.
#![no_main]

#[path = "../../tests/cuda/bare_device.rs"]
mod device;
#[path = "kernels/double.rs"]
mod double;
#[path = "kernels/input.rs"]
mod input;

use device::{Device, ROUNDS};
use double::{allow_steps, run};
use feedline::device::cuda::jpeg::{FilePart, FileScan};
use feedline::geometry::Rect;
use feedline::jpeg::{Decoder, Header, Index, JpegError, Limits, PixelsMut, parse_header};
use input::{Input, Known};
use libfuzzer_sys::fuzz_target;

/// The largest image, so that an input takes some milliseconds.
const MOST_PIXELS: u64 = 1 << 16;

/// Steps of all kernels together: some hundred times what sound files take.
const MOST_STEPS: u64 = 100_000_000;

fn by_cpu(
    bytes: &[u8],
    header: &Header,
    region: Rect,
    index: Option<&mut Index>,
) -> Result<Vec<u8>, JpegError> {
    let mut data = vec![0; region.size().pixels() as usize * 3];
    let mut out = PixelsMut { data: &mut data, stride: region.width as usize * 3 };
    Decoder::new().decode_part(bytes, header, region.into(), &Limits::default(), &mut out, index)?;
    Ok(data)
}

fn record(index: &Index) -> Vec<u8> {
    let mut record = Vec::new();
    index.write(&mut record);
    record
}

/// What is known of the file; `None` where nobody wants to know.
fn index(input: &Input<'_>, header: &Header) -> Option<Index> {
    let mut index = Index::default();
    let of_rows = |height: u32| Rect { height, ..header.size.rect() };
    match input.known {
        Known::Unwanted => return None,
        Known::Nothing => {}
        Known::Upper => {
            drop(by_cpu(input.file, header, of_rows(header.size.height.div_ceil(3)), Some(&mut index)))
        }
        Known::All => drop(by_cpu(input.file, header, of_rows(header.size.height), Some(&mut index))),
        Known::Record(bytes) => {
            // It must seem to be the file's own, or nobody would look at it.
            drop(by_cpu(input.file, header, of_rows(1), Some(&mut index)));
            let own = record(&index);
            let mut bytes = bytes.to_vec();
            bytes.iter_mut().zip(own.iter().take(10)).for_each(|(byte, own)| *byte = *own);
            index.read(&bytes);
        }
    }
    Some(index)
}

/// Whether a record's points are those of the file. Others are relied on as they are: by the CPU up to the last one, by a
/// device in rows of which all are known.
fn is_true(index: &Index, file: &[u8], header: &Header) -> bool {
    let mut learned = Index::default();
    drop(by_cpu(file, header, header.size.rect(), Some(&mut learned)));
    record(&learned).starts_with(&record(index))
}

/// What the kernels take as sound the CPU takes, to the same pixels, and it learns the same of the file.
fn compare(part: &FilePart<'_>, header: &Header, scan: &FileScan, device: &Device, number: usize) {
    let region = part.region.unwrap_or(header.size.rect());
    let mut known = part.index.cloned();
    let pixels = by_cpu(part.bytes, header, region, known.as_mut());
    let pixels = pixels.expect("what the device takes the CPU takes");
    let differing = pixels.iter().zip(device.pixels(number)).filter(|(a, b)| a != b).count();
    assert_eq!(differing, 0, "of {} in {region:?} of {:?}", pixels.len(), header.size);
    if let Some(learned) = scan.index(part.bytes, device.points(number)) {
        let known = known.expect("an index is made where one is wanted");
        assert!(record(&learned) == record(&known), "the decode indexes differ");
    }
}

fuzz_target!(|input: &[u8]| {
    let Some(input) = Input::read(input) else { return };
    let Ok(header) = parse_header(input.file) else { return };
    if header.size.pixels() > MOST_PIXELS {
        return;
    }
    let index = index(&input, &header);
    let part = |region, index| FilePart { bytes: input.file, region: Some(region), index };
    let mut parts = vec![part(input.region(header.size), index.as_ref())];
    // Whatever the records of the first say, the second must come out right.
    if input.has_neighbour {
        parts.push(part(Rect::new(0, 0, 24, 24).intersect(header.size.rect()), None));
    }
    let scans: Option<Vec<FileScan>> = parts.iter().map(FileScan::read).collect();
    let Some(scans) = scans else { return };
    let mut tables = FileScan::tables(&scans);
    let runs = tables.runs.iter_mut().map(|run| &mut run.piece);
    let first = tables.pieces.iter_mut().chain(runs).filter(|piece| piece.image == 0);
    let mut is_wild = input.edit(first.collect());
    if let (Known::Record(_), Some(index)) = (input.known, &index) {
        is_wild |= !is_true(index, input.file, &header);
    }
    let mut device = Device::new(tables, &scans);
    allow_steps(MOST_STEPS);
    device
        .decode(ROUNDS - input.fewer_rounds, &mut |name, size, values| run(name, size, input.order, values));
    for (number, (part, scan)) in parts.iter().zip(&scans).enumerate() {
        if device.is_sound(number) && !(is_wild && number == 0) {
            compare(part, &header, scan, &device, number);
        }
    }
});
