//! Batches that differ in size: the request, and the size that follows for each batch.

use crate::error::{Result, bail, ensure};
use crate::geometry::Size;

/// Longest edge of a batch: the limit of the JPEG format.
const MAX_EDGE: u32 = 65_535;
/// Maximum number of sizes to draw from.
const MAX_SIZES: usize = 4096;
/// Largest border that `pad` may ask for, in strides.
const MAX_PAD: f64 = 16.0;
/// Tolerance of a number of strides, so that 0.15 of 640 reaches 736.
const ROUNDING: f64 = 1e-9;
/// The stride of most detectors: their inputs' edges are multiples of it.
const STRIDE: u32 = 32;

/// Batches shaped as their images are (Ultralytics' `rect = True`): samples come in the order of their shapes, so that
/// a batch of wide images is less high, and a batch of tall ones less wide.
///
/// With `s` the longer edge of the output, and shapes as height / width, a batch whose shapes are all below 1 has the
/// edges `[largest shape, 1]`, one whose shapes are all above 1 `[1, 1 / smallest shape]`, and any other `[1, 1]`, each
/// times `s`; in strides, with `pad` added, rounded up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RectBatches {
    /// Edges are multiples of this, in pixels (default 32).
    pub stride: u32,
    /// Number of strides that are added, from 0 to 16 (default 0.5, as in Ultralytics' validation; its training has 0).
    pub pad: f64,
}

impl Default for RectBatches {
    fn default() -> Self {
        Self { stride: STRIDE, pad: 0.5 }
    }
}

impl RectBatches {
    /// The size of a batch of images whose height / width is from `least` to `greatest`, for a longer edge of `imgsz`.
    pub fn size(&self, imgsz: u32, least: f64, greatest: f64) -> Size {
        let [height, width] = match (least, greatest) {
            (_, greatest) if greatest < 1.0 => [greatest, 1.0],
            (least, _) if least > 1.0 => [1.0, 1.0 / least],
            _ => [1.0, 1.0],
        };
        let edge = |part: f64| {
            let strides = (part * f64::from(imgsz) / f64::from(self.stride) + self.pad).ceil();
            (strides.max(1.0) as u32).saturating_mul(self.stride)
        };
        Size::new(edge(width), edge(height))
    }

    /// The largest size that a batch can have.
    pub fn largest(&self, imgsz: u32) -> Size {
        self.size(imgsz, 1.0, 1.0)
    }

    /// Refuses options that give no batches of the usual size `usual`.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`] with the remedy.
    pub fn check(&self, usual: Size) -> Result<()> {
        check_stride("rect", self.stride)?;
        ensure!(
            (0.0..=MAX_PAD).contains(&self.pad),
            "rect: pad is {}, but may be from 0 to {MAX_PAD}: it is counted in strides",
            self.pad
        );
        ensure!(
            usual.width == usual.height,
            "rect: the output is {usual}, but it must be a square, whose edge is the longer edge of every batch: \
                 set the same height and width"
        );
        check_edges("rect", self.largest(usual.width))
    }
}

/// Batches whose sizes are drawn, one for each training step and the same on all ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum MultiScale {
    /// Squares around the output's size: the multiples of `stride` from 1 - `by` to 1 + `by` times its edge, with equal
    /// probability (Ultralytics' `multi_scale`).
    Around {
        /// Fraction of the edge, above 0 and below 1.
        by: f64,
        /// Edges are multiples of this, in pixels.
        stride: u32,
    },
    /// These sizes, with equal probability.
    Sizes(Vec<Size>),
}

impl MultiScale {
    /// Squares whose edges are multiples of 32 from 1 - `by` to 1 + `by` times the output's.
    pub const fn around(by: f64) -> Self {
        MultiScale::Around { by, stride: STRIDE }
    }

    /// Squares of these edges.
    pub fn squares(edges: impl IntoIterator<Item = u32>) -> Self {
        MultiScale::Sizes(edges.into_iter().map(|edge| Size::new(edge, edge)).collect())
    }

    /// The sizes that are drawn from, for batches of the usual size `usual`.
    ///
    /// # Errors
    /// [`crate::error::Error::Config`], with the remedy, if there is none, or one that no batch can have.
    pub fn sizes(&self, usual: Size) -> Result<Vec<Size>> {
        let sizes = match self {
            MultiScale::Around { by, stride } => squares_around(*by, *stride, usual)?,
            MultiScale::Sizes(sizes) => sizes.clone(),
        };
        ensure!(
            (1..=MAX_SIZES).contains(&sizes.len()),
            "multi_scale: there are {} sizes to draw from, but there may be 1 to {MAX_SIZES}: name fewer, or use a \
                 greater stride",
            sizes.len()
        );
        sizes.iter().try_for_each(|&size| check_edges("multi_scale", size))?;
        Ok(sizes)
    }
}

fn squares_around(by: f64, stride: u32, usual: Size) -> Result<Vec<Size>> {
    check_stride("multi_scale", stride)?;
    ensure!(
        by > 0.0 && by < 1.0,
        "multi_scale is {by}, but may be above 0 and below 1: it is a part of the output's edge"
    );
    ensure!(
        usual.width == usual.height,
        "multi_scale: the output is {usual}, but sizes around it are squares: set the same height and width, or name \
             the sizes"
    );
    let edge = f64::from(usual.width);
    let [least, greatest] = [1.0 - by, 1.0 + by].map(|part| edge * part / f64::from(stride));
    let [first, last] = [(least - ROUNDING).ceil().max(1.0) as u32, (greatest + ROUNDING).floor() as u32];
    if first > last {
        bail!(
            "multi_scale: no multiple of {stride} lies within {by} of the output's edge {}: use a smaller stride, or a \
             greater part",
            usual.width
        );
    }
    // One more than the maximum is enough for a refusal.
    let edges = (first..=last).take(MAX_SIZES + 1).map(|strides| strides.saturating_mul(stride));
    Ok(edges.map(|edge| Size::new(edge, edge)).collect())
}

fn check_stride(what: &str, stride: u32) -> Result<()> {
    ensure!(
        (1..=MAX_EDGE).contains(&stride),
        "{what}: stride is {stride}, but may be from 1 to {MAX_EDGE}: give what the model's input must be a multiple \
             of"
    );
    Ok(())
}

fn check_edges(what: &str, size: Size) -> Result<()> {
    ensure!(
        [size.width, size.height].iter().all(|edge| (1..=MAX_EDGE).contains(edge)),
        "{what}: batches would be {size}, but may be from 1 to {MAX_EDGE} a side: use smaller sizes"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_as_high_as_its_highest_image_or_as_wide_as_its_widest() {
        let rect = RectBatches::default();
        let size = |least, greatest| rect.size(640, least, greatest);
        // 0.75 * 640 / 32 + 0.5 = 15.5 strides, 640 / 32 + 0.5 = 20.5.
        assert_eq!(size(0.5, 0.75), Size::new(672, 512));
        assert_eq!(size(4.0 / 3.0, 2.0), Size::new(512, 672));
        for (least, greatest) in [(0.5, 1.0), (1.0, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            assert_eq!(size(least, greatest), Size::new(672, 672));
        }
        let tight = RectBatches { pad: 0.0, stride: 64 };
        assert_eq!(tight.size(640, 0.1, 0.5), Size::new(640, 320));
        assert_eq!(tight.size(640, 1e-6, 1e-6), Size::new(640, 64), "no batch is empty");
    }

    #[test]
    fn no_batch_is_larger_than_the_largest() {
        let rect = RectBatches { stride: 24, pad: 1.3 };
        let largest = rect.largest(500);
        for at in 0..400 {
            let shape = 0.01 * 1.03f64.powi(at);
            let size = rect.size(500, shape, shape * 1.1);
            assert!(size.width <= largest.width && size.height <= largest.height, "{size}");
            assert!([size.width, size.height].iter().all(|edge| edge.is_multiple_of(24) && *edge > 0));
        }
    }

    #[test]
    fn sizes_around_the_output_are_all_multiples_of_the_stride_in_reach() {
        let edges = |by, stride, edge| -> Vec<u32> {
            let sizes = MultiScale::Around { by, stride }.sizes(Size::new(edge, edge)).unwrap();
            assert!(sizes.iter().all(|size| size.width == size.height));
            sizes.iter().map(|size| size.width).collect()
        };
        assert_eq!(edges(0.5, 32, 640), (10..=30).map(|strides| strides * 32).collect::<Vec<_>>());
        assert_eq!(edges(0.25, 32, 100), [96]);
        for (percent, stride, edge) in [(33, 7, 224), (99, 32, 640), (1, 1, 333), (15, 32, 640)] {
            let reach = (100 - percent) * edge..=(100 + percent) * edge;
            let naive =
                (1..4000u32).filter(|size| size.is_multiple_of(stride) && reach.contains(&(100 * size)));
            let got = edges(f64::from(percent) / 100.0, stride, edge);
            assert_eq!(got, naive.collect::<Vec<u32>>(), "{percent} % of {edge} by {stride}");
        }
    }

    #[test]
    fn sizes_that_cannot_be_are_refused_with_the_remedy() {
        let square = Size::new(640, 640);
        let refused = |asked: MultiScale, usual, words: &str| {
            let error = asked.sizes(usual).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        for by in [0.0, 1.0, -0.5, f64::NAN] {
            refused(MultiScale::around(by), square, "above 0 and below 1");
        }
        refused(MultiScale::around(0.5), Size::new(640, 480), "sizes around it are squares");
        refused(MultiScale::around(0.1), Size::new(40, 40), "no multiple of 32 lies within 0.1");
        refused(MultiScale::Around { by: 0.5, stride: 0 }, square, "stride is 0");
        refused(MultiScale::Around { by: 0.5, stride: 1 }, Size::new(60_000, 60_000), "a greater stride");
        refused(MultiScale::squares([]), square, "0 sizes to draw from");
        refused(MultiScale::squares([224, 0]), square, "from 1 to 65535 a side");
        let refused = |rect: RectBatches, usual, words: &str| {
            let error = rect.check(usual).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        let usual = RectBatches::default();
        refused(RectBatches { stride: 0, ..usual }, square, "stride is 0");
        refused(RectBatches { pad: -0.1, ..usual }, square, "counted in strides");
        refused(RectBatches { pad: f64::NAN, ..usual }, square, "counted in strides");
        refused(usual, Size::new(640, 480), "must be a square");
        refused(usual, Size::new(65_535, 65_535), "from 1 to 65535 a side");
        usual.check(square).unwrap();
    }
}
