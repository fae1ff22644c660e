//! Which stored pixels make the wanted ones, and how they are turned.

use super::settings::{Scaling, Settings};
use crate::geometry::{Orientation, Rect, Size};
use crate::image::{Header, ImageError, Part, Scale, check_pixels};

/// The most pixels that memory can have, whatever the limits allow.
const MAX_PIXELS: u64 = isize::MAX as u64 / 3;

/// What a decode reads of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    /// In stored coordinates; never empty.
    pub(super) part: Part,
    /// How its pixels are turned.
    pub(super) orientation: Orientation,
}

impl Placement {
    /// What `settings` ask for of the file that has this header.
    ///
    /// # Errors
    /// Those of [`super::decode`] that do not depend on the pixels.
    pub(super) fn new(header: &Header, settings: &Settings) -> Result<Self, ImageError> {
        check_pixels(header.size, &settings.limits)?;
        let orientation = if settings.exif { header.orientation } else { Orientation::UPRIGHT };
        let upright = orientation.apply_size(header.size);
        let region = settings.region.unwrap_or(upright.rect());
        if region.is_empty() || !upright.rect().contains(region) {
            return Err(ImageError::Outside { region, size: upright });
        }
        let scale = match (settings.scale, header.format) {
            (Scaling::Fixed(Scale::Full), _) => Scale::Full,
            (Scaling::Fixed(scale), format) if format.is_dct() => scale,
            (Scaling::Fixed(_), format) => return Err(ImageError::Scale { format }),
            (Scaling::AtLeast(size), format) if format.is_dct() => smallest(region.size(), size),
            (Scaling::AtLeast(_), _) => Scale::Full,
        };
        let region = outwards(orientation.to_stored(region, upright), scale.divisor());
        let pixels = region.size().pixels();
        if pixels > MAX_PIXELS {
            return Err(ImageError::TooLarge { pixels, limit: MAX_PIXELS });
        }
        Ok(Self { part: Part { scale, region }, orientation })
    }

    /// Columns and rows of the result.
    pub(super) fn size(&self) -> Size {
        self.orientation.apply_size(self.part.region.size())
    }

    /// Bytes of the result without gaps.
    pub(super) fn bytes(&self) -> usize {
        let Size { width, height } = self.size();
        width as usize * height as usize * 3
    }
}

/// The smallest scale that leaves `wanted` of a region of size `has`.
fn smallest(has: Size, wanted: Size) -> Scale {
    let leaves = |scale: &Scale| {
        let fits = |has: u32, wanted: u32| u64::from(wanted) * u64::from(scale.divisor()) <= u64::from(has);
        fits(has.width, wanted.width) && fits(has.height, wanted.height)
    };
    Scale::ALL.into_iter().rev().find(leaves).unwrap_or_default()
}

/// The pixels of the smaller image that hold a pixel of `region`.
fn outwards(region: Rect, divisor: u32) -> Rect {
    let axis = |start: i32, end: i64| {
        let first = start.unsigned_abs() / divisor;
        (first as i32, (end as u32).div_ceil(divisor) - first)
    };
    let ((x, width), (y, height)) = (axis(region.x, region.right()), axis(region.y, region.bottom()));
    Rect { x, y, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Format;
    use crate::image::Limits;

    fn header(format: Format, size: Size, tag: u16) -> Header {
        Header { format, size, orientation: Orientation::from_exif(tag), jpeg: None, coefficients: None }
    }

    #[test]
    fn a_region_is_found_in_the_stored_image_and_rounded_outwards_there() {
        // Turned clockwise to be seen upright: 30 columns and 41 rows, of 41 stored columns and 30 stored rows.
        let turned = header(Format::Jpeg, Size::new(41, 30), 6);
        let settings = Settings::default().region(Rect::new(1, 2, 5, 3)).scale(Scale::Half);
        let placement = Placement::new(&turned, &settings).unwrap();
        // Stored columns 2..5 and rows 24..29.
        assert_eq!(placement.part, Part { scale: Scale::Half, region: Rect::new(1, 12, 2, 3) });
        assert_eq!(placement.size(), Size::new(3, 2));
        let as_stored = Placement::new(&turned, &settings.exif(false)).unwrap();
        assert_eq!(as_stored.part.region, Rect::new(0, 1, 3, 2));
    }

    #[test]
    fn the_smallest_scale_leaves_what_was_asked_for_and_no_scale_makes_an_image_larger() {
        let at_least = |width, height| {
            let settings = Settings::default().scale(Scaling::AtLeast(Size::new(width, height)));
            Placement::new(&header(Format::Jpeg, Size::new(801, 400), 8), &settings).unwrap()
        };
        for (width, height, scale) in [
            (1, 1, Scale::Eighth),
            (50, 100, Scale::Eighth),
            (51, 100, Scale::Quarter),
            (100, 201, Scale::Half),
            (200, 401, Scale::Full),
            (9000, 9000, Scale::Full),
        ] {
            let placement = at_least(width, height);
            assert_eq!(placement.part.scale, scale, "{width} {height}");
            assert!(scale == Scale::Full || placement.size().width >= width);
        }
        assert_eq!(at_least(50, 100).size(), Size::new(50, 101));
        let png = header(Format::Png, Size::new(801, 400), 1);
        let smaller = Settings::default().scale(Scaling::AtLeast(Size::new(1, 1)));
        assert_eq!(Placement::new(&png, &smaller).unwrap().part.scale, Scale::Full);
    }

    #[test]
    fn what_cannot_be_decoded_so_is_refused() {
        let png = header(Format::Png, Size::new(8, 6), 1);
        let refused = |settings: &Settings| Placement::new(&png, settings).unwrap_err().to_string();
        let smaller = refused(&Settings::default().scale(Scale::Half));
        assert!(smaller.contains("the file is PNG, and only JPEGs and files of coefficients"), "{smaller}");
        for region in
            [Rect::new(-1, 0, 2, 2), Rect::new(7, 0, 2, 2), Rect::new(0, 6, 1, 1), Rect::new(2, 2, 0, 2)]
        {
            assert!(
                refused(&Settings::default().region(region)).contains("height 6 and width 8"),
                "{region:?}"
            );
        }
        let small = Limits { max_pixels: 47, ..Limits::default() };
        assert!(refused(&Settings::default().limits(small)).contains("max_pixels"));
        let endless = header(Format::Png, Size::new(i32::MAX as u32, i32::MAX as u32), 1);
        let all = Settings::default().limits(Limits { max_pixels: u64::MAX, ..Limits::default() });
        assert!(matches!(Placement::new(&endless, &all), Err(ImageError::TooLarge { .. })));
        assert!(Placement::new(&endless, &all.region(Rect::new(i32::MAX - 1, 0, 1, 1))).is_ok());
    }
}
