//! Turns the errors and panics of the crate that decodes Parquet into read errors.

use crate::source::read_error::ReadError;
use parquet::errors::ParquetError;
use std::panic::AssertUnwindSafe;

impl From<ParquetError> for ReadError {
    fn from(error: ParquetError) -> Self {
        ReadError::Bad(format!("{error}: copy the file again, or name Parquet files"))
    }
}

/// Calls `read`, and makes an error of a panic: the crate that decodes Parquet may panic over a damaged file, which must
/// cost a sample and not the run.
pub(super) fn guarded<T>(read: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    std::panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        Err(ReadError::Bad(format!("it is damaged so that decoding gave up ({text}): copy the file again")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decoder_that_panics_is_an_error_of_the_file() {
        let stopped = guarded::<()>(|| panic!("this panic is part of a test"));
        assert!(matches!(stopped, Err(ReadError::Bad(what)) if what.contains("copy the file again")));
        for read in [|| panic!("as it is"), || panic!("made of {}", "two")] {
            let Err(ReadError::Bad(what)) = guarded::<()>(read) else { panic!("another error") };
            assert!(what.contains("(as it is)") || what.contains("(made of two)"), "{what}");
        }
    }
}
