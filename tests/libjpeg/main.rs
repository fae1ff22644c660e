//! Damaged files, decoded by feedline and by libjpeg-turbo itself: the same pixels, or both refuse.
//!
//! `FEEDLINE_LIBJPEG` names the library that `tests/libjpeg/build.sh` makes.

#![expect(unsafe_code, reason = "calls a C library")]

mod reference;

use feedline::jpeg::{Damage, Decoder, JpegError, Limits, Part, PixelsMut, Scale, parse_header};
use feedline::policy::Damaged;
use feedline_test_support::damage::{CASES, Cases, Mutations, checksum};
use reference::{Reference, Verdict};
use std::path::{Path, PathBuf};

const MAX_PIXELS: u64 = 1 << 24;

struct Decoded {
    pixels: Vec<u8>,
    damage: Option<Damage>,
}

fn decode(decoder: &mut Decoder, bytes: &[u8], scale: Scale) -> Result<Decoded, JpegError> {
    let header = parse_header(bytes)?;
    let limits = Limits { max_pixels: MAX_PIXELS, max_scans: 1000, damaged: Damaged::Libjpeg };
    if header.size.pixels() > MAX_PIXELS {
        return Err(JpegError::TooLarge { what: "", found: 0, limit: 0, remedy: "max_pixels" });
    }
    let size = scale.apply(header.size);
    let stride = size.width as usize * 3;
    let mut pixels = vec![0; stride * size.height as usize];
    let mut out = PixelsMut { data: &mut pixels, stride };
    if scale == Scale::Full {
        let damage = decoder.inspect(bytes, &header, &limits, &mut out)?;
        return Ok(Decoded { pixels, damage });
    }
    let part = Part { scale, region: size.rect() };
    decoder.decode_part(bytes, &header, part, &limits, &mut out, None)?;
    Ok(Decoded { pixels, damage: decoder.damage() })
}

/// What differs between both decoders, if anything does.
fn difference(
    decoder: &mut Decoder,
    reference: &Reference,
    bytes: &[u8],
    scale: Scale,
) -> (Verdict, Option<String>) {
    let denominator = 1 << Scale::ALL.iter().position(|&other| other == scale).expect("one of all");
    let (ours, theirs) = (decode(decoder, bytes, scale), reference.decode(bytes, MAX_PIXELS, denominator));
    let difference = match (&ours, theirs.verdict) {
        (Err(_), Verdict::Refused) => None,
        (Err(error), _) => Some(format!("refused: {error}; libjpeg: {}", theirs.message)),
        (Ok(_), Verdict::Refused) => Some(format!("decoded; libjpeg refuses: {}", theirs.message)),
        (Ok(ours), verdict) => {
            let at = ours.pixels.iter().zip(&theirs.pixels).position(|(a, b)| a != b);
            match at {
                _ if ours.pixels.len() != theirs.pixels.len() => Some("another size".to_owned()),
                Some(at) => {
                    let count = ours.pixels.iter().zip(&theirs.pixels).filter(|(a, b)| a != b).count();
                    Some(format!(
                        "{count} values from {at}; ours {:?}, theirs {verdict:?} {}",
                        ours.damage, theirs.message
                    ))
                }
                // Only an inspection finds what changes no pixel.
                None if scale == Scale::Full && verdict == Verdict::Damaged && ours.damage.is_none() => {
                    Some(format!("no damage found; libjpeg: {}", theirs.message))
                }
                None => None,
            }
        }
    };
    (theirs.verdict, difference)
}

fn files() -> Vec<PathBuf> {
    let folders = std::env::var("FEEDLINE_TEST_JPEGS").unwrap_or_else(|_| "data/photos".to_owned());
    let mut files = Vec::new();
    for folder in folders.split(':') {
        collect(Path::new(folder), &mut files);
    }
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { panic!("no folder {}", folder.display()) };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.starts_with(&[0xFF, 0xD8])) {
            files.push(path);
        }
    }
}

#[test]
#[ignore = "libjpeg: needs the library that tests/libjpeg/build.sh makes"]
fn files_have_libjpegs_pixels_or_both_refuse() {
    let (reference, mut decoder) = (Reference::open(), Decoder::new());
    let (mut counts, mut bad) = ([0; 3], 0);
    for path in files() {
        let bytes = std::fs::read(&path).unwrap();
        for scale in Scale::ALL {
            let (verdict, difference) = difference(&mut decoder, &reference, &bytes, scale);
            counts[verdict as usize] += usize::from(scale == Scale::Full);
            if let Some(difference) = difference {
                bad += 1;
                println!("{}, {scale:?}: {difference}", path.display());
            }
        }
    }
    println!("{counts:?} intact, damaged, refused; {bad} differ");
    assert_eq!(bad, 0);
}

#[test]
#[ignore = "libjpeg: needs the library that tests/libjpeg/build.sh makes"]
fn mutations_have_libjpegs_pixels_or_both_refuse() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (count, seed) = (number("FEEDLINE_TEST_MUTATIONS", 2000), number("FEEDLINE_TEST_SEED", 0));
    let files: Vec<_> = files().into_iter().filter(|path| path.metadata().unwrap().len() < 300_000).collect();
    let (reference, mut decoder) = (Reference::open(), Decoder::new());
    let (mut counts, mut bad) = ([0; 3], 0);
    for number in seed..seed + count {
        let mut mutations = Mutations::new(number);
        let path = &files[mutations.below(files.len())];
        let bytes = mutations.apply(&std::fs::read(path).unwrap());
        // Most at full size, and some at each other scale.
        let scale = Scale::ALL[(number % 8).saturating_sub(4) as usize];
        let (verdict, difference) = difference(&mut decoder, &reference, &bytes, scale);
        counts[verdict as usize] += 1;
        if let Some(difference) = difference {
            bad += 1;
            println!("{number} of {}, {scale:?}: {difference}", path.display());
            if let Ok(folder) = std::env::var("FEEDLINE_TEST_KEEP") {
                std::fs::write(format!("{folder}/{number}.jpg"), &bytes).unwrap();
            }
        }
    }
    println!("{counts:?} intact, damaged, refused; {bad} differ");
    assert_eq!(bad, 0);
}

/// The lines of `tests/decode/damaged.tsv`.
fn record(reference: &Reference) -> String {
    let cases = Cases::open(Path::new(env!("CARGO_MANIFEST_DIR")));
    let line = |number| {
        let answer = reference.decode(&cases.file(number), 1 << 20, 1);
        match answer.verdict {
            Verdict::Refused => "refused\t-\n".to_owned(),
            Verdict::Intact => format!("intact\t{:016x}\n", checksum(&answer.pixels)),
            Verdict::Damaged => format!("damaged\t{:016x}\n", checksum(&answer.pixels)),
        }
    };
    (0..CASES).map(line).collect()
}

#[test]
#[ignore = "libjpeg: needs the library that tests/libjpeg/build.sh makes"]
fn what_the_tests_of_damaged_files_expect_is_what_libjpeg_says() {
    let reference = Reference::open();
    let record = record(&reference);
    let kinds = [(false, 0), (false, 5), (true, 2), (false, 3)];
    let (mut files, mut sums) = (Vec::new(), String::new());
    for (name, (progressive, restart)) in
        ["sequential", "restarts", "progressive", "grey"].into_iter().zip(kinds)
    {
        let file =
            std::fs::read(if name == "grey" { "fuzz/seeds/damaged/grey" } else { "fuzz/seeds/damaged/420" });
        let file = reference.arithmetic(&file.unwrap(), progressive, restart);
        let answer = reference.decode(&file, 1 << 20, 1);
        assert_eq!(answer.verdict, Verdict::Intact);
        sums += &format!("{name}\t{:016x}\n", checksum(&answer.pixels));
        files.push((format!("tests/decode/arithmetic/{name}.jpg"), file));
    }
    files.push(("tests/decode/arithmetic/checksums.tsv".to_owned(), sums.into_bytes()));
    files.push(("tests/decode/damaged.tsv".to_owned(), record.into_bytes()));
    for (path, wanted) in files {
        if std::env::var_os("FEEDLINE_TEST_RECORD").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        }
        assert!(
            std::fs::read(&path).is_ok_and(|found| found == wanted),
            "{path}: set FEEDLINE_TEST_RECORD=1"
        );
    }
}
