//! Which process a loader belongs to: a fork copies its memory, but none of its threads.

use crate::error::{Result, ensure};

/// The process that something was made in.
///
/// In a forked child the workers are gone, and a lock that one of them held stays locked. So nothing of a loader's is
/// locked or waited for there; what it owns is left to the end of the child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::loader) struct Process(u32);

impl Process {
    pub(in crate::loader) fn this() -> Self {
        Self(std::process::id())
    }

    /// One that has this process for a child.
    #[cfg(test)]
    pub(in crate::loader) fn parent() -> Self {
        Self(std::process::id() + 1)
    }

    pub(in crate::loader) fn is_this(self) -> bool {
        self == Self::this()
    }

    pub(in crate::loader) fn check(self) -> Result<()> {
        ensure!(
            self.is_this(),
            "this loader was made in process {}, and its threads did not come along when that process forked: \
                 make the loader in the process that uses it, or start processes by spawn",
            self.0
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_is_refused_by_its_number() {
        assert!(Process::this().check().is_ok());
        let other = Process::parent();
        assert!(other.check().unwrap_err().to_string().contains(&format!("made in process {},", other.0)));
    }
}
