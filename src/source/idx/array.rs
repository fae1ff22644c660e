//! The arrays in idx files: what their heads say, and where their bytes are.

use crate::error::Result;
use crate::regular_file;
use crate::source::file_version::FileVersion;
use crate::source::rasters::Content;
use crate::source::read_error::ReadError;
use flate2::read::MultiGzDecoder;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

/// The most that a packed file may become in memory.
const MAX_UNPACKED: u64 = 2 << 30;
/// Deflate makes at most so many bytes of one.
const MAX_RATIO: u64 = 1032;
/// How files of gzip begin.
const GZIP: [u8; 2] = [0x1F, 0x8B];
/// The type of unsigned bytes.
const UNSIGNED_BYTES: u8 = 0x08;
/// The most dimensions that a file is recognised by.
const MAX_DIMENSIONS: u8 = 4;

/// An array of unsigned bytes with so many dimensions.
pub(super) struct Array<const DIMENSIONS: usize> {
    /// The outermost first.
    pub(super) shape: [u32; DIMENSIONS],
    pub(super) content: Content,
    /// Of the file, noted before it was read.
    pub(super) version: FileVersion,
    /// Where the numbers begin.
    pub(super) start: u64,
}

/// Whether a file that begins so, packed or not, is an idx file of any type of numbers.
pub(super) fn begins_as_one(head: &[u8]) -> bool {
    let mut magic = [0; 4];
    let found = match head.starts_with(&GZIP) {
        true => MultiGzDecoder::new(head).read_exact(&mut magic).is_ok(),
        false => head.get(..4).is_some_and(|head| {
            magic.copy_from_slice(head);
            true
        }),
    };
    let [zero, nought, kind, dimensions] = magic;
    found && [zero, nought] == [0, 0] && name_of(kind).is_some() && (1..=MAX_DIMENSIONS).contains(&dimensions)
}

/// The numbers that a type stands for.
fn name_of(kind: u8) -> Option<&'static str> {
    Some(match kind {
        UNSIGNED_BYTES => "unsigned bytes",
        0x09 => "signed bytes",
        0x0B => "integers of 16 bits",
        0x0C => "integers of 32 bits",
        0x0D => "floating-point numbers of 32 bits",
        0x0E => "floating-point numbers of 64 bits",
        _ => return None,
    })
}

impl<const DIMENSIONS: usize> Array<DIMENSIONS> {
    /// The array in the file at `path`.
    ///
    /// # Errors
    /// A file that cannot be read, is no idx file, holds other numbers or other dimensions, or another number of bytes than it says.
    pub(super) fn open(path: &Path) -> Result<Self> {
        open(path).map_err(|error| error.of(path, "copy the file again"))
    }
}

fn open<const DIMENSIONS: usize>(path: &Path) -> Result<Array<DIMENSIONS>, ReadError> {
    let (mut file, size) = regular_file::open_sized(path)?;
    let version = FileVersion::of(&file)?;
    // On some systems that moved the place to read at.
    file.rewind()?;
    let start = 4 + 4 * DIMENSIONS as u64;
    let mut head = Vec::new();
    file.by_ref().take(start).read_to_end(&mut head)?;
    if !head.starts_with(&GZIP) {
        let (shape, bytes) = shape_of(&head)?;
        check_size(size, bytes)?;
        return Ok(Array { shape, content: Content::File(Arc::new(file)), version, start });
    }
    file.rewind()?;
    let (mut unpacked, mut content) = (MultiGzDecoder::new(BufReader::new(file)), Vec::new());
    unpacked.by_ref().take(start).read_to_end(&mut content)?;
    let (shape, bytes) = shape_of(&content)?;
    if bytes > MAX_UNPACKED {
        let what =
            format!("it would be unpacked to {bytes} bytes, and at most {MAX_UNPACKED} are kept in memory");
        return Err(ReadError::Bad(format!("{what}: unpack it (gunzip)")));
    }
    // No memory is asked for that the file cannot fill.
    check_size(bytes.min(size.saturating_mul(MAX_RATIO)), bytes)?;
    content.reserve_exact((bytes - start) as usize);
    let rest = unpacked.take(bytes - start + 1).read_to_end(&mut content)?;
    check_size(start + rest as u64, bytes)?;
    Ok(Array { shape, content: Content::Memory(Arc::new(content)), version, start })
}

/// The shape that a head says, and the bytes that the whole file then has.
fn shape_of<const DIMENSIONS: usize>(head: &[u8]) -> Result<([u32; DIMENSIONS], u64), ReadError> {
    let bad = |what: String| Err(ReadError::Bad(what));
    let &[zero, nought, kind, dimensions, ref lengths @ ..] = head else {
        return bad("it is cut short: copy it again".to_owned());
    };
    let numbers = match name_of(kind) {
        Some(numbers) if [zero, nought] == [0, 0] => numbers,
        _ => return bad("it is no idx file: name one such as train-images-idx3-ubyte".to_owned()),
    };
    if kind != UNSIGNED_BYTES {
        return bad(format!(
            "it holds {numbers}, and only unsigned bytes are read: write levels and labels as bytes"
        ));
    }
    if usize::from(dimensions) != DIMENSIONS {
        let wanted = match DIMENSIONS {
            1 => "labels have one, their number",
            _ => "grey images have three, their number, rows and columns",
        };
        let remedy = if dimensions == 1 { "name the file of the images" } else { "name another file" };
        return bad(format!("it holds an array of {dimensions} dimensions, and {wanted}: {remedy}"));
    }
    let Some(lengths) = lengths.as_chunks::<4>().0.first_chunk::<DIMENSIONS>() else {
        return bad("it is cut short: copy it again".to_owned());
    };
    let shape = lengths.map(u32::from_be_bytes);
    let numbers = shape.iter().try_fold(1u64, |product, &length| product.checked_mul(length.into()));
    let bytes = numbers.and_then(|numbers| numbers.checked_add(head.len() as u64));
    bytes.map_or_else(
        || bad(format!("it says that it holds {shape:?} bytes: copy it again")),
        |bytes| Ok((shape, bytes)),
    )
}

fn check_size(found: u64, said: u64) -> Result<(), ReadError> {
    let what = match found.cmp(&said) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Less => "it is cut short: its head promises",
        std::cmp::Ordering::Greater => "it is longer than its head says, which is",
    };
    Err(ReadError::Bad(format!("{what} {said} bytes: copy it again")))
}
