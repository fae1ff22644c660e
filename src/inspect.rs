//! The contents of a data set: counts, sizes, formats, samplings and classes, from the headers of its files.

use crate::error::Result;
use crate::image;
use crate::label::Label;
use crate::loader::{cores, parallel_map};
use crate::source::Source;
use serde::Serialize;
use std::collections::BTreeMap;

/// Bad records that are listed; all are counted.
const LISTED: usize = 10;

/// The result of [`inspect`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Records in the source.
    pub records: usize,
    /// Records that cannot be read, or whose header is not that of an image.
    pub bad: usize,
    /// The first of them, with their causes.
    pub first_bad: Vec<String>,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes of a file.
    pub file_bytes: Spread,
    /// Columns of the upright images.
    pub width: Spread,
    /// Rows of the upright images.
    pub height: Spread,
    /// How many files have each format.
    pub formats: BTreeMap<String, usize>,
    /// How many JPEGs have each chroma sampling.
    pub samplings: BTreeMap<String, usize>,
    /// JPEGs that are progressive.
    pub progressive: usize,
    /// Images that have an EXIF orientation other than upright.
    pub turned: usize,
    /// Images without any label.
    pub unlabelled: usize,
    /// Images, or labelled objects, by the index of their class.
    pub classes: BTreeMap<i64, Count>,
    /// Labelled objects in all images.
    pub objects: usize,
}

/// Minimum, median and maximum; of two middle values, the lower one is the median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The minimum.
    pub min: u64,
    /// The median.
    pub median: u64,
    /// The maximum.
    pub max: u64,
}

impl Spread {
    fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        match values[..] {
            [] => Self::default(),
            [min, ..] => Self { min, median: values[(values.len() - 1) / 2], max: values[values.len() - 1] },
        }
    }
}

/// How often a class occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// Its name, if the source knows it.
    pub name: Option<String>,
    /// The number of occurrences.
    pub count: usize,
}

/// Reads all records of `source` on `workers` threads, or on all cores, decodes only their headers, and counts.
/// `progress` is called with the number of records done.
///
/// # Errors
/// None of its own; bad records are counted. A source without records gives an empty summary.
pub fn inspect(
    source: &dyn Source,
    workers: Option<usize>,
    progress: &mut dyn FnMut(usize),
) -> Result<Summary> {
    let mut tally =
        Tally { summary: Summary { records: source.len(), ..Summary::default() }, ..Tally::default() };
    let work = |bytes: &mut Vec<u8>, index| {
        let read = source.read(index, bytes).map_err(|error| error.to_string());
        read.and_then(|()| {
            let header = image::parse_header(bytes)
                .map_err(|cause| format!("sample {index} ({}): {cause}", source.key(index)))?;
            Ok((bytes.len() as u64, header))
        })
    };
    let take = |index, found| {
        tally.add(source, index, found);
        progress(index + 1);
        Ok(())
    };
    parallel_map(0..source.len(), workers.unwrap_or_else(cores), Vec::new, work, take)?;
    let Tally { mut summary, file_bytes, widths, heights } = tally;
    summary.file_bytes = Spread::of(file_bytes);
    summary.width = Spread::of(widths);
    summary.height = Spread::of(heights);
    Ok(summary)
}

/// The counts so far.
#[derive(Default)]
struct Tally {
    summary: Summary,
    file_bytes: Vec<u64>,
    widths: Vec<u64>,
    heights: Vec<u64>,
}

impl Tally {
    fn add(&mut self, source: &dyn Source, index: usize, found: Result<(u64, image::Header), String>) {
        self.add_label(source, &source.label(index));
        let summary = &mut self.summary;
        let (bytes, header) = match found {
            Ok(found) => found,
            Err(cause) => {
                summary.bad += 1;
                if summary.first_bad.len() < LISTED {
                    summary.first_bad.push(cause);
                }
                return;
            }
        };
        summary.bytes += bytes;
        *summary.formats.entry(header.format.to_string()).or_default() += 1;
        if let Some(sampling) = header.sampling() {
            *summary.samplings.entry(sampling.to_string()).or_default() += 1;
        }
        summary.progressive += header.jpeg.as_ref().map_or(0, |jpeg| usize::from(jpeg.progressive));
        summary.turned += usize::from(header.orientation != crate::geometry::Orientation::UPRIGHT);
        let upright = header.orientation.apply_size(header.size);
        self.file_bytes.push(bytes);
        self.widths.push(u64::from(upright.width));
        self.heights.push(u64::from(upright.height));
    }

    fn add_label(&mut self, source: &dyn Source, label: &Label) {
        let mut count = |class: i64| {
            let entry = self.summary.classes.entry(class).or_default();
            entry.count += 1;
            if entry.name.is_none() {
                let index = usize::try_from(class).ok();
                entry.name = index.and_then(|index| source.classes().get(index)).cloned();
            }
        };
        match label {
            Label::Unlabelled => self.summary.unlabelled += 1,
            Label::Class(class) => count(*class),
            Label::Classes(classes) => {
                classes.iter().for_each(|class| count(*class));
                self.summary.unlabelled += usize::from(classes.is_empty());
            }
            Label::Objects(objects) => {
                objects.list.iter().for_each(|object| count(object.class));
                self.summary.objects += objects.list.len();
                self.summary.unlabelled += usize::from(objects.list.is_empty());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_an_even_count_is_the_lower_one() {
        assert_eq!(Spread::of(vec![9, 1, 4, 2]), Spread { min: 1, median: 2, max: 9 });
        assert_eq!(Spread::of(vec![]), Spread::default());
    }
}
