//! Numbers that an option lists, or that a file holds.

use crate::error::{Error, Result};
use crate::regular_file;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Numbers in a list, or in a text file with one on each line; empty lines and those that begin with `#` are skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a list of numbers, or the path of a text file of them")]
pub enum Listed<T> {
    /// The numbers themselves.
    List(Vec<T>),
    /// The file that holds them.
    File(PathBuf),
}

impl<T: FromStr + Clone> Listed<T> {
    /// The numbers.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that cannot be read, [`Error::Config`] with the line where it holds no number.
    pub fn read(&self) -> Result<Vec<T>> {
        match self {
            Listed::List(numbers) => Ok(numbers.clone()),
            Listed::File(path) => read_numbers(path),
        }
    }
}

fn read_numbers<T: FromStr>(path: &Path) -> Result<Vec<T>> {
    let remedy = "give a list of numbers, or a text file with one on each line";
    let text = regular_file::read_text(path).map_err(|error| Error::io(path, error, remedy))?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let number = |(number, line): (u32, &str)| {
        let wrong = || {
            Error::config(format!("{}, line {number}: `{line}` is no such number: {remedy}", path.display()))
        };
        line.parse().map_err(|_| wrong())
    };
    lines.map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_a_file_with_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.txt");
        std::fs::write(&path, "# those that count\n3\n\n 14 \n").unwrap();
        assert_eq!(Listed::<u64>::File(path.clone()).read().unwrap(), [3, 14]);
        std::fs::write(&path, "3\n-1\n").unwrap();
        let error = Listed::<u64>::File(path.clone()).read().unwrap_err().to_string();
        assert!(error.contains("numbers.txt, line 2: `-1`"), "{error}");
        assert_eq!(Listed::<f64>::File(path).read().unwrap(), [3.0, -1.0]);
    }
}
