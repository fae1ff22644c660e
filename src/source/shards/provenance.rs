//! The JPEG that a packed file of coefficients was made from, as the JSON of its sample names it.

use super::scan::split;
use crate::error::{Cause, Error, Result};
use crate::source::files::readable;
use crate::source::out_of_range;
use crate::source::packed::Parts;
use crate::source::packed::objects::MAX_JSON_BYTES;
use serde::Deserialize;
use tar::Header;

/// The size of a header, and what members begin at multiples of.
const BLOCK: u64 = 512;
/// Bytes that are read at once: what follows most images in shards of coefficients.
const AHEAD: u64 = 4096;

/// What is read of the JSON; whatever else it says is left out.
#[derive(Deserialize)]
struct Parsed {
    jpeg_sha256: Option<String>,
}

/// See [`crate::source::Source::jpeg_sha256`]; `parts` are images in tar files. Nothing is kept of the JSON when shards are
/// opened, since only packing asks for it.
pub(in crate::source) fn jpeg_sha256(parts: &impl Parts, index: usize) -> Result<Option<String>> {
    if index >= parts.len() {
        return Err(out_of_range(index, parts.len()));
    }
    find(parts, index).map_err(|cause| Error::sample(parts.key(index), index as u64, cause))
}

/// Goes through the members that follow the image, as far as they are of its sample.
fn find(parts: &impl Parts, index: usize) -> Result<Option<String>, Cause> {
    let (key, after) = (parts.key(index), parts.after(index)?);
    let Some((stem, _)) = split(&key) else { return Ok(None) };
    // A key is the archive's name and the member's path.
    let is_own =
        |other: &str| stem.strip_suffix(other).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    let mut ahead = Ahead { parts, index, end: after.end, begin: 0, bytes: Vec::new() };
    let mut at = after.start;
    loop {
        let Some(begin) = at.checked_next_multiple_of(BLOCK) else { return Ok(None) };
        let Some(block) = ahead.read(begin, BLOCK)? else { return Ok(None) };
        let header = Header::from_byte_slice(block);
        let Ok(size) = header.entry_size() else { return Ok(None) };
        let path = header.path_bytes();
        let name = readable(path.strip_prefix(b"./").unwrap_or(&path)).into_owned();
        if header.entry_type().is_file() {
            match split(&name) {
                Some((own, ending)) if is_own(own) && ending == "json" => {
                    let json = match size <= MAX_JSON_BYTES {
                        true => ahead.read(begin + BLOCK, size)?,
                        false => None,
                    };
                    // What others write there may be anything.
                    let parsed = json.and_then(|json| serde_json::from_slice::<Parsed>(json).ok());
                    return Ok(parsed.and_then(|parsed| parsed.jpeg_sha256));
                }
                Some((own, _)) if is_own(own) => {}
                _ => return Ok(None),
            }
        }
        at = (begin + BLOCK).saturating_add(size);
    }
}

/// Reads a record's archive from front to back, some bytes ahead.
struct Ahead<'a, P> {
    parts: &'a P,
    index: usize,
    /// The length of the archive.
    end: u64,
    /// Where `bytes` begin in it.
    begin: u64,
    bytes: Vec<u8>,
}

impl<P: Parts> Ahead<'_, P> {
    /// So many bytes from an offset; none where the archive ends before them.
    fn read(&mut self, at: u64, count: u64) -> Result<Option<&[u8]>, Cause> {
        if at.checked_add(count).is_none_or(|end| end > self.end) {
            return Ok(None);
        }
        if at < self.begin || at + count > self.begin + self.bytes.len() as u64 {
            let room = self.end - at;
            self.parts.read_beside(self.index, [at, count.max(AHEAD).min(room)], &mut self.bytes)?;
            self.begin = at;
        }
        let first = (at - self.begin) as usize;
        Ok(self.bytes.get(first..first + count as usize))
    }
}
