//! Where an image ends: phones and editors append bytes to their files that belong to no decoder.

use super::marker::{EOI, Markers, SOS};

/// Length of a file of one scan up to and including the marker that ends the image; `None` where there is none, so that
/// the file is cut short.
pub(crate) fn image_end(bytes: &[u8]) -> Option<usize> {
    if bytes.ends_with(&[0xFF, EOI]) {
        return Some(bytes.len());
    }
    let mut markers = Markers::new(bytes).ok()?;
    while markers.next().ok()??.marker != SOS {}
    // Nothing in a scan looks like a marker but a marker.
    let end = memchr::memmem::find(bytes.get(markers.at..)?, &[0xFF, EOI])?;
    Some(markers.at + end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use feedline_test_support::jpeg::{Jpeg, SamplingFactor};

    #[test]
    fn what_follows_the_image_is_no_part_of_it() {
        let file = Jpeg::new(SamplingFactor::F_2_2).file(&[77; 40 * 40 * 3], 40, 40);
        assert_eq!(image_end(&file), Some(file.len()));
        for tail in [&b"\0"[..], b"MotionPhoto_Data", &[0xFF; 30], &file[..file.len() - 2]] {
            assert_eq!(image_end(&[&file, tail].concat()), Some(file.len()), "{} bytes more", tail.len());
        }
    }

    #[test]
    fn a_file_that_is_cut_short_has_no_end() {
        let file = Jpeg::new(SamplingFactor::F_2_2).file(&[77; 40 * 40 * 3], 40, 40);
        for length in 0..file.len() {
            assert_eq!(image_end(&file[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn a_thumbnails_end_is_not_the_images() {
        let file = Jpeg::new(SamplingFactor::F_1_1).file(&[77; 16 * 16 * 3], 16, 16);
        let thumbnail = [0xFF, 0xE1, 0x00, 0x06, 0xFF, 0xD9, 0xFF, 0xD9];
        let with_thumbnail = [&file[..2], &thumbnail, &file[2..]].concat();
        let cut = &with_thumbnail[..with_thumbnail.len() - 2];
        assert_eq!((image_end(&with_thumbnail), image_end(cut)), (Some(with_thumbnail.len()), None));
    }
}
