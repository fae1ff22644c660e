//! The one EXIF tag that changes pixels: orientation.

use crate::geometry::Orientation;

/// The orientation in an APP1 payload; `None` if it is not EXIF, is damaged, or has no orientation.
pub(crate) fn orientation(body: &[u8]) -> Option<Orientation> {
    orientation_of_tiff(body.strip_prefix(b"Exif\0\0")?)
}

/// The orientation in EXIF without its JPEG prefix, as other formats hold it.
pub(crate) fn orientation_of_tiff(tiff: &[u8]) -> Option<Orientation> {
    let little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |at: usize| -> Option<u16> {
        let two: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) })
    };
    let four: [u8; 4] = tiff.get(4..8)?.try_into().ok()?;
    let directory = if little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) } as usize;
    let entries = usize::from(short(directory)?);
    let first = directory.checked_add(2)?;
    (0..entries).map_while(|entry| first.checked_add(entry * 12)).find_map(|at| {
        let is_orientation = short(at)? == 0x0112 && short(at + 2)? == 3;
        is_orientation.then(|| short(at + 8).map(Orientation::from_exif))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exif(big: bool, tag: u16, value: u16) -> Vec<u8> {
        let mut body = b"Exif\0\0".to_vec();
        body.extend_from_slice(if big { b"MM\0*" } else { b"II*\0" });
        let mut put = |bytes: [u8; 2]| body.extend_from_slice(&bytes);
        let order = |x: u16| if big { x.to_be_bytes() } else { x.to_le_bytes() };
        for word in if big { [0, 8] } else { [8, 0] } {
            put(order(word));
        }
        for word in [1, tag, 3] {
            put(order(word));
        }
        for word in if big { [0, 1] } else { [1, 0] } {
            put(order(word));
        }
        put(order(value));
        put([0, 0]);
        body
    }

    #[test]
    fn both_byte_orders_name_the_same_orientation() {
        assert_eq!(orientation(&exif(true, 0x0112, 6)), Some(Orientation::from_exif(6)));
        assert_eq!(orientation(&exif(false, 0x0112, 6)), Some(Orientation::from_exif(6)));
        assert_eq!(orientation(&exif(false, 0x0113, 6)), None);
    }

    #[test]
    fn exif_cut_anywhere_is_no_orientation_and_no_panic() {
        let whole = exif(true, 0x0112, 6);
        for end in 0..whole.len() - 2 {
            assert_eq!(orientation(&whole[..end]), None, "cut at {end}");
        }
    }
}
