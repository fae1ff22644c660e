//! What a Parquet file says of itself, in Thrift's compact protocol: gone through before the crate that decodes it believes it.
//!
//! That crate reads each field as `parquet.thrift` declares it, whatever type the file gives it. It allocates for the pages
//! that an index claims and for the children that an element of the schema claims, goes down a schema of any depth, and
//! counts through lists of truth values, of which none takes a byte. So each field must have its declared type here and come
//! once, and nothing may be claimed that there are too few bytes for. What is not declared here, the crate in the version that
//! `Cargo.toml` names passes over by the same rules; in a union it is a struct, as all variants are.

mod declared;
mod schema;

use declared::Kind::{self, Any, Binary, Bool, Byte, Children, Double, I16, I32, I64, List, Name, SchemaElement, Struct, Union};
use declared::{ELEMENT, EMPTY, FILE, OFFSET_INDEX, PAGE};
use schema::Element;
use std::io::{self, Read};

/// How deep structs may lie in each other, and groups of columns. It is the crate's own bound for what it passes over.
const MAX_DEPTH: usize = 64;
/// Maximal size of a page's header, which is Arrow's.
const MAX_HEADER_BYTES: u64 = 16 << 20;

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
/// Those of [`check_footer`], and of reading.
pub(super) fn read_header(input: impl Read) -> io::Result<Vec<u8>> {
    let mut walk = Walk::new(Kept { input, bytes: Vec::new() }, MAX_HEADER_BYTES);
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
    /// Bytes that were passed over, less the truth values, which take none. There cannot be more of those.
    spare: u64,
    /// The schema.
    elements: Vec<Element>,
}

impl<R: Read> Walk<R> {
    fn new(input: R, left: u64) -> Self {
        Self { input, left, spare: 0, elements: Vec::new() }
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
            (4, I16 | Any) => self.number(u16::MAX.into()).map(drop),
            (5, I32 | Any) => self.number(u32::MAX.into()).map(drop),
            (5, Children) => {
                let count = self.positive(u32::MAX.into())?;
                self.elements.last_mut().map(|element| element.children = count).ok_or_else(damaged)
            }
            (6, I64 | Any) => self.number(u64::MAX).map(drop),
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
        self.left = self.left.checked_sub(bytes).ok_or_else(damaged)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct of these fields; each is the number of steps from the one before, the code of its type, and its bytes.
    fn fields(fields: &[(u8, u8, &[u8])]) -> Vec<u8> {
        let field = |&(step, code, bytes): &(u8, u8, &[u8])| [&[step << 4 | code], bytes].concat();
        fields.iter().flat_map(field).chain([0]).collect()
    }

    /// A footer with a schema of these elements, and more fields after it.
    fn footer(elements: &[Vec<u8>], more: &[(u8, u8, &[u8])]) -> Vec<u8> {
        let list = [&[(elements.len() as u8) << 4 | 12][..], &elements.concat()].concat();
        fields(&[&[(1, 5, &[2][..]), (1, 9, &list[..])], more].concat())
    }

    fn element(children: u8) -> Vec<u8> {
        fields(&[(4, 8, b"\x01a"), (1, 5, &[2 * children])])
    }

    /// Whether a footer is believed that has these fields of which nothing is declared.
    fn is_believed(more: &[(u8, u8, &[u8])]) -> bool {
        check_footer(&footer(&[element(0)], more)).is_ok()
    }

    /// The number 2^31 - 1, as the length of a list has it.
    const HUGE: [u8; 5] = [0xFF, 0xFF, 0xFF, 0xFF, 7];

    #[test]
    fn a_schema_is_a_tree_of_its_elements() {
        let check = |children: &[u8]| {
            let elements: Vec<_> = children.iter().map(|&children| element(children)).collect();
            check_footer(&footer(&elements, &[]))
        };
        check(&[2, 0, 1, 0]).unwrap();
        for children in [&[1][..], &[0, 0], &[2, 1, 0]] {
            assert!(check(children).is_err(), "{children:?}");
        }
        let negative = fields(&[(4, 8, b"\x01a"), (1, 5, &[1])]);
        assert!(check_footer(&footer(&[negative], &[])).is_err());
        let mut walk = Walk::new(&[0x48, 3, b'a', b'b', b'c', 0x15, 4, 0][..], 8);
        walk.value(12, SchemaElement, MAX_DEPTH).unwrap();
        assert!(matches!(walk.elements[..], [Element { children: 2, name_bytes: 3 }]));
    }

    #[test]
    fn lists_have_no_more_elements_than_there_are_bytes() {
        for code in 1..=12u8 {
            let list = [&[0xF0 | code][..], &HUGE, &[0; 20]].concat();
            assert!(!is_believed(&[(15, 9, &list)]), "of the type {code}");
        }
        let bools = [&HUGE[..], &[0x11]].concat();
        assert!(!is_believed(&[(15, 11, &bools)]), "a map of truth values");
        // Each list would pass alone.
        let (list, text) = ((15, 9, &[0xA1][..]), (1, 8, &b"\x0A0123456789"[..]));
        assert!(is_believed(&[list, text]) && !is_believed(&[list, list, text]));
        let index = [&[0x19, 0xFC][..], &HUGE, &[0x16, 8, 0]].concat();
        assert!(check_offset_index(&index).is_err());
        check_offset_index(&[0x19, 0x1C, 0x16, 8, 0x15, 8, 0x16, 0, 0, 0]).unwrap();
    }

    #[test]
    fn a_field_has_its_declared_type_and_comes_once() {
        let sound = fields(&[(1, 5, &[0]), (1, 5, &[8]), (1, 5, &[8])]);
        assert_eq!(read_header(&[&sound[..], b"rest"].concat()[..]).unwrap(), sound);
        // The number of a field may be written in full: here that of the second.
        let again = [&sound[..sound.len() - 1], &[5, 4], &HUGE, &[0]].concat();
        assert!(read_header(&again[..]).is_err());
        let as_text = fields(&[(1, 5, &[0]), (1, 8, b"\x01a"), (1, 5, &[8])]);
        assert!(read_header(&as_text[..]).is_err());
        // 2^32 + 8, of which the crate would keep the 8.
        let wide = fields(&[(1, 5, &[0]), (1, 5, &[8]), (1, 5, &[0x88, 0x80, 0x80, 0x80, 0x10])]);
        assert!(read_header(&wide[..]).is_err());
        // -2, which without its sign would be the fourth field.
        let negative = [&sound[..sound.len() - 1], &[5, 3, 8, 0]].concat();
        assert!(read_header(&negative[..]).is_err());
        assert!(read_header(&sound[..sound.len() - 1]).is_err(), "the end is not there");
    }

    #[test]
    fn variants_of_a_union_are_structs() {
        let numbered = |number: u8, code: u8, bytes: &[u8]| [&[code, 2 * number], bytes, &[0]].concat();
        for number in 1..=40 {
            for (code, bytes) in [(1, &[][..]), (2, &[]), (5, &[0]), (8, &[0]), (9, &[0])] {
                let union = numbered(number, code, bytes);
                let logical = fields(&[(4, 8, b"\x01a"), (6, 12, &union)]);
                assert!(check_footer(&footer(&[logical], &[])).is_err(), "{number} of the type {code}");
                let orders = [&[0x1C][..], &union].concat();
                assert!(!is_believed(&[(5, 9, &orders)]), "the order {number} of the type {code}");
                let time = fields(&[(1, 1, &[]), (1, 12, &union)]);
                let time = fields(&[(4, 8, b"\x01a"), (6, 12, &numbered(7, 12, &time))]);
                assert!(check_footer(&footer(&[time], &[])).is_err(), "the unit {number} of the type {code}");
            }
            let union = numbered(number, 12, &[0]);
            let logical = fields(&[(4, 8, b"\x01a"), (6, 12, &union)]);
            check_footer(&footer(&[logical], &[(5, 9, &[&[0x1C][..], &union].concat())])).unwrap();
        }
    }

    #[test]
    fn what_is_not_known_may_be_anything_that_is_not_too_deep() {
        let nested = |levels| [vec![0x1C; levels], vec![0; levels + 1]].concat();
        assert!(is_believed(&[(15, 12, &nested(20))]) && !is_believed(&[(15, 12, &nested(100))]));
        let all: [(u8, &[u8]); 8] = [
            (1, b""),
            (3, b"x"),
            (4, &[0x81, 1]),
            (7, &[0; 8]),
            (10, &[0x25, 2, 4]),
            (11, &[1, 0x58, 2, 1, b'x']),
            (12, &[0]),
            (13, &[0; 16]),
        ];
        for (code, bytes) in all {
            assert!(is_believed(&[(15, code, bytes)]), "the type {code}");
        }
    }
}
