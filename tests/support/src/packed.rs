//! Files of coefficients that somebody has changed.

/// Puts right checksums wherever the file has room for them, so that what they guard is reached. Nothing where the head is cut
/// off.
pub fn mend_checksums(file: &mut [u8]) -> Option<()> {
    let number = |file: &[u8], at: usize, bytes: usize| {
        let read = file.get(at..at + bytes)?;
        Some(read.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte)))
    };
    let (count, tables) = (number(file, 11, 1)?, number(file, 18, 1)?);
    let (height, rows) = (number(file, 14, 2)?, number(file, 16, 2)?.max(1));
    let down = (0..count.min(4)).map(|i| number(file, 20 + 4 * i, 1).map_or(1, |byte| byte & 15)).max()?;
    // The factors of a single component are 1.
    let down = if count == 1 { 1 } else { down.max(1) };
    let segments = height.div_ceil(8 * down).div_ceil(rows);
    let offsets = 20 + 4 * count + 128 * tables;
    for segment in 0..segments {
        let start = number(file, offsets + 4 * segment, 4)?;
        let end = number(file, offsets + 4 * segment + 4, 4)?;
        if let Some([_, _, _, _, rest @ ..]) = file.get(start..end) {
            let sum = crc32c::crc32c(rest).to_le_bytes();
            file[start..start + 4].copy_from_slice(&sum);
        }
    }
    let end = offsets + 4 * (segments + 1);
    let sum = crc32c::crc32c(file.get(..end)?).to_le_bytes();
    file.get_mut(end..end + 4)?.copy_from_slice(&sum);
    Some(())
}
