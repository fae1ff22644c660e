//! Which samples are mixed, and which of them share their draws.
//!
//! The window of partners takes the place of torchvision's and timm's batch, so that draws do not depend on the batch
//! size.

/// How an augmentation chooses its partners, and which samples share its draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mixing {
    /// The choice of the partners.
    pub partner: Partner,
    /// The samples that share the draws.
    pub rng: RngScope,
}

/// The choice of a sample's partners.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partner {
    /// Drawn from the other samples of its window.
    #[default]
    Drawn,
    /// The previous sample in its window; for the first sample, the last (`roll(1)`).
    Previous,
    /// The sample at the mirrored position of its window (`flip`).
    Mirrored,
    /// The same for the first half of the window; the samples of the other half, and one in the middle, have no
    /// partner.
    SecondHalf,
}

/// The samples that share an augmentation's draws.
///
/// In order, from the fewest samples to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RngScope {
    /// None: each sample has its own.
    #[default]
    Sample,
    /// A sample and its partner by [`Partner::Mirrored`].
    Pair,
    /// All samples of a window.
    Window,
}
