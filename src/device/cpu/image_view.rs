//! A rectangle of packed RGB pixels, upright, that taps may read.

use crate::decode_memory::{give_back, grow};
use crate::geometry::{Orientation, Rect, Size};
use crate::image::Image;

/// Borrowed packed RGB rows; [`Image::TAIL`] bytes after the last pixel may be read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImageView<'a> {
    /// Starts at the first pixel of the first row.
    pub(crate) data: &'a [u8],
    /// Bytes from one row to the next.
    pub(crate) stride: usize,
    /// Pixels.
    pub(crate) size: Size,
}

impl<'a> ImageView<'a> {
    /// The part `rect` (stored coordinates) of a decoded image; `None` where it was not decoded.
    pub(crate) fn of(image: &'a Image, rect: Rect) -> Option<Self> {
        if !image.region.contains(rect) || rect.is_empty() {
            return None;
        }
        let (x, y) = ((rect.x - image.region.x) as usize, (rect.y - image.region.y) as usize);
        let view = Self {
            data: image.data.get(y.checked_mul(image.stride)?.checked_add(x * 3)?..)?,
            stride: image.stride,
            size: rect.size(),
        };
        (view.data.len() >= view.bytes_needed()).then_some(view)
    }

    /// Bytes from the first pixel to the end of what may be read.
    ///
    /// The stride is whatever the caller's image says, and vector loads rely on this sum: it must not wrap.
    fn bytes_needed(&self) -> usize {
        let last_row = (self.size.height as usize - 1).saturating_mul(self.stride);
        last_row.saturating_add(self.size.width as usize * 3 + Image::TAIL)
    }

    /// The pixels of row `y`.
    pub(crate) fn row(&self, y: usize) -> &'a [u8] {
        &self.data[y * self.stride..][..self.size.width as usize * 3]
    }
}

/// Packed RGB pixels of our own: what a view is turned, recoloured or staged into.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    pub(crate) data: Vec<u8>,
    pub(crate) size: Size,
}

impl Canvas {
    /// Bytes of memory that it has.
    pub(super) fn bytes(&self) -> usize {
        self.data.capacity()
    }

    /// Makes room for `size`, keeping the memory; the content is undefined.
    pub(crate) fn reset(&mut self, size: Size) {
        self.size = size;
        grow(&mut self.data, size.pixels() as usize * 3 + Image::TAIL);
    }

    /// Frees pixels that are too many to be kept for the next sample.
    pub(crate) fn give_back(&mut self) {
        give_back(&mut self.data);
    }

    pub(crate) fn stride(&self) -> usize {
        self.size.width as usize * 3
    }

    pub(crate) fn rows_mut(&mut self) -> &mut [u8] {
        let bytes = self.size.pixels() as usize * 3;
        &mut self.data[..bytes]
    }

    /// The part `rect`, which must lie inside.
    pub(crate) fn part(&self, rect: Rect) -> ImageView<'_> {
        let stride = self.stride();
        ImageView {
            data: &self.data[rect.y as usize * stride + rect.x as usize * 3..],
            stride,
            size: rect.size(),
        }
    }

    /// Becomes the oriented copy of `view`.
    pub(crate) fn copy_turned(&mut self, view: ImageView<'_>, orientation: Orientation) {
        self.reset(orientation.apply_size(view.size));
        let (width, height) = (self.size.width as usize, self.size.height as usize);
        for (y, row) in self.rows_mut().chunks_exact_mut(width * 3).enumerate() {
            let y = if orientation.mirrors_y() { height - 1 - y } else { y };
            for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
                let x = if orientation.mirrors_x() { width - 1 - x } else { x };
                let (column, line) = if orientation.transposes() { (y, x) } else { (x, y) };
                pixel.copy_from_slice(&view.data[line * view.stride + column * 3..][..3]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_whose_stride_reaches_around_the_address_space_shows_nothing() {
        let size = Size::new(2, 3);
        for (stride, shown) in [(6, true), (usize::MAX / 2 + 1, false), (usize::MAX, false)] {
            let data = vec![0; 18 + Image::TAIL];
            let image = Image { stored: size, region: size.rect(), stride, data, ..Image::default() };
            assert_eq!(ImageView::of(&image, size.rect()).is_some(), shown, "stride {stride}");
            assert_eq!(ImageView::of(&image, Rect::new(0, 2, 1, 1)).is_some(), shown, "stride {stride}");
        }
    }
}
