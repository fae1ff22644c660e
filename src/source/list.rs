//! A text file with one image on each line: a path and, if it has one, a label.

use super::Source;
use super::files::Files;
use super::folder::is_image_name;
use crate::error::{Error, Result};
use crate::label::Label;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The files that a text file lists, in its order.
///
/// A line is `path<separator>label`, the separator a tab, a comma or a space. A path is relative to the list's own
/// folder. A label is an index from 0 or a class name, the same kind on all lines; names are counted in sorted order.
/// A line without a label is an unlabelled record. The path ends at the first tab; without a tab at an image ending
/// (`.jpg`, `.png`, ...) before a separator, so that both paths and names may hold spaces and commas; else at the last
/// separator. Empty lines and lines that begin with `#` are skipped.
#[derive(Clone, Debug)]
pub struct List {
    files: Files,
    /// Class of each file; -1 for none.
    labels: Vec<i64>,
    classes: Vec<String>,
}

impl List {
    /// Reads the list; the files that it names are looked for only when they are read.
    ///
    /// # Errors
    /// A list that cannot be read, holds no path, or has a line without meaning; the line's number is named.
    pub fn open(list: impl AsRef<Path>) -> Result<Self> {
        let list = list.as_ref();
        let remedy = "name a text file with a path and a label on each line";
        let bytes = fs::read(list).map_err(|error| Error::io(list, error, remedy))?;
        let folder = list.parent().unwrap_or(Path::new(""));
        let mut files = Files::below(folder);
        let mut labels = Vec::new();
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let at = |what: String| Error::config(format!("{}, line {number}: {what}", list.display()));
            let Some((path, label)) = parse(line).map_err(at)? else { continue };
            files.push(&folder.join(path))?;
            labels.push((number, label));
        }
        if labels.is_empty() {
            return Err(Error::config(format!(
                "{} lists no file: write one path on each line",
                list.display()
            )));
        }
        files.shrink();
        let (labels, classes) = number_classes(list, &labels)?;
        Ok(Self { files, labels, classes })
    }

    /// The largest file that is read; larger ones are bad samples. 1 GiB unless set.
    pub fn max_file_bytes(mut self, max_file_bytes: u64) -> Self {
        self.files.max_file_bytes = max_file_bytes;
        self
    }
}

impl Source for List {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn read(&self, index: usize, bytes: &mut Vec<u8>) -> Result<()> {
        self.files.read(index, bytes)
    }

    fn key(&self, index: usize) -> Cow<'_, str> {
        self.files.key(index)
    }

    fn label(&self, index: usize) -> Label {
        match self.labels.get(index) {
            Some(&class) if class >= 0 => Label::Class(class),
            _ => Label::Unlabelled,
        }
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}

/// Path and label of a line (the label empty where there is none), or nothing where it says nothing.
pub(super) fn parse(line: &[u8]) -> Result<Option<(&str, &str)>, String> {
    let line = std::str::from_utf8(line)
        .map_err(|_| "the text is not UTF-8: save the list as UTF-8".to_owned())?
        .trim_end_matches(['\r', ' ', '\t']);
    if line.contains('\0') {
        return Err("the line holds a zero byte: save the list as UTF-8 text".to_owned());
    }
    if line.trim_start().is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.starts_with('"') {
        return Err("quotes have no meaning here: drop them and put a tab between path and label".to_owned());
    }
    let (path, label) = split(line);
    let label = label.trim_matches(SEPARATORS);
    if path.is_empty() {
        return Err(
            "there is no path in front of the separator: write the path first, then the label".to_owned()
        );
    }
    Ok(Some((path, label)))
}

const SEPARATORS: [char; 3] = ['\t', ',', ' '];

fn split(line: &str) -> (&str, &str) {
    if let Some(halves) = line.split_once('\t') {
        return halves;
    }
    let ends = line.match_indices(SEPARATORS).map(|(at, _)| at).chain([line.len()]);
    if let Some(end) = ends.into_iter().find(|&end| is_image_name(OsStr::new(&line[..end]))) {
        return line.split_at(end);
    }
    line.rsplit_once(SEPARATORS).unwrap_or((line, ""))
}

/// Class indices of the labels, and the sorted class names if the labels are names.
pub(super) fn number_classes(list: &Path, labels: &[(usize, &str)]) -> Result<(Vec<i64>, Vec<String>)> {
    let labelled = || labels.iter().filter(|(_, label)| !label.is_empty());
    let is_index = |label: &str| label.parse::<u32>().is_ok();
    let Some(&(first, kind)) = labelled().next() else { return Ok((vec![-1; labels.len()], Vec::new())) };
    let by_index = is_index(kind);
    if let Some((number, other)) = labelled().find(|(_, label)| is_index(label) != by_index) {
        return Err(Error::config(format!(
            "{}, line {number}: the label `{other}` and the label `{kind}` of line {first} are of two kinds: use \
             indices from 0, or names, on all lines",
            list.display()
        )));
    }
    if by_index {
        let index = |label: &str| label.parse::<u32>().map_or(-1, i64::from);
        return Ok((labels.iter().map(|(_, label)| index(label)).collect(), Vec::new()));
    }
    let names: Vec<&str> = labelled().map(|&(_, label)| label).collect::<BTreeSet<_>>().into_iter().collect();
    let index = |label: &str| names.binary_search(&label).map_or(-1, |class| class as i64);
    let classes = names.iter().map(|&name| name.to_owned()).collect();
    Ok((labels.iter().map(|(_, label)| index(label)).collect(), classes))
}
