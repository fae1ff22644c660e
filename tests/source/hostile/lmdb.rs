//! LMDB files that LMDB wrote, and somebody else changed.

use crate::write::lmdb;
use heed::{DatabaseFlags, EnvFlags};
use std::path::{Path, PathBuf};

/// Bytes of a page, of its header, and from a meta page's start to its main database.
const PAGE: usize = 4096;
const HEAD: usize = 16;
const MAIN: usize = HEAD + 24 + 48;

/// Lets `edit` change the whole file of an environment; it is told where the root page begins and the main database in both
/// meta pages.
pub(crate) fn edited(path: &Path, edit: impl Fn(&mut Vec<u8>, usize, [usize; 2])) {
    let mut bytes = std::fs::read(path).unwrap();
    let databases = [MAIN, PAGE + MAIN];
    let newest = databases[usize::from(bytes[databases[1] + 56] > bytes[databases[0] + 56])];
    let root = number(&bytes[newest + 40..], 8) * PAGE;
    edit(&mut bytes, root, databases);
    std::fs::write(path, bytes).unwrap();
}

/// A tree whose root has itself for all of its children, 32 levels deep.
pub(crate) fn a_tree_that_leads_back(folder: &Path) -> PathBuf {
    let path = written(folder, &(0..3000).map(|i| format!("{i:06}")).collect::<Vec<_>>());
    edited(&path, |bytes, root, databases| {
        claim(bytes, databases, 32);
        let nodes = nodes(&bytes[root..]);
        assert!(nodes.len() > 2, "the root has several children");
        let own = bytes[root..root + 4].to_vec();
        nodes.iter().for_each(|node| bytes[root + node..root + node + 4].copy_from_slice(&own));
    });
    path
}

/// A tree of 31 levels, on each of which all children of the one page are the same page: seven ways at each, and 7^30 in all.
pub(crate) fn a_tree_of_countless_ways(folder: &Path) -> PathBuf {
    let path = written(folder, &(0..60).map(|i| format!("{i:02}{}", "k".repeat(400))).collect::<Vec<_>>());
    edited(&path, |bytes, root, databases| {
        claim(bytes, databases, 32);
        let mut page = bytes[root..root + PAGE].to_vec();
        let nodes = nodes(&page);
        assert!(nodes.len() > 2, "the root has several children");
        let (leaf, first) = (number(&page[nodes[0]..], 4), bytes.len() / PAGE);
        for added in first..first + 29 {
            let child = if added == first + 28 { leaf } else { added + 1 };
            page[..4].copy_from_slice(&(added as u32).to_le_bytes());
            nodes
                .iter()
                .for_each(|&node| page[node..node + 4].copy_from_slice(&(child as u32).to_le_bytes()));
            bytes.extend_from_slice(&page);
        }
        let first = (first as u32).to_le_bytes();
        nodes.iter().for_each(|node| bytes[root + node..root + node + 4].copy_from_slice(&first));
    });
    path
}

/// A root that has one page for all of its thousand children, each of whose thousand keys are the same 400 bytes.
pub(crate) fn one_page_many_times(folder: &Path) -> PathBuf {
    let path = written(folder, &(0..60).map(|i| format!("{i:02}{}", "k".repeat(400))).collect::<Vec<_>>());
    edited(&path, |bytes, root, databases| {
        claim(bytes, databases, 2);
        let first = nodes(&bytes[root..])[0];
        let leaf = number(&bytes[root + first..], 4) * PAGE;
        for page in [root, leaf] {
            let node = bytes[page + HEAD..page + HEAD + 2].to_vec();
            bytes[page + 12..page + 14].copy_from_slice(&2000u16.to_le_bytes());
            (HEAD..2000).step_by(2).for_each(|at| bytes[page + at..page + at + 2].copy_from_slice(&node));
        }
    });
    path
}

fn written(folder: &Path, keys: &[String]) -> PathBuf {
    let entries: Vec<_> = keys.iter().map(|key| (key.as_str(), vec![7; 4])).collect();
    lmdb(folder, EnvFlags::empty(), (None, DatabaseFlags::empty()), &entries);
    folder.join("data.mdb")
}

/// Claims that the main database has so many levels, and no end of pages.
fn claim(bytes: &mut [u8], databases: [usize; 2], levels: u16) {
    for database in databases {
        bytes[database + 6..database + 8].copy_from_slice(&levels.to_le_bytes());
        bytes[database + 8..database + 16].copy_from_slice(&u64::MAX.to_le_bytes());
    }
}

/// Where the nodes of a page begin.
fn nodes(page: &[u8]) -> Vec<usize> {
    (HEAD..number(&page[12..], 2)).step_by(2).map(|at| number(&page[at..], 2)).collect()
}

/// A number of so many bytes.
fn number(bytes: &[u8], length: usize) -> usize {
    bytes[..length].iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte))
}
