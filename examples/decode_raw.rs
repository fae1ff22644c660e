//! Decodes a list of JPEGs to raw RGB, for comparisons: `decode_raw OUT_FOLDER FILE...` or `decode_raw --time FILE...`.
//!
//! Writes `OUT_FOLDER/INDEX.rgb` (stored orientation, packed) and prints one line a file:
//! `INDEX WIDTH HEIGHT ok` or `INDEX 0 0 MESSAGE`. With `@LIST` as a file, the names are the lines of `LIST`.

use std::time::Instant;

use anyhow::Context;
use feedline::jpeg::{Decoder, Limits, PixelsMut, parse_header};

fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().context("usage: decode_raw OUT_FOLDER|--time FILE...")?;
    let mut files = Vec::new();
    for file in arguments {
        match file.strip_prefix('@') {
            Some(list) => files.extend(std::fs::read_to_string(list)?.lines().map(str::to_owned)),
            None => files.push(file),
        }
    }
    let mut decoder = Decoder::new();
    let mut pixels = Vec::new();
    if folder == "--time" {
        return time(&files, &mut decoder, &mut pixels);
    }
    for (index, file) in files.iter().enumerate() {
        let bytes = std::fs::read(file)?;
        match decode(&mut decoder, &bytes, &mut pixels) {
            Ok((width, height)) => {
                std::fs::write(format!("{folder}/{index}.rgb"), &pixels[..width * height * 3])?;
                println!("{index} {width} {height} ok");
            }
            Err(error) => println!("{index} 0 0 {error}"),
        }
    }
    Ok(())
}

fn decode(decoder: &mut Decoder, bytes: &[u8], pixels: &mut Vec<u8>) -> anyhow::Result<(usize, usize)> {
    let header = parse_header(bytes)?;
    let (width, height) = (header.size.width as usize, header.size.height as usize);
    let limits = Limits::default();
    anyhow::ensure!(header.size.pixels() <= limits.max_pixels, "too large");
    pixels.resize(pixels.len().max(width * height * 3), 0);
    let mut out = PixelsMut { data: pixels, stride: width * 3 };
    decoder.decode_into(bytes, &header, header.size.rect(), &limits, &mut out)?;
    Ok((width, height))
}

/// Prints the mean over the files of the shortest of nine decodes each, in seconds: robust on a shared machine.
fn time(files: &[String], decoder: &mut Decoder, pixels: &mut Vec<u8>) -> anyhow::Result<()> {
    let files: Vec<Vec<u8>> = files.iter().map(std::fs::read).collect::<Result<_, _>>()?;
    let mut total = 0.0;
    for bytes in &files {
        let mut shortest = f64::INFINITY;
        for _ in 0..9 {
            let started = Instant::now();
            decode(decoder, bytes, pixels)?;
            shortest = shortest.min(started.elapsed().as_secs_f64());
        }
        total += shortest;
    }
    println!("{:.6}", total / files.len() as f64);
    Ok(())
}
