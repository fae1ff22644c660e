//! Walks data in Thrift's compact protocol ahead of the crate that reads it, which counts through a list of truth values without
//! taking a byte for any: a few bytes that claim two thousand million of them would cost seconds, and a file has room for many
//! such lists.

use std::io;

/// Maximal depth of structs, lists and maps; the crate has bounds of its own below that.
const MAX_DEPTH: usize = 100;

/// Refuses data that begin with a struct which has lists of truth values.
pub(super) fn check(bytes: &[u8]) -> io::Result<()> {
    Walk::default().pass(bytes)
}

/// A struct of which the bytes come in pieces.
pub(super) struct Walk {
    /// What the next byte belongs to is in the last one.
    open: Vec<Open>,
    next: Next,
    /// The bytes of a number that has begun.
    number: Vec<u8>,
    /// Bytes that are stepped over.
    skipped: u64,
}

/// What has begun and not ended.
enum Open {
    Struct,
    /// So many more values of these types, in turns.
    Values {
        left: u64,
        kinds: [u8; 2],
    },
}

/// What the next byte is.
#[derive(Clone, Copy)]
enum Next {
    Field,
    /// Of the number of a field whose value has this type.
    FieldNumber(u8),
    /// Of a value that is a number.
    Number,
    Length,
    List,
    /// Of the number of values in a list of this type.
    Count(u8),
    /// Of the number of pairs in a map.
    Pairs,
    /// The types of so many pairs.
    Kinds(u64),
}

impl Default for Walk {
    fn default() -> Self {
        Self { open: vec![Open::Struct], next: Next::Field, number: Vec::new(), skipped: 0 }
    }
}

impl Walk {
    /// Takes the next bytes; those behind the struct's end do not matter.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !self.open.is_empty() && !bytes.is_empty() {
            if self.skipped > 0 {
                let skipped = self.skipped.min(bytes.len() as u64);
                bytes = &bytes[skipped as usize..];
                self.skipped -= skipped;
                if self.skipped == 0 {
                    self.end_value()?;
                }
                continue;
            }
            let byte = bytes[0];
            bytes = &bytes[1..];
            self.byte(byte)?;
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        let (high, low) = (byte >> 4, byte & 15);
        match self.next {
            Next::Field if low == 0 => {
                self.open.pop();
                self.end_value()
            }
            Next::Field if high == 0 => self.expect(Next::FieldNumber(low)),
            Next::Field => self.begin(low),
            // A list without values may have no type either.
            Next::List if byte == 0 => self.end_value(),
            Next::List if high == 15 => self.expect(Next::Count(low)),
            Next::List => self.values(high.into(), [low; 2]),
            Next::Kinds(pairs) => self.values(pairs.saturating_mul(2), [high, low]),
            Next::FieldNumber(_) | Next::Number | Next::Length | Next::Count(_) | Next::Pairs => {
                self.number.push(byte);
                if byte & 0x80 != 0 {
                    return if self.number.len() < 10 { Ok(()) } else { Err(malformed()) };
                }
                let number = varint(&mut &self.number[..]).ok_or_else(malformed)?;
                self.number.clear();
                self.number(number)
            }
        }
    }

    /// A number has ended.
    fn number(&mut self, number: u64) -> io::Result<()> {
        match self.next {
            Next::FieldNumber(kind) => self.begin(kind),
            Next::Length => self.skip(number),
            Next::Count(kind) => self.values(number, [kind; 2]),
            Next::Pairs if number > 0 => self.expect(Next::Kinds(number)),
            _ => self.end_value(),
        }
    }

    /// A value of this type begins.
    fn begin(&mut self, kind: u8) -> io::Result<()> {
        match kind {
            // The type of a field says which of the two it is.
            1 | 2 => self.end_value(),
            3 => self.skip(1),
            4..=6 => self.expect(Next::Number),
            7 => self.skip(8),
            8 => self.expect(Next::Length),
            9 | 10 => self.expect(Next::List),
            11 => self.expect(Next::Pairs),
            12 => self.enter(Open::Struct),
            13 => self.skip(16),
            _ => Err(malformed()),
        }
    }

    /// So many values of these types begin, in turns.
    fn values(&mut self, count: u64, kinds: [u8; 2]) -> io::Result<()> {
        if count > 0 && kinds.iter().any(|kind| matches!(kind, 1 | 2)) {
            return Err(io::Error::other(
                "it has a list of truth values, which no Parquet file has in this place",
            ));
        }
        self.enter(Open::Values { left: count, kinds })?;
        self.end_value()
    }

    fn enter(&mut self, open: Open) -> io::Result<()> {
        if self.open.len() == MAX_DEPTH {
            return Err(malformed());
        }
        self.open.push(open);
        self.expect(Next::Field)
    }

    /// A value has ended; what it is in goes on, or ends with it.
    fn end_value(&mut self) -> io::Result<()> {
        while let Some(open) = self.open.last_mut() {
            match open {
                Open::Struct => return self.expect(Next::Field),
                Open::Values { left: 0, .. } => drop(self.open.pop()),
                Open::Values { left, kinds } => {
                    let kind = kinds[usize::from(*left % 2 == 1)];
                    *left -= 1;
                    return self.begin(kind);
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.skipped = bytes;
        if bytes == 0 { self.end_value() } else { Ok(()) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "it ends what may fail")]
    fn expect(&mut self, next: Next) -> io::Result<()> {
        self.next = next;
        Ok(())
    }
}

/// A number of as many bytes as it needs, seven bits in each.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes.split_off_first()?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn malformed() -> io::Error {
    io::Error::other("its description cannot be understood: copy the file again")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of every type one field: truth, byte, numbers, a fraction, text, a list and a long one, a set, a map, a struct with an
    /// empty list, an identifier, and a field whose number is given in full.
    fn sound() -> Vec<u8> {
        let mut bytes = vec![0x11, 0x12, 0x13, 0xFF, 0x14, 0x80, 1, 0x15, 2, 0x16, 3, 0x17];
        bytes.extend([0xF1; 8]);
        bytes.extend([0x18, 2, 0xF1, 0xF2, 0x18, 0, 0x19, 0x25, 1, 2, 0x19, 0xF3, 16]);
        bytes.extend([0xF1; 16]);
        bytes.extend([0x1A, 0x18, 1, 0xF1, 0x1B, 1, 0x58, 7, 2, 0xF1, 0xF1, 0x1B, 0]);
        bytes.extend([0x1C, 0x19, 0, 0, 0x19, 0x2C, 0x11, 0, 0, 0x1D]);
        bytes.extend([0xF1; 16]);
        bytes.extend([0x05, 0xC8, 1, 9, 0]);
        bytes
    }

    #[test]
    fn a_struct_of_every_type_passes_whatever_pieces_it_comes_in() {
        let bytes = sound();
        for piece in 1..bytes.len() {
            let mut walk = Walk::default();
            for (at, piece) in bytes.chunks(piece).enumerate() {
                assert!(!walk.open.is_empty(), "it ended ahead of piece {at}");
                walk.pass(piece).unwrap();
            }
            assert!(walk.open.is_empty(), "pieces of {piece} bytes");
        }
    }

    #[test]
    fn lists_of_truth_values_are_refused_wherever_they_are() {
        for list in [
            &[0x19, 0xF1, 0xFF, 0xFF, 0xFF, 0xFF, 7][..],
            &[0x1A, 0x12],
            &[0x1B, 9, 0x12, 0],
            &[0x1B, 9, 0x51, 0],
        ] {
            let end = sound().len() - 1;
            let bytes = [&sound()[..end], list].concat();
            assert!(
                check(&bytes).is_err_and(|error| error.to_string().contains("truth values")),
                "{list:x?}"
            );
            // The same bytes as text, and behind the end, are nothing.
            let text = [&[0x18, list.len() as u8][..], list, &[0], list].concat();
            check(&text).unwrap();
        }
    }

    #[test]
    fn what_is_no_struct_is_refused() {
        for bytes in [
            &[0x1E][..],
            &[0x10, 0xFF],
            &[0x19, 0x1F, 0],
            &[0x15; 200],
            &[0x15, 0x80, 0x80, 0x80, 0x80, 0x80],
        ] {
            let more = [bytes, &[0xFF; 200]].concat();
            assert_eq!(check(&more).is_err(), bytes != [0x10, 0xFF], "{bytes:x?}");
        }
        assert!(check(&[0x1C; 200]).is_err_and(|error| error.to_string().contains("understood")));
    }
}
