//! What all augmentations do alike that have a probability `p` of their own and no partners.

/// Implements [`super::Augment`]: `check` looks at the other arguments, `plan` is done with probability `p`.
macro_rules! by_own_chance {
    (
        $Name:ident,
        check: |$checked:ident, $name:ident| $check:expr,
        plan: |$planned:ident, $draft:ident, $rng:ident| $plan:expr $(,)?
    ) => {
        impl Augment for $Name {
            fn check(&self) -> Result<()> {
                let ($checked, $name) = (self, self.name());
                check::probability($name, self.p)?;
                $check
            }

            fn p(&self) -> Option<f32> {
                Some(self.p)
            }

            fn plan(&self, $draft: &mut Draft, _partners: Vec<Draft>, $rng: &mut dyn Draws) {
                if $rng.applies(self.p) {
                    let $planned = self;
                    $plan
                }
            }
        }
    };
}

pub(super) use by_own_chance;
