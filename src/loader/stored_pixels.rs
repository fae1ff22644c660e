//! Makes of image files the pixels that a cache stores in their place: as PNM, which any reader of images takes.

use super::upright::Upright;
use crate::geometry::{Orientation, Size};
use crate::image::{Format, Header, Limits, is_huge, parse_header};
use crate::options::Options;
use crate::policy::Damaged;
use crate::source::Make;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The longest head of a PNM file: two edges of ten digits.
const HEAD_BYTES: u64 = 32;

/// What makes pixels of files, on any number of threads.
pub(super) struct StoredPixels {
    limits: Limits,
    exif: bool,
    /// The longest shorter edge.
    resize: Option<u32>,
    spare: Mutex<Vec<Upright>>,
}

impl StoredPixels {
    pub(super) fn of(options: &Options) -> Self {
        let Options { loader, decode, .. } = options;
        // What becomes of a damaged file is decided, and reported, at each decode.
        let limits = Limits { damaged: Damaged::Refuse, ..decode.limits() };
        Self { limits, exif: decode.exif(), resize: loader.cache_resize, spare: Mutex::default() }
    }

    /// Whether the pixels of the file are stored, with which orientation and how small.
    fn wanted(&self, header: &Header, room: u64) -> Option<(Orientation, Option<u32>)> {
        let turned = if self.exif { header.orientation } else { Orientation::UPRIGHT };
        let Size { width, height } = header.size;
        let edge = self.resize.filter(|&edge| edge < width.min(height));
        let bytes = HEAD_BYTES + 3 * header.size.pixels();
        let fits = bytes <= room && !is_huge(header);
        (header.format != Format::Raw && (edge.is_some() || fits)).then_some((turned, edge))
    }

    fn take(&self) -> Upright {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        spare.unwrap_or_else(|| Upright::new(self.limits.clone()))
    }
}

impl Make for StoredPixels {
    /// A file that is damaged, or that cannot be decoded, is stored as it is: it is for who shows it to say so. So are huge ones
    /// that are not resized.
    fn make(&self, record: &[u8], room: u64, made: &mut Vec<u8>) -> bool {
        made.clear();
        let Ok(header) = parse_header(record) else { return false };
        let Some((turned, edge)) = self.wanted(&header, room) else { return false };
        let mut upright = self.take();
        let rendered = upright.render(record, &header, turned, edge);
        if let Ok((_, output)) = &rendered {
            write_pnm(upright.pixels(output), output.size, made);
        }
        upright.give_back();
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(upright);
        rendered.is_ok()
    }
}

/// What `cache` would store with these options where it keeps images decoded.
pub(crate) fn stored_pixels(options: &Options) -> impl Make + use<> {
    StoredPixels::of(options)
}

/// Writes R, G, B of each pixel as PPM, or as PGM, a third as large, where all pixels are grey.
fn write_pnm(pixels: &[u8], Size { width, height }: Size, to: &mut Vec<u8>) {
    let triples = pixels.as_chunks::<3>().0;
    let is_grey = triples.iter().all(|[red, green, blue]| red == green && green == blue);
    let kind = if is_grey { "P5" } else { "P6" };
    // Nothing that is written to memory fails.
    drop(write!(to, "{kind}\n{width} {height}\n255\n"));
    match is_grey {
        true => to.extend(triples.iter().map(|[grey, ..]| grey)),
        false => to.extend_from_slice(pixels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shrunk_is_made_where_there_is_room_to_store_it() {
        let mut options = Options::default();
        options.loader.cache_resize = Some(8);
        let (pixels, mut made) = (StoredPixels::of(&options), Vec::new());
        let of_edge =
            |edge: usize| [format!("P5\n{edge} {edge}\n255\n").as_bytes(), &vec![7; edge * edge]].concat();
        assert!(!pixels.make(&of_edge(8), 100, &mut made) && made.is_empty(), "it shows the same pixels");
        assert!(pixels.make(&of_edge(8), 1000, &mut made));
        assert!(pixels.make(&of_edge(9), 0, &mut made), "it would show other pixels");
    }

    #[test]
    fn the_memory_of_a_huge_image_is_not_kept_for_the_next_one() {
        let mut options = Options::default();
        options.loader.cache_resize = Some(8);
        let (pixels, edge, mut made) = (StoredPixels::of(&options), 4800, Vec::new());
        let head = format!("P5\n{edge} {edge}\n255\n").into_bytes();
        assert!(pixels.make(&[head, vec![7; edge * edge]].concat(), 0, &mut made));
        assert_eq!(made, [b"P5\n8 8\n255\n".as_slice(), &[7; 64]].concat());
        let kept = pixels.take().kept_bytes();
        assert!(kept < 1 << 20, "{kept}");
    }
}
