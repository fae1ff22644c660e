//! Walks the pages of an LMDB file: which keys it holds, in their order, and where their values lie.
//!
//! The layout is that of `mdb.c` of LMDB 0.9, with 64-bit sizes in little-endian order. Everything that is read is
//! checked before it is used: a page number leads into the file or is refused, and no page is visited twice. So the work is
//! bounded by the length of the file, whatever that says of itself.

use crate::source::listed::listed;
use crate::source::read_error::ReadError;
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;
/// The header of each page: its number, flags, and the bounds of its free space.
const HEAD_BYTES: usize = 16;
/// The header of each node: size of the value or number of a page, flags, size of the key.
const NODE_BYTES: usize = 8;
/// One of the two pages that hold the position of the tree's root.
const META_BYTES: usize = HEAD_BYTES + 24 + 2 * DATABASE_BYTES + 16;
const DATABASE_BYTES: usize = 48;
/// LMDB's own bound.
const MAX_DEPTH: u16 = 32;
const PAGE_BYTES: std::ops::RangeInclusive<usize> = 512..=65536;

const BRANCH: u16 = 0x01;
const LEAF: u16 = 0x02;
/// The value lies in pages of its own.
const BIG: u16 = 0x01;
/// The value is a database, or many values of one key.
const DATABASE: u16 = 0x02;
const MANY: u16 = 0x04;
/// Flags of a database whose keys have many values.
const HAS_MANY: u16 = 0x04;
const NO_PAGE: u64 = u64::MAX;

/// A key, and the offset of its value in the file.
pub(super) struct Entry<'a> {
    pub(super) key: &'a [u8],
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// The value where it is a database of its own.
    database: Option<Database>,
}

impl Entry<'_> {
    pub(super) fn is_database(&self) -> bool {
        self.database.is_some()
    }
}

/// A tree: its root, and its size according to the file.
#[derive(Clone, Copy, Debug)]
struct Database {
    flags: u16,
    depth: u16,
    pages: u64,
    entries: u64,
    root: u64,
}

pub(super) struct Tree {
    file: File,
    length: u64,
    page_bytes: usize,
    main: Database,
}

impl Tree {
    /// The newer of the two states that the file holds.
    pub(super) fn open(mut file: File) -> Result<Self, ReadError> {
        let length = file.metadata()?.len();
        let first = meta(&mut file, 0, length)?;
        let second = meta(&mut file, first.page_bytes as u64, length)?;
        let page_bytes = first.page_bytes;
        let newer = if second.transaction > first.transaction { second } else { first };
        Ok(Self { file, length, page_bytes, main: newer.main })
    }

    /// Hands each entry of the main database, or of the one of this name in it, to `take` in the order of keys.
    pub(super) fn walk(
        &mut self,
        name: Option<&str>,
        take: &mut dyn FnMut(Entry<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let Some(name) = name else { return self.walk_database(self.main, take) };
        let (mut found, mut names) = (None, Vec::new());
        self.walk_database(self.main, &mut |entry| {
            if entry.is_database() {
                names.push(String::from_utf8_lossy(entry.key).into_owned());
                found = found.or(entry.database.filter(|_| entry.key == name.as_bytes()));
            }
            Ok(())
        })?;
        match found {
            Some(database) => self.walk_database(database, take),
            None => Err(ReadError::Bad(format!(
                "there is no database `{name}` in it (there are {}): name one that is there, or none",
                if names.is_empty() { "none".to_owned() } else { listed(&names) }
            ))),
        }
    }

    fn walk_database(
        &mut self,
        database: Database,
        take: &mut dyn FnMut(Entry<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if database.flags & HAS_MANY != 0 {
            return Err(ReadError::Bad(
                "keys have many values (MDB_DUPSORT): write one value for each key".to_owned(),
            ));
        }
        if database.root == NO_PAGE {
            return Ok(());
        }
        if database.depth > MAX_DEPTH {
            return Err(damaged(database.root));
        }
        // Pages still to visit, the next one last, with their depth; each level has at most as many as a page has nodes.
        let mut ahead = vec![(database.root, database.depth)];
        let (mut page, mut visited, mut entries) = (vec![0; self.page_bytes], 0, 0);
        let (in_file, mut seen) = (self.length / self.page_bytes as u64, HashSet::new());
        while let Some((number, levels)) = ahead.pop() {
            visited += 1;
            if visited > database.pages || levels == 0 || !seen.insert(number) {
                return Err(damaged(number));
            }
            self.load(number, &mut page)?;
            match word(&page, 10) & (BRANCH | LEAF) {
                BRANCH => {
                    let before = ahead.len();
                    for at in nodes(&page).ok_or_else(|| damaged(number))? {
                        let child = u64::from(long(&page, at)) | u64::from(word(&page, at + 4)) << 32;
                        ahead.push((child, levels - 1));
                    }
                    // Each of them would have to be another page.
                    if ahead.len() as u64 > in_file {
                        return Err(damaged(number));
                    }
                    ahead[before..].reverse();
                }
                LEAF => {
                    let mut used = 0;
                    for at in nodes(&page).ok_or_else(|| damaged(number))? {
                        entries += 1;
                        let entry = self.entry(&page, number, at).ok_or_else(|| damaged(number))?;
                        // Nodes that overlap would make a page hold more keys than it has bytes.
                        used += NODE_BYTES + entry.key.len();
                        if used > page.len() {
                            return Err(damaged(number));
                        }
                        if entry.bytes > self.length.saturating_sub(entry.start) {
                            return Err(cut(self.length));
                        }
                        take(entry)?;
                    }
                }
                _ => return Err(damaged(number)),
            }
        }
        if entries == database.entries { Ok(()) } else { Err(damaged(database.root)) }
    }

    /// Reads a page, whose header must have that page number.
    fn load(&mut self, number: u64, page: &mut [u8]) -> Result<(), ReadError> {
        let start = number.checked_mul(self.page_bytes as u64).ok_or_else(|| damaged(number))?;
        if start.saturating_add(self.page_bytes as u64) > self.length {
            return Err(cut(self.length));
        }
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(page)?;
        if quad(page, 0) == number { Ok(()) } else { Err(damaged(number)) }
    }

    /// The node at `at` of the leaf page `number`.
    fn entry<'p>(&self, page: &'p [u8], number: u64, at: usize) -> Option<Entry<'p>> {
        let bytes = u64::from(long(page, at));
        let flags = word(page, at + 4);
        let value = at + NODE_BYTES + usize::from(word(page, at + 6));
        let key = page.get(at + NODE_BYTES..value)?;
        if flags & BIG != 0 {
            page.get(value..value + 8)?;
            let start =
                quad(page, value).checked_mul(self.page_bytes as u64)?.checked_add(HEAD_BYTES as u64)?;
            return Some(Entry { key, start, bytes, database: None });
        }
        page.get(value..)?.get(..bytes as usize)?;
        let database = match flags & (DATABASE | MANY) {
            0 => None,
            DATABASE if bytes as usize >= DATABASE_BYTES => Some(Database::at(page, value)),
            _ => return None,
        };
        let start = number * self.page_bytes as u64 + value as u64;
        Some(Entry { key, start, bytes, database })
    }
}

impl Database {
    fn at(bytes: &[u8], at: usize) -> Self {
        Self {
            flags: word(bytes, at + 4),
            depth: word(bytes, at + 6),
            pages: quad(bytes, at + 8).saturating_add(quad(bytes, at + 16)),
            entries: quad(bytes, at + 32),
            root: quad(bytes, at + 40),
        }
    }
}

/// The content of a meta page.
struct Meta {
    page_bytes: usize,
    transaction: u64,
    main: Database,
}

fn meta(file: &mut File, start: u64, length: u64) -> Result<Meta, ReadError> {
    if length < start + META_BYTES as u64 {
        return Err(cut(length));
    }
    let mut bytes = [0; META_BYTES];
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut bytes)?;
    match [long(&bytes, HEAD_BYTES), long(&bytes, HEAD_BYTES + 4)] {
        [MAGIC, VERSION] => {}
        [MAGIC, version] => {
            return Err(ReadError::Bad(format!(
                "it has version {version} of LMDB's file format, and {VERSION} can be read: copy it with mdb_copy of LMDB 0.9"
            )));
        }
        _ => {
            return Err(ReadError::Bad(
                "it is no LMDB file of a 64-bit machine: name the folder of a data.mdb, or the file"
                    .to_owned(),
            ));
        }
    }
    let (free, main) = (HEAD_BYTES + 24, HEAD_BYTES + 24 + DATABASE_BYTES);
    let page_bytes = long(&bytes, free) as usize;
    if !page_bytes.is_power_of_two() || !PAGE_BYTES.contains(&page_bytes) {
        return Err(damaged(start / 512));
    }
    let transaction = quad(&bytes, main + DATABASE_BYTES + 8);
    Ok(Meta { page_bytes, transaction, main: Database::at(&bytes, main) })
}

/// Where the nodes of a page begin; none where they would lie outside.
fn nodes(page: &[u8]) -> Option<Vec<usize>> {
    let lower = usize::from(word(page, 12));
    let count = page.get(HEAD_BYTES..lower)?.len() / 2;
    let starts = (0..count).map(|node| usize::from(word(page, HEAD_BYTES + 2 * node)));
    starts.map(|at| (at >= lower && at + NODE_BYTES <= page.len()).then_some(at)).collect()
}

fn damaged(page: u64) -> ReadError {
    ReadError::Bad(format!("page {page} is damaged: copy the file again, while nobody writes to it"))
}

fn cut(length: u64) -> ReadError {
    ReadError::Bad(format!(
        "the file is cut short at {length} bytes: copy it again, while nobody writes to it"
    ))
}

/// Numbers of 2, 4 and 8 bytes; zero where there are too few.
fn word(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn quad(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
