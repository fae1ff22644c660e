//! Reads the texts of the label files of a YOLO data set, one after the other.

use super::line::{self, Shape};
use crate::error::Result;
use crate::label::{Object, Unit};
use crate::source::labels::report::LabelReport;
use crate::source::labels::table::Table;

/// Most bytes of a label file; a million boxes take fewer.
pub(super) const MAX_LABEL_BYTES: u64 = 64 << 20;

/// The labels of a data set, and which of its images they are for.
pub(super) struct Read {
    pub(super) table: Table,
    pub(super) kept: Vec<usize>,
    pub(super) report: LabelReport,
}

/// What is read so far, and memory that is used again.
pub(super) struct Reading {
    shape: Shape,
    skip_image: bool,
    listed: usize,
    /// How many label files there were.
    pub(super) found: usize,
    pub(super) read: Read,
    /// Those of the image that was read last.
    pub(super) objects: Vec<Object>,
    numbers: Vec<f64>,
}

impl Reading {
    pub(super) fn new(shape: Shape, skip_image: bool, listed: usize) -> Self {
        let table = Table::new(Unit::Normalized, None);
        let read = Read { table, kept: Vec::new(), report: LabelReport::default() };
        Self { shape, skip_image, listed, found: 0, read, objects: Vec::new(), numbers: Vec::new() }
    }

    /// Takes the labels of the image with this index; without a label file, whose place is `labels`, it is background.
    pub(super) fn image(
        &mut self,
        index: usize,
        text: Option<&[u8]>,
        labels: &dyn Fn() -> String,
    ) -> Result<()> {
        self.found += usize::from(text.is_some());
        self.objects.clear();
        let bad_before = self.read.report.bad_labels;
        let clipped = self.lines(text.unwrap_or_default(), labels);
        let report = &mut self.read.report;
        if report.bad_labels > bad_before && self.skip_image {
            return Ok(());
        }
        report.clipped += clipped;
        report.duplicates += self.read.table.push(&self.objects)?;
        self.read.kept.push(index);
        Ok(())
    }

    /// Reads the lines of a text; returns how many objects were cut off.
    fn lines(&mut self, text: &[u8], labels: &dyn Fn() -> String) -> u64 {
        let report = &mut self.read.report;
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        if text.len() as u64 > MAX_LABEL_BYTES {
            let cause = format!("the file has more than {MAX_LABEL_BYTES} bytes, which are no labels");
            report.add_bad(self.listed, labels, cause);
            return 0;
        }
        let mut clipped = 0;
        for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let line = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8 text".to_owned());
            match line.and_then(|line| line::parse(line, &self.shape, &mut self.numbers)) {
                Ok((object, was_clipped)) => {
                    self.objects.push(object);
                    clipped += u64::from(was_clipped);
                }
                Err(cause) => {
                    report.add_bad(self.listed, || format!("{}, line {number}", labels()), cause);
                }
            }
        }
        clipped
    }
}
