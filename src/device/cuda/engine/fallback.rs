//! The CPU's decoder, for what the device's decoders do not take or refuse.

use crate::error::Cause;
use crate::geometry::Rect;
use crate::image::{Decoder, Header, Image, Limits};

/// A decoder and the image that it decodes into.
pub(super) struct Fallback {
    decoder: Decoder,
    image: Image,
}

impl Fallback {
    pub(super) fn new(limits: Limits) -> Self {
        Self { decoder: Decoder::new(limits), image: Image::default() }
    }

    pub(super) fn decode(&mut self, bytes: &[u8], header: &Header, wanted: Rect) -> Result<&Image, Cause> {
        self.decoder.decode(bytes, header, wanted, &mut self.image)?;
        Ok(&self.image)
    }
}
