//! Whether whoever asked still waits for the answer.

use crate::error::{Error, Result};

/// Asks whether to go on, until the answer is no.
pub(super) struct Patience<'a> {
    go_on: &'a mut dyn FnMut() -> bool,
    is_over: bool,
}

impl<'a> Patience<'a> {
    pub(super) fn of(go_on: &'a mut dyn FnMut() -> bool) -> Self {
        Self { go_on, is_over: false }
    }

    /// Asks.
    ///
    /// # Errors
    /// That nobody waits any more, now and ever after.
    pub(super) fn ask(&mut self) -> Result<()> {
        self.is_over = self.is_over || !(self.go_on)();
        if self.is_over { Err(Error::config("the examination was left")) } else { Ok(()) }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_come_back() {
        let mut left = 2;
        let mut go_on = || {
            left -= 1;
            left != 0
        };
        let mut patience = Patience::of(&mut go_on);
        assert_eq!([0; 3].map(|_| patience.ask().is_ok()), [true, false, false]);
        assert!(patience.is_over());
        assert_eq!(left, 0, "asked no more");
    }
}
