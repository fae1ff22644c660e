//! Regions of interest: what a layer reads of its source, the same for decoding, rendering and every device.

pub(crate) mod scale;

use super::{pillow, warp};
use crate::geometry::Rect;
use crate::plan::{Filter, LayerSource, Measured, Method, Plan, Sampled, ViewPlans};
use scale::Scale;

/// The horizontal and the vertical scale of an upright layer.
pub(crate) fn scales(window: Rect, sampled: &Sampled, filter: Filter) -> (Scale, Scale) {
    let (columns, rows) = scale::visible(window, sampled);
    let axis = |input, output, visible| Scale { input, output, visible, filter };
    (
        axis(sampled.clip.width, sampled.scaled.width, columns),
        axis(sampled.clip.height, sampled.scaled.height, rows),
    )
}

/// Whether an upright layer's window shows its whole clip pixel for pixel.
pub(crate) fn is_copy(window: Rect, sampled: &Sampled) -> bool {
    let clip = sampled.clip.size();
    clip == sampled.scaled && sampled.mirror == [false; 2] && window.size() == clip
}

/// The part of its oriented source that a layer's taps read; empty for a warp that leaves its clip.
pub(crate) fn taps_of(window: Rect, sampled: &Sampled) -> Rect {
    match sampled.method {
        Method::Upright(filter) => {
            let (columns, rows) = scales(window, sampled, filter);
            let ((left, right), (top, bottom)) = (columns.span(), rows.span());
            let corner = (sampled.clip.x + left as i32, sampled.clip.y + top as i32);
            Rect::new(corner.0, corner.1, right - left, bottom - top)
        }
        Method::Warp(ref warp) => warp::taps_of(window, sampled, warp),
        Method::Pillow(ref map) => pillow::taps_of(window, sampled, map),
        Method::Filtered(_) => sampled.clip,
    }
}

/// What must be known of a layer's oriented source: its taps, and what its statistics are measured on.
pub(crate) fn needed(plan: &Plan, window: Rect, sampled: &Sampled) -> Rect {
    let stats =
        plan.steps[sampled.steps.range()].iter().filter_map(|step| plan.stats.get(step.stat? as usize));
    let measured = stats.filter(|stat| matches!(stat.of, Measured::Layer(_))).map(|stat| stat.rect);
    hull([taps_of(window, sampled)].into_iter().chain(measured))
}

/// The smallest rectangle around all that hold a pixel.
fn hull(parts: impl Iterator<Item = Rect>) -> Rect {
    parts.filter(|part| !part.is_empty()).reduce(Rect::hull).unwrap_or_default()
}

/// The part of image `image` of all views, in stored coordinates, that must be decoded; empty if none shows it.
pub(crate) fn region_of_views(plans: &ViewPlans, image: usize) -> Rect {
    hull(plans.showing(image).map(|(plan, own)| region(plan, own)))
}

/// The part of image `image`, in stored coordinates, that must be decoded; empty if no layer shows it.
pub fn region(plan: &Plan, image: usize) -> Rect {
    let stored = plan.images[image].stored;
    let shown = plan.layers.iter().filter_map(|layer| Some((layer.window, layer.sampled()?)));
    let shown = shown.filter(|(_, sampled)| sampled.from == LayerSource::Image(image as u32));
    let parts = shown.map(|(window, sampled)| {
        let oriented = sampled.orientation.apply_size(stored);
        sampled.orientation.to_stored(needed(plan, window, sampled).intersect(oriented.rect()), oriented)
    });
    hull(parts)
}
