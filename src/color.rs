//! The arithmetic of normalise, and the luma: the parts of colour that planning and rendering share.

/// Mean a channel of ImageNet, in 0..=1.
pub const IMAGENET_MEAN: [f64; 3] = [0.485, 0.456, 0.406];
/// Standard deviation a channel of ImageNet.
pub const IMAGENET_STD: [f64; 3] = [0.229, 0.224, 0.225];

/// Mean and standard deviation a channel, for pixels scaled to 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalize {
    /// Mean a channel.
    pub mean: [f64; 3],
    /// Standard deviation a channel.
    pub std: [f64; 3],
}

impl Normalize {
    /// ImageNet's constants.
    pub const IMAGENET: Normalize = Normalize { mean: IMAGENET_MEAN, std: IMAGENET_STD };
    /// Nothing but the scaling to 0..=1, as torchvision's `ToDtype(scale=True)`.
    pub const UNIT: Normalize = Normalize { mean: [0.0; 3], std: [1.0; 3] };

    /// Whether the means are finite, the deviations positive, and the factors representable in f32.
    pub fn is_sound(&self) -> bool {
        let positive = self.std.iter().all(|std| *std > 0.0);
        positive && self.factors().iter().flatten().all(|factor| factor.is_finite())
    }

    /// The factors a and b of `fma(x, a, b)` on u8 levels, rounded once from f64.
    pub fn factors(&self) -> [[f32; 2]; 3] {
        std::array::from_fn(|c| [(1.0 / (255.0 * self.std[c])) as f32, (-self.mean[c] / self.std[c]) as f32])
    }
}
