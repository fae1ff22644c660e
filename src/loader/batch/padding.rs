//! How samples lie in a batch that is as large as its largest one.

use crate::geometry::Size;

/// Which pixels are padding, and how large the samples are without it.
#[derive(Default)]
pub(crate) struct Padding {
    /// `[rows, height, width]`.
    pub(crate) pixels: Vec<bool>,
    /// Height and width of each row's sample.
    pub(crate) sizes: Vec<[i64; 2]>,
}

impl Padding {
    /// Adds the next row: a sample of size `own` in a batch of size `batch`.
    pub(super) fn push(&mut self, own: Size, batch: Size) {
        let columns = |shown: u32| (0..batch.width).map(move |x| x >= shown);
        for y in 0..batch.height {
            self.pixels.extend(columns(if y < own.height { own.width } else { 0 }));
        }
        self.sizes.push([own.height, own.width].map(i64::from));
    }
}
