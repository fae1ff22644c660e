//! Colour steps over whole images, and the statistics that some of them wait for.

use super::histogram;
use super::image_view::Canvas;
use super::interleave::with_level;
use super::lanes::LANES;
use super::pixel_block::{PixelBlock, Resolved};
use crate::color::Statistic;
use crate::geometry::Rect;
use crate::plan::{Plan, Span};
use crate::simd::Level;

/// Runs the steps on `canvas` as far as statistics need it, and leaves the others in `rest` for the output.
///
/// `origin` is where the canvas lies in the coordinates of the statistics' rectangles.
pub(crate) fn until_last_statistic(
    plan: &Plan,
    steps: Span,
    canvas: &mut Canvas,
    origin: (i32, i32),
    level: Level,
    rest: &mut Vec<Resolved>,
) {
    rest.clear();
    for step in &plan.steps[steps.range()] {
        let table = step.op.levels(&step.args).map(|levels| Box::new([levels; 3]));
        let mut resolved = Resolved { op: step.op, args: step.args, mean: 0.0, table };
        if let Some(stat) = step.stat {
            run(canvas.rows_mut(), rest, level);
            rest.clear();
            let measured = &plan.stats[stat as usize];
            let rect = measured.rect.shifted(-origin.0, -origin.1);
            match measured.kind {
                Statistic::Levels(table) => {
                    resolved.table = Some(Box::new(histogram::table(canvas, rect, table)));
                }
                Statistic::MeanLuma => resolved.mean = mean_luma(canvas, rect, level),
            }
        }
        rest.push(resolved);
    }
}

/// Runs pointwise steps over packed pixels.
pub(crate) fn run(bytes: &mut [u8], steps: &[Resolved], level: Level) {
    if steps.is_empty() {
        return;
    }
    with_level!(level, {
        let mut block = PixelBlock::default();
        for pixels in bytes.chunks_mut(LANES * 3) {
            block.load(pixels, level);
            block.run(steps);
            block.store(pixels, level);
        }
    });
}

/// f32(exact sum of the luma / pixel count) over `rect`, which is clipped to the canvas.
fn mean_luma(canvas: &Canvas, rect: Rect, level: Level) -> f32 {
    let rect = rect.intersect(canvas.size.rect());
    if rect.is_empty() {
        return 0.0;
    }
    let view = canvas.part(rect);
    let mut sum = 0u64;
    with_level!(level, {
        let mut block = PixelBlock::default();
        for y in 0..rect.height as usize {
            for pixels in view.row(y).chunks(LANES * 3) {
                block.load(pixels, level);
                sum += block.luma_sum(pixels.len() / 3);
            }
        }
    });
    (sum as f64 / rect.size().pixels() as f64) as f32
}
