//! Decoding at a smaller scale where a plan shrinks an image anyway: which scale, and the plan for the fewer pixels.
//!
//! A layer that resamples its clip to less than half the width and height can as well start from an image of half
//! the size, which costs less to decode. The clip's edges are rounded to the nearest pixel of the smaller image,
//! that is by up to half of such a pixel, and less than half a pixel of the result. So pixels change, and it is done
//! only where it was asked for; `docs/parity.md` says by how much.

use crate::geometry::{Rect, Size};
use crate::jpeg::Scale;
use crate::plan::{Filter, LayerSource, Measured, Method, Plan, Sampled, ViewPlans};

/// The scale for each image of the plans, where `scalable` says that its file can be decoded so.
pub(crate) fn scales(plans: &ViewPlans, scalable: impl Fn(usize) -> bool) -> Vec<Scale> {
    let of_views = |image: usize| plans.showing(image).map(|(plan, own)| scale(plan, own)).min();
    let scale = |image: usize| if scalable(image) { of_views(image) } else { None };
    (0..plans.images().len()).map(|image| scale(image).unwrap_or_default()).collect()
}

/// The plans as they are for images that are decoded at these scales.
pub(crate) fn all_shrunk(plans: &ViewPlans, scales: &[Scale]) -> ViewPlans {
    plans.map(|view| shrunk(&view.plan, &view.own(scales).copied().collect::<Vec<_>>()))
}

/// The plan as it is for images that are decoded at these scales.
fn shrunk(plan: &Plan, scales: &[Scale]) -> Plan {
    let mut plan = plan.clone();
    for layer in &mut plan.layers {
        let window = layer.window;
        let Some(sampled) = layer.sampled_mut() else { continue };
        let (Method::Upright(_), LayerSource::Image(image)) = (sampled.method, sampled.from) else {
            continue;
        };
        if let (Some(image), Some(&scale)) = (plan.images.get(image as usize), scales.get(image as usize)) {
            let bounds = sampled.orientation.apply_size(scale.apply(image.stored));
            sampled.clip = nearest(sampled.clip, scale, bounds);
            if sampled.clip.size() == sampled.scaled {
                show_as_it_is(window.size(), sampled);
            }
        }
    }
    for (image, scale) in plan.images.iter_mut().zip(scales) {
        image.stored = scale.apply(image.stored);
    }
    plan
}

/// Where no resampling is left, the clip is what the window shows, as in any plan that only crops.
fn show_as_it_is(shown: Size, sampled: &mut Sampled) {
    let [left, top] = sampled.offset;
    sampled.clip = Rect::new(sampled.clip.x + left, sampled.clip.y + top, shown.width, shown.height);
    (sampled.scaled, sampled.offset) = (shown, [0, 0]);
}

/// The smallest scale from which every layer that shows `image` still shrinks, or shows it pixel by pixel.
fn scale(plan: &Plan, image: usize) -> Scale {
    let number = image as u32;
    let mut layers_measured = plan.stats.iter().filter_map(|stat| match stat.of {
        Measured::Layer(layer) => plan.layers.get(layer as usize),
        Measured::BlendInput(_) | Measured::Pass(_) => None,
    });
    if layers_measured.any(|layer| layer.shows_image(number)) {
        return Scale::Full;
    }
    let of_layer = |sampled: &Sampled| {
        let fits = |scale: &&Scale| enough(sampled.clip, sampled.scaled, scale.divisor());
        Scale::ALL.iter().rev().find(fits).copied().filter(|_| averages(sampled)).unwrap_or_default()
    };
    let shown = plan.layers.iter().filter(|layer| layer.shows_image(number));
    shown.filter_map(|layer| layer.sampled()).map(of_layer).min().unwrap_or_default()
}

/// Whether a layer's pixels are means over what they cover, so that they may be means of means as well.
fn averages(sampled: &Sampled) -> bool {
    matches!(sampled.method, Method::Upright(Filter::Bilinear | Filter::Bicubic))
}

fn enough(clip: Rect, scaled: Size, divisor: u32) -> bool {
    let enough = |source: u32, target: u32| u64::from(source) >= u64::from(target) * u64::from(divisor);
    enough(clip.width, scaled.width) && enough(clip.height, scaled.height)
}

/// The pixels of the smaller image between the nearest to each edge; never none, since the clip is wider than one.
fn nearest(clip: Rect, scale: Scale, bounds: Size) -> Rect {
    let divisor = i64::from(scale.divisor());
    let round = |edge: i64, end: u32| ((edge + divisor / 2).div_euclid(divisor)).min(i64::from(end));
    let (left, right) = (round(clip.x.into(), bounds.width), round(clip.right(), bounds.width));
    let (top, bottom) = (round(clip.y.into(), bounds.height), round(clip.bottom(), bounds.height));
    Rect::new(left as i32, top as i32, (right - left) as u32, (bottom - top) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;
    use crate::draft::op::{Extent, Interpolation, Op};
    use crate::geometry::Orientation;

    fn resized(crop: Rect, to: (u32, u32), interpolation: Interpolation, antialias: bool) -> Plan {
        let mut draft = Draft::new(0, Size::new(800, 600), Orientation::UPRIGHT);
        let Rect { x, y, width, height } = crop;
        draft.apply(Op::Crop { top: y, left: x, height, width });
        draft.apply(Op::Resize { size: Extent::Two([to.1, to.0]), interpolation, max_size: None, antialias });
        draft.freeze().unwrap()
    }

    fn chosen(plan: &Plan, scalable: bool) -> Scale {
        scales(&ViewPlans::new([plan.clone()]), |_| scalable)[0]
    }

    #[test]
    fn an_image_of_several_views_has_the_scale_that_all_allow() {
        let view = |to| resized(Rect::new(1, 2, 640, 480), to, Interpolation::Bilinear, true);
        let plans = ViewPlans::new([view((80, 60)), view((160, 120)), view((100, 60))]);
        let scales = scales(&plans, |_| true);
        assert_eq!(scales, [Scale::Quarter]);
        let shrunk = all_shrunk(&plans, &scales);
        assert!(shrunk.views().iter().all(|view| view.plan.images[0].stored == Size::new(200, 150)));
    }

    #[test]
    fn the_smallest_scale_that_leaves_enough_is_taken() {
        let scale = |to| {
            let plan = resized(Rect::new(1, 2, 640, 480), to, Interpolation::Bilinear, true);
            chosen(&plan, true)
        };
        assert_eq!(scale((80, 60)), Scale::Eighth);
        assert_eq!(scale((81, 60)), Scale::Quarter);
        assert_eq!(scale((100, 200)), Scale::Half);
        assert_eq!(scale((320, 241)), Scale::Full);
        assert_eq!(scale((10, 480)), Scale::Full);
    }

    #[test]
    fn what_picks_single_pixels_is_decoded_at_full_size() {
        let crop = Rect::new(0, 0, 800, 600);
        for (interpolation, antialias) in [(Interpolation::Nearest, false), (Interpolation::Bilinear, false)]
        {
            let plan = resized(crop, (40, 30), interpolation, antialias);
            assert_eq!(chosen(&plan, true), Scale::Full);
        }
        let plan = resized(crop, (40, 30), Interpolation::Bilinear, true);
        assert_eq!(chosen(&plan, false), Scale::Full, "a PNG has no smaller transforms");
    }

    #[test]
    fn what_is_warped_is_decoded_at_full_size() {
        let mut draft = Draft::new(0, Size::new(800, 600), Orientation::UPRIGHT);
        let (angle, interpolation) = (10.0, Interpolation::Bilinear);
        draft.apply(Op::Rotate { angle, interpolation, expand: false, center: None, fill: None });
        draft.apply(Op::Resize { size: Extent::One(60), interpolation, max_size: None, antialias: true });
        let plan = draft.freeze().unwrap();
        assert_eq!(chosen(&plan, true), Scale::Full);
        assert_eq!(shrunk(&plan, &[Scale::Full]), plan);
    }

    #[test]
    fn edges_go_to_the_nearest_pixel_and_stay_inside() {
        let plan = resized(Rect::new(13, 6, 787, 594), (90, 70), Interpolation::Bicubic, true);
        let smaller = shrunk(&plan, &[Scale::Eighth]);
        assert_eq!(smaller.images[0].stored, Size::new(100, 75));
        assert_eq!(smaller.layers[0].sampled().unwrap().clip, Rect::new(2, 1, 98, 74));
        assert_eq!(shrunk(&plan, &[Scale::Full]), plan);
    }

    #[test]
    fn a_plan_that_resamples_no_more_only_crops() {
        let mut draft = Draft::new(0, Size::new(768, 512), Orientation::UPRIGHT);
        draft.apply(Op::Resize {
            size: Extent::One(64),
            interpolation: Interpolation::Bilinear,
            max_size: None,
            antialias: true,
        });
        draft.apply(Op::Crop { top: 0, left: 16, height: 64, width: 64 });
        let plan = shrunk(&draft.freeze().unwrap(), &[Scale::Eighth]);
        let layer = plan.layers[0].sampled().unwrap();
        assert_eq!((layer.clip, layer.scaled), (Rect::new(16, 0, 64, 64), Size::new(64, 64)));
        assert_eq!(layer.offset, [0, 0]);
    }
}
