//! The CPU's decoder, for what the device's decoders do not take or refuse.

use super::source_bytes::StagedPixels;
use super::staging::Staging;
use crate::error::Cause;
use crate::geometry::Rect;
use crate::image::{Damage, Decoder, Header, Image, Index, Limits};

/// A decoder, which decodes straight into the memory that the device copies from.
pub(super) struct Fallback {
    decoder: Decoder,
    /// Of files that are only looked at.
    image: Image,
    damage: Option<Damage>,
}

impl Fallback {
    pub(super) fn new(limits: Limits) -> Self {
        Self { decoder: Decoder::new(limits), image: Image::default(), damage: None }
    }

    /// Decodes what is wanted of a file into memory of `staging`, faster where `index` is one of its own, and notes there what
    /// is not known yet.
    pub(super) fn decode(
        &mut self,
        (bytes, header): (&[u8], &Header),
        wanted: Rect,
        index: Option<&mut Index>,
        staging: &Staging,
    ) -> Result<StagedPixels, Cause> {
        // Ahead of any allocation.
        self.decoder.check(header, wanted.into())?;
        let pixels = StagedPixels::make(wanted, staging, |pixels| {
            Ok(self.decoder.decode_into(bytes, header, wanted.into(), index, pixels)?)
        })?;
        self.damage = self.damage.or(self.decoder.damage());
        Ok(pixels)
    }

    /// Whether the whole file can be decoded.
    pub(super) fn verify(&mut self, bytes: &[u8], header: &Header) -> Result<(), Cause> {
        let decoded = self.decoder.decode(bytes, header, header.size.rect(), &mut self.image);
        self.image.give_back();
        decoded?;
        self.damage = self.damage.or(self.decoder.damage());
        Ok(())
    }

    /// What was wrong with what was decoded since the last call.
    pub(super) fn take_damage(&mut self) -> Option<Damage> {
        self.damage.take()
    }
}
