//! Mirroring a canvas: which way, and where a rectangle then lies.

use crate::geometry::{Rect, Size};

/// Which way a canvas is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flip {
    LeftRight,
    TopBottom,
}

/// Where `rect` lies once an area of `size` is mirrored.
pub(super) fn mirrored(rect: Rect, flip: Flip, size: Size) -> Rect {
    match flip {
        Flip::LeftRight => Rect { x: (i64::from(size.width) - rect.right()) as i32, ..rect },
        Flip::TopBottom => Rect { y: (i64::from(size.height) - rect.bottom()) as i32, ..rect },
    }
}
