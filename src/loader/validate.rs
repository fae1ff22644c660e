//! Plans made-up images when a loader is built: what would fail for every sample is found before the first file is read.

use super::planner::{Choice, ImageInfo, PlanError, Planner, SampleContext};
use crate::augment::View;
use crate::augment::container::within;
use crate::draft::Target;
use crate::error::{Error, Result};
use crate::geometry::Size;
use crate::sampler::Order;

/// Made-up images, the most forgiving first: a chain that cannot plan that one cannot plan any.
const SIZES: [Size; 4] = [Size::new(4000, 3000), Size::new(640, 480), Size::new(375, 500), Size::new(1, 1)];
/// Samples planned for each size, so that augmentations with a small chance take part.
const SAMPLES: u64 = 16;

/// The error of a sample whose size is not that of the output.
pub(super) fn wrong_size(got: Size, want: Size) -> Error {
    Error::config(format!(
        "the augmentations end at {got} but the output is {want}: add a crop, a resize or a letterbox"
    ))
}

/// The size that each view ends at, of the loader's `views`; without any, that of the only one.
pub(super) fn output_sizes(planner: &Planner, asked: Option<Size>, views: &[View]) -> Result<Vec<Size>> {
    if views.is_empty() {
        return Ok(vec![output_size(planner, 0, asked)?]);
    }
    let mut sizes = Vec::new();
    for (number, view) in views.iter().enumerate() {
        // All that it stands for have the same chain.
        let size = output_size(planner, sizes.len(), Some(view.pixels()));
        let size = size.map_err(|error| within_view(number, error))?;
        sizes.resize(sizes.len() + view.count, size);
    }
    Ok(sizes)
}

/// The error of a view, which says so already where it is that of one of its transforms.
fn within_view(number: usize, error: Error) -> Error {
    match error {
        Error::Config(message) if message.starts_with("views[") => Error::Config(message),
        error => within(&format!("views[{number}]"), error),
    }
}

/// Plans made-up images and returns the size that all samples end at in a view.
///
/// A chain that refuses only small images is let through: those samples fail one by one. With `asked`, a chain that
/// keeps the size of its input is let through as well, as the caller knows that all images have that size.
fn output_size(planner: &Planner, view: usize, asked: Option<Size>) -> Result<Size> {
    let mut ends: Option<Size> = None;
    plan_all((planner, view), asked.into_iter().chain(SIZES), None, |size| {
        match (ends, asked) {
            (None, Some(want)) if size != want => return Err(wrong_size(size, want)),
            (None, _) => ends = Some(size),
            (Some(end), None) if size != end => return Err(unsteady(end, size)),
            _ => {}
        }
        Ok(())
    })?;
    ends.ok_or_else(|| Error::config("no sample could be planned"))
}

/// Refuses a chain that does not end at the batch's size where that is `target`.
///
/// As in [`output_size`], one that refuses small images only is let through.
pub(super) fn check_target(planner: &Planner, target: Target) -> Result<()> {
    plan_all((planner, 0), SIZES.into_iter(), Some(target), |size| match size == target.size {
        true => Ok(()),
        false => Err(not_sized(size, target)),
    })
}

/// Plans made-up samples of these sizes, and calls `check` with the size that each ends at. Only a chain that refuses the
/// first size is an error.
fn plan_all(
    (planner, view): (&Planner, usize),
    sizes: impl Iterator<Item = Size>,
    target: Option<Target>,
    mut check: impl FnMut(Size) -> Result<()>,
) -> Result<()> {
    let order = Order::sequential(SAMPLES);
    // What is left of a chain once its mosaics are closed must work as well.
    let epochs = || [Some(0), planner.close_mosaic].into_iter().flatten();
    let drawn = || (0..SAMPLES).map(|index| (index, None));
    // Each transform of a container takes part, however rarely it is drawn.
    let forced = || (0..planner.ways(view)).map(|way| (0, Some(way)));
    let ways: Vec<(u64, Option<usize>)> = drawn().chain(forced()).collect();
    for (at, stored) in sizes.enumerate() {
        for (epoch, &(index, way)) in epochs().flat_map(|epoch| ways.iter().map(move |way| (epoch, way))) {
            let sample = SampleContext { epoch, order: &order, position: index, index, target };
            let planned = planner.plan_way(sample, (view, way), &mut |_: u64| Ok(ImageInfo::made_up(stored)));
            match planned.map_err(PlanError::into_error) {
                Ok(planned) => {
                    check(planned.plan.size()).map_err(|error| add_choices(error, &planned.choices))?;
                }
                Err(error) if at == 0 => return Err(error),
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Says which of their transforms the containers had chosen.
fn add_choices(error: Error, choices: &[Choice]) -> Error {
    let chosen = |choice: &Choice| match choice.chosen[..] {
        [] => format!("{} ({}) runs nothing", choice.place, choice.op),
        _ => format!("{} ({}) runs its transforms {:?}", choice.place, choice.op, choice.chosen),
    };
    match (error, choices) {
        (Error::Config(message), [_, ..]) => {
            let choices: Vec<String> = choices.iter().map(chosen).collect();
            Error::Config(format!("{message} (where {})", choices.join(", ")))
        }
        (error, _) => error,
    }
}

fn not_sized(got: Size, Target { usual, size, .. }: Target) -> Error {
    Error::config(format!(
        "the augmentations end at {got} in a batch of {size}: an augmentation makes the batch's size where it is asked for \
         the output's, {usual}, so end with one that is (LetterBox, YoloPerspective, RandomResizedCrop, Resize or a crop)"
    ))
}

fn unsteady(one: Size, other: Size) -> Error {
    Error::config(format!(
        "the augmentations end at {other} for one image and at {one} for another, but a batch needs one size: add a \
         crop, a resize or a letterbox, or set output_size where all images have one size"
    ))
}
