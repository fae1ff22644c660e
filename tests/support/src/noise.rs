//! Deterministic noise.

/// A linear congruential generator; its upper bits are good enough for pixels.
#[derive(Clone, Debug)]
pub struct Noise(pub u32);

impl Noise {
    /// The next state; use its upper bits.
    pub fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        (self.bits() >> 24) as u8
    }
}

/// So many levels: noise, extremes and nearly flat parts take turns, 600 levels each.
pub fn levels(count: usize, seed: u32) -> Vec<u8> {
    let mut noise = Noise(seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453));
    let level = |at: usize| match (at / 600 % 3, noise.byte()) {
        (0, level) => level,
        (1, level) => u8::from(level > 127) * 255,
        (_, level) => level / 8 + 60,
    };
    (0..count).map(level).collect()
}

/// A picture with edges, gradients and noise, so that no stage of a decoder is idle: levels of `channels` for each pixel,
/// row by row.
pub fn picture(width: u32, height: u32, channels: u32, seed: u32) -> Vec<u8> {
    let mut noise = Noise(seed);
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let values = pixels.flat_map(|(x, y)| (0..channels).map(move |channel| (x, y, channel)));
    let level = |(x, y, channel): (u32, u32, u32)| {
        let edge = if (x / 5 + y / 7 + channel) % 3 == 0 { 120 } else { 0 };
        (edge + (x * 3 + y * 2 + channel * 40) % 90 + (noise.bits() >> 28)) as u8
    };
    values.map(level).collect()
}
