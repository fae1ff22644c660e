//! OpenCV's uint8 Lab: tables and whole numbers, the same for every device.
//!
//! Colours are sRGB, the white is D65, and lightness and the two axes of colour take 0 to 255 each. Tables are made in f64; the
//! arithmetic is that of OpenCV's integers, from which only single entries of its tables differ, as it makes them in f32.

use bytemuck::{Pod, Zeroable};
use std::sync::LazyLock;

/// What the conversions look up; the struct of `kernels/layout.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[cfg_attr(not(feature = "cuda"), expect(unreachable_pub, reason = "only the device's layout is public"))]
pub struct LabTables {
    /// Each level as a linear one, 2040 for 255.
    pub gamma: [u16; 256],
    /// The cube root of each of 3072 linear levels in 2^-15, or what replaces it where that is small.
    pub cube_root: [[u16; 1024]; 3],
    /// For each lightness the linear level and its root, in 2^-14.
    pub luminance: [[u16; 2]; 256],
    /// The level of each linear one, 4096 for 255.
    pub inverse_gamma: [u8; 4096],
}

/// The tables, made when they are first needed.
pub(crate) static TABLES: LazyLock<Box<LabTables>> = LazyLock::new(|| {
    let mut tables = Box::new(LabTables::zeroed());
    for (i, level) in tables.gamma.iter_mut().enumerate() {
        let x = i as f64 / 255.0;
        let linear = if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) };
        *level = (2040.0 * linear).round_ties_even() as u16;
    }
    for (i, root) in tables.cube_root.as_flattened_mut().iter_mut().enumerate() {
        let x = i as f64 / 2040.0;
        let cube_root = if x < 0.008_856 { x * 7.787 + 16.0 / 116.0 } else { x.cbrt() };
        *root = (32_768.0 * cube_root).round_ties_even() as u16;
    }
    for (i, [linear, root]) in tables.luminance.iter_mut().enumerate() {
        let lightness = i as f64 * 100.0 / 255.0;
        let (y, fy) = if lightness <= 8.0 {
            let y = lightness / 903.3;
            (y, 7.787 * y + 16.0 / 116.0)
        } else {
            let fy = (lightness + 16.0) / 116.0;
            (fy * fy * fy, fy)
        };
        [*linear, *root] = [y, fy].map(|x| (16_384.0 * x).round_ties_even() as u16);
    }
    for (i, level) in tables.inverse_gamma.iter_mut().enumerate() {
        let x = i as f64 / 4096.0;
        let curved = if x <= 0.003_130_8 { x * 12.92 } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
        *level = (255.0 * curved).round_ties_even() as u8;
    }
    tables
});

/// Weights of red, green and blue in x, y and z, in 2^-12.
const TO_XYZ: [[i32; 3]; 3] = [[1777, 1541, 778], [871, 2929, 296], [73, 448, 3575]];
/// Weights of x, y and z in red, green and blue, likewise.
const FROM_XYZ: [[i32; 3]; 3] = [[12_615, -6296, -2223], [-3773, 7684, 185], [217, -836, 4715]];
/// Half of the range of an axis of colour, in 2^-15.
const MIDDLE: i32 = 128 << 15;

impl LabTables {
    /// The root of the sum with these weights.
    fn root(&self, linear: [i32; 3], weights: [i32; 3]) -> i32 {
        let sum: i32 = linear.iter().zip(weights).map(|(level, weight)| level * weight).sum();
        i32::from(self.cube_root.as_flattened()[rounded_shift(sum, 12) as usize])
    }

    /// The lightness of red, green and blue.
    pub(crate) fn lightness(&self, rgb: [u8; 3]) -> u8 {
        lightness_of(self.root(self.linear(rgb), TO_XYZ[1]))
    }

    fn linear(&self, rgb: [u8; 3]) -> [i32; 3] {
        rgb.map(|level| i32::from(self.gamma[usize::from(level)]))
    }

    /// Lightness and the two axes of colour.
    pub(crate) fn lab_of(&self, rgb: [u8; 3]) -> [u8; 3] {
        let linear = self.linear(rgb);
        let [x, y, z] = TO_XYZ.map(|weights| self.root(linear, weights));
        let axis = |sum: i32| rounded_shift(sum + MIDDLE, 15).clamp(0, 255) as u8;
        [lightness_of(y), axis(500 * (x - y)), axis(200 * (y - z))]
    }

    /// Red, green and blue.
    pub(crate) fn rgb_of(&self, lab: [u8; 3]) -> [u8; 3] {
        let [linear, root] = self.luminance[usize::from(lab[0])].map(i32::from);
        let [a, b] = [lab[1], lab[2]].map(i32::from);
        let x = cubed(root + ((5 * a * 53_687 + 128) >> 13) - 4194);
        let z = cubed(root - ((b * 41_943 + 16) >> 9) + 10_484);
        FROM_XYZ.map(|[of_x, of_y, of_z]| {
            let sum = rounded_shift(of_x * x + of_y * linear + of_z * z, 14);
            self.inverse_gamma[sum.clamp(0, 4095) as usize]
        })
    }
}

fn lightness_of(root: i32) -> u8 {
    rounded_shift(296 * root - 1_336_934, 15).clamp(0, 255) as u8
}

/// The cube of a root in 2^-14, or what replaces it where it is small.
fn cubed(root: i32) -> i32 {
    if root <= 3390 { root * 108 / 841 - 290 } else { root * root / 16_384 * root / 16_384 }
}

fn rounded_shift(sum: i32, bits: u32) -> i32 {
    (sum + (1 << (bits - 1))) >> bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_that_opencv_gives() {
        // cv2.cvtColor of OpenCV 4.14 with COLOR_RGB2LAB and COLOR_LAB2RGB.
        for (rgb, lab, back) in REFERENCE {
            assert_eq!(TABLES.lab_of(*rgb), *lab, "{rgb:?}");
            assert_eq!(TABLES.lightness(*rgb), lab[0], "{rgb:?}");
            assert_eq!(TABLES.rgb_of(*lab), *back, "{lab:?}");
        }
    }

    #[rustfmt::skip]
    const REFERENCE: &[([u8; 3], [u8; 3], [u8; 3])] = &[
        ([0, 0, 0], [0, 128, 128], [0, 0, 0]),
        ([255, 255, 255], [255, 128, 128], [255, 255, 255]),
        ([255, 0, 0], [136, 208, 195], [255, 2, 1]),
        ([0, 255, 0], [224, 42, 211], [7, 255, 3]),
        ([0, 0, 255], [82, 207, 20], [0, 1, 255]),
        ([1, 2, 3], [1, 128, 127], [0, 2, 4]),
        ([12, 12, 12], [9, 128, 128], [13, 13, 13]),
        ([250, 128, 3], [169, 169, 201], [250, 128, 1]),
        ([171, 206, 5], [198, 95, 205], [170, 206, 2]),
        ([206, 120, 131], [153, 163, 137], [206, 120, 130]),
        ([161, 73, 250], [130, 195, 54], [160, 74, 250]),
        ([13, 71, 98], [72, 120, 107], [8, 72, 99]),
        ([146, 104, 33], [120, 138, 172], [146, 104, 34]),
        ([11, 0, 12], [2, 134, 124], [13, 0, 13]),
        ([38, 255, 48], [225, 45, 205], [41, 255, 47]),
        ([167, 192, 60], [188, 102, 189], [168, 192, 59]),
        ([72, 111, 67], [110, 105, 148], [73, 111, 68]),
        ([249, 45, 229], [152, 217, 80], [249, 44, 230]),
        ([204, 216, 29], [212, 104, 207], [204, 217, 29]),
        ([100, 160, 126], [156, 101, 140], [101, 160, 126]),
        ([170, 173, 169], [180, 126, 130], [170, 174, 169]),
        ([15, 245, 142], [219, 57, 164], [10, 246, 143]),
        ([231, 69, 92], [138, 191, 152], [231, 69, 92]),
        ([225, 47, 16], [127, 194, 186], [226, 47, 16]),
    ];
}
