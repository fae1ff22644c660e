//! Records with several classes each: where each source finds them, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::fields::refused;
use crate::write;
use feedline::label::Label;
use feedline::source::{List, Memory, Shards, Source, WithClasses};
use std::fs;
use std::path::{Path, PathBuf};

fn labels(source: &dyn Source) -> Vec<Label> {
    (0..source.len()).map(|index| source.label(index)).collect()
}

fn lists<const N: usize>(lists: [&[i64]; N]) -> Vec<Label> {
    lists.map(|list| Label::Classes(list.into())).to_vec()
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_labels_of_a_list_are_split_at_the_separator() {
    let folder = tempfile::tempdir().unwrap();
    let split = |path: &PathBuf, at: &str| List::options().label_separator(at).open(path);
    let names =
        file(folder.path(), "a.csv", "path,labels\na.jpg,dog | cat\nb.jpg,\nc.jpg,bird\nd.jpg,cat|dog\n");
    let source = split(&names, "|").unwrap();
    assert_eq!(source.classes(), ["bird", "cat", "dog"]);
    assert_eq!(labels(&source), lists([&[1, 2], &[], &[0], &[1, 2]]));
    assert_eq!(
        List::open(&names).unwrap().classes(),
        ["bird", "cat|dog", "dog | cat"],
        "unless it is asked for"
    );
    let numbers = file(folder.path(), "b.txt", "a.jpg\t7;0\nb.jpg\t3\n");
    assert_eq!(labels(&split(&numbers, ";").unwrap()), lists([&[0, 7], &[3]]));
    refused(
        split(&file(folder.path(), "c.csv", "path,label\na.jpg,0|1|0\n"), "|"),
        &["c.csv, line 2", "the class `0` is there twice"],
    );
    refused(
        split(&file(folder.path(), "d.csv", "path,label\na.jpg,0|1\nb.jpg,cat|1\n"), "|"),
        &["line 3", "two kinds"],
    );
    refused(
        split(&file(folder.path(), "e.csv", "path,label\na.jpg,0|-1\n"), "|"),
        &["the label -1 is no class"],
    );
    refused(split(&names, ""), &["label_separator is empty"]);
}

#[test]
fn json_lines_have_lists_of_classes() {
    let folder = tempfile::tempdir().unwrap();
    let lines = r#"{"path": "a.jpg", "label": ["b", "a"]}
                   {"path": "b.jpg", "label": []}
                   {"path": "c.jpg", "label": null}
                   {"path": "d.jpg", "label": "c"}"#;
    let source = List::open(file(folder.path(), "a.jsonl", lines)).unwrap();
    // Where one has a list, all that have a label do.
    let [first, second, last] = [&[0, 1][..], &[], &[2]].map(|list| Label::Classes(list.into()));
    assert_eq!(labels(&source), [first, second, Label::Unlabelled, last]);
    let wrong = r#"{"path": "a.jpg", "label": [1, "a"]}"#;
    refused(List::open(file(folder.path(), "b.jsonl", wrong)), &["line 1", "no list of classes"]);
}

#[test]
fn a_cls_member_may_hold_several_classes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let opened = |classes: &[(&str, &str)]| {
        let names = classes
            .iter()
            .enumerate()
            .map(|(at, (ending, _))| [format!("{at}.jpg"), format!("{at}.{ending}")]);
        let names: Vec<[String; 2]> = names.collect();
        let members = names
            .iter()
            .zip(classes)
            .flat_map(|([image, member], (_, text))| [(&**image, &b"x"[..]), (&**member, text.as_bytes())]);
        write::tar(&path, &members.collect::<Vec<_>>());
        Shards::open([&path])
    };
    let said = [
        ("cls", "5 3\n"),
        ("cls", "[1,2]"),
        ("classes.json", "[0, 9]"),
        ("cls", "4"),
        ("classes.json", "[]"),
    ];
    let source = opened(&said).unwrap();
    let want = lists([&[3, 5], &[1, 2], &[0, 9], &[4], &[]]);
    assert_eq!(labels(&source), want);
    source.write_tables().unwrap();
    let again = Shards::open([&path]).unwrap();
    assert_eq!(labels(&again), want);
    assert_eq!(labels(&opened(&[("cls", "4"), ("cls", "0")]).unwrap()), [Label::Class(4), Label::Class(0)]);
    for wrong in ["0 1 0", "", "[0", "-1 2", "cat"] {
        refused(opened(&[("cls", wrong)]), &["0.cls is no class", "each once"]);
    }
    refused(opened(&[("cls", &"7 ".repeat(50_000))]), &["0.cls is no class"]);
}

#[cfg(feature = "tfrecord")]
#[test]
fn a_feature_may_hold_several_classes() {
    use feedline::source::TfRecord;
    use write::Feature::{Bytes, Numbers};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfrecord");
    let opened = |labels: &[write::Feature<'_>]| {
        let image = || ("image/encoded", Bytes(b"x"));
        let records = labels.iter().map(|label| match label {
            Numbers(list) => write::example(&[image(), ("image/class/label", Numbers(list))]),
            Bytes(name) => write::example(&[image(), ("image/class/text", Bytes(name))]),
            _ => write::example(&[image()]),
        });
        write::tfrecord(&path, &records.collect::<Vec<_>>());
        TfRecord::open(&path)
    };
    let source = opened(&[Numbers(&[7, 2]), Numbers(&[]), Numbers(&[5])]).unwrap();
    assert_eq!(labels(&source), lists([&[2, 7], &[], &[5]]));
    // Where none has several, they are single classes, and an empty list is no label.
    let single = opened(&[Numbers(&[5]), Numbers(&[])]).unwrap();
    assert_eq!(labels(&single), [Label::Class(5), Label::Unlabelled]);
    refused(
        opened(&[Numbers(&[0, 0, 1])]),
        &["record 0", "the class `0` is there twice", "not a number for every class"],
    );
}

#[cfg(feature = "parquet")]
#[test]
fn a_column_may_hold_lists_of_classes() {
    use feedline::source::Parquet;
    use write::{Labels, Table, parquet};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let numbers: Vec<Option<Vec<i64>>> = (0..60)
        .map(|row| (row % 7 != 6).then(|| (0..row % 4).map(|at| (row * 13 + at * 7) % 50).collect()))
        .collect();
    let names: Vec<Option<Vec<&str>>> = (0..60)
        .map(|row| (row % 5 != 4).then(|| ["cat", "dog", "ant"].into_iter().take(row % 4).collect()))
        .collect();
    let want = |list: Option<Vec<i64>>| {
        list.map_or(Label::Unlabelled, |mut list| {
            list.sort_unstable();
            Label::Classes(list.into())
        })
    };
    let opened = |table: &Table<'_>, labels| {
        let images: Vec<String> = (0..60).map(|row| format!("{row}.jpg")).collect();
        let rows: Vec<_> = images.iter().map(|name| (name.as_str(), Some(&b"x"[..]))).collect();
        parquet(&path, table, &rows, Some(("labels", labels)));
        Parquet::open(&path)
    };
    for (rows_per_group, rows_per_page, second_version, dictionary) in
        [(100, 2, false, false), (7, 3, true, true), (60, 60, false, true)]
    {
        let table = Table { rows_per_group, rows_per_page, second_version, dictionary, ..Table::default() };
        let source = opened(&table, Labels::Numbers(numbers.clone())).unwrap();
        assert_eq!(labels(&source), numbers.iter().cloned().map(want).collect::<Vec<_>>());
        let source = opened(&table, Labels::Texts(names.clone())).unwrap();
        assert_eq!(source.classes(), ["ant", "cat", "dog"]);
        let index = |name: &&str| source.classes().iter().position(|class| class == name).unwrap() as i64;
        let named = names.iter().map(|list| want(list.as_ref().map(|list| list.iter().map(index).collect())));
        assert_eq!(labels(&source), named.collect::<Vec<_>>());
    }
    let refuses = |labels, words: &[&str]| {
        parquet(&path, &Table::default(), &[("a.jpg", Some(b"x"))], Some(("labels", labels)));
        refused(Parquet::open(&path), words);
    };
    refuses(Labels::Numbers(vec![Some(vec![1, 1])]), &["row 0", "the class `1` is there twice"]);
    refuses(Labels::NullIn(vec![1, 2]), &["the list of row 0 has a null in it"]);
    refuses(Labels::Numbers(vec![Some(vec![1, -1])]), &["the label -1 is no class"]);
}

#[test]
fn lists_of_classes_go_by_their_names() {
    let record = |key: &str, list: &[i64]| (key.to_owned(), Vec::new(), Label::Classes(list.into()));
    let memory = || {
        let names = ["cat", "dog", "puppy"].map(str::to_owned).to_vec();
        Memory::new(vec![record("a", &[0, 2]), record("b", &[1, 2]), record("c", &[])]).with_classes(names)
    };
    let named =
        WithClasses::options().rename("puppy", "dog").classes(["dog", "bird", "cat"]).open(memory()).unwrap();
    assert_eq!(labels(&named), lists([&[0, 2], &[0], &[]]));
    let unnamed = Memory::new(vec![record("a", &[0, 3])]);
    refused(WithClasses::options().classes(["a", "b"]).open(unnamed), &["sample 0 (a) has the class 3"]);
}
