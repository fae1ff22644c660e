//! The colour verbs: each is one step, on the source where that is still whole, else on the input or the blend.

use super::{Draft, DraftStep, Plain};
use crate::color::ColorOp;
use crate::error::{Error, bail, ensure};
use crate::plan::Step;

/// Above it the least distance between two gains with different tables is lost in f32.
const MOST_GAIN: f64 = 64.0;

impl Draft {
    /// Brightness, contrast and saturation: towards black, the mean or the luma.
    pub(super) fn blend_with(&mut self, op: ColorOp, factor: f64) -> Result<(), Error> {
        if !(0.0..=f64::from(f32::MAX)).contains(&factor) {
            let name = op.name();
            bail!("{name}: the factor must not be negative, but is {factor}");
        }
        self.recolour(op, [factor as f32, (1.0 - factor) as f32, 0.0])
    }

    pub(super) fn turn_hue(&mut self, factor: f64) -> Result<(), Error> {
        ensure!((-0.5..=0.5).contains(&factor), "hue: the factor must be in -0.5..=0.5, but is {factor}");
        self.recolour(ColorOp::Hue, [factor as f32, (1.0 - factor) as f32, 0.0])
    }

    pub(super) fn hsv(&mut self, hue: f64, saturation: f64, value: f64) -> Result<(), Error> {
        ensure!((-1.0..=1.0).contains(&hue), "hsv: the hue must be in -1..=1, but is {hue}");
        for (name, factor) in [("saturation", saturation), ("value", value)] {
            ensure!(
                (0.0..=MOST_GAIN).contains(&factor),
                "hsv: the {name} must be in 0..={MOST_GAIN}, but is {factor}"
            );
        }
        // Hues are whole numbers and a table's entries are cut off: only whole half degrees count.
        let turn = half_degrees(180.0 * hue);
        self.recolour(ColorOp::Hsv, [turn, middle_gain(saturation), middle_gain(value)])
    }

    pub(super) fn gamma(&mut self, gamma: f64) -> Result<(), Error> {
        ensure!((0.01..=100.0).contains(&gamma), "gamma: gamma must be in 0.01..=100, but is {gamma}");
        // In two parts, since a table's levels may depend on the digits that f32 has not.
        let high = gamma as f32;
        self.recolour(ColorOp::Gamma, [high, (gamma - f64::from(high)) as f32, 0.0])
    }

    pub(super) fn brightness_contrast(&mut self, alpha: f64, beta: f64) -> Result<(), Error> {
        let least = f64::from(f32::MAX);
        ensure!(
            (0.0..=least).contains(&alpha) && (-least..=least).contains(&beta),
            "brightness_contrast: alpha must not be negative, and beta a number, but they are {alpha} and {beta}"
        );
        self.recolour(ColorOp::BrightnessContrast, [alpha as f32, beta as f32, 0.0])
    }

    pub(super) fn shift_rgb(&mut self, shift: [f64; 3]) -> Result<(), Error> {
        let shift = whole_shifts("shift_rgb", shift)?;
        self.recolour(ColorOp::ShiftRgb, shift)
    }

    pub(super) fn shift_hsv(&mut self, hue: f64, [saturation, value]: [f64; 2]) -> Result<(), Error> {
        ensure!((-180.0..=180.0).contains(&hue), "shift_hsv: the hue must be in -180..=180, but is {hue}");
        let [saturation, value, _] = whole_shifts("shift_hsv", [saturation, value, 0.0])?;
        self.recolour(ColorOp::ShiftHsv, [half_degrees(hue), saturation, value])
    }

    pub(super) fn grayscale(&mut self, channels: u32) -> Result<(), Error> {
        ensure!(
            channels == 3,
            "grayscale: num_output_channels is {channels}, but a sample always has 3: leave it out"
        );
        self.recolour(ColorOp::Grayscale, [0.0; 3])
    }

    pub(super) fn solarize(&mut self, threshold: f64) -> Result<(), Error> {
        ensure!(
            (f64::from(f32::MIN)..=255.0).contains(&threshold),
            "solarize: the threshold must be at most 255, but is {threshold}"
        );
        self.recolour(ColorOp::Solarize, [threshold as f32, 0.0, 0.0])
    }

    pub(super) fn solarize_add(&mut self, addition: u8, threshold: u8) -> Result<(), Error> {
        self.recolour(ColorOp::SolarizeAdd, [threshold.into(), addition.into(), 0.0])
    }

    pub(super) fn posterize(&mut self, bits: u32) -> Result<(), Error> {
        if bits > 8 {
            bail!("posterize: bits must be in 0..=8, but is {bits}");
        }
        let unit = (1 << (8 - bits)) as f32;
        self.recolour(ColorOp::Posterize, [unit, 1.0 / unit, 0.0])
    }

    pub(super) fn permute(&mut self, permutation: [u32; 3]) -> Result<(), Error> {
        let mut sorted = permutation;
        sorted.sort_unstable();
        ensure!(
            sorted == [0, 1, 2],
            "permute_channels: permutation must hold 0, 1 and 2 once each, but is {permutation:?}"
        );
        self.recolour(ColorOp::PermuteChannels, permutation.map(|channel| channel as f32))
    }

    /// Adds a step; one that needs a statistic is measured on the canvas as it is now.
    pub(super) fn recolour(&mut self, op: ColorOp, [a, b, c]: [f32; 3]) -> Result<(), Error> {
        let args = [a, b, c, 0.0, 0.0, 0.0];
        let mut added = DraftStep { step: Step { op, stat: None, args }, measured: None };
        let whole = self.canvas.size.rect();
        let measures = op.statistic().is_some();
        if let Some(Plain { sampled, steps, .. }) = self.canvas.plain() {
            added.measured = measures.then_some(sampled.clip);
            steps.push(added);
            return Ok(());
        }
        added.measured = measures.then_some(whole);
        match self.canvas.inputs.as_mut_slice() {
            [only] => only.steps.push(added),
            _ => self.canvas.steps.push(added),
        }
        Ok(())
    }
}

/// A turn by whole half degrees, in 30..210.
fn half_degrees(hue: f64) -> f32 {
    let turn = hue.floor().rem_euclid(180.0);
    (if turn < 30.0 { turn + 180.0 } else { turn }) as f32
}

/// What is added to levels, cut off.
fn whole_shifts(op: &str, shifts: [f64; 3]) -> Result<[f32; 3], Error> {
    ensure!(
        shifts.iter().all(|shift| (-255.0..=255.0).contains(shift)),
        "{op}: shifts must be in -255..=255, but are {shifts:?}"
    );
    Ok(shifts.map(|shift| shift.trunc() as f32))
}

/// The middle of the gains that cut off each level's product as `gain` does: with it, f32 is exact enough.
fn middle_gain(gain: f64) -> f32 {
    let (mut from, mut to) = (0.0, MOST_GAIN + 1.0);
    for level in 1..=255 {
        let level = f64::from(level);
        // A product that only f64 keeps from being whole is whole.
        let product = (level * gain + 1e-9).floor();
        if product >= 255.0 {
            from = f64::max(from, 255.0 / level);
            break;
        }
        from = f64::max(from, product / level);
        to = f64::min(to, (product + 1.0) / level);
    }
    ((from + to) / 2.0) as f32
}

#[cfg(test)]
mod tests {
    use super::middle_gain;

    #[test]
    fn a_gain_in_f32_cuts_every_level_off_as_the_gain_in_f64_does() {
        let table = |gain: f64| -> Vec<u8> {
            (0..=255).map(|i| (f64::from(i) * gain + 1e-9).min(255.0) as u8).collect()
        };
        let fractions =
            (1..=255).flat_map(|level| (0..=2 * level).map(move |of| f64::from(of) / f64::from(level)));
        let around = fractions.flat_map(|gain: f64| [(gain - 1e-8).max(0.0), gain, gain + 1e-8]);
        for gain in around.chain([0.3, 1.7, 5.1, 17.0, 63.99, 64.0]) {
            let middle = middle_gain(gain);
            let in_f32: Vec<u8> = (0..=255u8).map(|i| (f32::from(i) * middle).min(255.0) as u8).collect();
            assert_eq!(in_f32, table(gain), "{gain}");
        }
    }
}
