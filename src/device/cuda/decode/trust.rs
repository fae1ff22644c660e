//! How far a decoder's word is taken: it says that it has decoded an image, and what was written is looked at.

use crate::rng::mix;

/// One in so many images is compared with the CPU's pixels, once the first comparisons went well.
const EVERY: u64 = 4096;
/// The same at first, and after something was wrong, for so many comparisons.
const EVERY_AT_FIRST: u64 = 8;
const FIRST_COMPARISONS: u32 = 64;
const COMPARISONS_AFTER_TROUBLE: u32 = 32;
/// Images that were wrong, or not written at all, until a decoder is left; they count until comparisons go well again.
const MOST_WRONG: u32 = 2;
const MOST_UNWRITTEN: u32 = 3;

/// What was seen of one decoder.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    /// Images since it was made, and since the last that was compared and right.
    images: u64,
    since_right: u64,
    /// Images until the next comparison.
    until_next: u64,
    /// Comparisons that are still made as often as at first.
    often: u32,
    recently_wrong: u32,
    recently_unwritten: u32,
    pub(super) compared: u64,
    pub(super) wrong: u64,
    pub(super) unwritten: u64,
    /// Why it is used no more.
    pub(super) left: Option<String>,
}

impl Default for Trust {
    fn default() -> Self {
        Self {
            images: 0,
            since_right: 0,
            until_next: 1,
            often: FIRST_COMPARISONS,
            recently_wrong: 0,
            recently_unwritten: 0,
            compared: 0,
            wrong: 0,
            unwritten: 0,
            left: None,
        }
    }
}

impl Trust {
    /// It has decoded one more image; whether that is to be compared, where there is room for it, and if so, whether all
    /// of it.
    pub(super) fn note_image(&mut self, has_room: bool) -> Option<bool> {
        self.images += 1;
        self.since_right += 1;
        self.until_next = self.until_next.saturating_sub(1);
        if self.until_next > 0 || !has_room {
            return None;
        }
        let mean = if self.often > 0 { EVERY_AT_FIRST } else { EVERY };
        // Not every n-th, as a decoder may have a rhythm of its own.
        self.until_next = 1 + mix(0, self.images) % (2 * mean - 1);
        Some(self.often > 0)
    }

    /// A comparison: the mean difference, where it is too large.
    pub(super) fn note_comparison(&mut self, wrong: Option<f64>) {
        self.compared += 1;
        self.often = self.often.saturating_sub(1);
        match wrong {
            None => {
                self.since_right = 0;
                if self.often == 0 {
                    (self.recently_wrong, self.recently_unwritten) = (0, 0);
                }
            }
            Some(difference) => {
                self.wrong += 1;
                self.recently_wrong += 1;
                self.look_closer();
                if self.recently_wrong >= MOST_WRONG {
                    self.leave(format!(
                        "{} of {} images that were compared are not what the CPU decodes, the latest by {difference:.0} \
                         levels",
                        self.wrong, self.compared
                    ));
                }
            }
        }
    }

    /// An image that it says to have decoded was not written, or not in time.
    pub(super) fn note_unwritten(&mut self) {
        self.unwritten += 1;
        self.recently_unwritten += 1;
        self.look_closer();
        if self.recently_unwritten >= MOST_UNWRITTEN {
            self.leave(format!("it has left {} images unwritten and reported success", self.unwritten));
        }
    }

    fn look_closer(&mut self) {
        self.often = self.often.max(COMPARISONS_AFTER_TROUBLE);
        self.until_next = self.until_next.min(EVERY_AT_FIRST);
    }

    fn leave(&mut self, why: String) {
        let suspect = self.since_right;
        let of = self.images;
        self.left.get_or_insert_with(|| {
            format!("{why}; of its {of} images, {suspect} came after the last that was seen to be right")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Images until a decoder is left that spoils one in ten from image `from` on; comparisons are told `late` images later.
    fn left_after(from: u64, late: usize) -> u64 {
        let (mut trust, mut pending) = (Trust::default(), Vec::new());
        for image in 0.. {
            if trust.left.is_some() {
                return image - from;
            }
            assert!(image < 2_000_000, "never left");
            let spoiled = image >= from && image % 10 == 3;
            if trust.note_image(true).is_some() {
                pending.push((image as usize + late, spoiled));
            }
            pending.retain(|&(at, spoiled)| {
                let due = at <= image as usize;
                if due {
                    trust.note_comparison(spoiled.then_some(60.0));
                }
                !due
            });
        }
        0
    }

    #[test]
    fn a_decoder_that_spoils_one_image_in_ten_is_left_within_512_images_at_first() {
        for late in [0, 10, 100] {
            assert!(left_after(0, late) <= 512, "{}", left_after(0, late));
        }
    }

    #[test]
    fn later_it_takes_one_comparison_to_look_closer() {
        let images = left_after(100_000, 50);
        assert!(images < 30 * EVERY, "{images}");
    }

    #[test]
    fn few_images_are_compared_once_the_first_were_right() {
        let mut trust = Trust::default();
        let mut compared = |images: u64| {
            (0..images)
                .filter(|_| trust.note_image(true).inspect(|_| trust.note_comparison(None)).is_some())
                .count()
        };
        let first = compared(8 * 64);
        assert!((50..80).contains(&first), "{first}");
        compared(8 * 64);
        let later = compared(1000 * EVERY);
        assert!((900..1100).contains(&later), "{later}");
    }

    #[test]
    fn unwritten_images_far_apart_are_forgotten() {
        let mut trust = Trust::default();
        for _ in 0..20 {
            trust.note_unwritten();
            for _ in 0..64 {
                trust.note_comparison(None);
            }
            assert!(trust.left.is_none());
        }
        (0..3).for_each(|_| trust.note_unwritten());
        assert!(trust.left.unwrap().contains("23 images unwritten"));
    }
}
