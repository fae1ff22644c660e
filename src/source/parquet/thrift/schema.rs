//! The schema of a Parquet file: elements that are one tree, of a size that can be held.
//!
//! The crate that decodes it goes down the tree, and gives each column a path of its own: the names of all groups above it,
//! copied.

use super::{MAX_DEPTH, damaged};
use std::io;

/// Maximal number of columns, counting those in groups. Tables of features have some thousands.
const MAX_COLUMNS: u64 = 1 << 16;
/// What the paths of all columns may take.
const MAX_PATHS_BYTES: u64 = 64 << 20;
/// What a name in a path takes beside its bytes: the string, and what the allocator adds.
const NAME_BYTES: u64 = 64;

/// What an element of the schema says of itself.
#[derive(Default)]
pub(super) struct Element {
    /// How many children it has: those of a group follow it, each ahead of its own children.
    pub(super) children: u64,
    pub(super) name_bytes: u64,
}

/// Refuses elements that are no tree, or one that is too deep or too large.
pub(super) fn check(elements: &[Element]) -> io::Result<()> {
    // Of the root's parent, the root, and so on: how many children are still to come, and what their paths begin with.
    let mut open = vec![(1, 0)];
    let (mut columns, mut paths_bytes) = (0, 0);
    for (number, Element { children, name_bytes }) in elements.iter().enumerate() {
        while open.last().is_some_and(|(left, _)| *left == 0) {
            open.pop();
        }
        let (left, above) = open.last_mut().ok_or_else(damaged)?;
        *left -= 1;
        // The root is in no path.
        let path_bytes = if number == 0 { 0 } else { *above + name_bytes + NAME_BYTES };
        if *children > elements.len() as u64 || open.len() > MAX_DEPTH {
            return Err(damaged());
        }
        if *children > 0 {
            open.push((*children, path_bytes));
        } else {
            columns += 1;
            paths_bytes += path_bytes;
        }
        if columns > MAX_COLUMNS {
            return Err(too_large(format!("has more than {MAX_COLUMNS} columns")));
        }
        if paths_bytes > MAX_PATHS_BYTES {
            let what = format!(
                "has columns whose names, with those of their groups, take more than {MAX_PATHS_BYTES}"
            );
            return Err(too_large(format!("{what} bytes")));
        }
    }
    if open.iter().all(|(left, _)| *left == 0) { Ok(()) } else { Err(damaged()) }
}

fn too_large(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of so many children and names of so many bytes.
    fn checked(elements: impl IntoIterator<Item = (u64, u64)>) -> Result<(), String> {
        let element = |(children, name_bytes)| Element { children, name_bytes };
        check(&elements.into_iter().map(element).collect::<Vec<_>>()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_schema_is_a_tree_of_no_great_depth() {
        let of = |children: &[u64]| checked(children.iter().map(|children| (*children, 1)));
        assert_eq!(of(&[2, 0, 1, 0]), Ok(()));
        for children in [&[][..], &[1], &[0, 0], &[1, 0, 0], &[2, 1, 0], &[100, 0]] {
            assert!(of(children).is_err_and(|why| why == "contradicts itself"), "{children:?}");
        }
        let chain = |depth| [vec![1; depth], vec![0]].concat();
        assert!(of(&chain(MAX_DEPTH - 1)).is_ok() && of(&chain(MAX_DEPTH)).is_err());
    }

    #[test]
    fn a_schema_has_no_more_columns_than_can_be_held() {
        let table = |columns| checked([(columns, 6)].into_iter().chain((0..columns).map(|_| (0, 20))));
        assert_eq!(table(MAX_COLUMNS), Ok(()));
        assert!(table(MAX_COLUMNS + 1).is_err_and(|why| why.contains("more than 65536 columns")));
    }

    #[test]
    fn the_name_of_a_group_counts_for_each_column_in_it() {
        let below = |name_bytes, columns| {
            checked([(1, 6), (columns, name_bytes)].into_iter().chain((0..columns).map(|_| (0, 1))))
        };
        assert_eq!(below(500_000, 100), Ok(()));
        assert!(below(500_000, 200).is_err_and(|why| why.contains("take more than 67108864 bytes")));
        // A name of the root, which is in no path.
        assert_eq!(checked([(200, 500_000)].into_iter().chain((0..200).map(|_| (0, 1)))), Ok(()));
        let deep = |columns| {
            let groups = [(1, 1)].repeat(MAX_DEPTH - 2);
            checked(groups.into_iter().chain([(columns, 1)]).chain((0..columns).map(|_| (0, 1))))
        };
        assert!(deep(1_000).is_ok() && deep(60_000).is_err());
    }
}
