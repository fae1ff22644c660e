//! The quantisation tables of a JPEG of some quality: those that the standard gives as an example, scaled as libjpeg does.

/// Steps of luma, then of chroma, 64 each, row by row.
pub(crate) fn tables(quality: u32) -> [u32; 128] {
    let percent = match quality {
        ..50 => 5000 / quality.max(1),
        _ => 200 - 2 * quality.min(100),
    };
    std::array::from_fn(|at| {
        let step = if at < 64 { LUMA[at] } else { CHROMA[at / 8 % 8][at % 8] };
        ((u32::from(step) * percent + 50) / 100).clamp(1, 255)
    })
}

/// ITU-T T.81, table K.1.
#[rustfmt::skip]
const LUMA: [u8; 64] = [
    16, 11, 10, 16, 24, 40, 51, 61,
    12, 12, 14, 19, 26, 58, 60, 55,
    14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62,
    18, 22, 37, 56, 68, 109, 103, 77,
    24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101,
    72, 92, 95, 98, 112, 100, 103, 99,
];

/// ITU-T T.81, table K.2.
const CHROMA: [[u8; 8]; 8] = {
    let mut table = [[99; 8]; 8];
    table[0] = [17, 18, 24, 47, 99, 99, 99, 99];
    table[1] = [18, 21, 26, 66, 99, 99, 99, 99];
    table[2] = [24, 26, 56, 99, 99, 99, 99, 99];
    table[3] = [47, 66, 99, 99, 99, 99, 99, 99];
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_that_pillow_writes() {
        // Image.open(...).quantization of images saved with these qualities: the first, second and last of each table.
        let ends = |quality: u32| {
            let tables = tables(quality);
            [0, 1, 63, 64, 65, 127].map(|at| tables[at])
        };
        assert_eq!(ends(50), [16, 11, 99, 17, 18, 99]);
        assert_eq!(ends(75), [8, 6, 50, 9, 9, 50]);
        assert_eq!(ends(10), [80, 55, 255, 85, 90, 255]);
        assert_eq!(ends(100), [1; 6]);
        assert_eq!(ends(1), [255; 6]);
    }
}
