//! Where a sample shows its image, for whoever maps predictions back to the image.

use super::Plan;
use super::label_ops::LabelOpKind;

/// Where a sample shows all of its only image, or a part of it: what lies at `x` in the upright image lies at
/// `ratio * x + pad` in the sample, in pixels. So `(x - pad) / ratio` leads back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// By how much the image was made larger, along x and along y.
    pub ratio: [f64; 2],
    /// How far from the sample's left and upper edge the image begins; negative where it was cropped there.
    pub pad: [f64; 2],
}

impl Plan {
    /// Where the sample shows its image; `None` where it shows several, or shows it mirrored, turned, sheared or distorted.
    pub fn placement(&self) -> Option<Placement> {
        if self.images.len() != 1 {
            return None;
        }
        let start = Placement { ratio: [1.0; 2], pad: [0.0; 2] };
        self.label_ops.iter().try_fold(start, |placement, op| placement.then(&op.kind))
    }
}

impl Placement {
    fn then(self, kind: &LabelOpKind) -> Option<Self> {
        let Self { ratio: [rx, ry], pad: [px, py] } = self;
        match *kind {
            LabelOpKind::Map([sx, 0.0, tx, 0.0, sy, ty, 0.0, 0.0, 1.0]) if sx > 0.0 && sy > 0.0 => {
                Some(Self { ratio: [rx * sx, ry * sy], pad: [px * sx + tx, py * sy + ty] })
            }
            LabelOpKind::Map(_) | LabelOpKind::Distort(_) | LabelOpKind::Mirrored => None,
            LabelOpKind::Clip(_)
            | LabelOpKind::Hide(_)
            | LabelOpKind::Rebox
            | LabelOpKind::Mark
            | LabelOpKind::Weigh(_)
            | LabelOpKind::PasteMirrored { .. }
            | LabelOpKind::Drop(_)
            | LabelOpKind::Keep(_) => Some(self),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;
    use crate::draft::Draft;
    use crate::draft::op::{Fill, Interpolation, Op, Padding, PaddingMode};
    use crate::geometry::{Orientation, Size};

    fn placement(ops: impl IntoIterator<Item = Op>) -> Option<Placement> {
        let mut draft = Draft::new(0, Size::new(200, 100), Orientation::UPRIGHT);
        ops.into_iter().for_each(|op| draft.apply(op));
        draft.freeze().unwrap().placement()
    }

    fn resize(size: Size) -> Op {
        Op::Resize {
            size: size.into(),
            interpolation: Interpolation::Bilinear,
            max_size: None,
            antialias: true,
        }
    }

    #[test]
    fn scales_and_shifts_are_composed_in_their_order() {
        let padding = Padding::Sides([3, 5, 0, 0]);
        let pad = Op::Pad { padding, fill: Fill::Grey(0), padding_mode: PaddingMode::Constant };
        let crop = Op::Crop { top: 1, left: -2, height: 20, width: 30 };
        let ops = [resize(Size::new(100, 25)), pad, crop, resize(Size::new(60, 40))];
        assert_eq!(placement(ops), Some(Placement { ratio: [1.0, 0.5], pad: [10.0, 8.0] }));
        assert_eq!(placement([]), Some(Placement { ratio: [1.0; 2], pad: [0.0; 2] }));
    }

    #[test]
    fn what_is_mirrored_or_turned_has_no_placement() {
        let turned = Op::Rotate {
            angle: 10.0,
            interpolation: Interpolation::Nearest,
            expand: false,
            center: None,
            fill: None,
        };
        for op in [Op::Hflip {}, Op::Vflip {}, turned] {
            assert_eq!(placement([op.clone()]), None, "{op:?}");
        }
    }

    #[test]
    fn what_shows_two_images_has_no_placement() {
        let own = Draft::new(0, Size::new(8, 8), Orientation::UPRIGHT);
        let mut mixed = Draft::new(1, Size::new(8, 8), Orientation::UPRIGHT);
        mixed.blend(own, 0.5, Size::new(8, 8).rect(), 0.5).unwrap();
        assert_eq!(mixed.freeze().unwrap().placement(), None);
    }
}
