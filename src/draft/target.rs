//! What a size means in a batch whose size is its own.

use super::Draft;
use super::op::Extent;
use crate::geometry::Size;

/// The size of a sample's batch, where batches differ in size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The output's size: what augmentations name when they mean the batch's.
    pub usual: Size,
    /// The size of this batch.
    pub size: Size,
    /// The longer edge that images are loaded with.
    pub imgsz: u32,
}

impl Draft {
    /// The same draft, of a sample for a batch of this size; without a target sizes mean what they say.
    pub fn with_target(self, target: Option<Target>) -> Self {
        Self { target, ..self }
    }

    /// The size of the sample's batch, where batches differ in size.
    pub fn target(&self) -> Option<Target> {
        self.target
    }

    /// What an augmentation has to make where `extent` was asked for, one number meaning a square: the batch's size
    /// where that of the output was asked for, and else the same.
    pub fn sized(&self, extent: Extent) -> Extent {
        match self.target {
            Some(target) if target.usual == extent.square() => target.size.into(),
            _ => extent,
        }
    }

    /// The same for the length of a shorter edge.
    pub fn sized_short(&self, edge: u32) -> u32 {
        let short = |size: Size| size.width.min(size.height);
        self.target.filter(|target| short(target.usual) == edge).map_or(edge, |target| short(target.size))
    }

    /// The same for the length of a longer edge that images are loaded with.
    pub fn sized_long(&self, edge: u32) -> u32 {
        let usual = |target: &Target| target.usual.width.max(target.usual.height);
        self.target.filter(|target| usual(target) == edge).map_or(edge, |target| target.imgsz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Orientation;

    #[test]
    fn the_outputs_size_means_the_batchs_and_any_other_size_itself() {
        let draft = Draft::new(0, Size::new(90, 70), Orientation::UPRIGHT);
        let usual = Size::new(64, 64);
        assert_eq!(
            (draft.sized(64.into()), draft.sized_short(64), draft.sized_long(64)),
            (64.into(), 64, 64)
        );
        let draft = draft.with_target(Some(Target { usual, size: Size::new(96, 32), imgsz: 80 }));
        for extent in [Extent::One(64), Extent::Single([64]), Extent::Two([64, 64])] {
            assert_eq!(draft.sized(extent), Extent::Two([32, 96]));
        }
        assert_eq!((draft.sized_short(64), draft.sized_long(64)), (32, 80));
        assert_eq!(draft.sized([64, 65].into()), [64, 65].into());
        assert_eq!((draft.sized_short(65), draft.sized_long(32)), (65, 32));
    }
}
