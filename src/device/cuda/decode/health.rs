//! Whether a decoder is worth asking: one that fails whatever it is given rests for a while, and is then tried again.

/// Calls in which nothing was decoded, until the decoder rests.
const STRIKES: u32 = 3;
/// Calls that go well, for each of which a strike is forgotten.
const FORGIVEN_AFTER: u32 = 16;
/// Batches of the first rest; each further one is twice as long, up to [`LONGEST`] doublings.
const FIRST_REST: u32 = 32;
const LONGEST: u32 = 6;

/// How well a decoder has done lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Health {
    strikes: u32,
    /// Calls that went well since the last strike was counted or forgotten.
    good: u32,
    /// Batches that it still rests for.
    resting: u32,
    /// How often it has rested without having recovered.
    doublings: u32,
    /// How often it has rested.
    pub(super) rests: u64,
}

impl Health {
    pub(super) fn is_sound(&self) -> bool {
        self.resting == 0
    }

    /// A call in which something was decoded.
    pub(super) fn note_success(&mut self) {
        self.good += 1;
        if self.good == FORGIVEN_AFTER {
            self.good = 0;
            self.strikes = self.strikes.saturating_sub(1);
            if self.strikes == 0 {
                self.doublings = 0;
            }
        }
    }

    /// A call in which nothing was decoded, for no file's fault.
    pub(super) fn note_failure(&mut self) {
        self.good = 0;
        self.strikes += 1;
        if self.strikes >= STRIKES {
            self.resting = FIRST_REST << self.doublings.min(LONGEST);
            self.doublings += 1;
            self.rests += 1;
            // One more is enough to send it back.
            self.strikes = STRIKES - 1;
        }
    }

    /// A batch has been made.
    pub(super) fn note_batch(&mut self) {
        self.resting = self.resting.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches_until_sound(health: &mut Health) -> u32 {
        let mut batches = 0;
        while !health.is_sound() {
            health.note_batch();
            batches += 1;
        }
        batches
    }

    #[test]
    fn a_decoder_that_always_fails_rests_longer_and_longer_and_is_always_tried_again() {
        let mut health = Health::default();
        (0..2).for_each(|_| health.note_failure());
        assert!(health.is_sound());
        let mut rests = Vec::new();
        for _ in 0..9 {
            health.note_failure();
            rests.push(batches_until_sound(&mut health));
        }
        assert_eq!(rests, [32, 64, 128, 256, 512, 1024, 2048, 2048, 2048]);
        assert_eq!(health.rests, 9);
    }

    #[test]
    fn failures_far_apart_are_forgotten() {
        let mut health = Health::default();
        for _ in 0..100 {
            health.note_failure();
            (0..FORGIVEN_AFTER).for_each(|_| health.note_success());
            assert!(health.is_sound());
        }
        health.note_failure();
        health.note_failure();
        health.note_failure();
        assert!(!health.is_sound());
        batches_until_sound(&mut health);
        (0..3 * FORGIVEN_AFTER).for_each(|_| health.note_success());
        (0..STRIKES).for_each(|_| health.note_failure());
        assert_eq!(batches_until_sound(&mut health), FIRST_REST, "it had recovered");
    }
}
