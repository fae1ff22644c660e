//! Lists as tables and JSON lines: where columns are found, and that errors name their line.

use super::{labels, refused};
use feedline::source::{List, ListOptions, Source};
use std::path::{Path, PathBuf};

fn list(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Keys and labels of a list of this name and content.
fn read(name: &str, content: &str, options: ListOptions) -> (Vec<String>, Vec<i64>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let source = options.open(list(folder.path(), name, content)).unwrap();
    let keys = (0..source.len()).map(|index| source.key(index).into_owned()).collect();
    (keys, labels(&source), source.classes().to_vec())
}

fn refuses(name: &str, content: &str, options: ListOptions, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    refused(options.open(list(folder.path(), name, content)), &[&[name], words].concat());
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_table_without_a_header_is_path_and_label() {
    let expected = (strings(&["a.jpg", "b, c.png", "d"]), vec![2, 0, -1], vec![]);
    assert_eq!(
        read("l.csv", "\u{feff}a.jpg, 2\r\n# a note\n\n\"b, c.png\",0\nd,-1", List::options()),
        expected
    );
    assert_eq!(read("l.tsv", "a.jpg\t2\nb, c.png\t0\nd\t\n", List::options()), expected);
    assert_eq!(read("l.CSV", "a.jpg\nb.jpg\n", List::options()).1, [-1, -1]);
}

#[test]
fn a_header_says_which_columns_matter() {
    let expected = (strings(&["a.jpg", "b.jpg"]), vec![1, 0], strings(&["cat", "dog"]));
    assert_eq!(read("l.csv", "id,Label,Image,x\n1,dog,a.jpg,\n2,cat,b.jpg,y\n", List::options()), expected);
    assert_eq!(read("l.csv", "label,path,file\ndog,a.jpg,1\ncat,b.jpg,2\n", List::options()), expected);
    let named = List::options().path_column("where").label_column("what");
    assert_eq!(read("l.csv", "label,what,where\n0,dog,a.jpg\n0,cat,b.jpg\n", named.clone()), expected);
    assert_eq!(read("l.csv", "path\na.jpg\n", List::options()), (strings(&["a.jpg"]), vec![-1], vec![]));
    // The first row is what it is said to be.
    let forced = read("l.csv", "path,1\na,1\n", List::options().header(false));
    assert_eq!(forced, (strings(&["path", "a"]), vec![1, 1], vec![]));
    refuses(
        "l.csv",
        "a.jpg,1\n",
        List::options().header(true),
        &["line 1", "no column is called `path`", "a.jpg, 1"],
    );
    refuses(
        "l.csv",
        "path,label\na.jpg,1\n",
        named,
        &["line 1", "no column is called `where`", "path, label"],
    );
}

#[test]
fn json_lines_say_paths_and_labels_by_name() {
    let lines = "{\"file_name\": \"a.jpg\", \"label\": \"dog\"}\n\n{\"label\": \"cat\", \"file_name\": \"b.jpg\"}\r\n";
    let expected = (strings(&["a.jpg", "b.jpg"]), vec![1, 0], strings(&["cat", "dog"]));
    assert_eq!(read("l.jsonl", lines, List::options()), expected);
    let lines =
        "{\"path\": \"a.jpg\", \"label\": 3}\n{\"path\": \"b.jpg\", \"label\": null}\n{\"path\": \"c.jpg\"}";
    assert_eq!(read("l.ndjson", lines, List::options()).1, [3, -1, -1]);
}

#[test]
fn paths_are_relative_to_the_root() {
    let (root, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(root.path().join("a.jpg"), b"bytes").unwrap();
    for (name, content) in [("l.csv", "a.jpg,1"), ("l.txt", "a.jpg 1"), ("l.jsonl", "{\"path\":\"a.jpg\"}")] {
        let source = List::options().root(root.path()).open(list(folder.path(), name, content)).unwrap();
        let mut bytes = Vec::new();
        source.read(0, &mut bytes).unwrap();
        assert_eq!((bytes.as_slice(), source.key(0).as_ref()), (&b"bytes"[..], "a.jpg"));
    }
}

#[test]
fn a_bad_row_is_named_by_its_line() {
    let plain = List::options;
    refuses(
        "l.csv",
        "path,label\na.jpg,1\n\"b\n.jpg\",1,2\n",
        plain(),
        &["line 3", "3 columns, but the header has 2"],
    );
    refuses(
        "l.csv",
        "a.jpg,1\nb.jpg,1,2\n",
        plain(),
        &["line 2", "3 columns without a header", "add a header"],
    );
    refuses("l.csv", "a.jpg,1\n\nb.jpg,cat\n", plain(), &["line 3", "`cat`", "`1` of line 1", "two kinds"]);
    refuses(
        "l.csv",
        "path,label\r\n# note\r\n\r\na.jpg,1\r\nb.jpg,cat\r\n",
        plain(),
        &["line 5", "of line 4"],
    );
    refuses("l.csv", "a.jpg,1\n,1\n", plain(), &["line 2", "there is no path"]);
    refuses("l.csv", "a.jpg,-2\n", plain(), &["line 1", "the label -2 is no class"]);
    refuses("l.csv", "\n", plain(), &["lists no file"]);
    refuses("l.csv", "path,label\n", plain(), &["lists no file"]);
    refuses(
        "l.jsonl",
        "{\"path\": \"a.jpg\"}\n{\"path\": }\n",
        plain(),
        &["line 2: column 10: expected value"],
    );
    refuses("l.jsonl", "[1]\n", plain(), &["line 1", "one JSON object on each line"]);
    refuses("l.jsonl", "{\"path\": 3}\n", plain(), &["line 1", "`path` is 3, which is no path"]);
    refuses("l.jsonl", "{\"a\": 3}\n", plain(), &["line 1", "no column is called `path`", "there are a"]);
    refuses(
        "l.jsonl",
        "{\"path\": \"a\", \"label\": 1.5}\n",
        plain(),
        &["line 1", "`label` is 1.5, which is no class"],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("l.csv");
    std::fs::write(&path, b"a.jpg,1\n\xff,2\n").unwrap();
    refused(List::open(&path), &["line 2", "not UTF-8"]);
}
