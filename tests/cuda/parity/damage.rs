//! One number of a plan, changed to one that no draft would have made it.

use feedline::color::ColorOp;
use feedline::geometry::{Rect, Size};
use feedline::plan::distortion::{Distortion, DistortionKind};
use feedline::plan::{CanvasFilter, Content, EraseFill, LayerSource, Method, Plan, Sampled, Span};
use feedline::rng::{Draws, Rng};

enum Number<'a> {
    Whole(&'a mut u32),
    Signed(&'a mut i32),
    Float(&'a mut f32),
    Double(&'a mut f64),
    Op(&'a mut ColorOp),
}
use Number::{Double, Float, Op, Signed, Whole};

/// Changes any number of any of the plan's lists.
pub(super) fn one_number(plan: &mut Plan, rng: &mut Rng) {
    let mut lists = numbers(plan);
    lists.retain(|list| !list.is_empty());
    let list = rng.below(lists.len() as u32) as usize;
    let number = rng.below(lists[list].len() as u32) as usize;
    let mut changed = |before: u32| match rng.below(4) {
        0 => rng.bits(),
        1 => before.wrapping_add(1),
        2 => before.wrapping_sub(1),
        _ => rng.below(80),
    };
    match &mut lists[list][number] {
        Whole(number) => **number = changed(**number),
        Signed(number) => **number = changed(**number as u32) as i32,
        Float(number) => **number = f32::from_bits(changed(number.to_bits())),
        Double(number) => {
            let bits = number.to_bits();
            let upper = u64::from(changed((bits >> 32) as u32));
            **number = f64::from_bits(upper << 32 | bits & 0xFFFF_FFFF);
        }
        Op(op) => **op = ColorOp::ALL[changed(**op as u32) as usize % ColorOp::ALL.len()],
    }
}

fn numbers(plan: &mut Plan) -> Vec<Vec<Number<'_>>> {
    let Plan { passes, inputs, layers, mask_rows, runs, weights, steps, stats, erases, distortions, .. } =
        plan;
    let passes = passes.iter_mut().flat_map(|pass| {
        size(&mut pass.size).into_iter().chain(span(&mut pass.inputs)).chain(span(&mut pass.steps))
    });
    let inputs = inputs.iter_mut().flat_map(|input| {
        let spans = [&mut input.layers, &mut input.steps, &mut input.erases].into_iter().flat_map(span);
        rect(&mut input.window).into_iter().chain(spans).chain([Float(&mut input.weight)])
    });
    let layers = layers.iter_mut().flat_map(|layer| {
        let content = match &mut layer.content {
            Content::Solid(_) => Vec::new(),
            Content::Sampled(shown) => sampled(shown),
        };
        rect(&mut layer.window).into_iter().chain(layer.mask.as_mut().map(Whole)).chain(content)
    });
    let steps = steps.iter_mut().flat_map(|step| {
        let (op, stat) = (Op(&mut step.op), step.stat.as_mut().map(Whole));
        [op].into_iter().chain(stat).chain(step.args.iter_mut().map(Float))
    });
    let stats =
        stats.iter_mut().flat_map(|stat| rect(&mut stat.rect).into_iter().chain(span(&mut stat.steps)));
    let erases = erases.iter_mut().flat_map(|erase| {
        let fill: Vec<Number<'_>> = match &mut erase.fill {
            EraseFill::Constant(rgb) => rgb.iter_mut().map(Float).collect(),
            EraseFill::Noise(key) => key.iter_mut().map(Whole).collect(),
        };
        rect(&mut erase.window).into_iter().chain(fill)
    });
    let distortions = distortions
        .iter_mut()
        .flat_map(|Distortion { size: of, kind }| size(of).into_iter().chain(distorted(kind)));
    vec![
        passes.collect(),
        distortions.collect(),
        inputs.collect(),
        layers.collect(),
        mask_rows.iter_mut().flat_map(span).collect(),
        runs.iter_mut().flat_map(|run| [Whole(&mut run.start), Whole(&mut run.len)]).collect(),
        weights.iter_mut().map(Float).collect(),
        steps.collect(),
        stats.collect(),
        erases.collect(),
    ]
}

fn sampled(shown: &mut Sampled) -> Vec<Number<'_>> {
    let Sampled { from, orientation, clip, scaled, offset, mirror: _, steps, method } = shown;
    let (LayerSource::Image(from) | LayerSource::Pass(from)) = from;
    let mut numbers = vec![Whole(from), Whole(&mut orientation.0)];
    numbers.extend(rect(clip).into_iter().chain(size(scaled)));
    numbers.extend(offset.iter_mut().map(Signed));
    numbers.extend(span(steps));
    match method {
        Method::Upright(_) => {}
        Method::Warp(warp) => numbers.extend(warp.map.iter_mut().map(Float)),
        Method::Pillow(map) => numbers.extend(map.matrix.iter_mut().map(Double)),
        Method::Filtered(CanvasFilter::Sharpness { amount }) => numbers.push(Float(amount)),
        Method::Filtered(CanvasFilter::Gaussian { kernel, sigma }) => {
            numbers.extend(kernel.iter_mut().map(Whole));
            numbers.extend(sigma.iter_mut().map(Float));
        }
        Method::Filtered(CanvasFilter::Mean { kernel }) => numbers.extend(kernel.iter_mut().map(Whole)),
        Method::Filtered(CanvasFilter::Median { edge }) => numbers.push(Whole(edge)),
        Method::Filtered(CanvasFilter::Kernel { kernel, weights }) => {
            numbers.extend(kernel.iter_mut().map(Whole).chain([Whole(weights)]));
        }
        Method::Filtered(CanvasFilter::Noise { key, mean, deviation, shared: _ }) => {
            numbers.extend(key.iter_mut().map(Whole).chain([Float(mean), Float(deviation)]));
        }
        Method::Filtered(CanvasFilter::Clahe { tiles, clip_limit }) => {
            numbers.extend(tiles.iter_mut().map(Whole).chain([Double(clip_limit)]));
        }
        Method::Filtered(CanvasFilter::Multiply { key, low, span, .. }) => {
            numbers.extend(key.iter_mut().map(Whole).chain([Float(low), Float(span)]));
        }
        Method::Filtered(CanvasFilter::Sensor { key, hue, intensity }) => {
            numbers.extend(key.iter_mut().map(Whole).chain([Float(hue), Float(intensity)]));
        }
        Method::Filtered(CanvasFilter::Jpeg { quality }) => numbers.push(Whole(quality)),
        Method::Filtered(CanvasFilter::Distort { distortion, .. }) => numbers.push(Whole(distortion)),
    }
    numbers
}

fn distorted(kind: &mut DistortionKind) -> Vec<Number<'_>> {
    match kind {
        DistortionKind::Grid { columns, rows } => columns.iter_mut().chain(rows).map(Double).collect(),
        DistortionKind::Radial { scale, k } => scale.iter_mut().chain(k).map(Double).collect(),
        DistortionKind::Elastic { key, alpha, sigma, .. } => {
            key.iter_mut().map(Whole).chain([Double(alpha), Double(sigma)]).collect()
        }
        _ => Vec::new(),
    }
}

fn size(Size { width, height }: &mut Size) -> [Number<'_>; 2] {
    [Whole(width), Whole(height)]
}

fn rect(Rect { x, y, width, height }: &mut Rect) -> [Number<'_>; 4] {
    [Signed(x), Signed(y), Whole(width), Whole(height)]
}

fn span(Span { start, len }: &mut Span) -> [Number<'_>; 2] {
    [Whole(start), Whole(len)]
}
