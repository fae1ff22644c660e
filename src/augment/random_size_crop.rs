//! RandomSizeCrop: a part of random size at a random position.

use super::prelude::*;

/// Crops a part whose width and height are drawn from a range, at a random position (DETR's `RandomSizeCrop`).
///
/// An edge that is shorter than `min_size` is kept whole. Draws: the width, the height, then the row and the column where
/// there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomSizeCrop {
    /// Minimum width and height in pixels, from 1 to 65535.
    pub min_size: u32,
    /// Maximum width and height in pixels, from 1 to 65535; at least `min_size`. The image's own edge is another one.
    pub max_size: u32,
}

impl RandomSizeCrop {
    /// Crops to edges from `min_size` to `max_size`.
    pub fn new(min_size: u32, max_size: u32) -> Self {
        Self { min_size, max_size }
    }

    /// The part to crop of an image of size `of`.
    pub fn make_params(&self, of: Size, rng: &mut dyn Draws) -> Rect {
        let mut edge = |have: u32| {
            let most = have.min(self.max_size);
            let least = self.min_size.min(most);
            least + rng.below(most - least + 1)
        };
        let (width, height) = (edge(of.width), edge(of.height));
        let mut place = |free: u32| if free == 0 { 0 } else { rng.below(free + 1) as i32 };
        let top = place(of.height - height);
        let left = place(of.width - width);
        Rect::new(left, top, width, height)
    }
}

impl Augment for RandomSizeCrop {
    fn check(&self) -> Result<()> {
        for size in [self.min_size, self.max_size] {
            check::size(self.name(), Extent::One(size))?;
        }
        ensure!(
            self.min_size <= self.max_size,
            "{}: min_size is {} and max_size {}: swap them",
            self.name(),
            self.min_size,
            self.max_size
        );
        Ok(())
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        let Rect { x: left, y: top, width, height } = self.make_params(draft.size(), rng);
        if draft.size() != Size::new(width, height) {
            draft.apply(Op::Crop { top, left, height, width });
        }
    }
}
