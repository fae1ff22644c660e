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
