//! Random ops for a canvas of any size.

use feedline::draft::op::{Extent, Fill, Interpolation, Op, Padding, Shear};
use feedline::geometry::Size;
use feedline::rng::{Draws, Rng};

/// Something for the device to do with a canvas of `size`; what is bounded keeps simulated runs short.
pub(crate) fn any_op(rng: &mut Rng, size: Size) -> Op {
    let within = |rng: &mut Rng, edge: u32| {
        let length = 1 + rng.below(edge);
        (rng.below(edge - length + 1) as i32, length)
    };
    let extent = |rng: &mut Rng| Extent::Two([1 + rng.below(70), 1 + rng.below(80)]);
    let way = |rng: &mut Rng| match rng.below(4) {
        0 => Interpolation::Bicubic,
        1 => Interpolation::Nearest,
        _ => Interpolation::Bilinear,
    };
    let factor = f64::from(rng.uniform_between(0.0, 2.0));
    match rng.below(23) {
        0 => {
            let ((left, width), (top, height)) = (within(rng, size.width), within(rng, size.height));
            Op::Crop { top, left, height, width }
        }
        1 => Op::Crop {
            top: rng.below(30) as i32 - 15,
            left: rng.below(30) as i32 - 15,
            height: 40,
            width: 50,
        },
        2 | 3 => {
            let ((left, width), (top, height)) = (within(rng, size.width), within(rng, size.height));
            let (size, interpolation) = (extent(rng), way(rng));
            let antialias = interpolation != Interpolation::Bilinear || rng.below(3) > 0;
            Op::ResizedCrop { top, left, height, width, size, interpolation, antialias }
        }
        4 => Op::Resize { size: extent(rng), interpolation: way(rng), max_size: None, antialias: true },
        5 => Op::Pad {
            padding: Padding::Sides([rng.below(9), rng.below(9), rng.below(9), rng.below(9)]),
            fill: Fill::Rgb([rng.below(256) as u8, 114, 7]),
        },
        6 | 7 => Op::Hflip {},
        8 => Op::Vflip {},
        9 => Op::Brightness { factor },
        10 | 11 => Op::Contrast { factor },
        12 => Op::Saturation { factor },
        13 => Op::Hue { factor: factor / 2.0 - 0.5 },
        14 => Op::Grayscale { num_output_channels: 3 },
        15 => pointwise(rng, factor),
        16 => Op::Autocontrast {},
        17 => Op::Equalize {},
        18 => Op::Sharpness { factor },
        19 | 20 => any_blur(rng, size),
        _ => any_warp(rng, size),
    }
}

/// A colour op that looks at one pixel alone.
fn pointwise(rng: &mut Rng, factor: f64) -> Op {
    match rng.below(5) {
        4 => Op::Hsv { hue: factor - 1.0, saturation: 2.0 - factor, value: factor },
        0 => Op::Solarize { threshold: factor * 127.5 },
        1 => Op::Posterize { bits: rng.below(9) },
        2 => Op::Invert {},
        _ => {
            let permutation = [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]][rng.below(4) as usize];
            Op::PermuteChannels { permutation }
        }
    }
}

/// A blur that fits the canvas.
fn any_blur(rng: &mut Rng, size: Size) -> Op {
    let kernel_size = [size.width, size.height].map(|edge| 2 * rng.below(edge.min(12)) + 1);
    let sigma = [0.3, 2.0].map(|most| f64::from(rng.uniform_between(0.1, most)));
    Op::GaussianBlur { kernel_size, sigma }
}

fn any_warp(rng: &mut Rng, size: Size) -> Op {
    let between = |rng: &mut Rng, low, high| f64::from(rng.uniform_between(low, high));
    let interpolation = [Interpolation::Nearest, Interpolation::Bilinear][rng.below(2) as usize];
    let fill = [None, Some(Fill::Grey(0)), Some(Fill::Rgb([200, 114, 7]))][rng.below(3) as usize];
    let angle = between(rng, -200.0, 200.0);
    match rng.below(4) {
        3 => folding_warp(rng, size),
        0 => Op::Rotate { angle, interpolation, expand: rng.below(2) == 0, center: None, fill },
        1 => {
            let translate = [between(rng, -20.0, 20.0), between(rng, -20.0, 20.0)];
            let shear = Shear::Both([between(rng, -30.0, 30.0), between(rng, -30.0, 30.0)]);
            let scale = between(rng, 0.1, 2.0);
            Op::Affine { angle, translate, scale, shear, interpolation, fill, center: None }
        }
        _ => {
            let (right, bottom) = (size.width as i32 + 3, size.height as i32 + 3);
            let startpoints = [[0, 0], [right, 0], [right, bottom], [0, bottom]];
            let mut moved = |[x, y]: [i32; 2]| {
                let by = [rng.below(1 + size.width / 3) as i32, rng.below(1 + size.height / 3) as i32];
                [if x == 0 { by[0] } else { x - by[0] }, if y == 0 { by[1] } else { y - by[1] }]
            };
            let endpoints = startpoints.map(&mut moved);
            Op::Perspective { startpoints, endpoints, interpolation, fill }
        }
    }
}

/// A warp with a map that is composed with what came before, upright every other time.
pub(crate) fn folding_warp(rng: &mut Rng, size: Size) -> Op {
    let mut between = |low, high| f64::from(rng.uniform_between(low, high));
    let (across, down) = (between(0.2, 1.6), between(0.2, 1.6));
    let (skew, tilt) = match between(0.0, 1.0) {
        upright if upright < 0.5 => ([0.0; 2], [0.0; 2]),
        skew if skew < 0.75 => ([between(-0.6, 0.6), between(-0.6, 0.6)], [0.0; 2]),
        _ => ([between(-0.6, 0.6), between(-0.6, 0.6)], [between(-0.004, 0.004), between(-0.004, 0.004)]),
    };
    let moved = [size.width, size.height].map(|edge| between(-0.4, 0.6) * f64::from(edge));
    let matrix = [[across, skew[0], moved[0]], [skew[1], down, moved[1]], [tilt[0], tilt[1], 1.0]];
    let size = Extent::Two([1 + rng.below(70), 1 + rng.below(80)]);
    let fill = [Fill::Grey(0), Fill::Grey(114)][rng.below(2) as usize];
    Op::WarpPerspective { matrix, size, fill }
}
