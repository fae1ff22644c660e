//! What tells whether the bytes of a record may have changed since they were read.

use std::fs::Metadata;
use std::hash::Hasher;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::{Duration, SystemTime};
use twox_hash::XxHash3_64;

/// A file that was written so short a time ago may be written again without another date: as coarse as dates of file systems get.
const COARSEST_DATE: Duration = Duration::from_secs(2);
/// The same of the system's own clock, which says when a date was set.
const COARSEST_CLOCK: Duration = Duration::from_millis(20);

/// The version of a record's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Nothing tells: the record is no part of a file, or its file is not there.
    Unknown,
    /// Its file was written a moment ago, and may still be written to under the same date.
    Changing,
    /// As long as this number is the same, so are the bytes.
    Known(NonZeroU64),
}

impl Version {
    /// That of the file at `path`, by its size, its dates and its number in the file system.
    pub fn of_file(path: &Path) -> Self {
        std::fs::metadata(path).map_or(Version::Unknown, |about| Self::of_metadata(&about))
    }

    /// The same of a file that is open.
    pub fn of_metadata(about: &Metadata) -> Self {
        Self::as_of(about, SystemTime::now())
    }

    fn as_of(about: &Metadata, now: SystemTime) -> Self {
        let Ok(written) = about.modified() else { return Version::Unknown };
        let changed = changed(about).unwrap_or(written);
        match is_past(written, COARSEST_DATE, now) && is_past(changed, COARSEST_CLOCK, now) {
            true => Self::of_numbers(&numbers(about, written)),
            false => Version::Changing,
        }
    }

    /// Of what a store says of an object.
    pub fn of_numbers(numbers: &[u64]) -> Self {
        Self::of_all(numbers.iter().copied())
    }

    /// The version of a part of what has this one; `place` tells the part from others that may be read under the same key.
    pub(super) fn of_part(self, place: &[u64]) -> Self {
        match self {
            Version::Known(whole) => Self::of_all(std::iter::once(whole.get()).chain(place.iter().copied())),
            other => other,
        }
    }

    fn of_all(numbers: impl Iterator<Item = u64>) -> Self {
        let mut hasher = XxHash3_64::new();
        numbers.for_each(|number| hasher.write_u64(number));
        Version::Known(NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MIN))
    }
}

/// Whether what happens now to a file has another date than that, on a clock so coarse. Clocks of servers may be ahead.
fn is_past(date: SystemTime, coarse: Duration, now: SystemTime) -> bool {
    match now.duration_since(date) {
        Ok(ago) => ago >= coarse,
        Err(ahead) => ahead.duration() >= coarse,
    }
}

/// When anything of the file was changed last, its dates included.
#[cfg(unix)]
fn changed(about: &Metadata) -> Option<SystemTime> {
    use std::os::unix::fs::MetadataExt;
    let nanoseconds = u32::try_from(about.ctime_nsec()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(u64::try_from(about.ctime()).ok()?, nanoseconds))
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> Option<SystemTime> {
    None
}

#[cfg(unix)]
fn numbers(about: &Metadata, _: SystemTime) -> [u64; 6] {
    use std::os::unix::fs::MetadataExt;
    let dates =
        [about.mtime(), about.mtime_nsec(), about.ctime(), about.ctime_nsec()].map(i64::cast_unsigned);
    let [mtime, mtime_nsec, ctime, ctime_nsec] = dates;
    [about.size(), about.ino(), mtime, mtime_nsec, ctime, ctime_nsec]
}

#[cfg(not(unix))]
fn numbers(about: &Metadata, written: SystemTime) -> [u64; 2] {
    let since = written.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    [about.len(), since.as_nanos() as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, File};

    #[test]
    fn a_file_has_another_version_after_each_change_and_none_once_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["file", "other"].map(|name| folder.path().join(name));
        let old = SystemTime::now() - Duration::from_secs(1000);
        let write = |path: &Path, bytes: &[u8]| {
            fs::write(path, bytes).unwrap();
            File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        };
        let settled = || {
            while Version::of_file(&path) == Version::Changing {
                std::hint::spin_loop();
            }
            Version::of_file(&path)
        };
        // The version so long after the file was touched last.
        let after = |milliseconds: u64| {
            let about = fs::metadata(&path).unwrap();
            Version::as_of(&about, changed(&about).unwrap() + Duration::from_millis(milliseconds))
        };
        write(&path, b"as long");
        assert_eq!(after(19), Version::Changing, "its date was set a moment ago");
        let first = settled();
        assert!(matches!(first, Version::Known(_)) && after(20) == first);
        fs::write(&path, b"another").unwrap();
        assert_eq!(after(1999), Version::Changing, "its date is that of a moment ago");
        assert!(matches!(after(2000), Version::Known(version) if Version::Known(version) != first));
        write(&path, b"as long");
        let second = settled();
        assert_ne!(second, first, "its date was set at another time");
        write(&other, b"as long");
        fs::rename(&other, &path).unwrap();
        assert!(![first, second].contains(&settled()));
        fs::remove_file(&path).unwrap();
        assert_eq!(Version::of_file(&path), Version::Unknown);
    }

    #[test]
    fn parts_of_a_file_have_versions_of_their_own_once_the_file_has_one() {
        let whole = Version::of_numbers(&[3]);
        let parts = [&[][..], &[0], &[1, 0], &[0, 1]].map(|place| whole.of_part(place));
        for (number, part) in parts.iter().enumerate() {
            assert!(matches!(part, Version::Known(_)) && !parts[..number].contains(part), "{number}");
        }
        assert_eq!(Version::of_numbers(&[3]).of_part(&[0]), parts[1]);
        for other in [Version::Unknown, Version::Changing] {
            assert_eq!(other.of_part(&[1]), other);
        }
    }

    #[test]
    fn a_date_tells_once_it_is_older_than_the_coarsest_clock_or_far_ahead() {
        let now = SystemTime::now();
        let is_settled = |date: SystemTime| is_past(date, COARSEST_DATE, now);
        let ago = |milliseconds: u64| now - Duration::from_millis(milliseconds);
        assert_eq!([0, 1999, 2000, 99_999].map(ago).map(is_settled), [false, false, true, true]);
        assert!(!is_settled(now + Duration::from_millis(5)));
        assert!(is_settled(now + Duration::from_secs(3600)));
    }
}
