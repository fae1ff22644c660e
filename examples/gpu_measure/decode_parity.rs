//! What nvJPEG's decoders make of files, against this crate's decoder, whose pixels are libjpeg-turbo's.

use crate::photos::read_all;
use crate::{Bench, NVJPEG, each_kind, filled, open, print};
use feedline::device::cuda::{DecodedImage, Route};
use feedline::geometry::Rect;
use feedline::image::{self, Decoder, Image};
use feedline::rng::{Draws, Rng};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Compare each of the GPU's decoders with the CPU's, value by value
#[derive(clap::Args)]
pub(crate) struct Whole {
    /// A folder of JPEG files
    #[arg(long)]
    data: PathBuf,
    /// What the rows are called
    #[arg(long)]
    name: String,
}

/// Compare parts that the GPU's decoders decode alone with the same parts of whole images
#[derive(clap::Args)]
pub(crate) struct Parts {
    /// A folder of folders of JPEG files, each of one kind
    #[arg(long)]
    data: PathBuf,
    /// Parts for each kind of file and decoder
    #[arg(long, default_value_t = 16)]
    crops: u64,
}

/// Pixels around a part that are decoded with it, to learn how many it takes.
const HALOS: [i32; 3] = [0, 8, 16];
/// The row of parts that are decoded as for a batch.
const AS_LOADED: &str = "as a loader does";

pub(crate) fn whole(arguments: &Whole, bench: Bench) -> anyhow::Result<()> {
    let files = read_all(&arguments.data)?;
    let bytes: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    for (word, route) in NVJPEG {
        let mut decoder = open(route, false)?;
        let mut levels = Levels::default();
        for (file, decoded) in bytes.iter().zip(decoder.decode(&filled(&bytes, route), None)?) {
            if let Ok(DecodedImage { image, .. }) = decoded.and_then(|decoded| by(route, decoded)) {
                levels.add(&on_cpu(file)?, &image, image.region);
            }
        }
        if levels.files > 0 {
            print(&json!({
                "name": arguments.name,
                "backend": word,
                "files": levels.files,
                "values": levels.values(),
                "equal": bench.figure(levels.counts[0] as f64 / levels.values() as f64),
                "max": bench.figure(levels.at_least(levels.values()) as f64),
                "mean": bench.figure(levels.mean()),
                "p99": bench.figure(levels.at_least(levels.values().div_ceil(100) * 99) as f64),
            }))?;
        }
    }
    Ok(())
}

pub(crate) fn parts(arguments: &Parts) -> anyhow::Result<()> {
    each_kind(&arguments.data, &NVJPEG, |folder, word, route| parts_of(folder, word, route, arguments.crops))
}

/// One kind of file and one decoder: parts with each halo, and parts as a loader asks for them, which must be equal.
fn parts_of(folder: &Path, word: &str, route: Route, crops: u64) -> anyhow::Result<()> {
    let kind = folder.file_name().unwrap_or_default().to_string_lossy();
    let files = read_all(folder)?;
    let bytes: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
    let bytes = filled(&bytes, route);
    let mut decoder = open(route, true)?;
    let whole: Vec<Option<Image>> = decoder
        .decode(&bytes, None)?
        .into_iter()
        .map(|decoded| Some(by(route, decoded.ok()?).ok()?.image))
        .collect();
    let Some(least) = whole.iter().flatten().map(|image| image.region).reduce(Rect::intersect) else {
        return Ok(());
    };
    let mut found: Vec<(String, Levels)> =
        HALOS.iter().map(|halo| (format!("{halo} pixels"), Levels::default())).collect();
    found.push((AS_LOADED.into(), Levels::default()));
    for crop in 0..crops {
        let wanted = any_part(least, crop);
        for (at, (_, levels)) in found.iter_mut().enumerate() {
            let decoded = match HALOS.get(at) {
                Some(&halo) => decoder.decode_exactly(&bytes, widened(wanted, halo).intersect(least))?,
                None => decoder.decode(&bytes, Some(wanted))?,
            };
            for (whole, part) in whole.iter().zip(decoded) {
                if let (Some(whole), Some(part)) = (whole, part.ok().and_then(|part| by(route, part).ok())) {
                    levels.add(whole, &part.image, wanted);
                }
            }
        }
    }
    for (around, levels) in found {
        print(&json!({
            "kind": kind,
            "backend": word,
            "around": around,
            "required": around == AS_LOADED,
            "values": levels.values(),
            "different": levels.values() - levels.counts[0],
            "largest": levels.at_least(levels.values()),
        }))?;
    }
    Ok(())
}

/// The image, if that decoder made it.
fn by(route: Route, decoded: DecodedImage) -> Result<DecodedImage, feedline::error::Cause> {
    if decoded.by == route { Ok(decoded) } else { Err("another decoder made it".into()) }
}

fn on_cpu(bytes: &[u8]) -> anyhow::Result<Image> {
    let header = image::parse_header(bytes)?;
    let mut decoded = Image::default();
    Decoder::default().decode(bytes, &header, header.size.rect(), &mut decoded)?;
    Ok(decoded)
}

fn any_part(whole: Rect, number: u64) -> Rect {
    let mut rng = Rng::new(1, 0, number, 0);
    let mut span = |edge: u32| {
        // Parts of more than half an image are decoded as wholes, and would show nothing.
        let length = 1 + rng.below(edge / 2);
        (rng.below(edge - length + 1) as i32, length)
    };
    let ((x, width), (y, height)) = (span(whole.width), span(whole.height));
    Rect::new(x, y, width, height)
}

fn widened(part: Rect, by: i32) -> Rect {
    Rect::new(part.x - by, part.y - by, part.width + 2 * by as u32, part.height + 2 * by as u32)
}

/// How many values differ by how many levels.
struct Levels {
    files: usize,
    counts: [u64; 256],
}

impl Default for Levels {
    fn default() -> Self {
        Self { files: 0, counts: [0; 256] }
    }
}

impl Levels {
    /// Counts the differences of two images inside `part`, which both hold.
    fn add(&mut self, a: &Image, b: &Image, part: Rect) {
        self.files += 1;
        for y in part.y..part.y + part.height as i32 {
            for (a, b) in row(a, part, y).iter().zip(row(b, part, y)) {
                self.counts[usize::from(a.abs_diff(*b))] += 1;
            }
        }
    }

    fn values(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn mean(&self) -> f64 {
        let sum: u64 = self.counts.iter().zip(0..).map(|(count, level): (_, u64)| count * level).sum();
        sum as f64 / self.values().max(1) as f64
    }

    /// The difference that `share` of the values do not exceed.
    fn at_least(&self, share: u64) -> usize {
        let mut seen = 0;
        let reached = |count: &u64| {
            seen += count;
            seen >= share
        };
        self.counts.iter().position(reached).unwrap_or(255)
    }
}

fn row(image: &Image, part: Rect, y: i32) -> &[u8] {
    let (down, right) = ((y - image.region.y) as usize, (part.x - image.region.x) as usize);
    &image.data[down * image.stride + 3 * right..][..3 * part.width as usize]
}
