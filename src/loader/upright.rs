//! Whole images, upright and perhaps smaller: what shards and caches hold of them.

use crate::decode_memory::give_back;
use crate::device::{self, cpu::Renderer};
use crate::draft::Draft;
use crate::draft::op::{Extent, Interpolation, Op};
use crate::error::Cause;
use crate::geometry::Orientation;
use crate::image::{Decoder, Header, Image, Limits};
use crate::output::{DType, Layout, Output};
use crate::plan::Plan;

/// Makes upright images, and reuses its memory.
pub(crate) struct Upright {
    decoder: Decoder,
    pub(crate) renderer: Renderer,
    image: Image,
    pixels: Vec<u8>,
}

impl Upright {
    pub(crate) fn new(limits: Limits) -> Self {
        let (renderer, image, pixels) = (Renderer::default(), Image::default(), Vec::new());
        Self { decoder: Decoder::new(limits), renderer, image, pixels }
    }

    /// Renders an image as it is turned, with its shorter edge at `edge` pixels if one is given: R, G and B of each pixel,
    /// row after row.
    ///
    /// # Errors
    /// Those of decoding.
    pub(crate) fn render(
        &mut self,
        bytes: &[u8],
        header: &Header,
        turned: Orientation,
        edge: Option<u32>,
    ) -> Result<(Plan, Output), Cause> {
        let mut draft = Draft::new(0, header.size, turned);
        if let Some(edge) = edge {
            let (size, interpolation) = (Extent::One(edge), Interpolation::Bilinear);
            draft.apply(Op::Resize { size, interpolation, max_size: None, antialias: true });
        }
        let plan = draft.freeze()?;
        let output = Output { size: plan.size(), dtype: DType::U8, layout: Layout::Nhwc, normalize: None };
        self.decoder.decode(bytes, header, device::region(&plan, 0), &mut self.image)?;
        let bytes = output.sample_bytes();
        if self.pixels.len() < bytes {
            self.pixels.resize(bytes, 0);
        }
        let images = std::slice::from_ref(&self.image);
        self.renderer.render(&plan, images, &output, &mut self.pixels[..bytes])?;
        Ok((plan, output))
    }

    /// The pixels of the image that was rendered last, which became `output`.
    pub(crate) fn pixels(&self, output: &Output) -> &[u8] {
        &self.pixels[..output.sample_bytes()]
    }

    /// Gives memory back that is too much to be kept for the next image.
    pub(crate) fn give_back(&mut self) {
        self.image.give_back();
        self.renderer.give_back();
        give_back(&mut self.pixels);
    }

    /// Bytes of pixels that are kept for the next image.
    #[cfg(test)]
    pub(crate) fn kept_bytes(&self) -> usize {
        self.image.data.capacity() + self.pixels.capacity()
    }
}
