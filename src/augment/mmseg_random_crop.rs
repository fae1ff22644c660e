//! MmsegRandomCrop: a part of fixed size in which no class prevails, as mmseg's training pipelines cut it.

use super::MaskReader;
use super::prelude::*;

/// How many crops are looked at; the one after them is taken whatever it shows.
const TRIES: usize = 10;

/// Crops `size` at a random position where no class takes up `cat_max_ratio` of the semantic mask or more (mmseg's
/// `RandomCrop`).
///
/// Ten crops are looked at; the one after them is taken as it comes. Without masks, and with a `cat_max_ratio` of 1, the
/// first is. An edge that is shorter than `size` stays as it is: put a `PadIfSmaller` behind it.
///
/// Draws: the row, then the column, for each crop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MmsegRandomCrop {
    /// `[height, width]` in pixels, or one number for a square; each from 1 to 65535.
    pub size: Extent,
    /// The fraction of a crop's pixels that no class reaches, `ignore_index` apart, from 0 to 1; 1 looks at no mask.
    #[serde(default = "no_limit")]
    pub cat_max_ratio: f64,
    /// The class that is not counted, from 0 to 255.
    #[serde(default = "ignored")]
    pub ignore_index: u8,
}

const fn no_limit() -> f64 {
    1.0
}

const fn ignored() -> u8 {
    255
}

impl MmsegRandomCrop {
    /// Crops to `size`, whatever the mask shows.
    pub fn new(size: impl Into<Extent>) -> Self {
        Self { size: size.into(), cat_max_ratio: no_limit(), ignore_index: ignored() }
    }

    setters! {
        /// Sets the fraction of a crop that no class reaches.
        cat_max_ratio: f64;
        /// Sets the class that is not counted.
        ignore_index: u8;
    }

    /// The part of an image of size `of` that is kept; `classes` gives those of the pixels of a part, where they are known.
    ///
    /// # Errors
    /// Those of `classes`.
    pub fn make_params(
        &self,
        of: Size,
        rng: &mut dyn Draws,
        mut classes: impl FnMut(Rect) -> Result<Option<Vec<u8>>>,
    ) -> Result<Rect> {
        let want = self.size.square();
        let (width, height) = (want.width.min(of.width), want.height.min(of.height));
        let mut draw = || {
            let mut place = |free: u32| if free == 0 { 0 } else { rng.below(free + 1) as i32 };
            let y = place(of.height - height);
            Rect::new(place(of.width - width), y, width, height)
        };
        let mut crop = draw();
        if self.cat_max_ratio >= 1.0 {
            return Ok(crop);
        }
        for _ in 0..TRIES {
            match classes(crop)? {
                Some(classes) if !self.is_mixed(&classes) => crop = draw(),
                _ => break,
            }
        }
        Ok(crop)
    }

    /// Whether there are two classes or more, none of which prevails.
    fn is_mixed(&self, classes: &[u8]) -> bool {
        let mut counts = [0u64; 256];
        classes.iter().for_each(|&class| counts[usize::from(class)] += 1);
        counts[usize::from(self.ignore_index)] = 0;
        let (most, all) = (counts.iter().max().copied().unwrap_or(0), counts.iter().sum::<u64>());
        counts.iter().filter(|&&count| count > 0).count() > 1
            && most as f64 / (all as f64) < self.cat_max_ratio
    }

    fn cut(&self, draft: &mut Draft, rng: &mut dyn Draws, masks: Option<&mut dyn MaskReader>) {
        let sized = Self { size: draft.sized(self.size), ..*self };
        let crop = match masks {
            Some(masks) => sized.make_params(draft.size(), rng, |part| masks.classes(draft, part)),
            None => sized.make_params(draft.size(), rng, |_| Ok(None)),
        };
        match crop {
            Err(error) => draft.fail(error),
            Ok(crop) if crop == draft.size().rect() => {}
            Ok(Rect { x: left, y: top, width, height }) => {
                draft.apply(Op::Crop { top, left, height, width });
            }
        }
    }
}

impl Augment for MmsegRandomCrop {
    fn check(&self) -> Result<()> {
        check::size(self.name(), self.size)?;
        check::range(self.name(), "cat_max_ratio", [0.0, self.cat_max_ratio], 0.0, 1.0)
    }

    fn plan(&self, draft: &mut Draft, _partners: Vec<Draft>, rng: &mut dyn Draws) {
        self.cut(draft, rng, None);
    }

    fn plan_with_masks(
        &self,
        draft: &mut Draft,
        _partners: Vec<Draft>,
        rng: &mut dyn Draws,
        masks: &mut dyn MaskReader,
    ) {
        self.cut(draft, rng, Some(masks));
    }
}
