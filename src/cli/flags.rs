//! A flag for each option of the library's catalogue, so that none is declared here.

use super::suggested::Suggested;
use clap::builder::OsStringValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command, Error};
use feedline::options::{DataOptions, Entry, Options, Unset, ValueKind, catalogue};
use std::ffi::OsString;
use std::marker::PhantomData;
use std::path::Path;

/// Which options a command takes.
pub(crate) trait Taken: Clone + std::fmt::Debug {
    fn takes(_: &Entry) -> bool {
        true
    }

    /// What the command does where neither a flag nor a recipe says anything.
    fn usual() -> Options {
        Options::default()
    }
}

/// Those of a command that makes a loader.
#[derive(Clone, Debug)]
pub(crate) struct All;

/// Those of a command that opens data and makes no loader.
#[derive(Clone, Debug)]
pub(crate) struct DataSet;

/// The same where the data are named without a flag.
#[derive(Clone, Debug)]
pub(crate) struct HowOpened;

/// The same, and what becomes of damaged files.
#[derive(Clone, Debug)]
pub(crate) struct HowVerified;

impl Taken for All {}

impl Taken for DataSet {
    fn takes(entry: &Entry) -> bool {
        entry.section == "data"
    }
}

impl Taken for HowOpened {
    fn takes(entry: &Entry) -> bool {
        entry.section == "data" && entry.name != "data"
    }
}

impl Taken for HowVerified {
    fn takes(entry: &Entry) -> bool {
        HowOpened::takes(entry) || HowDecoded::takes(entry)
    }
}

/// Those of a command that opens data to pack them.
#[derive(Clone, Debug)]
pub(crate) struct Packed;

/// What becomes of a damaged file, of a command that decodes single files.
#[derive(Clone, Debug)]
pub(crate) struct HowDecoded;

impl Taken for Packed {
    fn takes(entry: &Entry) -> bool {
        DataSet::takes(entry) || HowDecoded::takes(entry)
    }
}

impl Taken for HowDecoded {
    fn takes(entry: &Entry) -> bool {
        entry.name == "damaged"
    }
}

/// The options that flags set.
#[derive(Clone, Debug)]
pub(crate) struct Flags<T> {
    pub(crate) options: Options,
    taken: PhantomData<T>,
}

impl<T> Flags<T> {
    /// The options of the data at `path`, which no flag names.
    pub(crate) fn data_at(&self, path: &Path) -> DataOptions {
        DataOptions { path: Some(path.to_owned()), ..self.options.data.clone() }
    }
}

/// `--batch-size` for `batch_size`.
fn flag(name: &str) -> String {
    name.replace('_', "-")
}

fn argument(entry: &'static Entry, usual: &Options) -> Arg {
    let arg = Arg::new(entry.name)
        .long(flag(entry.name))
        .visible_aliases(entry.aliases.iter().map(|alias| flag(alias)).collect::<Vec<_>>())
        .help(help(entry, usual))
        .help_heading(heading(entry))
        .value_name(placeholder(entry))
        .value_parser(Suggested::new(OsStringValueParser::new(), words(entry).iter().copied()))
        // The value's name has them.
        .hide_possible_values(true);
    match entry.value {
        // Without a value it is true; the value needs the sign, so that a path after the flag is none.
        ValueKind::Flag => arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        // Anything else that begins with a hyphen is a flag, unless it follows an equals sign.
        ValueKind::Integer | ValueKind::Number | ValueKind::Bytes | ValueKind::Triple => {
            arg.num_args(1).allow_hyphen_values(true)
        }
        _ => arg.num_args(1),
    }
}

/// What shells complete.
fn words(entry: &Entry) -> &'static [&'static str] {
    match entry.value {
        ValueKind::Words(words) => words,
        ValueKind::Flag => &["true", "false"],
        _ => &[],
    }
}

/// Such as `Options of [decode], what the decoder takes`.
fn heading(entry: &Entry) -> String {
    let about = entry.section_about().trim_end_matches('.');
    let first = about.chars().next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    format!("Options of [{}], {first}{}", entry.section, about.get(first.len()..).unwrap_or_default())
}

fn help(entry: &Entry, usual: &Options) -> String {
    let summary = entry.summary();
    let text = summary.trim_end_matches('.');
    let kinds = entry.kinds.map_or_else(String::new, |kinds| {
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        format!(" ({})", words.join(", "))
    });
    let usual = usual.get(entry.name).ok().filter(|usual| !usual.is_null()).map(Unset::Value);
    match usual.as_ref().unwrap_or(&entry.unset) {
        Unset::None => format!("{text}{kinds}"),
        unset => format!("{text}{kinds} [default: {unset}]"),
    }
}

fn placeholder(entry: &Entry) -> String {
    match entry.value {
        ValueKind::Words(words) => words.join("|"),
        ValueKind::Flag => "true|false".into(),
        ValueKind::Integer => "N".into(),
        ValueKind::Number => "NUMBER".into(),
        ValueKind::Bytes => "BYTES".into(),
        ValueKind::Path => "PATH".into(),
        ValueKind::Device => "auto|cpu|cuda:N".into(),
        ValueKind::Index => "memory|off|FILE".into(),
        ValueKind::Size => "HEIGHT,WIDTH".into(),
        ValueKind::Sizes => "SIZES".into(),
        ValueKind::Triple => "R,G,B".into(),
        ValueKind::Integers | ValueKind::Numbers => "LIST|FILE".into(),
        ValueKind::Texts => "WORDS".into(),
        ValueKind::Renames => "NAME=\"NAME\"".into(),
        ValueKind::DataSets => "TABLES".into(),
        ValueKind::Fields => "NAME=\"TYPE\"".into(),
        _ => "TEXT".into(),
    }
}

impl<T: Taken> clap::Args for Flags<T> {
    fn augment_args(command: Command) -> Command {
        let (taken, usual) = (catalogue().iter().filter(|entry| T::takes(entry)), T::usual());
        taken.map(|entry| argument(entry, &usual)).fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Taken> clap::FromArgMatches for Flags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut flags = Self { options: Options::default(), taken: PhantomData };
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for entry in catalogue().iter().filter(|entry| T::takes(entry)) {
            if let Some(given) = matches.get_one::<OsString>(entry.name) {
                let set = match given.to_str() {
                    Some(text) => self.options.set_text(entry.name, text),
                    None => self.options.set_path(entry.name, given.into()),
                };
                set.map_err(|error| {
                    Error::raw(ErrorKind::InvalidValue, format!("--{}: {error}\n", flag(entry.name)))
                })?;
            }
        }
        Ok(())
    }
}
