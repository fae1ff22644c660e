//! Everything that a loader can be told by data, each option once: its name, its type, its default and what it means.
//!
//! A recipe file, a builder method, a Python keyword, `feedline_options_set` in C and a flag of the command all end in
//! this struct, and what they offer follows from [`catalogue`]. A new option is declared in the file of its section,
//! and read where it acts; `docs/options.md` is made of the declarations. What cannot be data is not here: a source or
//! an augmentation of one's own, and records in memory.
//!
//! ```
//! use feedline::options::Options;
//!
//! let mut options = Options::default();
//! options.set_text("batch_size", "64")?; // by its name, which no other option has
//! options.set_text("output.dtype", "f16")?; // or by its section and its key there
//! assert_eq!(options.loader.batch_size, Some(64));
//! # Ok::<(), feedline::error::Error>(())
//! ```

#[macro_use]
mod declare;
#[macro_use]
mod value;

mod bytes;
mod catalogue;
mod data;
mod decode;
mod device;
mod field_list;
pub(crate) mod fields;
mod kind;
mod labels;
mod listed;
mod loader;
pub(crate) mod nearest;
mod output;
#[cfg(test)]
mod page;
mod set;
pub(crate) mod wanted;

pub use bytes::Bytes;
pub use catalogue::{Entry, Unset, catalogue};
pub(crate) use catalogue::{is_key, keys};
pub(crate) use data::{BAD_LISTED, MAX_FIELD_BYTES};
pub use data::{DataOptions, DataSet, DataSets, MAX_FILE_BYTES};
pub use decode::DecodeOptions;
pub use device::{DeviceOptions, DeviceWord};
pub use field_list::Fields;
pub use kind::Kind;
pub use labels::{IGNORED, LabelsOptions};
pub use listed::Listed;
pub use loader::{Distributed, LoaderOptions};
pub use output::{NormalizeOptions, OutputOptions, Preset};
pub(crate) use set::toml_value;
pub(crate) use value::alternatives;
pub use value::{Value, ValueKind};

sections! {
    /// The options of a loader, in sections. An option that is `None` takes its value from the options that these are laid
    /// over (flags over a recipe, for example), or its default if it is not set there either.
    pub struct Options {
        /// Which data, and how they are opened.
        pub data: DataOptions,
        /// Batches, their order, and the threads that make them.
        pub loader: LoaderOptions,
        /// What each sample becomes.
        pub output: OutputOptions,
        /// Mean and standard deviation.
        pub normalize: NormalizeOptions,
        /// How labels reach a batch.
        pub labels: LabelsOptions,
        /// What the decoder takes.
        pub decode: DecodeOptions,
        /// Where pixels are made.
        pub device: DeviceOptions,
    }
}

impl Options {
    /// These options laid over others: an option that is set here keeps its value, and any other takes the value from
    /// `below`. An option of `below` that contradicts one set here is dropped: flags with `shuffle = true`, laid over a recipe
    /// with `shuffle_window = 100`, shuffle the whole epoch.
    pub fn over(self, mut below: Self) -> Self {
        self.data.displace(&mut below.data);
        self.loader.displace(&mut below.loader);
        self.normalize.displace(&mut below.normalize);
        self.decode.displace(&mut below.decode);
        self.or(below)
    }
}
