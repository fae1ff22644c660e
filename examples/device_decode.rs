//! Decodes a folder's JPEGs by feedline's own decoder on a CUDA device, as a random crop of each or whole, with their decode
//! indexes or without, or as files of their coefficients. On a simulated device that counts what kernels execute (`kernels/decoder_costs.py`) it is what is
//! counted.
//!
//! ```sh
//! cargo run --release --example device_decode -- crops|whole index|search|packed FOLDER [BATCH]
//! ```

use anyhow::{Context, bail};
use feedline::augment::RandomResizedCrop;
use feedline::coefficients::{Converter, Profile};
use feedline::device::cuda::jpeg::{FilePart, ParallelDecoder, aligned};
use feedline::device::region;
use feedline::geometry::Rect;
use feedline::image::{Decoder, Image, Index, Limits, parse_header};
use feedline::loader::Loader;
use feedline::source::{Folder, Source};
use std::sync::Arc;

/// A file, what is wanted of it, and its decode index.
struct Work {
    bytes: Vec<u8>,
    region: Rect,
    index: Index,
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parts, entry, folder, ..] = arguments.as_slice() else {
        bail!("usage: device_decode crops|whole index|search|packed FOLDER [BATCH]");
    };
    let batch = arguments.get(3).map_or(Ok(256), |count| count.parse())?;
    let (is_cropped, is_indexed) = (parts == "crops", entry == "index");
    let source: Arc<dyn Source> = Arc::new(Folder::open_any(folder)?);
    let builder = Loader::builder(Arc::clone(&source)).augment(RandomResizedCrop::new(224)).shuffle(false);
    let loader = builder.batch_size(1).build()?;
    let (mut decoder, mut image, mut work) = (Decoder::new(Limits::default()), Image::default(), Vec::new());
    let mut converter = Converter::new(&Limits::default(), Profile::Small);
    for number in 0..source.len() {
        let mut bytes = Vec::new();
        source.read(number, &mut bytes)?;
        let header = parse_header(&bytes)?;
        let baseline = |jpeg: &feedline::jpeg::Header| !jpeg.progressive && jpeg.components < 4;
        if !header.jpeg.as_ref().is_some_and(baseline) {
            continue;
        }
        let whole = header.size.rect();
        let region = if is_cropped { region(&loader.plan(0, number as u64)?.plan, 0) } else { whole };
        let mut index = Index::default();
        if entry == "packed" {
            let mut packed = Vec::new();
            if let Err(error) = converter.convert(&bytes, &mut packed) {
                eprintln!("{}: left out: {error}", source.key(number));
                continue;
            }
            bytes = packed;
        }
        if is_indexed {
            decoder.decode_part(&bytes, &header, whole.into(), Some(&mut index), &mut image)?;
        }
        work.push(Work { bytes, region, index });
    }
    let mut device = ParallelDecoder::open(0, 2 << 30).map_err(|cause| anyhow::anyhow!("{cause}"))?;
    let (mut decoded, mut pixels, mut bytes, mut moved) = (0, 0, 0, 0);
    for work in work.chunks(batch) {
        let part = |work: &'_ Work| (work.region, work.bytes.len());
        let (regions, lengths): (Vec<Rect>, Vec<usize>) = work.iter().map(part).unzip();
        let parts: Vec<FilePart<'_>> = work
            .iter()
            .map(|work| FilePart {
                bytes: &work.bytes,
                region: Some(aligned(work.region)),
                index: Some(&work.index),
            })
            .collect();
        let images = device.decode(&parts).map_err(|cause| anyhow::anyhow!("{cause}"))?;
        decoded += images.iter().flatten().count();
        pixels += regions.iter().map(|region| region.size().pixels()).sum::<u64>();
        bytes += lengths.iter().sum::<usize>();
        let batch = device.prepare(&parts).map_err(|cause| anyhow::anyhow!("{cause}"))?.moved();
        moved += batch.to_device + batch.to_host;
    }
    work.first().context("no files")?;
    println!("files {} decoded {decoded} pixels {pixels} bytes {bytes} moved {moved}", work.len());
    Ok(())
}
