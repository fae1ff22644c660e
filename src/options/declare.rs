//! The form in which options are declared, and what is made of a declaration.

/// Declares a section: a struct whose fields are all optional, and its part of the catalogue.
///
/// ```text
/// /// What the option means.
/// key as "name" or "other name": Type = default, unset "the default in words", for [Kind Kind],
/// ```
///
/// `key` is what the option is called in its section of a recipe file, and `name` what it is called where there are no
/// sections; they differ only where the key alone would say too little. Other names are read as well. An option with a
/// default has a method of its key that returns the value or the default. `for` lists the kinds of data that the option
/// serves, where it does not serve all.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        pub struct $Section:ident in $section:literal {
            $(
                $(#[doc = $doc:literal])+
                $key:ident $(as $name:literal)? $(or $alias:literal)* : $type:ty
                $(= $default:expr)? $(, unset $words:literal)? $(, for [$($kind:ident)+])?;
            )*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $Section {
            $(
                $(#[doc = $doc])+
                $(#[serde(alias = $name)])?
                $(#[serde(alias = $alias)])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<$type>,
            )*
        }

        impl $Section {
            pub(super) fn entries() -> Vec<$crate::options::Entry> {
                use $crate::options::{Entry, Unset, Value};
                vec![$(Entry {
                    section: $section,
                    key: stringify!($key),
                    name: [$($name,)? stringify!($key)][0],
                    aliases: &[$($alias),*],
                    doc: concat!($($doc, "\n"),+),
                    value: <$type as Value>::kind(),
                    unset: [
                        $(Unset::value::<$type>($default),)?
                        $(Unset::Words($words),)?
                        Unset::None,
                    ].into_iter().next().unwrap_or(Unset::None),
                    kinds: [$(Some(&[$($crate::options::Kind::$kind),+][..]),)? None][0],
                }),*]
            }

            /// Sets the option `key` to a path; false where it is none.
            pub(super) fn set_path(&mut self, key: &str, path: std::path::PathBuf) -> bool {
                match key {
                    $(stringify!($key) => $crate::options::Value::of_path(path)
                        .map(|value: $type| self.$key = Some(value))
                        .is_some(),)*
                    _ => false,
                }
            }

            /// Takes back what is said of the option `key`; false where nothing is.
            #[allow(dead_code, reason = "not all sections need it")]
            pub(in crate::options) fn clear(&mut self, key: &str) -> bool {
                match key {
                    $(stringify!($key) => self.$key.take().is_some(),)*
                    _ => false,
                }
            }

            /// Takes what is not said here from `below`.
            pub(crate) fn or(self, below: Self) -> Self {
                Self { $($key: self.$key.or(below.$key)),* }
            }

            $($(
                #[doc = concat!("[`Self::", stringify!($key), "`](field@Self::", stringify!($key), "), or its default.")]
                pub fn $key(&self) -> $type {
                    self.$key.clone().unwrap_or($default)
                }
            )?)*
        }
    };
}

/// Declares the sections.
macro_rules! sections {
    (
        $(#[doc = $about:literal])+
        pub struct Options {
            $($(#[doc = $doc:literal])+ pub $section:ident: $Section:ident,)*
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Options {
            $(
                $(#[doc = $doc])+
                #[serde(skip_serializing_if = "is_empty")]
                pub $section: $Section,
            )*
        }

        /// The sections with their meanings, in their order.
        pub(crate) const SECTIONS: &[(&str, &str)] = &[$((stringify!($section), concat!($($doc),+))),*];

        impl Options {
            fn entries() -> Vec<Entry> {
                [$($Section::entries()),*].into_iter().flatten().collect()
            }

            fn set_path_in(&mut self, section: &str, key: &str, path: std::path::PathBuf) -> bool {
                match section {
                    $(stringify!($section) => self.$section.set_path(key, path),)*
                    _ => false,
                }
            }

            fn or(self, below: Self) -> Self {
                Self { $($section: self.$section.or(below.$section)),* }
            }
        }

        fn is_empty<T: Default + PartialEq>(section: &T) -> bool {
            *section == T::default()
        }
    };
}
