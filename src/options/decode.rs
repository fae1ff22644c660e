//! `[decode]`: what the decoder takes, and where what was learned of files is kept.

use super::bytes::Bytes;
use crate::image::Limits;
use crate::index::{DEFAULT_BUDGET, IndexMode};
use crate::policy::{Damaged, DecodeScale, DecoderChoice};

section! {
    /// `[decode]`: what the decoder takes, and where what was learned of files is kept.
    pub struct DecodeOptions in "decode" {
        /// The largest number of pixels of one image.
        max_pixels: u64 = Limits::default().max_pixels;
        /// The largest number of scans of one progressive JPEG.
        max_scans: u32 = Limits::default().max_scans;
        /// What becomes of a damaged JPEG. `refuse` refuses it; `torchvision` accepts damage inside, with the pixels that
        /// libjpeg-turbo makes of it, and refuses a file that ends early; `libjpeg` accepts all that libjpeg-turbo
        /// decodes, and what is missing is grey.
        damaged: Damaged = Damaged::default();
        /// Another name for `damaged = "libjpeg"`, where that option is not given.
        tolerate_truncated: bool = false;
        /// Whether images are turned as their EXIF orientation says.
        exif: bool = true;
        /// Whether large JPEGs may be decoded at a half or less where the augmentations shrink them anyway, which
        /// changes pixels.
        scale as "decode_scale": DecodeScale = DecodeScale::Exact;
        /// What decodes JPEGs where a GPU makes the batches: `feedline`, which `auto` means as well, decodes them and
        /// files of coefficients on its processors and gives the pixels of the CPU device, which takes these words too;
        /// the others are nvJPEG's, and the workers'. What the chosen decoder does not take, the CPU decodes.
        decoder: DecoderChoice = DecoderChoice::Auto;
        /// Whether what a GPU's decoders write is verified: that they do write, and for about one image in 4000 that
        /// it is what the CPU decodes. A decoder that is not to be trusted is left, and statistics say why. feedline's own
        /// decoder reports a status for each file and is not verified.
        verify as "verify_decoding": bool = true;
        /// Where it is kept at which bytes the rows of each JPEG begin, so that a later crop of it starts at its own
        /// first row. It changes no pixel.
        index as "decode_index": IndexMode = IndexMode::Memory;
        /// The largest number of bytes of memory that decode indexes may take.
        index_budget: Bytes = Bytes(DEFAULT_BUDGET as u64);
    }
}

impl DecodeOptions {
    /// Drops what two names say in `below` of damaged files where one says the contrary here.
    pub(super) fn displace(&self, below: &mut Self) {
        if self.damaged.is_some() {
            below.tolerate_truncated = None;
        }
        if let Some(tolerates) = self.tolerate_truncated {
            below.damaged = below.damaged.filter(|&damaged| (damaged == Damaged::Libjpeg) == tolerates);
        }
    }

    /// What a file may ask of the decoder.
    pub fn limits(&self) -> Limits {
        let (max_pixels, max_scans) = (self.max_pixels(), self.max_scans());
        let damaged = match (self.damaged, self.tolerate_truncated()) {
            (None, true) => Damaged::Libjpeg,
            _ => self.damaged(),
        };
        Limits { max_pixels, max_scans, damaged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[test]
    fn the_older_name_counts_where_the_newer_one_is_not_given() {
        let damaged = |damaged, tolerate_truncated| {
            DecodeOptions { damaged, tolerate_truncated, ..DecodeOptions::default() }.limits().damaged
        };
        assert_eq!(damaged(None, None), Damaged::Torchvision);
        assert_eq!(damaged(None, Some(true)), Damaged::Libjpeg);
        assert_eq!(damaged(None, Some(false)), Damaged::Torchvision);
        assert_eq!(damaged(Some(Damaged::Refuse), Some(true)), Damaged::Refuse);
    }

    #[test]
    fn what_lies_above_counts_by_either_name() {
        let of = |damaged, tolerate_truncated| Options {
            decode: DecodeOptions { damaged, tolerate_truncated, ..DecodeOptions::default() },
            ..Options::default()
        };
        let (refuse, libjpeg) = (Some(Damaged::Refuse), Some(Damaged::Libjpeg));
        for (above, below, taken) in [
            (of(refuse, None), of(libjpeg, None), Damaged::Refuse),
            (of(refuse, None), of(None, Some(true)), Damaged::Refuse),
            (of(None, Some(true)), of(refuse, None), Damaged::Libjpeg),
            (of(None, Some(false)), of(libjpeg, None), Damaged::Torchvision),
            (of(None, Some(false)), of(refuse, None), Damaged::Refuse),
            (of(None, None), of(libjpeg, None), Damaged::Libjpeg),
        ] {
            let both = above.clone().over(below.clone());
            assert_eq!(both.decode.limits().damaged, taken, "{above:?} over {below:?}");
        }
    }
}
