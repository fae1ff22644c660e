//! Checks a Parquet file's footer, indexes and page headers, which are in Thrift's compact protocol, before the crate
//! `parquet` decodes them.
//!
//! That crate reads each field as `parquet.thrift` declares it, whatever type the file gives it. It allocates for as many
//! pages as an index claims, and children as an element of the schema claims, goes down a schema of any depth, and counts
//! through lists of booleans, which take no bytes. So here each field must have its declared type and come once, and nothing
//! may be claimed that there are too few bytes for. What is not declared here is passed over by the crate, in the version that
//! `Cargo.toml` names, by the same rules; in a union it is a struct, as all variants are.

mod declared;
mod schema;
#[cfg(test)]
mod tests;

use declared::Kind::{
    self, Any, Binary, Bool, Byte, Children, Double, I16, I32, I64, List, Name, SchemaElement, Struct, Union,
};
use declared::{ELEMENT, EMPTY, FILE, OFFSET_INDEX, PAGE};
use schema::Element;
use std::io::{self, Read};

/// How deep structs may lie in each other, and groups of columns. It is the crate's own bound for what it passes over.
const MAX_DEPTH: usize = 64;

/// Checks a footer.
///
/// # Errors
/// Why it cannot be believed, as a sentence.
pub(super) fn check_footer(bytes: &[u8]) -> io::Result<()> {
    let mut walk = Walk::new(bytes, bytes.len() as u64);
    walk.fields(FILE, Any, MAX_DEPTH)?;
    schema::check(&walk.elements)
}

/// Checks an index of pages.
///
/// # Errors
/// Those of [`check_footer`].
pub(super) fn check_offset_index(bytes: &[u8]) -> io::Result<()> {
    Walk::new(bytes, bytes.len() as u64).fields(OFFSET_INDEX, Any, MAX_DEPTH)
}

/// Reads the header of a page, and nothing after it.
///
/// # Errors
/// Those of [`check_footer`], and of reading; a header of more than `most` bytes.
pub(super) fn read_header(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut walk = Walk::new(Kept { input, bytes: Vec::new() }, most);
    walk.too_long = Some(most);
    walk.fields(PAGE, Any, MAX_DEPTH)?;
    Ok(walk.input.bytes)
}

/// A number of as many bytes as it needs, seven bits in each.
///
/// # Errors
/// Those of `next`; a number of more than 64 bits.
pub(super) fn varint(mut next: impl FnMut() -> io::Result<u8>) -> io::Result<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = next()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(damaged())
}

/// Goes through fields without keeping them.
struct Walk<R> {
    input: R,
    /// Bytes that may still come.
    left: u64,
    /// How many those were at first, where more may follow that are not read.
    too_long: Option<u64>,
    /// Bytes that were passed over, less the booleans, which take none. There cannot be more of those.
    spare: u64,
    /// The schema.
    elements: Vec<Element>,
}

impl<R: Read> Walk<R> {
    fn new(input: R, left: u64) -> Self {
        Self { input, left, too_long: None, spare: 0, elements: Vec::new() }
    }

    /// The fields of a struct up to its end; those that are not declared are of the type `other`.
    fn fields(&mut self, declared: &[Kind], other: Kind, depth: usize) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(damaged)?;
        let mut last = 0;
        loop {
            let head = self.byte()?;
            if head & 0xF == 0 {
                return Ok(());
            }
            let number = match u64::from(head >> 4) {
                0 => self.positive(u16::MAX.into())?,
                step => last + step,
            };
            if number <= last {
                return Err(damaged());
            }
            let kind = declared.get(number as usize - 1).copied().unwrap_or(other);
            self.value(head & 0xF, kind, depth)?;
            last = number;
        }
    }

    /// A value of which the file gives the type `code`.
    fn value(&mut self, code: u8, kind: Kind, depth: usize) -> io::Result<()> {
        match (code, kind) {
            (1 | 2, Bool | Any) => {
                self.spare = self.spare.checked_sub(1).ok_or_else(damaged)?;
                Ok(())
            }
            (3, Byte | Any) => self.pass(1),
            // Some writers give whole numbers another width than the declared one, which the crate reads all the same.
            (4..=6, I16) | (4, Any) => self.number(u16::MAX.into()).map(drop),
            (4..=6, I32) | (5, Any) => self.number(u32::MAX.into()).map(drop),
            (4..=6, I64) | (6, Any) => self.number(u64::MAX).map(drop),
            (4..=6, Children) => {
                let count = self.positive(u32::MAX.into())?;
                self.elements.last_mut().map(|element| element.children = count).ok_or_else(damaged)
            }
            (7, Double | Any) => self.pass(8),
            (8, Binary | Any) => {
                let bytes = self.number(u64::MAX)?;
                self.pass(bytes)
            }
            (8, Name) => {
                let bytes = self.number(u64::MAX)?;
                self.elements.last_mut().ok_or_else(damaged)?.name_bytes = bytes;
                self.pass(bytes)
            }
            (9, List(&element)) => self.list(element, depth),
            (9 | 10, Any) => self.list(Any, depth),
            (11, Any) => self.map(depth),
            (12, SchemaElement) => {
                self.elements.push(Element::default());
                self.fields(ELEMENT, Any, depth)
            }
            (12, Struct(declared)) => self.fields(declared, Any, depth),
            (12, Union(declared)) => self.fields(declared, EMPTY, depth),
            (12, Any) => self.fields(&[], Any, depth),
            (13, Any) => self.pass(16),
            _ => Err(damaged()),
        }
    }

    fn list(&mut self, element: Kind, depth: usize) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(damaged)?;
        let head = self.byte()?;
        let count = match u64::from(head >> 4) {
            15 => self.number(i32::MAX as u64)?,
            // Some writers give empty lists no type.
            0 if head == 0 => return Ok(()),
            count => count,
        };
        self.has_room(count)?;
        (0..count).try_for_each(|_| self.value(head & 0xF, element, depth))
    }

    fn map(&mut self, depth: usize) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(damaged)?;
        let count = self.number(i32::MAX as u64)?;
        self.has_room(count)?;
        let kinds = if count > 0 { self.byte()? } else { 0 };
        (0..count).try_for_each(|_| {
            self.value(kinds >> 4, Any, depth)?;
            self.value(kinds & 0xF, Any, depth)
        })
    }

    /// Each element takes a byte, and the crate allocates for all of them at once.
    fn has_room(&self, count: u64) -> io::Result<()> {
        if count <= self.left { Ok(()) } else { Err(damaged()) }
    }

    /// A number that is not above `most`. The crate would cut off the bits of larger ones.
    fn number(&mut self, most: u64) -> io::Result<u64> {
        varint(|| self.byte()).and_then(|value| if value <= most { Ok(value) } else { Err(damaged()) })
    }

    /// A number that has a sign, which is the lowest bit, and is not negative.
    fn positive(&mut self, most: u64) -> io::Result<u64> {
        match self.number(most)? {
            number if number % 2 == 0 => Ok(number / 2),
            _ => Err(damaged()),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.count(1)?;
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    /// Passes over so many bytes.
    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        self.count(bytes)?;
        match io::copy(&mut self.input.by_ref().take(bytes), &mut io::sink())? {
            passed if passed == bytes => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn count(&mut self, bytes: u64) -> io::Result<()> {
        let too_long = |most| {
            io::Error::new(io::ErrorKind::InvalidData, format!("is said to have more than {most} bytes"))
        };
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| self.too_long.map_or_else(damaged, too_long))?;
        self.spare += bytes;
        Ok(())
    }
}

/// Keeps the bytes that are read.
struct Kept<R> {
    input: R,
    bytes: Vec<u8>,
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(bytes)?;
        self.bytes.extend_from_slice(&bytes[..read]);
        Ok(read)
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "contradicts itself")
}
