//! Decoding at a half, a quarter and an eighth.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use feedline::geometry::{Rect, Size};
use feedline::jpeg::{Decoder, Index, Limits, Part, PixelsMut, Scale, parse_header};
use feedline_test_support::jpeg::{Jpeg, SAMPLINGS, SamplingFactor};

fn encode(
    sampling: SamplingFactor,
    progressive: bool,
    size: Size,
    pixel: impl Fn(u32, u32) -> [u8; 3],
) -> Vec<u8> {
    let pixels: Vec<u8> = (0..size.height)
        .flat_map(|y| (0..size.width).map(move |x| (x, y)))
        .flat_map(|(x, y)| pixel(x, y))
        .collect();
    let jpeg = Jpeg { progressive, quality: 90, ..Jpeg::new(sampling) };
    jpeg.file(&pixels, size.width as u16, size.height as u16)
}

fn decode(bytes: &[u8], scale: Scale, region: Option<Rect>, index: Option<&mut Index>) -> (Vec<u8>, Size) {
    let header = parse_header(bytes).unwrap();
    let size = scale.apply(header.size);
    let region = region.unwrap_or(size.rect());
    let mut data = vec![0; region.size().pixels() as usize * 3];
    let mut out = PixelsMut { data: &mut data, stride: region.width as usize * 3 };
    let part = Part { scale, region };
    Decoder::new().decode_part(bytes, &header, part, &Limits::default(), &mut out, index).unwrap();
    (data, size)
}

fn busy(x: u32, y: u32) -> [u8; 3] {
    [((x * 7) ^ (y * 3)) as u8, (x * x / 9 + y * 5) as u8, (y * y / 7 + x) as u8]
}

#[test]
fn a_region_of_a_scaled_picture_has_the_pixels_of_the_whole() {
    for (sampling, _) in SAMPLINGS {
        for progressive in [false, true] {
            let bytes = encode(sampling, progressive, Size::new(93, 131), busy);
            let mut index = Index::default();
            for scale in Scale::ALL {
                let (whole, size) = decode(&bytes, scale, None, None);
                for (x, y, width, height) in
                    [(0, 0, 1, 1), (3, 5, 4, 7), (1, 9, 9, 3), (7, 0, 5, 17), (0, 12, 12, 5), (2, 1, 90, 130)]
                {
                    let region = Rect::new(x, y, width, height).intersect(size.rect());
                    let row = |y: i32| (y as usize * size.width as usize + region.x as usize) * 3;
                    let length = region.width as usize * 3;
                    let rows = region.y..region.bottom() as i32;
                    let expected: Vec<u8> = rows.flat_map(|y| whole[row(y)..][..length].to_vec()).collect();
                    let found = decode(&bytes, scale, Some(region), None).0;
                    assert!(found == expected, "{sampling:?} {progressive} {scale:?} {region:?}");
                    let indexed = decode(&bytes, scale, Some(region), Some(&mut index)).0;
                    assert!(indexed == expected, "{sampling:?} {progressive} {scale:?} {region:?} indexed");
                }
            }
        }
    }
}

#[test]
fn flat_colour_stays_as_it_is_and_slopes_are_halved() {
    for (sampling, _) in SAMPLINGS {
        let flat = encode(sampling, false, Size::new(50, 41), |_, _| [200, 90, 30]);
        let slope = encode(sampling, false, Size::new(64, 64), |x, y| [(x + y) as u8 * 2; 3]);
        for scale in Scale::ALL {
            let (pixels, size) = decode(&flat, scale, None, None);
            assert_eq!(size, Size::new(50u32.div_ceil(scale.divisor()), 41u32.div_ceil(scale.divisor())));
            let near = |pixel: &[u8]| pixel.iter().zip([200, 90, 30]).all(|(&a, b)| a.abs_diff(b) <= 3);
            assert!(pixels.chunks_exact(3).all(near), "{sampling:?} {scale:?}");
            let (pixels, size) = decode(&slope, scale, None, None);
            for (at, pixel) in pixels.chunks_exact(3).enumerate() {
                let (x, y) = (at as u32 % size.width, at as u32 / size.width);
                let middle = (x + y) * scale.divisor() + scale.divisor() - 1;
                assert!(pixel[1].abs_diff((middle * 2) as u8) <= 4, "{sampling:?} {scale:?} {x} {y}");
            }
        }
    }
}
