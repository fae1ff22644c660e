//! Random chains of ops as JSON, for other libraries to be compared with: the generator that the renderers' tests use.
//!
//! Standard input is `{"seed": 1, "draws": 200, "longest": 600, "sizes": [[500, 375], ..], "rows": {"chain of 2": [["crop",
//! "hue"], ["hflip"]], ..}}`: the images' widths and heights, and for each row the names that each op of its chain is one
//! of. Each line of the output is a case: `{"row": "chain of 2", "image": 0, "ops": [..]}`.

use feedline::draft::Draft;
use feedline::geometry::{Orientation, Size};
use feedline::rng::{Draws, Rng};
use feedline_test_support::chains::Dice;
use std::collections::BTreeMap;
use std::io::{Write, stdin, stdout};

#[derive(serde::Deserialize)]
struct Wanted {
    seed: u64,
    draws: u64,
    longest: u32,
    sizes: Vec<[u32; 2]>,
    rows: BTreeMap<String, Vec<Vec<String>>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Wanted = serde_json::from_reader(stdin().lock())?;
    let mut out = std::io::BufWriter::new(stdout().lock());
    for (row, chain) in &wanted.rows {
        // A generator of its own for every row: with fewer rows, the others draw the same.
        let row_seed = row.bytes().fold(wanted.seed, |seed, byte| seed.wrapping_mul(257) + u64::from(byte));
        for number in 0..wanted.draws {
            let mut rng = Rng::new(row_seed, 0, number, 0);
            let image = rng.below(wanted.sizes.len() as u32) as usize;
            let [width, height] = wanted.sizes[image];
            let mut draft = Draft::new(0, Size::new(width, height), Orientation::UPRIGHT);
            let mut ops = Vec::new();
            for among in chain {
                let among: Vec<&str> = among.iter().map(String::as_str).collect();
                let mut dice = Dice { bits: &mut || rng.bits(), longest: wanted.longest };
                let op = dice.any(&among, [draft.size().width, draft.size().height]);
                draft.apply(serde_json::from_value(op.clone())?);
                ops.push(op);
            }
            writeln!(out, "{}", serde_json::json!({"row": row, "image": image, "ops": ops}))?;
        }
    }
    Ok(out.flush()?)
}
