//! feedline's own decoder on the device against the CPU's: every value of every file, and every decode index.

use crate::photos::Named;
use crate::print;
use feedline::coefficients::{Converter, Profile};
use feedline::device::cuda::jpeg::{DecodedFile, FilePart, LeftOut, ParallelDecoder};
use feedline::geometry::Rect;
use feedline::image::{self, Index};
use feedline::jpeg::{Decoder, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use feedline::rng::{Draws, Rng};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use twox_hash::XxHash3_64;

/// Compare what feedline's decoder on the GPU makes of each file with what the CPU's makes of it
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of JPEG files
    #[arg(long)]
    data: PathBuf,
    /// What the rows are called
    #[arg(long)]
    name: String,
    /// Parts of each file that are compared besides all of it
    #[arg(long, default_value_t = 2)]
    parts: u64,
    /// Files at most
    #[arg(long, default_value_t = usize::MAX)]
    files: usize,
    /// Files may be damaged: that the device finds it is no fault
    #[arg(long)]
    damaged: bool,
}

/// Device memory for the decoder; larger files than this takes would be left out.
const MEMORY: usize = 4 << 30;
/// Bytes of pixels that are compared at a time.
const CHUNK: u64 = 256 << 20;
/// Keys that a row names of files with a wrong verdict.
const NAMED: usize = 5;

/// What the CPU makes of a part of a file, knowing nothing of it.
struct Wanted {
    region: Rect,
    /// Packed pixels, and what is known then; nothing where the CPU refuses it.
    decoded: Option<(Vec<u8>, Index)>,
}

/// How the device gets at a file's coefficients.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    FromTheTop,
    ByIndex,
    /// As they are in a file of coefficients.
    Packed,
}

/// A file: all of it, and parts.
struct Known<'a> {
    file: &'a Named,
    /// The file of its coefficients, where those can be held.
    packed: Option<Vec<u8>>,
    restarts: bool,
    wanted: Vec<Wanted>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut files = Named::read_all(&arguments.data)?;
    files.truncate(arguments.files);
    let mut device = ParallelDecoder::open(0, MEMORY).map_err(anyhow::Error::from_boxed)?;
    let mut rows: BTreeMap<(&'static str, bool), Row> = BTreeMap::new();
    for files in chunks(&files) {
        let known = on_cpu(files, arguments.parts);
        for number in 0..=arguments.parts as usize {
            for way in [Way::FromTheTop, Way::ByIndex, Way::Packed] {
                compare(&mut device, &known, (number, way), &mut rows)?;
            }
        }
    }
    rows.iter().try_for_each(|(entry, row)| print(&row.report(arguments, *entry)))
}

/// Files of so many pixels that memory suffices.
fn chunks(files: &[Named]) -> Vec<&[Named]> {
    let (mut chunks, mut rest) = (Vec::new(), files);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = |file: &Named| {
            bytes += parse_header(&file.bytes).map_or(0, |header| 3 * header.size.pixels());
            bytes <= CHUNK
        };
        let count = rest.iter().map(fits).take_while(|fits| *fits).count().max(1);
        let (chunk, others) = rest.split_at(count);
        chunks.push(chunk);
        rest = others;
    }
    chunks
}

/// What the CPU makes of them, on all cores.
fn on_cpu(files: &[Named], parts: u64) -> Vec<Known<'_>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let started: Vec<_> = files
            .chunks(share)
            .map(|files| scope.spawn(move || files.iter().map(|file| know(file, parts)).collect::<Vec<_>>()))
            .collect();
        started.into_iter().flat_map(|thread| thread.join().expect("the CPU's decoder")).collect()
    })
}

fn know(file: &Named, parts: u64) -> Known<'_> {
    let Ok(header) = parse_header(&file.bytes) else {
        // Whatever is asked for, no decoder takes it.
        let nothing = || Wanted { region: Rect::new(0, 0, 1, 1), decoded: None };
        let wanted = (0..=parts).map(|_| nothing()).collect();
        return Known { file, packed: None, restarts: false, wanted };
    };
    let whole = header.size.rect();
    let sample = XxHash3_64::oneshot(&file.bytes);
    let regions = std::iter::once(whole).chain((0..parts).map(|part| any_part(whole, (sample, part))));
    let (mut decoder, limits) = (Decoder::new(), Limits { damaged: Damaged::Refuse, ..Limits::default() });
    let wanted = regions.map(|region| {
        let stride = region.width as usize * 3;
        let (mut data, mut index) = (vec![0; stride * region.height as usize], Index::default());
        let mut out = PixelsMut { data: &mut data, stride };
        let decoded = decoder.decode_indexed(&file.bytes, &header, region, &limits, &mut out, &mut index);
        Wanted { region, decoded: decoded.ok().map(|()| (data, index)) }
    });
    let wanted = wanted.collect();
    let (mut converter, mut packed) = (Converter::new(&image::Limits::default(), Profile::Small), Vec::new());
    let packed = converter.convert(&file.bytes, &mut packed).ok().map(|()| packed);
    Known { file, packed, restarts: restarts(&file.bytes), wanted }
}

/// Parts of all sizes, stripes and nearly all among them.
fn any_part(whole: Rect, (sample, number): (u64, u64)) -> Rect {
    let mut rng = Rng::new(3, 0, sample, number as u32);
    let mut span = |edge: u32| {
        let length = 1 + rng.below(edge);
        (rng.below(edge - length + 1) as i32, length)
    };
    let ((x, width), (y, height)) = (span(whole.width), span(whole.height));
    Rect::new(x, y, width, height)
}

/// Whether a file has restart markers.
fn restarts(bytes: &[u8]) -> bool {
    let (mut at, mut found) = (2, false);
    while let Some(&[0xFF, marker, high, low, ref rest @ ..]) = bytes.get(at..) {
        match marker {
            0xDA => break,
            0xDD => found = rest.iter().take(2).any(|&byte| byte > 0),
            _ => {}
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
    found
}

/// Compares part `number` of all files, decoded with nothing known of them or by their whole decode index.
fn compare(
    device: &mut ParallelDecoder,
    known: &[Known<'_>],
    (number, way): (usize, Way),
    rows: &mut BTreeMap<(&'static str, bool), Row>,
) -> anyhow::Result<()> {
    let nothing = Index::default();
    let part = |known: &'_ Known<'_>| {
        let whole = known.wanted.first().and_then(|wanted| wanted.decoded.as_ref());
        whole.map(|(_, index)| index).filter(|_| way == Way::ByIndex).cloned().unwrap_or_default()
    };
    let known: Vec<&Known<'_>> =
        known.iter().filter(|known| way != Way::Packed || known.packed.is_some()).collect();
    let indexes: Vec<Index> = known.iter().map(|known| part(known)).collect();
    let parts: Vec<FilePart<'_>> = known
        .iter()
        .zip(&indexes)
        .map(|(known, index)| {
            let region = Some(known.wanted[number].region);
            match (way, &known.packed) {
                (Way::Packed, Some(packed)) => FilePart { bytes: packed, region, index: None },
                (Way::ByIndex, _) => FilePart { bytes: &known.file.bytes, region, index: Some(index) },
                _ => FilePart { bytes: &known.file.bytes, region, index: Some(&nothing) },
            }
        })
        .collect();
    let decoded = device.decode(&parts).map_err(anyhow::Error::from_boxed)?;
    for (known, decoded) in known.into_iter().zip(decoded) {
        let entry = match (way, known.restarts) {
            (Way::Packed, _) => "file of coefficients",
            (Way::ByIndex, _) => "decode index",
            (Way::FromTheTop, true) => "restart markers",
            (Way::FromTheTop, false) => "synchronisation",
        };
        rows.entry((entry, number > 0)).or_default().add(known, &known.wanted[number], decoded);
    }
    Ok(())
}

/// What was found of one way into files.
#[derive(Default)]
struct Row {
    files: usize,
    values: u64,
    different: u64,
    first: Option<Value>,
    indexes: usize,
    indexes_different: usize,
    /// Hashes of the pixels of each image.
    hashes: [Vec<u8>; 2],
    left_out: BTreeMap<String, usize>,
    /// Files that the CPU refuses as well.
    refused: usize,
    /// Files that the CPU takes and the device finds damaged.
    flagged: Vec<String>,
    /// And the reverse.
    taken_damaged: Vec<String>,
}

impl Row {
    fn add(&mut self, known: &Known<'_>, wanted: &Wanted, decoded: Result<DecodedFile, LeftOut>) {
        let key = || known.file.key.clone();
        let (DecodedFile { image, index }, pixels, cpus) = match (decoded, &wanted.decoded) {
            (Ok(decoded), Some((pixels, index))) => (decoded, pixels, index),
            (Ok(_), None) => return self.taken_damaged.push(key()),
            (Err(why), cpu) => {
                *self.left_out.entry(why.to_string()).or_default() += 1;
                self.refused += usize::from(cpu.is_none());
                if cpu.is_some() && why == LeftOut::Damaged {
                    self.flagged.push(key());
                }
                return;
            }
        };
        let got = &image.data[..pixels.len()];
        self.files += 1;
        self.values += pixels.len() as u64;
        let hashes = [pixels.as_slice(), got].map(XxHash3_64::oneshot);
        self.hashes.iter_mut().zip(hashes).for_each(|(all, hash)| all.extend(hash.to_le_bytes()));
        if hashes[0] != hashes[1] || pixels != got {
            let pairs = || pixels.iter().zip(got).enumerate().filter(|(_, (want, got))| want != got);
            self.different += pairs().count() as u64;
            let example = pairs().next().map(|(at, (want, got))| {
                let (row, column) = (at / image.stride, at % image.stride / 3);
                json!({ "file": key(), "part": format!("{:?}", wanted.region), "x": column, "y": row,
                        "component": at % 3, "want": want, "got": got, "values_of_the_file": pairs().count() })
            });
            self.first = self.first.take().or(example);
        }
        if let Some(index) = index {
            self.indexes += 1;
            self.indexes_different += usize::from(record(&index) != record(cpus));
        }
    }

    fn report(&self, arguments: &Arguments, (entry, is_part): (&str, bool)) -> Value {
        let hashes = self.hashes.each_ref().map(|all| format!("{:016x}", XxHash3_64::oneshot(all)));
        let verdicts = self.taken_damaged.len() + if arguments.damaged { 0 } else { self.flagged.len() };
        json!({
            "name": arguments.name,
            "entry": entry,
            "of": if is_part { "parts" } else { "whole" },
            "files": self.files,
            "values": self.values,
            "different": self.different,
            "first": self.first,
            "cpu_hash": hashes[0],
            "device_hash": hashes[1],
            "indexes": self.indexes,
            "indexes_different": self.indexes_different,
            "left_out": self.left_out,
            "refused_by_cpu": self.refused,
            "wrong_verdicts": verdicts,
            "found_damaged": self.flagged.iter().take(NAMED).collect::<Vec<_>>(),
            "damaged_but_taken": self.taken_damaged.iter().take(NAMED).collect::<Vec<_>>(),
        })
    }
}

/// A decode index as it is kept.
fn record(index: &Index) -> Vec<u8> {
    let mut record = Vec::new();
    index.write(&mut record);
    record
}
