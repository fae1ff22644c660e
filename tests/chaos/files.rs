//! Image files: sound ones of every format, and what disks, transfers and ill will make of them.

use crate::draw::Draw;
use feedline_test_support::damage::Mutations;
use feedline_test_support::jpeg::{ColorType, Jpeg, SamplingFactor};
use feedline_test_support::scribble::Scribble;
use feedline_test_support::{noise, png as flat};

/// A sound file of at most `edge` pixels a side.
pub(crate) fn sound(draw: &mut Draw, edge: usize) -> Vec<u8> {
    let [width, height] = [0; 2].map(|_| draw.between(1, edge));
    let seed = draw.bits() as u32;
    match draw.below(13) {
        0 => flat::flat([seed as u8, 9, 200], (width as u32).min(60), (height as u32).min(60)),
        1 | 2 => png(draw, width as u32, height as u32),
        3 => webp(width as u32, height as u32, seed),
        4 => scribble(draw, width as u16, height as u16),
        5 => pnm(draw, width as u32, height as u32),
        _ => jpeg(draw, width as u16, height as u16),
    }
}

fn jpeg(draw: &mut Draw, width: u16, height: u16) -> Vec<u8> {
    use SamplingFactor::{F_1_1, F_1_2, F_2_1, F_2_2, F_4_1};
    let file = Jpeg {
        sampling: draw.pick(&[F_2_2, F_2_2, F_1_1, F_2_1, F_1_2, F_4_1]),
        progressive: draw.one_in(5),
        restart: if draw.one_in(4) { draw.between(1, 9) as u16 } else { 0 },
        color: draw.pick(&[ColorType::Rgb, ColorType::Rgb, ColorType::Rgb, ColorType::Luma, ColorType::Cmyk]),
        quality: draw.between(20, 95) as u8,
        orientation: if draw.one_in(4) { draw.between(1, 8) as u8 } else { 1 },
    };
    // Four components are written without subsampling only.
    let sampling = if file.channels() == 4 { F_1_1 } else { file.sampling };
    let bytes = Jpeg { sampling, ..file }.picture(width, height, draw.bits() as u32);
    if draw.one_in(8) { with_long_header(draw, &bytes) } else { bytes }
}

/// A JPEG whose picture begins after some hundred kilobytes of comments.
fn with_long_header(draw: &mut Draw, bytes: &[u8]) -> Vec<u8> {
    let comment = [&[0xFF, 0xFE, 0xFF, 0xFF][..], &[b'x'; 0xFFFD]].concat();
    let comments = comment.repeat(draw.between(1, 5));
    [&bytes[..2], &comments, &bytes[2..]].concat()
}

fn scribble(draw: &mut Draw, width: u16, height: u16) -> Vec<u8> {
    let factors = [vec![(2, 2), (1, 1), (1, 1)], vec![(1, 1); 3], vec![(1, 1)], vec![(2, 1), (1, 1), (1, 1)]];
    let drawn = Scribble {
        factors: draw.pick(&factors),
        restart: if draw.one_in(2) { draw.between(1, 5) as u16 } else { 0 },
        shared_codes: draw.one_in(2),
        long_codes: draw.one_in(2),
        rgb: false,
        coefficients: draw.between(0, 20) as u32,
        seed: draw.bits() as u32,
    };
    drawn.file(width, height)
}

fn png(draw: &mut Draw, width: u32, height: u32) -> Vec<u8> {
    let (color, channels) = draw.pick(&[
        (png::ColorType::Rgb, 3),
        (png::ColorType::Grayscale, 1),
        (png::ColorType::Rgba, 4),
        (png::ColorType::GrayscaleAlpha, 2),
    ]);
    let (depth, bytes) = draw.pick(&[(png::BitDepth::Eight, 1), (png::BitDepth::Sixteen, 2)]);
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let levels = noise::picture(width * bytes, height, channels, draw.bits() as u32);
    let mut writer = encoder.write_header().expect("a header in memory");
    writer.write_image_data(&levels).expect("levels in memory");
    writer.finish().expect("an end in memory");
    file
}

fn pnm(draw: &mut Draw, width: u32, height: u32) -> Vec<u8> {
    let (kind, channels) = draw.pick(&[("P5", 1), ("P6", 3)]);
    let (largest, bytes) = draw.pick(&[(255, 1), (200, 1), (65_535, 2)]);
    let head = format!("{kind}\n{width} {height}\n{largest}\n");
    let levels = noise::picture(width * bytes, height, channels, draw.bits() as u32);
    [head.as_bytes(), &levels].concat()
}

fn webp(width: u32, height: u32, seed: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let levels = noise::picture(width, height, 3, seed);
    let encoder = image_webp::WebPEncoder::new(&mut file);
    encoder.encode(&levels, width, height, image_webp::ColorType::Rgb8).expect("levels in memory");
    file
}

/// A file that may be none: what became of `sound`.
pub(crate) fn spoiled(draw: &mut Draw, sound: &[u8]) -> Vec<u8> {
    match draw.below(8) {
        0 => Vec::new(),
        1 => (0..draw.between(1, 3000)).map(|_| draw.bits() as u8).collect(),
        2 => sound[..draw.below(sound.len())].to_vec(),
        3 => with_huge_size(draw, sound),
        4 => b"not a picture, but a text that somebody left in the folder\n".to_vec(),
        _ => Mutations::new(draw.bits() >> 8).apply(sound),
    }
}

/// The file with a header that claims billions of pixels, or as many as just pass.
fn with_huge_size(draw: &mut Draw, sound: &[u8]) -> Vec<u8> {
    let mut file = sound.to_vec();
    let edge = draw.pick(&[65_000u16, 65_535, 1_900, 900]).to_be_bytes();
    let frame = file.windows(2).position(|pair| matches!(pair, [0xFF, 0xC0..=0xC2]));
    if file.starts_with(&[0xFF, 0xD8])
        && let Some(size) = frame.and_then(|at| file.get_mut(at + 5..at + 9))
    {
        size.copy_from_slice(&[edge, edge].concat());
    } else if file.starts_with(b"\x89PNG") {
        let edge = [[0; 2], edge].concat();
        let about = [&edge[..], &edge, &file[24..29]].concat();
        file.splice(8..33, flat::chunk(b"IHDR", &about));
    }
    file
}
