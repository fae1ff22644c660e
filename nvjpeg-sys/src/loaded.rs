//! What is loaded into this process, as Linux tells; other systems tell nothing.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// The nvJPEG libraries that this process has loaded, by whomever.
pub fn loaded() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for (_, path) in mappings(&maps()) {
        if is_nvjpeg(path) && !found.iter().any(|other| other == path) {
            found.push(path.to_owned());
        }
    }
    found
}

/// The file that holds what is at this address.
pub(crate) fn file_of(address: usize) -> Option<PathBuf> {
    let maps = maps();
    mappings(&maps).find(|(range, _)| range.contains(&address)).map(|(_, path)| path.to_owned())
}

/// Whether a file has nvJPEG's name, as NVIDIA writes it or as a wheel does that carries a copy: `libnvjpeg.so.13`,
/// `libnvjpeg.0b8f1c2d.so.12`, `libnvjpeg-0b8f1c2d.so.12`; not nvJPEG2000's, `libnvjpeg2k.so.0`.
pub(crate) fn is_nvjpeg(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let rest = name.and_then(|name| name.strip_prefix("libnvjpeg"));
    rest.is_some_and(|rest| rest.starts_with(['.', '-']) && rest.contains(".so"))
}

fn maps() -> String {
    let bytes = std::fs::read("/proc/self/maps").unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Addresses and files in the system's list; what belongs to no file is left out.
fn mappings(maps: &str) -> impl Iterator<Item = (Range<usize>, &Path)> {
    maps.lines().filter_map(|line| {
        let path = &line[line.find('/')?..];
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        Some((number(from)?..number(to)?, Path::new(path)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
7f00-7f80 r-xp 00000000 08:01 1234   /opt/my wheels/libnvjpeg.so.13
7f80-7f90 rw-p 00000000 00:00 0
7f90-7fa0 rw-p 00000000 00:00 0      [stack]
7fa0-7fb0 r--p 00000000 08:01 1235   /lib/libc.so.6";

    #[test]
    fn files_are_found_by_the_addresses_that_they_hold() {
        let found: Vec<_> = mappings(MAPS).collect();
        let path = Path::new("/opt/my wheels/libnvjpeg.so.13");
        assert_eq!(found, [(0x7f00..0x7f80, path), (0x7fa0..0x7fb0, Path::new("/lib/libc.so.6"))]);
    }

    #[test]
    fn a_copy_in_a_wheel_is_nvjpeg_and_nvjpeg2000_is_not() {
        let names = ["libnvjpeg.so.13", "libnvjpeg.0b8f1c2d.so.12", "libnvjpeg-0b8f1c2d.so.12"];
        assert!(names.iter().all(|name| is_nvjpeg(&Path::new("/x").join(name))));
        let others = ["libnvjpeg2k.so.0", "libnvjpeg_static.a", "libnvjpeg.a", "nvjpeg.so", "libjpeg.so.8"];
        assert!(!others.iter().any(|name| is_nvjpeg(&Path::new("/x").join(name))));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_function_of_this_program_is_in_its_file() {
        let here = file_of(is_nvjpeg as *const () as usize);
        assert_eq!(here, std::env::current_exe().ok());
    }
}
