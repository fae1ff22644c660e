//! Layers of a plan as the kernels render them.

use super::layout::{
    self, Axis, KIND_COPY, KIND_SOLID, KIND_UPRIGHT, KIND_WARP, LayerDesc, MeasureJob, NONE, Source,
};
use super::lower::Lowering;
use super::source::Canvas;
use super::steps::Steps;
use super::tables::Tables;
use crate::device::roi;
use crate::device::roi::scale::{self, Scale, Visible};
use crate::error::Cause;
use crate::geometry::{Orientation, Rect, Size};
use crate::plan::{Content, Filter, Layer, LayerSource, Method, Outside, Sampled};
use bytemuck::Zeroable;

/// A layer ready to be lowered, the level on which all that it reads is there, and whether it is resampled.
pub(super) struct LoweredLayer {
    pub(super) desc: LayerDesc,
    pub(super) ready: u32,
    pub(super) steps: Steps,
}

impl Lowering<'_> {
    pub(super) fn layer(&mut self, layer: &Layer) -> Result<LoweredLayer, Cause> {
        let window = layer.window;
        let desc = LayerDesc {
            window,
            source: NONE,
            mask: layer.mask.map_or(NONE, |first| self.masks + first),
            ..LayerDesc::zeroed()
        };
        match layer.content {
            Content::Solid([r, g, b]) => {
                let desc = LayerDesc { kind: KIND_SOLID, fill: [r, g, b, 0], ..desc };
                Ok(LoweredLayer { desc, ready: 0, steps: Steps::default() })
            }
            Content::Sampled(ref sampled) => self.sampled(desc, sampled),
        }
    }

    fn sampled(&mut self, desc: LayerDesc, sampled: &Sampled) -> Result<LoweredLayer, Cause> {
        let taps = roi::taps_of(desc.window, sampled);
        let steps = Steps::lower(self.tables, self.plan, sampled.steps)?;
        let (source, ready) = match sampled.method {
            Method::Filtered(filter) => self.filtered(sampled, filter)?,
            Method::Upright(_) | Method::Warp(_) | Method::Pillow(_) => {
                let ready = self.measure(sampled, &steps)?;
                (if taps.is_empty() { NONE } else { self.source(sampled, taps)? }, ready)
            }
        };
        let desc = LayerDesc { source, steps: steps.span, ..desc };
        let corner = [taps.x - sampled.clip.x, taps.y - sampled.clip.y].map(|first| first.max(0) as u32);
        let desc = match sampled.method {
            Method::Upright(filter) => self.upright(desc, sampled, filter, corner),
            Method::Pillow(ref map) => LayerDesc {
                around: layout::around(Outside::Transparent),
                matrix: map.matrix,
                ..mapped(desc, sampled, layout::pillow_filter(map.filter), corner)
            },
            Method::Warp(ref warp) => {
                let fill = match warp.outside {
                    Outside::Fill([r, g, b]) => [r, g, b, 0],
                    Outside::Transparent | Outside::Black => [0; 4],
                };
                LayerDesc {
                    around: layout::around(warp.outside),
                    fill,
                    map: warp.map,
                    ..mapped(desc, sampled, layout::warp_filter(warp.filter), corner)
                }
            }
            // The result is as large as what was filtered.
            Method::Filtered(_) => self.upright(desc, sampled, Filter::Nearest, corner),
        };
        Ok(LoweredLayer { desc, ready, steps })
    }

    fn upright(&mut self, desc: LayerDesc, sampled: &Sampled, filter: Filter, corner: [u32; 2]) -> LayerDesc {
        let (columns, rows) = roi::scales(desc.window, sampled, filter);
        let (columns, rows) = (axis(&columns, corner[0]), axis(&rows, corner[1]));
        if is_copied(&columns) && is_copied(&rows) {
            return LayerDesc { kind: KIND_COPY, columns, rows, ..desc };
        }
        let (columns, rows) = (self.tables.with_table(columns), self.tables.with_table(rows));
        LayerDesc { kind: KIND_UPRIGHT, columns, rows, ..desc }
    }

    /// Sums up the statistics of the layer's own steps; returns the level on which they and the source are there.
    fn measure(&mut self, sampled: &Sampled, steps: &Steps) -> Result<u32, Cause> {
        let mut ready = match sampled.from {
            LayerSource::Image(_) => 0,
            LayerSource::Pass(pass) => self.canvas_of(pass)?.ready,
        };
        for part in steps.parts(self.tables, self.plan).0 {
            // All that lies ahead in the list runs on each pixel as it is read: there is no image between.
            let ahead = steps.up_to(self.tables, &part);
            self.tables.count(part.measured, part.rect.size().pixels());
            if part.rect.is_empty() {
                continue;
            }
            let source = self.source(sampled, part.rect)?;
            let job = MeasureJob { source, measured: part.measured, steps: ahead.span, stats: ahead.stats };
            ready = self.tables.schedule.measure(ready, job);
        }
        Ok(ready)
    }

    /// The number of the source that holds a part of what the layer shows.
    pub(super) fn source(&mut self, sampled: &Sampled, part: Rect) -> Result<u32, Cause> {
        let source = match sampled.from {
            LayerSource::Image(image) => {
                let surface = &self.surfaces[image as usize];
                surface.source(sampled.orientation, part).ok_or_else(|| {
                    format!(
                        "the plan reads {part:?} of an image of which {:?} was decoded: a bug",
                        surface.region
                    )
                })
            }
            LayerSource::Pass(pass) => {
                let found = self.canvas_of(pass)?.source(sampled.orientation, part);
                found.ok_or_else(|| {
                    format!("the plan reads {part:?} of an earlier pass, which has less: a bug")
                })
            }
        };
        Ok(self.add_source(source?))
    }

    pub(super) fn canvas_of(&self, pass: u32) -> Result<Canvas, Cause> {
        self.passes
            .get(pass as usize)
            .copied()
            .ok_or_else(|| "a pass of the plan reads one that comes later: a bug".into())
    }

    pub(super) fn add_source(&mut self, source: Source) -> u32 {
        Tables::push(&mut self.tables.sources, source)
    }

    /// A layer that shows a whole canvas as it is.
    pub(super) fn showing(&mut self, canvas: &Canvas) -> Result<LayerDesc, Cause> {
        let size = canvas.size;
        let source =
            canvas.source(Orientation::UPRIGHT, size.rect()).ok_or("a canvas without pixels: a bug")?;
        let same = |edge: u32| Axis {
            input: edge,
            output: edge,
            count: edge,
            filter: Filter::Nearest as u32,
            ..Axis::default()
        };
        let Size { width, height } = size;
        Ok(LayerDesc {
            window: size.rect(),
            kind: KIND_COPY,
            source: self.add_source(source),
            mask: NONE,
            columns: same(width),
            rows: same(height),
            ..LayerDesc::zeroed()
        })
    }
}

/// Whether each output is one source pixel. Other filters at equal lengths have one tap that weighs 1.
fn is_copied(axis: &Axis) -> bool {
    axis.filter == Filter::Nearest as u32 || axis.input == axis.output
}

/// Maximum number of taps of one output.
fn widest(scale: &Scale) -> u32 {
    match scale.filter {
        Filter::Nearest => 1,
        Filter::BilinearPlain => 2,
        Filter::Bilinear | Filter::Bicubic => (2.0 * scale.support()).ceil() as u32 + 1,
    }
}

fn axis(scale: &Scale, first: u32) -> Axis {
    // A start may lie up to three positions before the first tap.
    let groups = (widest(scale).min(scale.input) + 3).div_ceil(4);
    let (input, output, filter) = (scale.input, scale.output, scale.filter as u32);
    Axis { input, output, filter, first, groups, ..shown(&scale.visible) }
}

/// A layer through a map, with the axes of what it shows; `corner` is where its source's pixels begin in the clip.
fn mapped(desc: LayerDesc, sampled: &Sampled, filter: u32, corner: [u32; 2]) -> LayerDesc {
    let (columns, rows) = scale::visible(desc.window, sampled);
    let axis = |visible: &Visible, first, [input, output]: [u32; 2]| Axis {
        input,
        output,
        filter,
        first,
        ..shown(visible)
    };
    let Sampled { clip, scaled, .. } = sampled;
    LayerDesc {
        kind: KIND_WARP,
        columns: axis(&columns, corner[0], [clip.width, scaled.width]),
        rows: axis(&rows, corner[1], [clip.height, scaled.height]),
        ..desc
    }
}

fn shown(visible: &Visible) -> Axis {
    let Visible { offset, count, reversed } = *visible;
    Axis { offset, count, reversed: u32::from(reversed), ..Axis::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_an_axis_hold_the_taps_of_each_output() {
        for (input, output) in [(500, 224), (3, 2), (1, 5), (4000, 224), (225, 224), (65_535, 1), (7, 7)] {
            for filter in [Filter::Bilinear, Filter::BilinearPlain, Filter::Bicubic] {
                let visible = Visible { offset: 0, count: output, reversed: false };
                let scale = Scale { input, output, visible, filter };
                let axis = axis(&scale, 0);
                for at in 0..output {
                    let (low, high) = scale.bounds(at);
                    assert!(high.div_ceil(4) <= low / 4 + axis.groups, "{input} to {output}, output {at}");
                }
            }
        }
    }
}
