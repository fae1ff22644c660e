//! The state of a sequential decode between two MCUs.

use crate::jpeg::entropy::{Cursor, Stream};
use crate::jpeg::seek::Point;

/// The state that one MCU passes to the next.
#[derive(Default)]
pub(super) struct State {
    pub(super) cursor: Cursor,
    pub(super) predictions: [i32; 4],
}

impl State {
    /// The state at `point`, whose byte is the first of `stream`.
    pub(super) fn at(point: &Point, stream: &Stream) -> Self {
        let mut cursor = Cursor::default();
        cursor.refill(stream.data());
        cursor.skip(point.bit());
        Self { cursor, predictions: point.predictions() }
    }
}
