//! Random chains of every op there is, so that plans of all shapes stand in one batch.

use feedline::augment::Augment;
use feedline::draft::Draft;
use feedline::draft::op::{Extent, Fill, Interpolation, Op, Padding, PaddingMode, Shear};
use feedline::geometry::{Rect, Size};
use feedline::rng::Draws;

/// Most ops that one sample draws.
const LONGEST: u32 = 5;

/// Up to five random ops, then a resize to one size that all samples have.
pub(crate) struct AnyChain {
    pub(crate) size: Size,
}

/// Lays a partner over the sample, in a random window and with a random share, once in three times.
pub(crate) struct AnyMix;

impl Augment for AnyChain {
    fn name(&self) -> &'static str {
        "AnyChain"
    }

    fn plan(&self, draft: &mut Draft, _: Vec<Draft>, rng: &mut dyn Draws) {
        for _ in 0..rng.below(LONGEST + 1) {
            let op = any_op(draft.size(), rng);
            draft.apply(op);
        }
        let interpolation = any_filter(rng);
        let antialias = rng.chance(0.7) || interpolation == Interpolation::Bicubic;
        draft.apply(Op::Resize { size: self.size.into(), interpolation, max_size: None, antialias });
        if rng.chance(0.3) {
            draft.apply(any_colour(rng));
        }
    }
}

impl Augment for AnyMix {
    fn name(&self) -> &'static str {
        "AnyMix"
    }

    fn partners(&self) -> usize {
        1
    }

    fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
        let Some(partner) = partners.into_iter().next().filter(|_| rng.chance(0.33)) else { return };
        let size = draft.size();
        let (left, width) = any_span(size.width, rng);
        let (top, height) = any_span(size.height, rng);
        let share = if rng.chance(0.5) { 1.0 } else { rng.uniform() };
        if let Err(error) = draft.blend(partner, share, Rect::new(left, top, width, height), share) {
            draft.fail(error);
        }
    }
}

fn any_op(size: Size, rng: &mut dyn Draws) -> Op {
    let extent = |rng: &mut dyn Draws| Extent::Two([1 + rng.below(300), 1 + rng.below(400)]);
    match rng.below(9) {
        0 => {
            let ((left, width), (top, height)) = (any_span(size.width, rng), any_span(size.height, rng));
            Op::Crop { top, left, height, width }
        }
        1 => {
            let ((left, width), (top, height)) = (any_span(size.width, rng), any_span(size.height, rng));
            let (size, interpolation) = (extent(rng), any_filter(rng));
            Op::ResizedCrop { top, left, height, width, size, interpolation, antialias: true }
        }
        2 => {
            let interpolation = any_filter(rng);
            Op::Resize { size: extent(rng), interpolation, max_size: None, antialias: true }
        }
        3 => {
            let padding = Padding::Sides([rng.below(40), rng.below(40), rng.below(40), rng.below(40)]);
            Op::Pad { padding, fill: any_fill(rng), padding_mode: PaddingMode::Constant }
        }
        4 => Op::Hflip {},
        5 => Op::Vflip {},
        6 => any_warp(size, rng),
        _ => any_colour(rng),
    }
}

fn any_warp(size: Size, rng: &mut dyn Draws) -> Op {
    let interpolation = if rng.chance(0.5) { Interpolation::Bilinear } else { Interpolation::Nearest };
    let fill = rng.chance(0.5).then(|| any_fill(rng));
    let between = |low: f32, high: f32, rng: &mut dyn Draws| f64::from(rng.uniform_between(low, high));
    // Four corners of a sliver lie on one line, from which no perspective leads.
    let kinds = if size.width.min(size.height) < 16 { 2 } else { 3 };
    match rng.below(kinds) {
        0 => Op::Affine {
            angle: between(-180.0, 180.0, rng),
            translate: [between(-40.0, 40.0, rng), between(-40.0, 40.0, rng)],
            scale: between(0.5, 2.0, rng),
            shear: Shear::Both([between(-30.0, 30.0, rng), between(-10.0, 10.0, rng)]),
            interpolation,
            fill,
            center: None,
        },
        1 => {
            let expand = rng.chance(0.5) && size.pixels() < 1 << 19;
            Op::Rotate { angle: between(-180.0, 180.0, rng), interpolation, expand, center: None, fill }
        }
        _ => {
            let (right, bottom) = (size.width as i32 - 1, size.height as i32 - 1);
            let startpoints = [[0, 0], [right, 0], [right, bottom], [0, bottom]];
            let moved = |edge: i32, rng: &mut dyn Draws| rng.below((edge / 4).max(1) as u32) as i32;
            let [mut a, mut b, mut c, mut d] = startpoints;
            a = [a[0] + moved(right, rng), a[1] + moved(bottom, rng)];
            b = [b[0] - moved(right, rng), b[1] + moved(bottom, rng)];
            c = [c[0] - moved(right, rng), c[1] - moved(bottom, rng)];
            d = [d[0] + moved(right, rng), d[1] - moved(bottom, rng)];
            Op::Perspective { startpoints, endpoints: [a, b, c, d], interpolation, fill }
        }
    }
}

fn any_colour(rng: &mut dyn Draws) -> Op {
    let factor = f64::from(rng.uniform_between(0.0, 2.0));
    match rng.below(5) {
        0 => Op::Brightness { factor },
        1 => Op::Contrast { factor },
        2 => Op::Saturation { factor },
        3 => Op::Grayscale { num_output_channels: 3 },
        _ => Op::Hue { factor: factor / 2.0 - 0.5 },
    }
}

fn any_filter(rng: &mut dyn Draws) -> Interpolation {
    [Interpolation::Bilinear, Interpolation::Bicubic, Interpolation::Nearest][rng.below(3) as usize]
}

fn any_fill(rng: &mut dyn Draws) -> Fill {
    Fill::Rgb([rng.below(256) as u8, rng.below(256) as u8, rng.below(256) as u8])
}

/// First position and length of a part of an edge.
fn any_span(edge: u32, rng: &mut dyn Draws) -> (i32, u32) {
    let length = 1 + rng.below(edge);
    (rng.below(edge - length + 1) as i32, length)
}
