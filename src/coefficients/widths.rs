//! In how many bits the values of a component are looked for.

/// Where a value of eight neighbouring positions is looked for first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Width {
    /// Two bits: 1, -1, or a step to four or eight bits.
    Two,
    /// Four bits: -7 to 8, or a step to eight bits.
    Four,
    /// Eight bits.
    #[default]
    Eight,
}

/// The width of each eight positions in zigzag order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Widths(pub(crate) [Width; 8]);

impl Widths {
    /// From two bits each, those of the first positions lowest.
    pub(crate) fn from_bits(bits: u16) -> Option<Self> {
        let mut widths = Self::default();
        for (i, width) in widths.0.iter_mut().enumerate() {
            *width = match bits >> (2 * i) & 3 {
                0 => Width::Two,
                1 => Width::Four,
                2 => Width::Eight,
                _ => return None,
            };
        }
        Some(widths)
    }

    /// See [`Widths::from_bits`].
    pub(crate) fn bits(self) -> u16 {
        self.0.iter().enumerate().map(|(i, &width)| (width as u16) << (2 * i)).sum()
    }

    /// The positions whose values are looked for in `wanted` bits.
    pub(crate) fn positions(self, wanted: Width) -> u64 {
        let byte = |(i, &width): (usize, &Width)| if width == wanted { 0xFF << (8 * i) } else { 0 };
        self.0.iter().enumerate().map(byte).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_two_bits_each() {
        assert_eq!(Widths::default().bits(), 0b10_10_10_10_10_10_10_10);
        let widths = Widths::from_bits(0b00_01_10_00_00_00_00_10).unwrap();
        assert_eq!(widths.0[0], Width::Eight);
        assert_eq!(widths.0[6..], [Width::Four, Width::Two]);
        assert_eq!(widths.bits(), 0b00_01_10_00_00_00_00_10);
        assert_eq!(widths.positions(Width::Four), 0xFF << 48);
        assert_eq!(widths.positions(Width::Eight), 0xFF << 40 | 0xFF);
        assert!(Widths::from_bits(0b11).is_none());
    }
}
