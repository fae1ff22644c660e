//! What a size means in a batch whose size is its own.

use super::Draft;
use super::op::{Extent, Fill, Op, Padding, PaddingMode, Value};
use crate::error::Error;
use crate::geometry::Size;
use crate::plan::label_ops::LabelOpKind;

/// The size of a sample's batch, where batches differ in size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The output's size: what augmentations name when they mean the batch's.
    pub usual: Size,
    /// The size of this batch.
    pub size: Size,
    /// The longer edge that images are loaded with.
    pub imgsz: u32,
    /// Whether samples keep the size that they end at, and are padded to the batch's: then all sizes mean what they say, and
    /// `usual` is the largest that a sample may have.
    pub pads: bool,
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
            Some(target) if !target.pads && target.usual == extent.square() => target.size.into(),
            _ => extent,
        }
    }

    /// The same for the length of a shorter edge.
    pub fn sized_short(&self, edge: u32) -> u32 {
        let short = |size: Size| size.width.min(size.height);
        let meant = |target: &Target| !target.pads && short(target.usual) == edge;
        self.target.filter(meant).map_or(edge, |target| short(target.size))
    }

    /// The same for the length of a longer edge that images are loaded with.
    pub fn sized_long(&self, edge: u32) -> u32 {
        let usual = |target: &Target| target.usual.width.max(target.usual.height);
        let meant = |target: &Target| !target.pads && usual(target) == edge;
        self.target.filter(meant).map_or(edge, |target| target.imgsz)
    }

    /// Pads the finished sample to its batch, where batches are padded: at the right and at the bottom, by what is 0 after
    /// normalise. The plan then knows the size without it.
    pub(crate) fn fill_batch(&mut self) {
        let Some(target) = self.target.filter(|target| target.pads && !self.has_failed()) else { return };
        let own = self.size();
        if let Err(error) = self.check_padding(own, target) {
            self.fail(error);
            return;
        }
        self.unpadded = Some(own);
        // What hangs over the sample's edge is not seen on the border.
        self.relabel(LabelOpKind::Clip(own.rect()));
        let (right, below) = (target.size.width - own.width, target.size.height - own.height);
        if (right, below) == (0, 0) {
            return;
        }
        let (padding, fill) = (Padding::Sides([0, 0, right, below]), Fill::default());
        self.apply(Op::Pad { padding, fill, padding_mode: PaddingMode::Constant });
        let (width, height) = (own.width as i32, own.height as i32);
        for (i, j, h, w) in [(0, width, target.size.height, right), (height, 0, below, own.width)] {
            if h > 0 && w > 0 {
                self.apply(Op::Erase { i, j, h, w, v: Value::One(0.0) });
            }
        }
    }

    fn check_padding(&self, own: Size, Target { usual, size, .. }: Target) -> Result<(), Error> {
        let fits = |most: Size| own.width <= most.width && own.height <= most.height;
        let wrong = match (fits(usual), fits(size), self.finished_by()) {
            (true, true, None) => return Ok(()),
            (false, ..) => format!(
                "the sample ends at {own}, and with pad_to_largest the output's size, {usual}, is the largest: raise it, or \
                 resize to less (max_size)"
            ),
            (_, false, _) => {
                format!("it ends at {own}, which is larger than the batch whose row it would fill, {size}")
            }
            (.., Some(first)) => format!(
                "pad_to_largest pads the finished sample, which cannot follow {first}: leave {first} out"
            ),
        };
        Err(Error::config(wrong))
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
        let target = Target { usual, size: Size::new(96, 32), imgsz: 80, pads: false };
        let draft = draft.with_target(Some(target));
        for extent in [Extent::One(64), Extent::Single([64]), Extent::Two([64, 64])] {
            assert_eq!(draft.sized(extent), Extent::Two([32, 96]));
        }
        assert_eq!((draft.sized_short(64), draft.sized_long(64)), (32, 80));
        assert_eq!(draft.sized([64, 65].into()), [64, 65].into());
        assert_eq!((draft.sized_short(65), draft.sized_long(32)), (65, 32));
        // In a batch that is padded each sample has its own size.
        let draft = draft.with_target(Some(Target { pads: true, ..target }));
        assert_eq!(
            (draft.sized(64.into()), draft.sized_short(64), draft.sized_long(64)),
            (64.into(), 64, 64)
        );
    }
}
