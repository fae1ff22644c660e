//! Fields that are lists of numbers: where each source finds them, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::fields::{all, cause, refused};
use crate::write;
use feedline::field::{Field, FieldValue};
use feedline::source::{List, Shards};
use std::fs;
use std::path::{Path, PathBuf};

fn fields() -> [Field; 2] {
    [Field::integers("ids").default(vec![-1i64]), Field::floats("embedding").length(2)]
}

/// The values of three records, of which the second has no ids.
fn values() -> Vec<Vec<FieldValue>> {
    let record = |ids: &[i64], embedding: [f64; 2]| vec![ids.to_vec().into(), embedding.to_vec().into()];
    vec![record(&[7, -8], [0.5, -1.25]), record(&[-1], [0.0, 2.0]), record(&[], [1e300, f64::INFINITY])]
}

fn file(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn lists_are_read_from_tables_and_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let table = "path,ids,embedding\na.jpg,7;-8,\"[0.5, -1.25]\"\nb.jpg,,0 2.0\nc.jpg,[],\"1e300, inf\"\n";
    let source = List::options().fields(fields()).open(file(folder.path(), "a.csv", table)).unwrap();
    assert_eq!(all(&source), values());
    let lines = r#"{"path": "a.jpg", "ids": [7, -8], "embedding": [0.5, -1.25]}
                   {"path": "b.jpg", "ids": null, "embedding": [0, 2.0]}"#;
    let source = List::options().fields(fields()).open(file(folder.path(), "a.jsonl", lines)).unwrap();
    assert_eq!(all(&source), values()[..2]);
    let wrong = r#"{"path": "a.jpg", "ids": [7, "b"], "embedding": [0.5, -1.25]}"#;
    refused(
        List::options().fields(fields()).open(file(folder.path(), "b.jsonl", wrong)),
        &["line 1", "`ids` is integers"],
    );
    let short = file(folder.path(), "b.csv", "path,embedding\na.jpg,0.5\n");
    let source = List::options().fields([fields()[1].clone()]).open(short).unwrap();
    let says = cause(&source, 0);
    assert!(
        says.contains("`embedding` has 1 numbers, and length = 2") && says.contains("leave length out"),
        "{says}"
    );
}

#[test]
fn lists_are_read_from_members() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let members: [(&str, &[u8]); 8] = [
        ("1.jpg", b"x"),
        ("1.ids", b"7 -8\n"),
        ("1.embedding", b"[0.5, -1.25]"),
        ("2.jpg", b"x"),
        ("2.embedding", b"0,2"),
        ("3.jpg", b"x"),
        ("3.ids", b""),
        ("3.embedding", b"[1e300, Infinity]"),
    ];
    write::tar(&path, &members);
    let source = Shards::options().fields(fields()).open([&path]).unwrap();
    assert_eq!(all(&source), values());
    let source = source.max_field_bytes(12);
    assert!(cause(&source, 1).contains("has 16 bytes, which is above max_field_bytes = 12"));
}

#[cfg(feature = "tfrecord")]
#[test]
fn lists_are_read_from_features() {
    use feedline::source::TfRecord;
    use write::Feature::{Bytes, Fraction, Number, Numbers};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tfrecord");
    let record = |ids: Option<write::Feature<'_>>, embedding: write::Feature<'_>| {
        let image = ("image/encoded", Bytes(b"x"));
        write::example(
            &[image]
                .into_iter()
                .chain(ids.map(|ids| ("ids", ids)))
                .chain([("embedding", embedding)])
                .collect::<Vec<_>>(),
        )
    };
    let records = [
        record(Some(Numbers(&[7, -8])), Bytes(b"[0.5, -1.25]")),
        record(None, Numbers(&[0, 2])),
        record(Some(Numbers(&[])), Bytes(b"1e300;inf")),
    ];
    write::tfrecord(&path, &records);
    assert_eq!(all(&TfRecord::options().fields(fields()).open(&path).unwrap()), values());
    write::tfrecord(&path, &[record(None, Fraction(0.25))]);
    let one = TfRecord::options().fields([Field::floats("embedding")]).open(&path).unwrap();
    assert_eq!(all(&one), [[vec![0.25].into()]]);
    let single = TfRecord::options().fields([Field::integer("embedding")]).open(&path).unwrap();
    assert!(cause(&single, 0).contains("declare it as such"));
    write::tfrecord(&path, &[record(None, Numbers(&[1, 2]))]);
    let single = TfRecord::options().fields([Field::integer("embedding")]).open(&path).unwrap();
    assert!(
        cause(&single, 0)
            .contains("holds 2 values: write one for each image, or declare the field as a list of numbers")
    );
    write::tfrecord(&path, &[record(Some(Number(4)), Numbers(&[1, 2]))]);
    let ids = TfRecord::options().fields([Field::integers("ids")]).open(&path).unwrap();
    assert_eq!(all(&ids), [[vec![4i64].into()]]);
}

#[cfg(feature = "parquet")]
#[test]
fn lists_are_read_from_columns() {
    use feedline::source::Parquet;
    use write::{Labels, Table, parquet};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let images: Vec<String> = (0..60).map(|row| format!("{row}.jpg")).collect();
    let rows: Vec<_> = images.iter().map(|name| (name.as_str(), Some(&b"x"[..]))).collect();
    let numbers: Vec<Option<Vec<i64>>> = (0..60)
        .map(|row| (row % 7 != 6).then(|| (0..row % 5).map(|at| row * 1_000_000_007 - at).collect()))
        .collect();
    let fractions: Vec<Option<Vec<f64>>> =
        (0..60).map(|row| Some((0..3).map(|at| f64::from(row) / 7.0 - f64::from(at)).collect())).collect();
    for (rows_per_group, rows_per_page, page_index, second_version) in
        [(100, 2, true, false), (7, 3, false, false), (60, 4, true, true), (60, 60, false, true)]
    {
        let table = Table { rows_per_group, rows_per_page, page_index, second_version, ..Table::default() };
        let opened = |labels, field: Field| {
            parquet(&path, &table, &rows, Some(("list", labels)));
            Parquet::options().fields([field.from("list")]).open(&path)
        };
        let source =
            opened(Labels::Numbers(numbers.clone()), Field::integers("ids").default(vec![3i64])).unwrap();
        let want = |list: &Option<Vec<i64>>| vec![list.clone().unwrap_or_else(|| vec![3]).into()];
        assert_eq!(all(&source), numbers.iter().map(want).collect::<Vec<_>>());
        let source =
            opened(Labels::Fractions(fractions.clone()), Field::floats("embedding").length(3)).unwrap();
        let want = |list: &Option<Vec<f64>>| vec![list.clone().unwrap().into()];
        assert_eq!(all(&source), fractions.iter().map(want).collect::<Vec<_>>());
        refused(
            opened(Labels::Fractions(fractions.clone()), Field::integers("a")),
            &["`a` (from `list`) is integers"],
        );
        refused(opened(Labels::Texts(vec![None; 60]), Field::floats("a")), &["lists of something else"]);
        refused(
            opened(Labels::Numbers(numbers.clone()), Field::integer("a")),
            &["no column is called `list`"],
        );
    }
    let source = |labels| {
        parquet(&path, &Table::default(), &rows[..1], Some(("list", labels)));
        Parquet::options().fields([Field::integers("list")]).open(&path).unwrap()
    };
    assert!(cause(&source(Labels::NullIn(vec![1, 2])), 0).contains("the list of row 0 has a null in it"));
}
