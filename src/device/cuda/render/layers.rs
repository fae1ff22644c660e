//! Layers of a plan as the kernels paint them.

use super::jobs::{Axis, FilterJob, KIND_COPY, MeasureJob, Paint, Source};
use super::lower::Lowering;
use super::source::Canvas;
use super::steps::Steps;
use super::tables::Tables;
use crate::device::gaussian;
use crate::device::reach::{self, Scale};
use crate::error::Cause;
use crate::geometry::{Orientation, Rect, Size};
use crate::plan::{Layer, NONE, STAGE_BIT, filter, kind};
use bytemuck::Zeroable;

/// A layer ready to be painted, the level on which all that it reads is there, and whether it is resampled.
pub(super) struct Painted {
    pub(super) paint: Paint,
    pub(super) ready: u32,
    pub(super) steps: Steps,
}

impl Lowering<'_> {
    pub(super) fn layer(&mut self, layer: &Layer) -> Result<Painted, Cause> {
        let paint = Paint {
            window: layer.window,
            kind: layer.kind,
            fill: layer.fill,
            source: NONE,
            mask: if layer.mask == NONE { NONE } else { self.masks + layer.mask },
            ..Paint::zeroed()
        };
        if layer.kind == kind::SOLID {
            return Ok(Painted { paint, ready: 0, steps: Steps::default() });
        }
        let taps = reach::taps_of(layer);
        let steps = self.steps(layer.steps)?;
        let (source, ready) = match layer.kind {
            kind::FILTERED => self.filtered(layer)?,
            _ => {
                let ready = self.measure(layer, &steps)?;
                (if taps.is_empty() { NONE } else { self.source(layer, taps)? }, ready)
            }
        };
        let (columns, rows) = reach::scales(layer);
        let corner = [taps.x - layer.clip.x, taps.y - layer.clip.y].map(|first| first.max(0) as u32);
        let (columns, rows) = (axis(&columns, corner[0]), axis(&rows, corner[1]));
        let paint = Paint { source, steps: steps.span, columns, rows, ..paint };
        let paint = match layer.kind {
            kind::WARP => Paint { around: u32::from(layer.fill[3]), map: layer.map, ..paint },
            _ if is_copied(&columns) && is_copied(&rows) => Paint { kind: KIND_COPY, ..paint },
            _ => {
                let (columns, rows) = (self.tables.with_table(columns), self.tables.with_table(rows));
                Paint { columns, rows, ..paint }
            }
        };
        Ok(Painted { paint, ready, steps })
    }

    /// Filters a whole canvas; returns the source of the result and the level on which it is there.
    fn filtered(&mut self, layer: &Layer) -> Result<(u32, u32), Cause> {
        let stage = self.canvas_of(layer.image)?;
        let [first, second, x, y, ..] = layer.map;
        let blurs = layer.filter == filter::GAUSSIAN;
        let (columns, rows) = if blurs { (first as u32, second as u32) } else { (0, 0) };
        let weights =
            [(columns, x), (rows, y)].map(|(length, sigma)| gaussian::weights(length as usize, sigma));
        let place = self.tables.reserve(Canvas::bytes(stage.size));
        let job = FilterJob {
            target: place,
            source: self.source(layer, layer.clip)?,
            pitch: Canvas::pitch(stage.size),
            filter: layer.filter,
            share: first,
            weights: self.tables.weights(&weights.concat()),
            columns,
            rows,
            reserved: 0,
        };
        let ready = self.tables.agenda.filter(stage.ready, job);
        let whole = Canvas { place, size: stage.size, ready }.source(Orientation::UPRIGHT, layer.clip);
        Ok((self.add_source(whole.ok_or("a canvas without pixels: a bug")?), ready))
    }

    /// Sums up the statistics of the layer's own steps; returns the level on which they and the source are there.
    fn measure(&mut self, layer: &Layer, steps: &Steps) -> Result<u32, Cause> {
        let mut ready = match layer.image & STAGE_BIT {
            0 => 0,
            _ => self.canvas_of(layer.image)?.ready,
        };
        for part in self.parts(steps).0 {
            // All that lies ahead in the list runs on each pixel as it is read: there is no image between.
            let ahead = self.up_to(steps, &part);
            self.tables.count(part.measured, part.rect.size().pixels());
            if part.rect.is_empty() {
                continue;
            }
            let source = self.source(layer, part.rect)?;
            let job = MeasureJob { source, measured: part.measured, steps: ahead.span, stats: ahead.stats };
            ready = self.tables.agenda.measure(ready, job);
        }
        Ok(ready)
    }

    /// The number of the source that holds a part of what the layer shows.
    fn source(&mut self, layer: &Layer, part: Rect) -> Result<u32, Cause> {
        let found = match layer.image & STAGE_BIT {
            0 => self.surfaces[layer.image as usize].source(layer.orientation, part),
            _ => self.canvas_of(layer.image)?.source(layer.orientation, part),
        };
        let source = found.ok_or_else(|| match layer.image & STAGE_BIT {
            0 => format!(
                "the plan reads {part:?} of an image of which {:?} was decoded: a bug",
                self.surfaces[layer.image as usize].region
            ),
            _ => format!("the plan reads {part:?} of an earlier stage, which has less: a bug"),
        })?;
        Ok(self.add_source(source))
    }

    fn canvas_of(&self, image: u32) -> Result<Canvas, Cause> {
        let stage = self.stages.get((image & !STAGE_BIT) as usize);
        stage.copied().ok_or_else(|| "a stage of the plan reads one that comes later: a bug".into())
    }

    fn add_source(&mut self, source: Source) -> u32 {
        Tables::push(&mut self.tables.sources, source)
    }

    /// A layer that shows a whole canvas as it is.
    pub(super) fn showing(&mut self, canvas: &Canvas) -> Result<Paint, Cause> {
        let size = canvas.size;
        let source =
            canvas.source(Orientation::UPRIGHT, size.rect()).ok_or("a canvas without pixels: a bug")?;
        let same = |edge: u32| Axis {
            input: edge,
            output: edge,
            count: edge,
            filter: filter::NEAREST,
            ..Axis::default()
        };
        let Size { width, height } = size;
        Ok(Paint {
            window: size.rect(),
            kind: KIND_COPY,
            source: self.add_source(source),
            mask: NONE,
            columns: same(width),
            rows: same(height),
            ..Paint::zeroed()
        })
    }
}

/// Whether each output is one source pixel. Other filters at equal lengths have one tap that weighs 1.
fn is_copied(axis: &Axis) -> bool {
    axis.filter == filter::NEAREST || axis.input == axis.output
}

/// Most taps of one output.
fn widest(scale: &Scale) -> u32 {
    match scale.filter {
        filter::NEAREST => 1,
        filter::BILINEAR_PLAIN => 2,
        _ => (2.0 * scale.support()).ceil() as u32 + 1,
    }
}

fn axis(scale: &Scale, first: u32) -> Axis {
    // A start may lie up to three places ahead of the first tap.
    let groups = (widest(scale).min(scale.input) + 3).div_ceil(4);
    Axis {
        table: 0,
        input: scale.input,
        output: scale.output,
        offset: scale.offset,
        count: scale.count,
        reversed: u32::from(scale.reversed),
        filter: scale.filter,
        first,
        groups,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_an_axis_hold_the_taps_of_each_output() {
        for (input, output) in [(500, 224), (3, 2), (1, 5), (4000, 224), (225, 224), (65_535, 1), (7, 7)] {
            for filter in [filter::BILINEAR, filter::BILINEAR_PLAIN, filter::BICUBIC] {
                let scale = Scale { input, output, offset: 0, count: output, reversed: false, filter };
                let axis = axis(&scale, 0);
                for at in 0..output {
                    let (low, high) = scale.bounds(at);
                    assert!(high.div_ceil(4) <= low / 4 + axis.groups, "{input} to {output}, output {at}");
                }
            }
        }
    }
}
