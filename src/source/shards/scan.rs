//! Reads the headers of one tar file and groups its members into samples.

use crate::error::{Error, Result};
use crate::regular_file;
use crate::source::classes::RecordClasses;
use crate::source::files::readable;
use crate::source::folder::is_image_name;
use crate::source::packed::holds::CLASS_ENDINGS;
use crate::source::packed::objects::MAX_JSON_BYTES;
use std::cell::Cell;
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use tar::{Archive, Entry, EntryType};

/// Maximal size of what describes a member: its headers, its name, and what pax says of it.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// Maximal size of a member with classes.
const MAX_CLASS_BYTES: u64 = 64 << 10;
/// How compressed files begin, and what unpacks them.
const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "gzip", "gunzip"),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "unzstd"),
    (b"\xfd7zXZ", "xz", "unxz"),
    (b"BZh", "bzip2", "bunzip2"),
];

/// One sample of the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::source) struct Found {
    /// The image's path in the archive.
    pub(in crate::source) path: String,
    /// Where its bytes begin in the archive.
    pub(in crate::source) offset: u64,
    pub(in crate::source) bytes: u64,
    pub(in crate::source) classes: RecordClasses,
    /// Offset and length of each wanted member; none where the sample has no such member, and empty where none is wanted.
    pub(in crate::source) members: Vec<Option<[u64; 2]>>,
    /// The content of the member that is read, where one is.
    pub(in crate::source) json: Option<Vec<u8>>,
}

/// The members that are wanted beside image and class.
#[derive(Debug, Default)]
pub(in crate::source) struct WantedMembers {
    /// Their endings, in lower case.
    pub(in crate::source) endings: Vec<String>,
    /// The ending of the member whose content is read with the headers, in lower case.
    pub(in crate::source) read: Option<String>,
    /// Endings of members that were met, for messages: the first of them.
    pub(in crate::source) met: BTreeSet<String>,
}

/// Most endings that are kept for messages, and the longest one.
const MAX_MET: usize = 64;
const MAX_MET_BYTES: usize = 64;

impl WantedMembers {
    /// Whether anything is wanted.
    pub(in crate::source) fn is_empty(&self) -> bool {
        self.endings.is_empty() && self.read.is_none()
    }

    fn is_read(&self, ending: &str) -> bool {
        self.read.as_deref() == Some(ending)
    }

    fn meet(&mut self, ending: &str) {
        if !self.endings.is_empty() && self.met.len() < MAX_MET && ending.len() <= MAX_MET_BYTES {
            self.met.insert(ending.to_owned());
        }
    }
}

/// The members met so far that share a stem.
#[derive(Default)]
struct Group {
    stem: String,
    image: Option<(String, u64, u64)>,
    /// The member's path, and what it says.
    classes: Option<(String, RecordClasses)>,
    members: Vec<Option<[u64; 2]>>,
    json: Option<Vec<u8>>,
}

/// The groups that are through, by the hashes of their stems, where members beside images are wanted.
#[derive(Default)]
struct Ended {
    with_image: HashSet<u64>,
    /// Those that hold wanted members alone.
    others: HashSet<u64>,
}

impl Ended {
    /// Hands the group's sample on.
    ///
    /// # Errors
    /// Wanted members that lie apart from their image, which would silently be without them. Stems that come again with all
    /// that is wanted are samples of their own, as in archives that were joined.
    fn end(
        &mut self,
        group: Group,
        wanted: &WantedMembers,
        take: &mut dyn FnMut(Found),
    ) -> Result<(), String> {
        if !wanted.is_empty() {
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&group.stem);
            let (has, lacks) = group.wanted(wanted);
            let is_apart = match group.image.is_some() {
                true => {
                    self.with_image.insert(hash);
                    lacks && self.others.contains(&hash)
                }
                false if has => {
                    self.others.insert(hash);
                    self.with_image.contains(&hash)
                }
                false => false,
            };
            if is_apart {
                return Err(format!(
                    "the members of {} lie apart: the members of a sample must follow each other, as they do when the archive \
                     is packed in the order of names (tar --sort=name)",
                    group.stem
                ));
            }
        }
        group.finish(take)
    }
}

const REMEDY: &str = "name a tar file that can be read; copy it again if it is damaged";

/// Hands each sample of the archive at `path` to `take`, in order; the archive's size comes back.
pub(super) fn scan(path: &Path, wanted: &mut WantedMembers, take: &mut dyn FnMut(Found)) -> Result<u64> {
    let unreadable = |error| Error::io(path, error, REMEDY);
    let file = regular_file::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    scan_in(path, file, length, wanted, take).map(|()| length)
}

/// The same for an archive of `length` bytes from any reader; `path` is its name in errors.
pub(in crate::source) fn scan_in(
    path: &Path,
    mut file: impl Read + Seek,
    length: u64,
    wanted: &mut WantedMembers,
    take: &mut dyn FnMut(Found),
) -> Result<()> {
    let unreadable = |error| Error::io(path, error, REMEDY);
    let refuse = |what: String| Error::config(format!("{}: {what}", path.display()));
    refuse_compressed(&mut file).map_err(unreadable)?.map_or(Ok(()), |what| Err(refuse(what)))?;
    let left = Cell::new(MAX_HEADER_BYTES);
    let mut archive = Archive::new(Bounded { file, left: &left });
    let (mut group, mut ended) = (Group::default(), Ended::default());
    let mut entries = archive.entries_with_seek().map_err(unreadable)?;
    loop {
        left.set(MAX_HEADER_BYTES);
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(unreadable)?;
        let bytes = entry.path_bytes();
        let name = readable(bytes.strip_prefix(b"./").unwrap_or(&bytes)).into_owned();
        let end = entry.raw_file_position().saturating_add(entry.size());
        // A sparse file's size is not that of what is stored.
        if end > length && !entry.header().entry_type().is_gnu_sparse() {
            return Err(refuse(format!("the archive ends in the middle of {name}: copy it again")));
        }
        let Some((stem, extension)) = split(&name) else { continue };
        let image = !extension.contains('.') && is_image_name(OsStr::new(&format!("x.{extension}")));
        wanted.meet(&extension);
        let is_read = wanted.is_read(&extension);
        let of_sample =
            image || is_read || CLASS_ENDINGS.contains(&&*extension) || wanted.endings.contains(&extension);
        if !of_sample || entry.header().entry_type() == EntryType::Directory {
            continue;
        }
        if stem != group.stem {
            ended.end(std::mem::take(&mut group), wanted, take).map_err(refuse)?;
            group.stem = stem.to_owned();
        }
        let member = Member { name: &name, ending: &extension, image, wanted: &wanted.endings };
        group.add(member, &mut entry).map_err(refuse)?;
        if is_read {
            left.set(MAX_JSON_BYTES + 1);
            group.read(&name, &mut entry).map_err(refuse)?;
        }
    }
    ended.end(group, wanted, take).map_err(refuse)
}

/// A file of which so much may be read for one member. The crate takes names of any length into memory.
struct Bounded<'a, R> {
    file: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // The crate that reads headers does not try again.
        let read = loop {
            match self.file.read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let left = self.left.get().checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(format!("the headers of a member have more than {MAX_HEADER_BYTES} bytes"))
        })?;
        self.left.set(left);
        Ok(read)
    }
}

impl<R: Seek> Seek for Bounded<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Says how the file is compressed, if it is; leaves it at its start.
fn refuse_compressed(file: &mut (impl Read + Seek)) -> io::Result<Option<String>> {
    let mut head = Vec::new();
    file.by_ref().take(8).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    let found = COMPRESSED.iter().find(|(magic, _, _)| head.starts_with(magic));
    Ok(found.map(|(_, name, command)| {
        format!(
            "the archive is compressed with {name}, so that no image in it can be read by itself: unpack it with \
             {command} (JPEGs gain nothing from it)"
        )
    }))
}

/// The path up to the first dot of the name, and what follows in lower case; none for names without a dot, or with
/// nothing before it.
pub(super) fn split(path: &str) -> Option<(&str, String)> {
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    let dot = name + path[name..].find('.')?;
    (dot > name).then(|| (&path[..dot], path[dot + 1..].to_lowercase()))
}

/// A member that belongs to a sample.
#[derive(Clone, Copy)]
struct Member<'a> {
    name: &'a str,
    ending: &'a str,
    /// Whether it is an image.
    image: bool,
    wanted: &'a [String],
}

impl Group {
    fn add(&mut self, member: Member<'_>, entry: &mut Entry<'_, impl Read>) -> Result<(), String> {
        let Member { name, ending, image, wanted } = member;
        if !entry.header().entry_type().is_file() {
            return Err(format!(
                "{name} is a link or a sparse file: pack the archive again with the files themselves"
            ));
        }
        let twice =
            format!("has two members `{}` of one kind: give each sample a name of its own", self.stem);
        let range = [entry.raw_file_position(), entry.size()];
        self.members.resize(wanted.len(), None);
        for (member, _) in self.members.iter_mut().zip(wanted).filter(|(_, wanted)| *wanted == ending) {
            if member.replace(range).is_some() {
                return Err(twice);
            }
        }
        if CLASS_ENDINGS.contains(&ending) {
            let classes = read_classes(entry).ok_or_else(|| {
                format!(
                    "{name} is no class: write an index from 0 into it, as text and nothing else, or several, each once: [0, 7]"
                )
            })?;
            let said = (name.to_owned(), classes);
            return self.classes.replace(said).map_or(Ok(()), |_| Err(twice));
        }
        let [offset, bytes] = range;
        let replaced = image.then(|| self.image.replace((name.to_owned(), offset, bytes)));
        replaced.flatten().map_or(Ok(()), |_| Err(twice))
    }

    /// Whether any member is there that is wanted, and whether any is missing.
    fn wanted(&self, wanted: &WantedMembers) -> (bool, bool) {
        let found = self.members.iter().flatten().count() + usize::from(self.json.is_some());
        (found > 0, found < wanted.endings.len() + usize::from(wanted.read.is_some()))
    }

    /// Keeps what the member holds.
    fn read(&mut self, name: &str, entry: &mut Entry<'_, impl Read>) -> Result<(), String> {
        if entry.size() > MAX_JSON_BYTES {
            return Err(format!("{name} has {} bytes, at most {MAX_JSON_BYTES}: shorten it", entry.size()));
        }
        let mut content = Vec::new();
        entry
            .read_to_end(&mut content)
            .map_err(|error| format!("{name} cannot be read ({error}): copy it again"))?;
        match self.json.replace(content) {
            None => Ok(()),
            Some(_) => Err(format!("has two members `{name}`: give each sample a name of its own")),
        }
    }

    fn finish(self, take: &mut dyn FnMut(Found)) -> Result<(), String> {
        match (self.image, self.classes) {
            (Some((path, offset, bytes)), classes) => {
                let (members, json) = (self.members, self.json);
                let classes = classes.map_or(RecordClasses::Nothing, |(_, classes)| classes);
                take(Found { path, offset, bytes, classes, members, json });
                Ok(())
            }
            (None, None) => Ok(()),
            (None, Some((name, _))) => Err(format!(
                "{name} has no image next to it: the members of a sample must follow each other, as they do when the \
                 archive is packed in the order of names (tar --sort=name)"
            )),
        }
    }
}

/// One index, or a list of them in brackets or with commas or white space between.
fn read_classes(entry: &mut Entry<'_, impl Read>) -> Option<RecordClasses> {
    if entry.size() > MAX_CLASS_BYTES {
        return None;
    }
    let mut text = String::new();
    entry.read_to_string(&mut text).ok()?;
    parse_classes(&text)
}

/// The classes that the text says.
pub(super) fn parse_classes(text: &str) -> Option<RecordClasses> {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let parts = inner.unwrap_or(text).split([',', ' ', '\t', '\r', '\n']).filter(|part| !part.is_empty());
    let mut classes =
        parts.map(|part| part.parse().ok().map(|class: u32| class.into())).collect::<Option<Vec<i64>>>()?;
    match (inner, &classes[..]) {
        (None, []) => None,
        (None, [class]) => Some(RecordClasses::One(*class)),
        _ => {
            let count = classes.len();
            classes.sort_unstable();
            classes.dedup();
            (classes.len() == count).then_some(RecordClasses::Several(classes))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// An archive of which every other read is interrupted.
    struct Interrupted(Cursor<Vec<u8>>, bool);

    impl Read for Interrupted {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(bytes) }
        }
    }

    impl Seek for Interrupted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn reads_that_are_interrupted_are_tried_again() {
        let mut archive = tar::Builder::new(Vec::new());
        for (path, content) in [("a.jpg", &[7; 900][..]), ("a.cls", b"3")] {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            archive.append_data(&mut header, path, content).unwrap();
        }
        let bytes = archive.into_inner().unwrap();
        let (length, mut found) = (bytes.len() as u64, Vec::new());
        let file = Interrupted(Cursor::new(bytes), false);
        let wanted = &mut WantedMembers::default();
        scan_in(Path::new("a.tar"), file, length, wanted, &mut |sample| found.push(sample)).unwrap();
        let members = Vec::new();
        assert_eq!(
            found,
            [Found {
                path: "a.jpg".into(),
                offset: 512,
                bytes: 900,
                classes: RecordClasses::One(3),
                members,
                json: None
            }]
        );
    }
}
