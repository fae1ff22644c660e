//! A plan as a stream of numbers that means the same in every build: what saved states tell recipes apart by.
//!
//! It depends on no name and no layout of a Rust type. A change here changes the fingerprints of all recipes, and goes
//! with a new `STATE_VERSION`.

use super::label_ops::{LabelOp, LabelOpKind, ObjectFilter};
use super::{
    CanvasFilter, Content, EraseFill, Filter, LayerSource, Measured, Method, Outside, Plan, Sampled, Span,
    WarpFilter, WarpMap,
};
use crate::color::{LevelTable, Statistic};
use crate::geometry::{Rect, Size};
use std::hash::Hasher;

/// Numbers on their way into a hash.
struct Numbers<'a, H>(&'a mut H);

impl Plan {
    /// Writes everything that a plan says, in order.
    pub(crate) fn fingerprint(&self, hasher: &mut impl Hasher) {
        let Plan { images, passes, inputs, layers, mask_rows, runs, steps, stats, erases, labels, label_ops } =
            self;
        let mut to = Numbers(hasher);
        to.count(images.len());
        for image in images {
            to.0.write_u64(image.index);
            to.size(image.stored);
            to.int(image.orientation.0);
        }
        to.count(passes.len());
        for pass in passes {
            to.size(pass.size);
            to.spans([pass.inputs, pass.steps]);
        }
        to.count(inputs.len());
        for input in inputs {
            to.rect(input.window);
            to.spans([input.layers, input.steps, input.erases]);
            to.float(input.weight);
        }
        to.count(layers.len());
        for layer in layers {
            to.rect(layer.window);
            to.option(layer.mask);
            to.content(&layer.content);
        }
        to.count(mask_rows.len());
        mask_rows.iter().for_each(|row| to.spans([*row]));
        to.count(runs.len());
        runs.iter().for_each(|run| to.ints([run.start, run.len]));
        to.count(steps.len());
        for step in steps {
            to.int(step.op as u32);
            to.option(step.stat);
            to.floats(&step.args);
        }
        to.count(stats.len());
        for stat in stats {
            to.int(match stat.kind {
                Statistic::MeanLuma => 0,
                Statistic::Levels(LevelTable::Stretched) => 1,
                Statistic::Levels(LevelTable::Equalized) => 2,
            });
            to.ints(match stat.of {
                Measured::Layer(index) => [0, index],
                Measured::BlendInput(index) => [1, index],
                Measured::Pass(index) => [2, index],
            });
            to.rect(stat.rect);
            to.spans([stat.steps]);
        }
        to.count(erases.len());
        for erase in erases {
            to.rect(erase.window);
            match erase.fill {
                EraseFill::Constant(rgb) => (to.int(0), to.floats(&rgb)),
                EraseFill::Noise(key) => (to.int(1), to.ints(key)),
            };
        }
        to.count(labels.len());
        for label in labels {
            to.int(label.image);
            to.float(label.share);
        }
        to.count(label_ops.len());
        label_ops.iter().for_each(|op| to.label_op(op));
    }
}

impl<H: Hasher> Numbers<'_, H> {
    fn int(&mut self, number: u32) {
        self.0.write(&number.to_le_bytes());
    }

    fn ints<const N: usize>(&mut self, numbers: [u32; N]) {
        numbers.into_iter().for_each(|number| self.int(number));
    }

    fn count(&mut self, count: usize) {
        self.int(count as u32);
    }

    fn option(&mut self, number: Option<u32>) {
        self.ints(number.map_or([0, 0], |number| [1, number]));
    }

    fn float(&mut self, number: f32) {
        self.int(number.to_bits());
    }

    fn floats(&mut self, numbers: &[f32]) {
        numbers.iter().for_each(|number| self.float(*number));
    }

    fn doubles(&mut self, numbers: &[f64]) {
        numbers.iter().for_each(|number| self.0.write(&number.to_bits().to_le_bytes()));
    }

    fn size(&mut self, Size { width, height }: Size) {
        self.ints([width, height]);
    }

    fn rect(&mut self, Rect { x, y, width, height }: Rect) {
        self.ints([x as u32, y as u32, width, height]);
    }

    fn spans<const N: usize>(&mut self, spans: [Span; N]) {
        spans.into_iter().for_each(|span| self.ints([span.start, span.len]));
    }

    fn content(&mut self, content: &Content) {
        let Sampled { from, orientation, clip, scaled, offset, mirror, steps, method } = match content {
            Content::Solid(rgb) => return self.ints([0, u32::from_le_bytes([rgb[0], rgb[1], rgb[2], 0])]),
            Content::Sampled(sampled) => *sampled,
        };
        self.int(1);
        self.ints(match from {
            LayerSource::Image(index) => [0, index],
            LayerSource::Pass(index) => [1, index],
        });
        self.int(orientation.0);
        self.rect(clip);
        self.size(scaled);
        self.ints(offset.map(|offset| offset as u32));
        self.ints(mirror.map(u32::from));
        self.spans([steps]);
        match method {
            Method::Upright(filter) => self.ints([
                0,
                match filter {
                    Filter::Bilinear => 0,
                    Filter::BilinearPlain => 1,
                    Filter::Bicubic => 2,
                    Filter::Nearest => 3,
                },
            ]),
            Method::Warp(WarpMap { map, filter, outside }) => {
                self.int(1);
                self.floats(&map);
                self.int(match filter {
                    WarpFilter::Widened => 0,
                    WarpFilter::Bilinear => 1,
                    WarpFilter::Nearest => 3,
                });
                self.ints(match outside {
                    Outside::Transparent => [0, 0],
                    Outside::Black => [1, 0],
                    Outside::Fill([r, g, b]) => [2, u32::from_le_bytes([r, g, b, 0])],
                });
            }
            Method::Filtered(CanvasFilter::Sharpness { amount }) => {
                self.int(4);
                self.float(amount);
            }
            Method::Filtered(CanvasFilter::Gaussian { kernel, sigma }) => {
                self.int(5);
                self.ints(kernel);
                self.floats(&sigma);
            }
        }
    }

    fn label_op(&mut self, LabelOp { images, kind }: &LabelOp) {
        self.spans([*images]);
        match kind {
            LabelOpKind::Map(map) => (self.int(0), self.doubles(map)),
            LabelOpKind::Clip(rect) => (self.int(1), self.rect(*rect)),
            LabelOpKind::Hide(rect) => (self.int(2), self.rect(*rect)),
            LabelOpKind::Mirrored => (self.int(3), ()),
            LabelOpKind::Rebox => (self.int(4), ()),
            LabelOpKind::Mark => (self.int(5), ()),
            LabelOpKind::Weigh(part) => (self.int(6), self.float(*part)),
            LabelOpKind::PasteMirrored { object, width } => {
                (self.ints([7, *object]), self.doubles(&[*width]))
            }
            LabelOpKind::Drop(object) => (self.ints([8, *object]), ()),
            LabelOpKind::Keep(keep) => (self.int(9), self.filter(keep)),
        };
    }

    fn filter(&mut self, keep: &ObjectFilter) {
        match *keep {
            ObjectFilter::Sane { canvas, min_size, min_area } => {
                self.int(0);
                self.rect(canvas);
                self.doubles(&[min_size, min_area]);
            }
            ObjectFilter::Beside { window, part } => {
                self.int(1);
                self.rect(window);
                self.doubles(&[part]);
            }
            ObjectFilter::Centred(rect) => {
                self.int(2);
                self.rect(rect);
            }
            ObjectFilter::Candidates { size, aspect, area, area_of_polygons, scale } => {
                self.int(3);
                self.doubles(&[size, aspect, area, area_of_polygons, scale]);
            }
            ObjectFilter::Visible { min_area, min_visibility } => {
                self.int(4);
                self.doubles(&[min_area, min_visibility]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::draft::Draft;
    use crate::draft::op::{CATALOGUE, Op};
    use crate::geometry::{Orientation, Size};
    use std::hash::Hasher;
    use twox_hash::XxHash3_64;

    #[test]
    fn a_fingerprint_stays_what_it_was_when_states_were_saved() {
        let mut hasher = XxHash3_64::new();
        let mut plans = 0;
        for entry in CATALOGUE {
            let mut draft = Draft::new(3, Size::new(640, 480), Orientation::from_exif(6));
            let op: Op = serde_json::from_str(entry.example).expect("an op");
            draft.apply(op);
            let mut partner = Draft::new(4, Size::new(480, 640), Orientation::UPRIGHT);
            partner.apply(Op::Hflip {});
            let size = draft.size();
            if partner.size() == size {
                draft.blend(partner, 0.25, size.rect(), 0.25).expect("one size");
            }
            if let Ok(plan) = draft.freeze() {
                plan.fingerprint(&mut hasher);
                plans += 1;
            }
        }
        // Where this changes, states that were saved are refused as another recipe's: STATE_VERSION must change too.
        assert_eq!((plans, format!("{:016x}", hasher.finish()).as_str()), (30, "fdbbeffbbb28a89a"));
    }
}
