//! Any built-in augmentation as plain data, found by its torchvision name.

/// Exports the listed types, and makes [`super::Augmentation`] of them: an enum that reads, writes and delegates by the
/// type's name.
macro_rules! registry {
    ($($file:ident::$name:ident),* $(,)?) => {
        $(pub use $file::$name;)*

        /// Any built-in augmentation as plain data; recipes are lists of these.
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = "op")]
        #[non_exhaustive]
        pub enum Augmentation {
            $(#[doc = concat!("[`", stringify!($name), "`]")] $name($name),)*
            /// Any of them with a probability beside its arguments.
            #[serde(untagged)]
            WithProbability(WithProbability),
        }

        impl Augmentation {
            /// The names that [`Augmentation::read`] knows, in alphabetical order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// Reads the arguments of the augmentation called `name`.
            ///
            /// # Errors
            /// The deserializer's, for an unknown name, an unknown or missing argument, or one of the wrong type.
            pub fn read<'de, D: serde::Deserializer<'de>>(name: &str, arguments: D) -> std::result::Result<Self, D::Error> {
                match name {
                    $(stringify!($name) => serde::Deserialize::deserialize(arguments).map(Self::$name),)*
                    _ => Err(serde::de::Error::unknown_variant(name, Self::NAMES)),
                }
            }

            fn inner(&self) -> &dyn Augment {
                match self {
                    $(Self::$name(inner) => inner,)*
                    Self::WithProbability(inner) => inner,
                }
            }
        }

        impl Augment for Augmentation {
            fn name(&self) -> &'static str {
                self.inner().name()
            }

            fn check(&self) -> Result<()> {
                self.inner().check()
            }

            fn p(&self) -> Option<f32> {
                self.inner().p()
            }

            fn partners(&self) -> usize {
                self.inner().partners()
            }

            fn wants_partners(&self, rng: &mut dyn Draws) -> bool {
                self.inner().wants_partners(rng)
            }

            fn mixing(&self) -> Mixing {
                self.inner().mixing()
            }

            fn closes(&self) -> bool {
                self.inner().closes()
            }

            fn container(&self) -> Option<&dyn Container> {
                self.inner().container()
            }

            fn plan(&self, draft: &mut Draft, partners: Vec<Draft>, rng: &mut dyn Draws) {
                self.inner().plan(draft, partners, rng);
            }

            fn plan_with_masks(
                &self,
                draft: &mut Draft,
                partners: Vec<Draft>,
                rng: &mut dyn Draws,
                masks: &mut dyn MaskReader,
            ) {
                self.inner().plan_with_masks(draft, partners, rng, masks);
            }
        }

        /// The JSON schema of each augmentation, doc comments included; what lacks one does not compile.
        #[cfg(test)]
        pub(super) fn schemas() -> Vec<(&'static str, schemars::Schema)> {
            vec![$((stringify!($name), schemars::schema_for!($name))),*]
        }

        $(impl From<$name> for Augmentation {
            fn from(inner: $name) -> Self {
                Self::$name(inner)
            }
        })*
    };
}

pub(super) use registry;
