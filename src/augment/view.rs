//! Views: several outputs of one sample, each with a size and augmentations of its own.

use super::Augmentation;
use super::container::{check_transforms, count, within};
use super::read::transforms;
use crate::draft::op::Extent;
use crate::error::{Result, ensure};
use crate::geometry::Size;
use serde::{Deserialize, Serialize};

/// What is said where a view has no size.
pub(crate) const NO_SIZE: &str = "a view needs a size: give size = 224, or [height, width] in pixels";

/// Most views of a sample.
pub const MAX_VIEWS: usize = 64;

/// An output of a sample, or several alike: what self-supervised training compares with one another, such as two crops of
/// one image.
///
/// A sample's images are decoded once for all its views, as far as any of them reads them. What the loader was given before
/// its views runs in each of them with the same dice; then come the view's own transforms, with dice of its own.
///
/// ```
/// use feedline::augment::{RandomHorizontalFlip, RandomResizedCrop, View};
/// use feedline::{loader::Loader, source::Folder};
///
/// let large = View::new(224).count(2).transform(RandomResizedCrop::new(224).scale([0.32, 1.0]));
/// let small = View::new(96).count(8).transform(RandomResizedCrop::new(96).scale([0.05, 0.32]));
/// let loader = Loader::builder(Folder::open("data/photos")?)
///     .batch_size(4)
///     .augment(RandomHorizontalFlip::new(0.5))
///     .view(large)
///     .view(small)
///     .build()?;
/// let batch = loader.epoch(0).next().expect("a batch")?;
/// assert_eq!(batch.view_count(), 10);
/// assert_eq!(batch.view(9).expect("a view").shape(), [4, 3, 96, 96]);
/// # Ok::<(), feedline::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    /// `[height, width]` of the view in pixels, or one number for a square: what its transforms end at.
    pub size: Extent,
    /// How many views it stands for, which differ in their dice; from 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: usize,
    /// What follows the augmentations of all views.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "transforms")]
    pub transforms: Vec<Augmentation>,
}

const fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_one(count: &usize) -> bool {
    *count == 1
}

impl View {
    /// One view of this size without transforms of its own.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into(), count: 1, transforms: Vec::new() }
    }

    setters! {
        /// Sets how many views it stands for.
        count: usize;
    }

    /// Adds a transform after those already there.
    pub fn transform(mut self, transform: impl Into<Augmentation>) -> Self {
        self.transforms.push(transform.into());
        self
    }

    /// Height and width of the view.
    pub fn pixels(&self) -> Size {
        self.size.square()
    }
}

/// Refuses views that could not be made, naming the place in a recipe.
pub(crate) fn check(views: &[View]) -> Result<()> {
    for (number, view) in views.iter().enumerate() {
        check_one(&format!("views[{number}]"), view)?;
    }
    let total: usize = views.iter().map(|view| view.count).sum();
    ensure!(
        total <= MAX_VIEWS,
        "a sample may have {MAX_VIEWS} views, and there are {total}: lower a count, or leave some out"
    );
    Ok(())
}

/// Refuses a view that could not be made; `place` names it.
pub(crate) fn check_one(place: &str, view: &View) -> Result<()> {
    let Size { width, height } = view.pixels();
    ensure!(
        width > 0 && height > 0 && width <= 65535 && height <= 65535,
        "{place}: size is [{height}, {width}]: give [height, width] in pixels, each from 1 to 65535"
    );
    ensure!(
        (1..=MAX_VIEWS).contains(&view.count),
        "{place}: count is {}, and may be 1 to {MAX_VIEWS}",
        view.count
    );
    check_transforms(&view.transforms).map_err(|error| within(place, error))
}

/// How many augmentations there are in all views.
pub(crate) fn augmentations(views: &[View]) -> usize {
    views.iter().map(|view| count(&view.transforms)).sum()
}
