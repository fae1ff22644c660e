//! Which kinds of files a decoder takes, as it has said of those that it has seen.

use crate::image::Header;
use std::collections::BTreeMap;

/// Images with a side below this are a kind of their own: an engine might refuse them for their size.
const TINY: u32 = 64;
/// Files of a kind that are refused in a row, until no other of that kind is offered. One may be odd in a way that is
/// no kind.
const REFUSED_IN_A_ROW: u32 = 3;

/// What a decoder's answer depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    components: u8,
    /// Those of the sampling, component by component; (0, 0) beyond the last.
    factors: [(u8, u8); 4],
    precision: u8,
    first_scan: u8,
    baseline: bool,
    progressive: bool,
    restarts: bool,
    tiny: bool,
    part: bool,
}

/// What is known of a decoder.
#[derive(Debug, Default)]
pub(super) struct Kinds(BTreeMap<Kind, Answers>);

#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    /// Whether one was taken.
    taken: bool,
    refused_in_a_row: u32,
}

impl Kind {
    /// The kind of a JPEG that is decoded whole or, with `part`, in part. All other files are one kind.
    pub(super) fn of(header: &Header, part: bool) -> Self {
        let Some(header) = &header.jpeg else { return Self::default() };
        let mut factors = [(0, 0); 4];
        for (to, &from) in factors.iter_mut().zip(header.sampling.factors()) {
            *to = from;
        }
        Self {
            components: header.components,
            factors,
            precision: header.precision,
            first_scan: header.first_scan,
            baseline: header.baseline,
            progressive: header.progressive,
            restarts: header.restart_interval != 0,
            tiny: header.size.width.min(header.size.height) < TINY,
            part,
        }
    }
}

impl Kinds {
    /// Whether the library has to be asked about a file: none of its kind was taken yet.
    pub(super) fn is_unknown(&self, kind: &Kind) -> bool {
        self.0.get(kind).is_none_or(|answers| !answers.taken)
    }

    /// Whether files of this kind are offered no more.
    pub(super) fn is_refused(&self, kind: &Kind) -> bool {
        self.0.get(kind).is_some_and(|answers| answers.refused_in_a_row >= REFUSED_IN_A_ROW)
    }

    /// A file was taken.
    pub(super) fn note_taken(&mut self, kind: Kind) {
        self.0.insert(kind, Answers { taken: true, refused_in_a_row: 0 });
    }

    /// A file was refused for what it is, and not for damage.
    pub(super) fn note_refused(&mut self, kind: Kind) {
        self.0.entry(kind).or_default().refused_in_a_row += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feedline_test_support::jpeg::{Jpeg, SamplingFactor};

    fn kind(sampling: SamplingFactor, side: u16, part: bool) -> Kind {
        let pixels = vec![90; usize::from(side) * usize::from(side) * 3];
        let file = Jpeg::new(sampling).file(&pixels, side, side);
        Kind::of(&crate::image::parse_header(&file).unwrap(), part)
    }

    #[test]
    fn one_refusal_says_nothing_of_the_kind_and_three_in_a_row_do() {
        let (mut kinds, kind) = (Kinds::default(), kind(SamplingFactor::F_2_2, 80, false));
        for _ in 0..2 {
            kinds.note_refused(kind);
            assert!(!kinds.is_refused(&kind) && kinds.is_unknown(&kind));
        }
        kinds.note_taken(kind);
        assert!(!kinds.is_unknown(&kind));
        for _ in 0..3 {
            assert!(!kinds.is_refused(&kind), "they are counted from the last that was taken");
            kinds.note_refused(kind);
        }
        assert!(kinds.is_refused(&kind));
    }

    #[test]
    fn files_that_a_decoder_may_tell_apart_are_of_different_kinds() {
        let plain = kind(SamplingFactor::F_2_2, 80, false);
        assert_eq!(plain, kind(SamplingFactor::F_2_2, 96, false));
        for other in [
            kind(SamplingFactor::F_2_1, 80, false),
            kind(SamplingFactor::F_2_2, 40, false),
            kind(SamplingFactor::F_2_2, 80, true),
        ] {
            assert_ne!(plain, other);
        }
    }
}
