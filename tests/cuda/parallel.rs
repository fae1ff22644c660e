//! feedline's own JPEG decoder on the device: the CPU decoder's pixels in every value, whole and in part, with and without a
//! decode index, by restart markers.

use crate::pictures::files_below;
use crate::scenario::{Outcome, Scenario};
use feedline::device::cuda::jpeg::{DecodedFile, FilePart, LeftOut, ParallelDecoder};
use feedline::geometry::{Rect, Size};
use feedline::image::Image;
use feedline::jpeg::{Decoder, Index, Limits, PixelsMut, parse_header};
use feedline::policy::Damaged;
use feedline_test_support::jpeg::{ColorType, Jpeg, SAMPLINGS};
use feedline_test_support::noise::Noise;
use feedline_test_support::scribble::Scribble;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("jpeg: every sampling and size is decoded to the CPU's pixels", every_sampling).decides(),
    Scenario::new(
        "jpeg: every interleaving, code and restart interval is decoded to the CPU's pixels",
        scribbles,
    )
    .decides(),
    Scenario::new(
        "jpeg: what the device takes of damaged files the CPU takes, and to the same pixels",
        || damaged(false),
    )
    .decides(),
    Scenario::new("jpeg: the same with what is known of them up to the damage", || damaged(true)).decides(),
    Scenario::new("jpeg: an index that is wrong somewhere makes no pixel wrong", tampered_indexes).decides(),
    Scenario::new("jpeg: a file whose cuts never fit each other is left to the CPU", never_in_step).decides(),
    Scenario::new("jpeg: images of 65,535 columns or rows are decoded to the CPU's pixels", longest)
        .decides(),
    Scenario::new("jpeg: photographs are decoded to the CPU's pixels", photographs).decides(),
];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A file that the CPU decodes, with what is known of it.
struct Known {
    name: String,
    bytes: Vec<u8>,
    size: Size,
    /// Nothing; the index of its upper third; that of all of it.
    indexes: [Index; 3],
}

impl Known {
    fn new(name: String, bytes: Vec<u8>) -> Result<Self> {
        let size = parse_header(&bytes)?.size;
        let mut indexes: [Index; 3] = Default::default();
        by_cpu(&bytes, Rect { height: size.height.div_ceil(3), ..size.rect() }, &mut indexes[1])?;
        by_cpu(&bytes, size.rect(), &mut indexes[2])?;
        Ok(Self { name, bytes, size, indexes })
    }

    /// All of it, its middle, its last pixel, its lower half, and its right one.
    fn regions(&self) -> [Rect; 5] {
        let (w, h) = (self.size.width, self.size.height);
        let part = |x, y, width: u32, height: u32| Rect { x: x as i32, y: y as i32, width, height };
        [
            self.size.rect(),
            part(w / 3, h / 3, (w / 3).max(1), (h / 3).max(1)),
            part(w - 1, h - 1, 1, 1),
            part(0, h / 2, w, h - h / 2),
            part(w / 2, 0, w - w / 2, h),
        ]
    }
}

/// The pixels of a part, and what is known of the file then.
fn by_cpu(bytes: &[u8], region: Rect, index: &mut Index) -> Result<Vec<u8>> {
    let header = parse_header(bytes)?;
    let stride = region.width as usize * 3;
    let mut data = vec![0; stride * region.height as usize];
    let mut out = PixelsMut { data: &mut data, stride };
    let limits = Limits { damaged: Damaged::Refuse, ..Limits::default() };
    Decoder::new().decode_indexed(bytes, &header, region, &limits, &mut out, index)?;
    Ok(data)
}

/// The index as it is kept.
fn record(index: &Index) -> Vec<u8> {
    let mut record = Vec::new();
    index.write(&mut record);
    record
}

fn same(what: &str, decoded: &Image, wanted: &[u8]) {
    let pairs = || decoded.data[..wanted.len()].iter().zip(wanted);
    let differing = pairs().filter(|(a, b)| a != b).count();
    let first = pairs().position(|(a, b)| a != b);
    assert_eq!(differing, 0, "{what}: of {}, the first at {first:?}", wanted.len());
}

fn open() -> Result<ParallelDecoder> {
    Ok(ParallelDecoder::open(0, 256 << 20).map_err(|cause| cause.to_string())?)
}

/// Compares whole files and parts of them, where nobody wants to know their index, with nothing known of it, a part and all of it: the
/// pixels, and what is known then.
fn compare(files: &[Known]) -> Outcome {
    let mut decoder = open()?;
    for number in 0..5 {
        for known in [None, Some(0), Some(1), Some(2)] {
            let index = |file: &'_ Known| known.map_or(Index::default(), |known| file.indexes[known].clone());
            let part = |file: &'_ Known| (file.regions()[number], index(file));
            let wanted: Vec<(Rect, Index)> = files.iter().map(part).collect();
            let parts: Vec<FilePart<'_>> = files
                .iter()
                .zip(&wanted)
                .map(|(file, (region, index))| FilePart {
                    bytes: &file.bytes,
                    region: Some(*region),
                    index: known.map(|_| index),
                })
                .collect();
            let decoded = decoder.decode(&parts).map_err(|cause| cause.to_string())?;
            for ((file, (region, index)), decoded) in files.iter().zip(wanted).zip(decoded) {
                let what = format!("{}, {region:?}, {} rows known", file.name, index.rows());
                let decoded = decoded.unwrap_or_else(|why| panic!("{what}: {why}"));
                let mut cpus = index.clone();
                same(&what, &decoded.image, &by_cpu(&file.bytes, region, &mut cpus)?);
                if known.is_some() {
                    let index = decoded.index.unwrap_or(index);
                    assert!(record(&index) == record(&cpus), "{what}: index");
                }
            }
        }
    }
    Ok(())
}

fn every_sampling() -> Outcome {
    let mut files = Vec::new();
    for (sampling, name) in SAMPLINGS {
        for (width, height) in [(1, 1), (7, 9), (16, 16), (17, 33), (40, 1), (2, 40), (97, 70), (200, 150)] {
            for (restart, color) in [(0, ColorType::Rgb), (3, ColorType::Rgb), (0, ColorType::Luma)] {
                let jpeg = Jpeg { restart, color, ..Jpeg::new(sampling) };
                let picture = jpeg.picture(width, height, u32::from(width));
                // Some samplings the encoder writes in several scans.
                let header = parse_header(&picture)?;
                if header.first_scan == header.components {
                    let what = format!("{name} {width}x{height}, restart {restart}, {color:?}");
                    files.push(Known::new(what, picture)?);
                }
            }
        }
    }
    assert!(files.len() > 100);
    compare(&files)
}

fn scribbles() -> Outcome {
    let layouts: [&[(u8, u8)]; 11] = [
        &[(1, 1)],
        &[(2, 2)],
        &[(1, 1), (1, 1), (1, 1)],
        &[(2, 1), (1, 1), (1, 1)],
        &[(1, 2), (1, 1), (1, 1)],
        &[(2, 2), (1, 1), (1, 1)],
        &[(4, 1), (1, 1), (1, 1)],
        &[(4, 2), (1, 1), (1, 1)],
        &[(1, 4), (1, 1), (1, 1)],
        &[(2, 2), (2, 1), (1, 1)],
        &[(1, 1), (2, 2), (1, 2)],
    ];
    let mut files = Vec::new();
    for (number, factors) in layouts.into_iter().enumerate() {
        for (kind, restart) in [0, 1, 2, 7].into_iter().enumerate() {
            for (width, height) in [(1, 1), (3, 40), (33, 5), (37, 39), (130, 90)] {
                let seed = (number * 100 + kind * 10) as u32 + u32::from(width);
                let coefficients = [6, 30][(number + kind) % 2];
                let scribble = Scribble {
                    factors: factors.to_vec(),
                    restart,
                    shared_codes: kind == 1,
                    long_codes: kind % 2 == 0,
                    rgb: kind == 3 && factors.len() == 3,
                    coefficients,
                    seed,
                };
                let name = format!("{width}x{height} {scribble:?}");
                files.push(Known::new(name, scribble.file(width, height))?);
            }
        }
    }
    files.chunks(55).try_for_each(compare)
}

fn longest() -> Outcome {
    let jpeg = Jpeg { quality: 40, ..Jpeg::new(SAMPLINGS[3].0) };
    let sizes = [(65_535, 9), (9, 65_535)];
    let known = |(width, height)| Known::new(format!("{width}x{height}"), jpeg.picture(width, height, 5));
    compare(&sizes.map(known).into_iter().collect::<Result<Vec<_>>>()?)
}

/// Where all components have the same codes, nothing tells a decoder that it is in another one than it thinks.
fn never_in_step() -> Outcome {
    let layout = |factors| Scribble { factors, shared_codes: true, ..Scribble::default() };
    let file = layout(vec![(1, 1); 3]).file(300, 300);
    let decode = |index: &Index| -> Result<std::result::Result<DecodedFile, LeftOut>> {
        let part = FilePart { bytes: &file, region: None, index: Some(index) };
        Ok(open()?.decode(&[part]).map_err(|cause| cause.to_string())?.remove(0))
    };
    assert_eq!(decode(&Index::default())?.err(), Some(LeftOut::Unsettled), "without an index");
    let known = Known::new("shared codes".into(), file.clone())?;
    let decoded = decode(&known.indexes[2])?.map_err(|why| format!("not decoded with its index: {why}"))?;
    same("shared codes", &decoded.image, &by_cpu(&file, known.size.rect(), &mut Index::default())?);
    compare(&[Known::new("one component".into(), layout(vec![(1, 1)]).file(500, 400))?])
}

/// Files cut short, and with bits flipped: the device may leave any of them to the CPU, but what it takes must be what the CPU
/// takes, in all its pixels. FEEDLINE_TEST_FLIPS=N makes that every length, and N flips of each file.
fn damaged(are_known: bool) -> Outcome {
    let flips: Option<usize> =
        std::env::var("FEEDLINE_TEST_FLIPS").ok().map(|count| count.parse()).transpose()?;
    let step = if flips.is_some() { 1 } else { [9, 23][usize::from(are_known)] };
    let sound = [
        Jpeg::new(SAMPLINGS[0].0).picture(40, 33, 1),
        Jpeg { restart: 2, ..Jpeg::new(SAMPLINGS[3].0) }.picture(50, 40, 2),
        Jpeg { quality: 97, ..Jpeg::new(SAMPLINGS[3].0) }.picture(120, 90, 3),
        Scribble { long_codes: true, ..Scribble::default() }.file(70, 50),
        Scribble { restart: 3, factors: vec![(1, 1)], ..Scribble::default() }.file(64, 64),
    ];
    let mut noise = Noise(77);
    let mut files = Vec::new();
    for bytes in &sound {
        files.extend((2..bytes.len()).step_by(step).map(|length| bytes[..length].to_vec()));
        let ended = |length| [&bytes[..length], &[0xFF, 0xD9]].concat();
        files.extend((2..bytes.len()).step_by(7 * step).map(ended));
        for _ in 0..flips.unwrap_or(40) {
            let mut file = bytes.clone();
            for _ in 0..1 + noise.bits() % 2 {
                let at = noise.bits() as usize % (8 * file.len());
                file[at / 8] ^= 1 << (at % 8);
            }
            files.push(file);
        }
    }
    // All points of an index are there, and the last row is damaged behind the last of them.
    files.extend((2..30).map(|less| [&sound[2][..sound[2].len() - less], &[0xFF, 0xD9]].concat()));
    // Bytes that nobody reads ahead of markers, some of them where a row ends.
    let restarts = Scribble { restart: 4, factors: vec![(1, 1)], ..Scribble::default() }.file(64, 40);
    let markers =
        (0..restarts.len() - 1).filter(|&at| restarts[at] == 0xFF && restarts[at + 1] & 0xF8 == 0xD0);
    for unread in [&[0x55][..], &[0; 4], &[0xFF, 0]] {
        files.extend(markers.clone().map(|at| [&restarts[..at], unread, &restarts[at..]].concat()));
    }
    // Markers that are another one's.
    files.extend(markers.map(|at| {
        let other = 0xD0 + (restarts[at + 1] + 1) % 8;
        [&restarts[..at + 1], &[other], &restarts[at + 2..]].concat()
    }));
    let mut decoder = open()?;
    let taken =
        files.chunks(200).map(|files| taken_of(&mut decoder, files, are_known)).sum::<Result<usize>>()?;
    assert!(taken > files.len() / 50, "of {} only {taken} were taken", files.len());
    println!("{taken} of {} damaged files were taken", files.len());
    Ok(())
}

/// How many of these the device takes, each of which the CPU must take: with nothing known of them, or with what the CPU knows
/// where it has met the damage, and then not only whole: also the left third, and the upper one, which may have none.
fn taken_of(decoder: &mut ParallelDecoder, files: &[Vec<u8>], are_known: bool) -> Result<usize> {
    let mut taken = 0;
    let learned = |file: &Vec<u8>| {
        let mut index = Index::default();
        if are_known {
            // What comes ahead of the damage is known.
            drop(parse_header(file).map(|header| by_cpu(file, header.size.rect(), &mut index)));
        }
        index
    };
    let indexes: Vec<Index> = files.iter().map(learned).collect();
    for shares in if are_known { &[[1, 1], [3, 1], [1, 3]][..] } else { &[[1, 1]] } {
        let region = |bytes| {
            let Size { width, height } = parse_header(bytes).ok()?.size;
            Some(Rect::new(0, 0, width.div_ceil(shares[0]), height.div_ceil(shares[1])))
        };
        let part = |(bytes, index)| FilePart { bytes, region: region(bytes), index: Some(index) };
        let parts: Vec<FilePart<'_>> = files.iter().map(Vec::as_slice).zip(&indexes).map(part).collect();
        let decoded = decoder.decode(&parts).map_err(|cause| cause.to_string())?;
        for ((file, index), decoded) in files.iter().zip(&indexes).zip(decoded) {
            let mut cpus = index.clone();
            let Ok(DecodedFile { image, index }) = decoded else { continue };
            taken += 1;
            let known = index.unwrap_or_else(|| cpus.clone());
            same("a damaged file", &image, &by_cpu(file, image.region, &mut cpus)?);
            assert!(record(&known) == record(&cpus), "the index of a damaged file");
        }
    }
    Ok(taken)
}

/// One byte of an index changed, in every place: what is decoded by it from the top is right, or left to the CPU.
fn tampered_indexes() -> Outcome {
    let bytes = Jpeg { restart: 5, ..Jpeg::new(SAMPLINGS[3].0) }.picture(150, 90, 3);
    let file = Known::new("tampered".into(), bytes)?;
    let right = record(&file.indexes[2]);
    let wanted = by_cpu(&file.bytes, file.size.rect(), &mut Index::default())?;
    let mut indexes = Vec::new();
    for at in 8..right.len() {
        for change in [1, 2, 0x40, 0x80] {
            let (mut record, mut index) = (right.clone(), Index::default());
            record[at] ^= change;
            if index.read(&record) {
                indexes.push(index);
            }
        }
    }
    let mut decoder = open()?;
    let part = |index| FilePart { bytes: &file.bytes, region: None, index: Some(index) };
    let decoded =
        decoder.decode(&indexes.iter().map(part).collect::<Vec<_>>()).map_err(|cause| cause.to_string())?;
    let mut left = 0;
    for decoded in decoded {
        match decoded {
            Ok(decoded) => same("by a wrong index", &decoded.image, &wanted),
            Err(_) => left += 1,
        }
    }
    assert!(left * 2 > indexes.len(), "only {left} of {} are left to the CPU", indexes.len());
    Ok(())
}

/// Some of the bundled ones; FEEDLINE_TEST_JPEGS=FOLDER makes that all below a folder, of which the device may not take what the
/// CPU refuses.
fn photographs() -> Outcome {
    let folder = std::env::var("FEEDLINE_TEST_JPEGS");
    let step = if folder.is_ok() { 1 } else { 3 };
    let paths = files_below(folder.as_deref().unwrap_or("data/photos"))?;
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    for path in paths.iter().step_by(step) {
        let bytes = std::fs::read(path)?;
        let Ok(header) = parse_header(&bytes) else { continue };
        if !header.progressive && header.components < 4 && header.first_scan == header.components {
            match Known::new(path.display().to_string(), bytes.clone()) {
                Ok(known) => files.push(known),
                Err(_) => refused.push((path, bytes)),
            }
        }
    }
    println!("{} of {} files, and {} that the CPU refuses", files.len(), paths.len(), refused.len());
    assert!(files.len() > 3 && (folder.is_ok() || refused.is_empty()));
    files.chunks(40).try_for_each(compare)?;
    let nothing = Index::default();
    let parts: Vec<FilePart<'_>> =
        refused.iter().map(|(_, bytes)| FilePart { bytes, region: None, index: Some(&nothing) }).collect();
    let decoded = open()?.decode(&parts).map_err(|cause| cause.to_string())?;
    for ((path, _), decoded) in refused.iter().zip(decoded) {
        assert!(decoded.is_err(), "{}: the CPU refuses it", path.display());
    }
    Ok(())
}
