//! Arguments that are any value, of which help and shells name some.

use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::OsStr;

/// What another parser takes, with words that are named.
#[derive(Clone)]
pub(crate) struct Suggested<P> {
    parser: P,
    words: Vec<&'static str>,
}

impl<P> Suggested<P> {
    pub(crate) fn new(parser: P, words: impl IntoIterator<Item = &'static str>) -> Self {
        Self { parser, words: words.into_iter().collect() }
    }
}

impl<P: TypedValueParser> TypedValueParser for Suggested<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.words.iter().map(PossibleValue::new)))
    }
}
