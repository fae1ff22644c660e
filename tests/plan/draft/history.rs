//! Pictures whose pixels are numbers that remember what was done to them, and two naive ways to make one.

use feedline::color::ColorOp;
use feedline::draft::op::{Extent, Interpolation, Op, PaddingMode, Value};
use feedline::geometry::{Orientation, Rect, Size};
use feedline::plan::{Content, EraseFill, Filter, LayerSource, Measured, Method, Plan, Span};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A input of histories, row by row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Canvas {
    size: Size,
    pixels: Vec<u64>,
}

fn history(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

fn colour(rgb: [u8; 3]) -> u64 {
    history(("colour", rgb))
}

fn recoloured(pixel: u64, op: ColorOp, factor: f64, mean: u64) -> u64 {
    history(("step", pixel, op as u32, (factor as f32).to_bits(), mean))
}

impl Canvas {
    /// The decoded image, seen upright: each pixel is its place.
    pub(crate) fn source(size: Size) -> Canvas {
        Canvas::new(size, |x, y| history(("source", x, y)))
    }

    fn new(size: Size, at: impl Fn(i64, i64) -> u64) -> Canvas {
        let columns = i64::from(size.width);
        let pixels = (0..size.pixels() as i64).map(|i| at(i % columns, i / columns)).collect();
        Canvas { size, pixels }
    }

    /// A pixel, or black outside.
    fn at(&self, x: i64, y: i64) -> u64 {
        let inside = x >= 0 && y >= 0 && x < i64::from(self.size.width) && y < i64::from(self.size.height);
        if inside { self.pixels[(y * i64::from(self.size.width) + x) as usize] } else { colour([0; 3]) }
    }

    fn cut(&self, rect: Rect) -> Canvas {
        Canvas::new(rect.size(), |x, y| self.at(x + i64::from(rect.x), y + i64::from(rect.y)))
    }

    fn mirror(&self, axis: u32) -> Canvas {
        let (width, height) = (i64::from(self.size.width), i64::from(self.size.height));
        match axis {
            1 => Canvas::new(self.size, |x, y| self.at(width - 1 - x, y)),
            _ => Canvas::new(self.size, |x, y| self.at(x, height - 1 - y)),
        }
    }

    /// A resampled pixel depends on the whole input, the filter and the new size, and on nothing else.
    fn resampled(&self, size: Size, filter: Filter) -> Canvas {
        if size == self.size {
            return self.clone();
        }
        // What is repeated is the same pixel again.
        let repeats = |from: u32, to: u32| from == 1 || from == to;
        if filter == Filter::Nearest
            && repeats(self.size.width, size.width)
            && repeats(self.size.height, size.height)
        {
            let last = |at: i64, edge: u32| at.min(i64::from(edge) - 1);
            return Canvas::new(size, |x, y| self.at(last(x, self.size.width), last(y, self.size.height)));
        }
        let whole = history(self);
        Canvas::new(size, |x, y| history(("resampled", whole, size, filter as u32, x, y)))
    }

    /// Stands for the mean: all pixels count, their places do not.
    fn mean(&self) -> u64 {
        history((self.size.pixels(), self.pixels.iter().fold(0u64, |sum, &pixel| sum.wrapping_add(pixel))))
    }

    fn each(&mut self, change: impl Fn(u64) -> u64) {
        self.pixels.iter_mut().for_each(|pixel| *pixel = change(*pixel));
    }

    fn fill(&mut self, rect: Rect, pixel: u64) {
        let inside = |x, y| rect.contains(Rect::new(x as i32, y as i32, 1, 1));
        *self = Canvas::new(self.size, |x, y| if inside(x, y) { pixel } else { self.at(x, y) });
    }
}

/// Does one op to the input.
pub(crate) fn by_ops(canvas: &mut Canvas, op: &Op) {
    let step = |canvas: &mut Canvas, op: ColorOp, factor: f64| {
        let mean = if op == ColorOp::Contrast { canvas.mean() } else { 0 };
        canvas.each(|pixel| recoloured(pixel, op, factor, mean));
    };
    match *op {
        Op::Crop { top, left, height, width } => *canvas = canvas.cut(Rect::new(left, top, width, height)),
        Op::CenterCrop { output_size: Extent::Two([height, width]) } => {
            // Python's round of a half goes to the even number; a border has its odd pixel right and below.
            let start = |have: u32, want: u32| {
                let spare = i64::from(have) - i64::from(want);
                let half = (spare / 2) as i32;
                if spare < 0 { half } else { half + (spare % 2 == 1 && half % 2 == 1) as i32 }
            };
            let corner = (start(canvas.size.width, width), start(canvas.size.height, height));
            *canvas = canvas.cut(Rect::new(corner.0, corner.1, width, height));
        }
        Op::Resize { size, interpolation, .. } => {
            let Size { width, height } = canvas.size;
            let size = match size {
                Extent::Two([height, width]) => Size::new(width, height),
                Extent::One(edge) | Extent::Single([edge]) if width <= height => {
                    Size::new(edge, edge * height / width)
                }
                Extent::One(edge) | Extent::Single([edge]) => Size::new(edge * width / height, edge),
            };
            let nearest = interpolation == Interpolation::Nearest;
            *canvas = canvas.resampled(size, if nearest { Filter::Nearest } else { Filter::Bilinear });
        }
        Op::Pad { padding, padding_mode: mode, .. } if mode != PaddingMode::Constant => {
            let [left, top, right, bottom] = padding.sides().map(i64::from);
            let [width, height] = [canvas.size.width, canvas.size.height].map(i64::from);
            let size = Size::new((left + width + right) as u32, (top + height + bottom) as u32);
            let near = |at: i64, edge: i64| match mode {
                PaddingMode::Reflect => (0..edge).find(|i| at == -i || at == 2 * (edge - 1) - i),
                PaddingMode::Symmetric => (0..edge).find(|i| at == -1 - i || at == 2 * edge - 1 - i),
                _ => Some(at.clamp(0, edge - 1)),
            };
            let seen = |at: i64, edge: i64| {
                if (0..edge).contains(&at) { at } else { near(at, edge).expect("a border of the image") }
            };
            *canvas = Canvas::new(size, |x, y| canvas.at(seen(x - left, width), seen(y - top, height)));
        }
        Op::Pad { padding, fill, .. } => {
            let [left, top, right, bottom] = padding.sides();
            let hole = Rect::new(left as i32, top as i32, canvas.size.width, canvas.size.height);
            let size = Size::new(hole.width + left + right, hole.height + top + bottom);
            let inside = |x, y| hole.contains(Rect::new(x as i32, y as i32, 1, 1));
            *canvas = Canvas::new(size, |x, y| match inside(x, y) {
                true => canvas.at(x - i64::from(left), y - i64::from(top)),
                false => colour(fill.rgb()),
            });
        }
        Op::Hflip {} => *canvas = canvas.mirror(1),
        Op::Vflip {} => *canvas = canvas.mirror(2),
        Op::Brightness { factor } => step(canvas, ColorOp::Brightness, factor),
        Op::Contrast { factor } => step(canvas, ColorOp::Contrast, factor),
        Op::Grayscale { .. } => step(canvas, ColorOp::Grayscale, 0.0),
        Op::Erase { i, j, h, w, v: Value::One(v) } => {
            canvas.fill(Rect::new(j, i, w, h), history(("erased", v.to_bits())));
        }
        ref other => panic!("the oracle does not know {other:?}"),
    }
}

/// Renders the only image of a plan whose inputs are not blended.
pub(crate) fn by_plan(plan: &Plan) -> Canvas {
    let mut done: Vec<Canvas> = Vec::new();
    let mut means = vec![0; plan.stats.len()];
    for (index, pass) in plan.passes.iter().enumerate() {
        assert_eq!((pass.inputs.len, pass.steps.len), (1, 0), "the oracle does not blend");
        let picture_index = pass.inputs.start;
        let input = &plan.inputs[picture_index as usize];
        assert_eq!(input.window, pass.size.rect());
        let mut canvas = Canvas::new(pass.size, |_, _| colour([0; 3]));
        for layer_index in input.layers.range() {
            lay(plan, layer_index, &done, &mut means, &mut canvas);
        }
        for (i, stat) in plan.stats.iter().enumerate() {
            if stat.of == Measured::BlendInput(picture_index) {
                assert_eq!(stat.rect, pass.size.rect());
                means[i] = with_steps(plan, &canvas, stat.steps, &means).mean();
            }
        }
        canvas = with_steps(plan, &canvas, input.steps, &means);
        for erased in &plan.erases[input.erases.range()] {
            assert_eq!(index + 1, plan.passes.len());
            let EraseFill::Constant(value) = erased.fill else { panic!("the oracle knows no noise") };
            canvas.fill(erased.window, history(("erased", value[0].to_bits())));
        }
        done.push(canvas);
    }
    done.pop().unwrap()
}

fn lay(plan: &Plan, index: usize, done: &[Canvas], means: &mut [u64], canvas: &mut Canvas) {
    let layer = plan.layers[index];
    let window = layer.window;
    let layer = match layer.content {
        Content::Solid(rgb) => return canvas.fill(window, colour(rgb)),
        Content::Sampled(sampled) => sampled,
    };
    let source = match layer.from {
        LayerSource::Image(_) => decoded(plan, layer.orientation),
        LayerSource::Pass(pass) => turned(&done[pass as usize], layer.orientation),
    };
    for (i, stat) in plan.stats.iter().enumerate() {
        if stat.of == Measured::Layer(index as u32) {
            assert!(source.size.rect().contains(stat.rect));
            means[i] = with_steps(plan, &source.cut(stat.rect), stat.steps, means).mean();
        }
    }
    assert!(source.size.rect().contains(layer.clip));
    let clip = with_steps(plan, &source.cut(layer.clip), layer.steps, means);
    let Method::Upright(filter) = layer.method else { panic!("the oracle only resamples") };
    let scaled = clip.resampled(layer.scaled, filter);
    let shown = Rect::new(layer.offset[0], layer.offset[1], window.width, window.height);
    assert!(layer.scaled.rect().contains(shown));
    let mut part = scaled.cut(shown);
    for (axis, _) in [1, 2].into_iter().zip(layer.mirror).filter(|(_, mirrored)| *mirrored) {
        part = part.mirror(axis);
    }
    let inside = |x, y| window.contains(Rect::new(x as i32, y as i32, 1, 1));
    let (left, top) = (i64::from(window.x), i64::from(window.y));
    *canvas = Canvas::new(canvas.size, |x, y| match inside(x, y) {
        true => part.at(x - left, y - top),
        false => canvas.at(x, y),
    });
}

/// The stored image turned as a layer asks, where the file's own orientation shows [`Canvas::source`].
fn decoded(plan: &Plan, orientation: Orientation) -> Canvas {
    let image = plan.images[0];
    let seen = image.orientation.apply_size(image.stored);
    let upright = Canvas::source(seen);
    let stored = Canvas::new(image.stored, |x, y| {
        let place = Rect::new(x as i32, y as i32, 1, 1);
        let columns = 0..seen.width as i32;
        let find = |column: i32| {
            (0..seen.height as i32)
                .find(|&row| image.orientation.to_stored(Rect::new(column, row, 1, 1), seen) == place)
                .map(|row| upright.at(i64::from(column), i64::from(row)))
        };
        columns.into_iter().find_map(find).unwrap()
    });
    turned(&stored, orientation)
}

fn turned(stored: &Canvas, orientation: Orientation) -> Canvas {
    let seen = orientation.apply_size(stored.size);
    Canvas::new(seen, |x, y| {
        let place = orientation.to_stored(Rect::new(x as i32, y as i32, 1, 1), seen);
        stored.at(i64::from(place.x), i64::from(place.y))
    })
}

fn with_steps(plan: &Plan, canvas: &Canvas, steps: Span, means: &[u64]) -> Canvas {
    let mut canvas = canvas.clone();
    for step in &plan.steps[steps.range()] {
        let mean = step.stat.map_or(0, |stat| means[stat as usize]);
        canvas.each(|pixel| recoloured(pixel, step.op, f64::from(step.args[0]), mean));
    }
    canvas
}
