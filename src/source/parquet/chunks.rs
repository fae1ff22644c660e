//! The bytes of a Parquet file, without pages that would take far more memory than the file has bytes.

use super::thrift;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};

/// So many bytes any page may have, and its header, in which some writers have the smallest and largest value in full.
const MAX_PAGE_BYTES: u64 = 64 << 20;
/// Larger pages may be this many times as large as what they are unpacked from: more than images ever are, and as much
/// as LZ4 can say at all.
const MAX_RATIO: u64 = 256;

/// As much as may be unpacked from so many bytes.
pub(super) fn max_unpacked_bytes(packed: u64) -> u64 {
    packed.saturating_mul(MAX_RATIO).max(MAX_PAGE_BYTES)
}

/// A file of which pages are read. A page begins with its header, and the crate that reads it allocates the size that
/// the header claims.
pub(super) struct Chunks {
    file: File,
    /// Whether pages are read with their headers, as they are where an index says where they lie; else headers are read
    /// by themselves.
    with_headers: bool,
}

impl Chunks {
    pub(super) fn new(file: &File, with_headers: bool) -> io::Result<Self> {
        Ok(Self { file: file.try_clone()?, with_headers })
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl ChunkReader for Chunks {
    type T = Header<BufReader<File>>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(Header::new(self.file.get_read(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // Memory for them is allocated at once.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF(format!("the file ends before {length} bytes from {start} on")));
        }
        let bytes = self.file.get_bytes(start, length)?;
        if self.with_headers {
            let header = read_header(&bytes[..])?;
            // The index says how long the page is, and the crate does not compare that with the header.
            check(&header, (bytes.len() - header.len()) as u64)?;
        }
        Ok(bytes)
    }
}

/// Reads the header of a page, which is checked before the first of its bytes is handed out.
pub(super) struct Header<R = BufReader<File>> {
    /// The header; none until it has been read.
    start: Option<Cursor<Vec<u8>>>,
    input: R,
}

impl<R: Read> Header<R> {
    fn new(input: R) -> Self {
        Self { start: None, input }
    }
}

impl<R: Read> Read for Header<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Self { start, input } = self;
        let start = match start {
            Some(start) => start,
            None => {
                let header = read_header(&mut *input)?;
                // The crate compares the size that the header claims with those that the footer has for the column.
                check(&header, u64::MAX)?;
                start.insert(Cursor::new(header))
            }
        };
        let read = match start.read(bytes)? {
            0 => input.read(bytes)?,
            read => read,
        };
        match read {
            // The crate skips fields that it does not know, and does not notice that the file has ended: it would go on
            // for as many elements as a damaged header claims.
            0 if !bytes.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

/// Reads the header of a page.
fn read_header(input: impl Read) -> io::Result<Vec<u8>> {
    thrift::read_header(input, MAX_PAGE_BYTES).map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::UnexpectedEof => "is cut short".to_owned(),
            _ => error.to_string(),
        };
        io::Error::new(error.kind(), format!("the header of a page {why}"))
    })
}

/// Refuses a page that begins with this header if it claims to be unreasonably large, or to have more bytes than the `left`
/// ones after the header.
fn check(mut header: &[u8], left: u64) -> io::Result<()> {
    let (Some(_kind), Some(unpacked), Some(packed)) =
        (number(&mut header), number(&mut header), number(&mut header))
    else {
        return Err(io::Error::other("the header of a page does not begin with its kind and its sizes"));
    };
    if packed > left {
        let what =
            format!("a page claims to have {packed} bytes where the index of pages leaves {left} for it");
        return Err(io::Error::other(what));
    }
    match unpacked <= max_unpacked_bytes(packed) {
        true => Ok(()),
        false => {
            Err(io::Error::other(format!("a page of {packed} bytes claims to unpack to {unpacked} bytes")))
        }
    }
}

/// A field of a struct as Thrift's compact protocol has them: the number of the field is one more than that of the last,
/// its type i32. What is negative is refused by the crate that reads it.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    (bytes.split_off_first()? == &0x15).then(|| varint(bytes).map(|zigzag| zigzag / 2))?
}

/// A number of as many bytes as it needs, seven bits in each.
pub(super) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    thrift::varint(|| bytes.split_off_first().copied().ok_or(io::ErrorKind::UnexpectedEof.into())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A file that gives a byte with each read.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let most = bytes.len().min(1);
            self.0.read(&mut bytes[..most])
        }
    }

    #[test]
    fn a_header_that_comes_byte_by_byte_is_read_as_it_is() {
        let sound: Vec<u8> =
            [0x15, 0, 0x15, 0xD0, 0x0F, 0x15, 0xD0, 0x0F, 0x2C, 0, 0].into_iter().chain(0..200).collect();
        let (mut header, mut read) = (Header::new(Trickle(&sound)), vec![0; sound.len()]);
        header.read_exact(&mut read).unwrap();
        assert_eq!(read, sound);
        assert_eq!(header.read(&mut read).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_small_page_that_claims_to_be_huge_is_refused() {
        // The kind 0; 100 MiB and 1,000 bytes, each doubled.
        let huge = [0x15, 0, 0x15, 0x80, 0x80, 0x80, 0x64, 0x15, 0xD0, 0x0F, 0x2C];
        let words = check(&huge, u64::MAX).unwrap_err().to_string();
        assert!(words.contains("1000 bytes") && words.contains("104857600 bytes"), "{words}");
        let mut of_a_megabyte = huge.to_vec();
        of_a_megabyte.splice(8..10, [0x80, 0x80, 0x80, 1]);
        check(&of_a_megabyte, u64::MAX).unwrap();
    }

    #[test]
    fn a_header_that_claims_more_numbers_than_there_can_be_bytes_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // A page of 4 bytes, and a list of two thousand million fractions.
        let header = [0x15, 0, 0x15, 8, 0x15, 8, 0xF9, 0xF7, 0x80, 0xA8, 0xD6, 0xB9, 7];
        fs::write(file.path(), header).unwrap();
        let file = File::open(file.path()).unwrap();
        for with_headers in [false, true] {
            let chunks = Chunks::new(&file, with_headers).unwrap();
            let by_itself = chunks.get_read(0).unwrap().read(&mut [0; 4]);
            assert_eq!(by_itself.unwrap_err().kind(), io::ErrorKind::InvalidData);
            assert_eq!(chunks.get_bytes(0, header.len()).is_err(), with_headers);
        }
    }

    #[test]
    fn a_header_that_claims_more_than_the_index_leaves_is_refused() {
        // Of the kind 0, and of 4 bytes.
        let page = [0x15, 0, 0x15, 8, 0x15, 8, 0, b'a', b'b', b'c', b'd'];
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &page).unwrap();
        let chunks = Chunks::new(&file, true).unwrap();
        chunks.get_bytes(0, page.len()).unwrap();
        let words = chunks.get_bytes(0, page.len() - 1).unwrap_err().to_string();
        assert!(words.contains("4 bytes where the index of pages leaves 3"), "{words}");
    }

    #[test]
    fn a_header_that_hides_its_sizes_is_refused() {
        for header in
            [&[][..], &[0x15, 0, 0x15, 8], &[0x15, 0, 0x25, 8, 0x15, 8], &[0x35, 8, 0x15, 0, 0x15, 0]]
        {
            assert!(check(header, u64::MAX).is_err(), "{header:?}");
        }
    }
}
