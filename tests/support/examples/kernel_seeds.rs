//! Writes what the target `kernels` starts from to a folder:
//!
//! ```sh
//! cargo run --package feedline-test-support --example kernel_seeds -- fuzz/seeds/kernels
//! ```

use feedline_test_support::jpeg::{ColorType, Jpeg, SAMPLINGS};
use feedline_test_support::scribble::Scribble;
use std::path::PathBuf;

/// An input of a file: see `fuzz/fuzz_targets/kernels/input.rs`.
fn input(known: u8, place: [u8; 4], edits: &[[u8; 6]], record: &[u8], file: &[u8]) -> Vec<u8> {
    let head = [known, edits.len() as u8, place[0], place[1], place[2], place[3], (record.len() / 4) as u8];
    [&head[..], edits.as_flattened(), record, file].concat()
}

/// A record of an index with points that lie a few bytes apart; the target makes its head that of the file.
fn record(components: usize, points: usize) -> Vec<u8> {
    let mut record = vec![0; 10];
    for point in 0..points {
        // The first point lies behind the headers, at the bit 20 + 40 * 128 or so.
        record.extend(if point == 0 { [0x94, 0x28] } else { [0x80 | point as u8, 2] });
        record.extend(vec![1; components]);
    }
    record.resize(record.len() / 4 * 4, 0);
    record
}

fn files() -> Vec<(String, Vec<u8>)> {
    let layouts: [&[(u8, u8)]; 8] = [
        &[(1, 1)],
        &[(1, 1), (1, 1), (1, 1)],
        &[(2, 1), (1, 1), (1, 1)],
        &[(1, 2), (1, 1), (1, 1)],
        &[(2, 2), (1, 1), (1, 1)],
        &[(4, 1), (1, 1), (1, 1)],
        &[(2, 2), (2, 1), (1, 1)],
        &[(1, 1), (2, 2), (1, 2)],
    ];
    let mut files = Vec::new();
    for (number, factors) in layouts.into_iter().enumerate() {
        for (kind, (restart, coefficients, side)) in
            // The first are long enough to be cut.
            [(0, 30, 96), (4, 6, 57), (0, 6, 9)].into_iter().enumerate()
        {
            let scribble = Scribble {
                factors: factors.to_vec(),
                restart,
                shared_codes: (number + kind) % 2 == 1,
                long_codes: number % 2 == kind,
                rgb: number == 1 && kind == 1,
                coefficients,
                seed: number as u32,
            };
            files.push((format!("scribble_{number}_{kind}"), scribble.file(side, side - 7)));
        }
    }
    for (number, (sampling, _)) in SAMPLINGS.into_iter().take(4).enumerate() {
        let color = if number == 2 { ColorType::Luma } else { ColorType::Rgb };
        let jpeg = Jpeg { quality: 80, color, ..Jpeg::new(sampling) };
        files.push((format!("picture_{number}"), jpeg.picture(96, 80, number as u32)));
    }
    files
}

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "fuzz/seeds/kernels".into()));
    std::fs::create_dir_all(&folder)?;
    for (number, (name, file)) in files().into_iter().enumerate() {
        let known = [0, 1, 3, 4][number % 4] | [0, 8][number % 3 / 2];
        let write = |kind: &str, input: Vec<u8>| std::fs::write(folder.join(format!("{name}{kind}")), input);
        write("", input(known, [0, 0, 63, 63], &[], &[], &file))?;
        if number % 3 == 0 {
            let edits = [[0, 2, 0xFF, 0xFF, 0xFF, 0xFF], [1, 7, 0xFF, 0xFF, 0xFF, 0x7F]];
            let mut hurried = input(1, [0, 0, 63, 63], &[], &[], &file);
            // One round, which is not enough for a piece that is cut.
            hurried[1] |= 31 << 3;
            write("_hurried", hurried)?;
            write("_edited", input(8 + 1, [128, 128, 31, 15], &edits, &[], &file))?;
        }
        if number % 3 == 1 {
            let components = if name.starts_with("scribble_0") { 1 } else { 3 };
            write("_record", input(5, [96, 96, 15, 31], &[], &record(components, 6), &file))?;
        }
    }
    Ok(())
}
