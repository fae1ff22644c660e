//! Hue, lightness and saturation in f32, with OpenCV's formulas.

/// Hue in degrees; lightness and saturation from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hls {
    pub(super) hue: f32,
    pub(super) lightness: f32,
    pub(super) saturation: f32,
}

impl Hls {
    pub(super) fn of([r, g, b]: [f32; 3]) -> Self {
        let (most, least) = (r.max(g.max(b)), r.min(g.min(b)));
        let (apart, both) = (most - least, most + least);
        let lightness = both * 0.5;
        if apart <= f32::EPSILON {
            return Self { hue: 0.0, lightness, saturation: 0.0 };
        }
        let saturation = apart / if lightness < 0.5 { both } else { 2.0 - most - least };
        let degrees = 60.0 / apart;
        let hue = match () {
            () if most == r => (g - b) * degrees,
            () if most == g => (b - r) * degrees + 120.0,
            () => (r - g) * degrees + 240.0,
        };
        Self { hue: if hue < 0.0 { hue + 360.0 } else { hue }, lightness, saturation }
    }

    /// Red, green and blue. The hue may be off the circle, but by less than a turn.
    pub(super) fn rgb(self) -> [f32; 3] {
        let (l, s) = (self.lightness, self.saturation);
        if s == 0.0 {
            return [l; 3];
        }
        let high = if l <= 0.5 { l * (1.0 + s) } else { l + s - l * s };
        let low = 2.0 * l - high;
        let mut sixths = self.hue * (6.0 / 360.0);
        if sixths < 0.0 {
            sixths += 6.0;
        }
        if sixths >= 6.0 {
            sixths -= 6.0;
        }
        let sector = sixths as i32;
        let part = sixths - sector as f32;
        let (falling, rising) = (low + (high - low) * (1.0 - part), low + (high - low) * part);
        match sector {
            0 => [high, rising, low],
            1 => [falling, high, low],
            2 => [low, high, rising],
            3 => [low, falling, high],
            4 => [rising, low, high],
            _ => [high, low, falling],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_comes_back() {
        let levels = (0..256u32).step_by(15).chain([1, 254]);
        let colours = levels.clone().flat_map(|r| {
            let levels = levels.clone();
            levels.clone().flat_map(move |g| levels.clone().map(move |b| [r, g, b]))
        });
        for colour in colours {
            let rgb = Hls::of(colour.map(|level| level as f32 * (1.0 / 255.0))).rgb();
            assert_eq!(rgb.map(|part| (part * 255.0).round_ties_even() as u32), colour);
        }
        let red = Hls::of([1.0, 0.0, 0.0]);
        assert_eq!((red.hue, red.lightness, red.saturation), (0.0, 0.5, 1.0));
        assert_eq!(Hls::of([0.0, 0.5, 0.5]).hue, 180.0);
    }
}
