//! Which part of an image is decoded where only a part is wanted.

use crate::geometry::Rect;
use crate::image::Header;
use crate::jpeg::Sampling;

/// The part that is decoded for `wanted`: widened to whole MCUs, then by one more on each side, so that the
/// interpolation of chroma finds the neighbours that it has in the whole image; or the whole image, where the part
/// would be more than half of it and so saves little.
pub(super) fn part(header: &Header, wanted: Rect) -> Rect {
    let whole = header.size.rect();
    let sampling = header.sampling();
    let factors = sampling.as_ref().map_or(&[][..], Sampling::factors);
    let largest = |of: fn(&(u8, u8)) -> u8| i64::from(factors.iter().map(of).max().unwrap_or(1));
    let wanted = match wanted.intersect(whole) {
        nothing if nothing.is_empty() => Rect::new(0, 0, 1, 1),
        part => part,
    };
    let (x, width) = widened(i64::from(wanted.x), wanted.right(), 8 * largest(|&(h, _)| h), whole.width);
    let (y, height) = widened(i64::from(wanted.y), wanted.bottom(), 8 * largest(|&(_, v)| v), whole.height);
    let part = Rect::new(x, y, width, height);
    if 2 * part.size().pixels() > whole.size().pixels() { whole } else { part }
}

/// Start and length of a stretch, widened to multiples of `step` and by one more, within 0..`edge`.
fn widened(start: i64, end: i64, step: i64, edge: u32) -> (i32, u32) {
    let start = (start / step * step - step).max(0);
    let end = ((end + step - 1) / step * step + step).min(i64::from(edge));
    (start as i32, (end - start) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Size;
    use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

    fn header(size: Size, sampling: SamplingFactor) -> Header {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, 90);
        encoder.set_sampling_factor(sampling);
        encoder.encode(&[0; 16 * 16 * 3], 16, 16, ColorType::Rgb).unwrap();
        let mut header = crate::image::parse_header(&bytes).unwrap();
        header.size = size;
        header
    }

    #[test]
    fn a_part_is_widened_to_mcus_and_by_one_more() {
        let header = header(Size::new(1000, 800), SamplingFactor::F_2_2);
        assert_eq!(part(&header, Rect::new(100, 200, 50, 60)), Rect::new(80, 176, 96, 112));
        assert_eq!(part(&header, Rect::new(96, 192, 16, 16)), Rect::new(80, 176, 48, 48));
    }

    #[test]
    fn a_part_ends_at_the_images_edge() {
        let header = header(Size::new(1001, 803), SamplingFactor::F_2_1);
        assert_eq!(part(&header, Rect::new(0, 0, 10, 10)), Rect::new(0, 0, 32, 24));
        assert_eq!(part(&header, Rect::new(990, 800, 11, 3)), Rect::new(960, 792, 41, 11));
        assert_eq!(part(&header, Rect::new(-50, -50, 10, 10)), Rect::new(0, 0, 32, 16), "nothing is wanted");
    }

    #[test]
    fn a_part_that_saves_little_is_the_whole() {
        let header = header(Size::new(500, 375), SamplingFactor::F_2_2);
        assert_eq!(part(&header, Rect::new(50, 50, 400, 300)), Rect::new(0, 0, 500, 375));
        assert_eq!(part(&header, Rect::new(0, 0, 500, 375)), Rect::new(0, 0, 500, 375));
    }

    #[test]
    fn every_part_contains_what_is_wanted() {
        for sampling in [SamplingFactor::F_1_1, SamplingFactor::F_4_1, SamplingFactor::F_1_2] {
            let header = header(Size::new(333, 222), sampling);
            for at in 0..40 {
                let wanted = Rect::new(at * 8, at * 5, 13, 27);
                let part = part(&header, wanted);
                assert!(part.contains(wanted.intersect(header.size.rect())), "{wanted:?} {part:?}");
                assert!(header.size.rect().contains(part), "{part:?}");
            }
        }
    }
}
