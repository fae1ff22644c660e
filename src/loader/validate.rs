//! Plans made-up images when a loader is built: what would fail for every sample is found before the first file is read.

use super::planner::{Choice, ImageInfo, PlanError, Planned, Planner, SampleContext};
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
    plan_all((planner, view), asked, None, |size, is_of_asked| {
        match (ends, asked) {
            (_, Some(want)) if size != want && is_of_asked => return Err(wrong_size(size, want)),
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
    plan_all((planner, 0), None, Some(target), |size, _| match size == target.size {
        true => Ok(()),
        false => Err(not_sized(size, target)),
    })
}

/// A made-up sample, and what runs for it.
#[derive(Clone, Copy)]
struct Trial {
    epoch: u64,
    index: u64,
    /// The way through the containers, where they do not draw.
    way: Option<usize>,
    /// Whether all augmentations run that can.
    all: bool,
}

impl Trial {
    fn plan(
        self,
        (planner, view): (&Planner, usize),
        target: Option<Target>,
        stored: Size,
    ) -> Result<Planned> {
        let Self { epoch, index, way, all } = self;
        let order = Order::sequential(SAMPLES);
        let sample = SampleContext { epoch, order: &order, position: index, index, target };
        let images = &mut |_: u64| Ok(ImageInfo::made_up(stored));
        let planned = match all {
            true => planner.plan_all_that_can_run(sample, (view, way), images),
            false => planner.plan_way(sample, (view, way), images),
        };
        planned.map_err(PlanError::into_error)
    }
}

/// What is tried for each size of image.
fn trials(planner: &Planner, view: usize) -> Vec<Trial> {
    // What is left of a chain once its mosaics are closed must work as well.
    let epochs = [Some(0), planner.mixing_off_epoch].into_iter().flatten();
    let of_epoch = |epoch| {
        let drawn = (0..SAMPLES).map(move |index| Trial { epoch, index, way: None, all: false });
        // Each transform of a container takes part, however rarely it is drawn.
        let ways = planner.ways(view);
        let forced = (0..ways).map(move |way| Trial { epoch, index: 0, way: Some(way), all: false });
        let all = (0..ways.max(SAMPLES as usize)).map(move |way| {
            let index = way as u64 % SAMPLES;
            Trial { epoch, index, way: Some(way), all: true }
        });
        drawn.chain(forced).chain(all)
    };
    epochs.flat_map(of_epoch).collect()
}

/// Plans made-up samples of the size `asked` and of [`SIZES`], and calls `check` with the size that each ends at, and whether it
/// is of the size `asked` or stands for one of that size that was refused.
///
/// Only a chain that refuses the first of all sizes is an error; where that is `asked`, of which there may be no image, it has
/// to refuse the most forgiving size as well.
fn plan_all(
    of: (&Planner, usize),
    asked: Option<Size>,
    target: Option<Target>,
    mut check: impl FnMut(Size, bool) -> Result<()>,
) -> Result<()> {
    let trials = trials(of.0, of.1);
    let mut refused = vec![false; trials.len()];
    for (at, stored) in asked.into_iter().chain(SIZES).enumerate() {
        let (is_asked, is_forgiving) = (at == 0 && asked.is_some(), at == usize::from(asked.is_some()));
        for (trial, refused) in trials.iter().zip(&mut refused) {
            match trial.plan(of, target, stored) {
                Ok(planned) => check(planned.plan.size(), is_asked || is_forgiving && *refused)
                    .map_err(|error| add_choices(error, &planned.choices))?,
                Err(_) if is_asked => *refused = true,
                Err(error) if is_forgiving && (*refused || asked.is_none()) => return Err(error),
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
         crop, a resize or a letterbox, or set the output's size where all images have one"
    ))
}
