//! Walks the records of one TFRecord file without reading the images in them.

use super::example::Feature;
use super::wire::{Cursor, Span};
use super::{FOOTER_BYTES, HEADER_BYTES, Names, length_in, masked};
use crate::regular_file;
use crate::source::classes::RawLabel;
use crate::source::listed::LISTED;
use crate::source::packed::objects::MAX_JSON_BYTES;
use crate::source::read_error::ReadError;
use prost::Message;
use std::path::Path;

/// Most bytes of a feature's name, and of a label or file name.
const MAX_NAME_BYTES: u64 = 1 << 10;
const MAX_FEATURE_BYTES: u64 = 1 << 16;

const CUT: &str =
    "the file ends in the middle of the record: copy it again, or take the file out of the data set";

/// One record.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Where its data begins in the file, and how long that is.
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// Where the image begins in the data, and how long it is.
    pub(super) image: Option<[u64; 2]>,
    label: Feature,
    text: Feature,
    file: Feature,
    /// Where the mask begins in the file, and how long it is.
    pub(super) mask: Option<[u64; 2]>,
    objects: Feature,
    /// Where the feature of each field begins in the file, and how long it is; empty where the record is damaged.
    pub(super) fields: Vec<Option<[u64; 2]>>,
    /// Names of features that are not needed: the first of them.
    pub(super) others: Vec<String>,
}

impl Found {
    /// The class, and its name where the class is an index.
    pub(super) fn class(&self, names: &Names) -> Result<(RawLabel<'_>, Option<&str>), String> {
        let of = |name: &str, what: String| format!("the feature `{name}` {what}");
        let label = self.label.class(names.lists).map_err(|what| of(&names.label, what))?;
        match (label, self.text.class(names.lists)) {
            // An empty list of indices says nothing where there are names.
            (RawLabel::Indices(list), Ok(named @ (RawLabel::Name(_) | RawLabel::Names(_))))
                if list.is_empty() =>
            {
                Ok((named, None))
            }
            (RawLabel::Nothing, text) => Ok((text.map_err(|what| of(&names.text, what))?, None)),
            (label, Ok(RawLabel::Name(name))) => Ok((label, Some(name))),
            (label, _) => Ok((label, None)),
        }
    }

    /// The JSON that says the objects.
    pub(super) fn objects(&self) -> Option<&[u8]> {
        self.objects.as_bytes()
    }

    pub(super) fn file(&self) -> Option<&str> {
        match self.file.class(false) {
            Ok(RawLabel::Name(name)) => Some(name),
            _ => None,
        }
    }
}

/// Hands each record to `take`, in order. A record whose data make no sense, and do not match their checksum, is handed
/// out without an image: reading it reports the error.
///
/// # Errors
/// What is wrong with the file; a record is named by its index and its offset.
pub(super) fn scan(
    path: &Path,
    names: &Names,
    take: &mut dyn FnMut(&Found) -> Result<(), String>,
) -> Result<(), ReadError> {
    let file = regular_file::open(path)?;
    let length = file.metadata()?.len();
    let mut cursor = Cursor::new(file);
    let mut start = 0;
    for number in 0u64.. {
        if start == length {
            break;
        }
        let found = record(&mut cursor, names, start, length);
        let taken = found.and_then(|found| take(&found).map(|()| found).map_err(ReadError::Bad));
        let found = taken.map_err(|stop| match stop {
            ReadError::Bad(what) => ReadError::Bad(format!("record {number} at byte {start}: {what}")),
            io => io,
        })?;
        start = found.start + found.bytes + FOOTER_BYTES;
        cursor.seek(start)?;
    }
    Ok(())
}

/// The record that begins at `start`, where the cursor is.
fn record(cursor: &mut Cursor, names: &Names, start: u64, length: u64) -> Result<Found, ReadError> {
    if length - start < HEADER_BYTES {
        return Err(ReadError::Bad(CUT.to_owned()));
    }
    let bytes = header(cursor)?;
    let data = start + HEADER_BYTES;
    if bytes > (length - data).saturating_sub(FOOTER_BYTES) {
        return Err(ReadError::Bad(CUT.to_owned()));
    }
    let span = Span { start: data, bytes };
    match example(cursor, names, span) {
        Err(ReadError::Bad(what)) if is_sound(cursor, span)? => Err(ReadError::Bad(what)),
        Err(ReadError::Bad(_)) => Ok(Found { start: data, bytes, ..Found::default() }),
        found => found,
    }
}

/// The length of the data that follows.
fn header(cursor: &mut Cursor) -> Result<u64, ReadError> {
    let mut header = [0; HEADER_BYTES as usize];
    cursor.read(&mut header)?;
    if let Some(length) = length_in(&header) {
        return Ok(length);
    }
    let is_compressed =
        [b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda"].iter().any(|m| header.starts_with(*m));
    Err(ReadError::Bad(match is_compressed {
        true => "the file is compressed, so that no image in it can be read by itself: unpack it with gunzip, or write \
                 it without compression (JPEGs gain nothing from it)"
            .to_owned(),
        false => "the length does not match its checksum, so that nothing behind it can be found: copy the file again, \
                  or name TFRecord files"
            .to_owned(),
    }))
}

/// Whether a record's data match their checksum.
fn is_sound(cursor: &mut Cursor, span: Span) -> Result<bool, ReadError> {
    cursor.seek(span.start)?;
    let (mut computed, mut left) = (0, span.bytes);
    let mut part = [0; 1 << 13];
    while left > 0 {
        let part = &mut part[..left.min(1 << 13) as usize];
        cursor.read(part)?;
        computed = crc32c::crc32c_append(computed, part);
        left -= part.len() as u64;
    }
    let mut stored = [0; FOOTER_BYTES as usize];
    cursor.read(&mut stored)?;
    Ok(masked(computed) == u32::from_le_bytes(stored))
}

/// The features of the `tf.train.Example` in `span` that matter. It holds features, and those hold entries.
fn example(cursor: &mut Cursor, names: &Names, span: Span) -> Result<Found, ReadError> {
    let fields = vec![None; names.fields.len()];
    let mut found = Found { start: span.start, bytes: span.bytes, fields, ..Found::default() };
    let mut others = Vec::new();
    while let Some((number, features)) = cursor.next(span.end())? {
        while number == 1
            && let Some((number, entry)) = cursor.next(features.end())?
        {
            if number == 1 {
                let other = self::entry(cursor, names, entry, &mut found)?;
                others.extend(other.filter(|_| others.len() < LISTED));
            }
            cursor.seek(entry.end())?;
        }
        cursor.seek(features.end())?;
    }
    match found.image {
        Some(_) => Ok(Found { others, ..found }),
        None => Err(ReadError::Bad(format!(
            "there is no feature `{}` (there are {}): name the one that holds the image's file (image_feature)",
            names.image,
            others.join(", ")
        ))),
    }
}

/// One feature: its name and its content. Returns the name where the feature is not needed.
fn entry(
    cursor: &mut Cursor,
    names: &Names,
    entry: Span,
    found: &mut Found,
) -> Result<Option<String>, ReadError> {
    let (mut name, mut value) = (String::new(), Span { start: entry.start, bytes: 0 });
    while let Some((number, span)) = cursor.next(entry.end())? {
        match number {
            1 => name = String::from_utf8_lossy(&content(cursor, span, MAX_NAME_BYTES)?).into_owned(),
            2 => value = span,
            _ => {}
        }
        cursor.seek(span.end())?;
    }
    cursor.seek(value.start)?;
    for (place, _) in
        found.fields.iter_mut().zip(&names.fields).filter(|(_, field)| field.stored_as() == name)
    {
        *place = Some([value.start, value.bytes]);
    }
    let wanted = match name.as_str() {
        _ if name == names.image => {
            let image = image(cursor, value).map_err(|stop| in_feature(&name, stop))?;
            found.image = Some([image.start - found.start, image.bytes]);
            return Ok(None);
        }
        _ if names.mask.as_ref() == Some(&name) => {
            let mask = image(cursor, value).map_err(|stop| in_feature(&name, stop))?;
            found.mask = Some([mask.start, mask.bytes]);
            return Ok(None);
        }
        _ if names.objects.as_ref() == Some(&name) => &mut found.objects,
        _ if name == names.label => &mut found.label,
        _ if name == names.text => &mut found.text,
        _ if name == names.file => &mut found.file,
        _ => return Ok(Some(name)),
    };
    let is_objects = names.objects.as_ref() == Some(&name);
    let most = if is_objects { MAX_JSON_BYTES } else { MAX_FEATURE_BYTES };
    let bytes = content(cursor, value, most).map_err(|stop| in_feature(&name, stop))?;
    *wanted = Feature::decode(&bytes[..]).map_err(|error| {
        in_feature(&name, ReadError::Bad(format!("cannot be understood ({error}): write it anew")))
    })?;
    Ok(None)
}

/// The one file in a feature: a list of bytes, and in that a value.
fn image(cursor: &mut Cursor, feature: Span) -> Result<Span, ReadError> {
    let (mut last, mut count) = (None, 0);
    while let Some((number, list)) = cursor.next(feature.end())? {
        while number == 1
            && let Some((_, image)) = cursor.next(list.end())?
        {
            (last, count) = (Some(image), count + 1);
            cursor.seek(image.end())?;
        }
        cursor.seek(list.end())?;
    }
    last.filter(|_| count == 1).ok_or_else(|| {
        ReadError::Bad(format!("holds {count} values of bytes: it must hold one, the bytes of an image file"))
    })
}

fn content(cursor: &mut Cursor, span: Span, most: u64) -> Result<Vec<u8>, ReadError> {
    if span.bytes > most {
        return Err(ReadError::Bad(format!("has {} bytes, at most {most}: shorten it", span.bytes)));
    }
    let mut bytes = vec![0; span.bytes as usize];
    cursor.read(&mut bytes)?;
    Ok(bytes)
}

fn in_feature(name: &str, stop: ReadError) -> ReadError {
    match stop {
        ReadError::Bad(what) => ReadError::Bad(format!("the feature `{name}` {what}")),
        io => io,
    }
}
