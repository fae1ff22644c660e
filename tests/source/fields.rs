//! Fields beside the images: where each source finds them, and what is said of those that are missing or bad.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::write;
use feedline::error::{Error, Result};
use feedline::field::{Field, FieldValue};
use feedline::options::Options;
use feedline::source::{Cached, List, Shards, Source, open};
use std::error::Error as _;
use std::path::{Path, PathBuf};

/// The values of all records.
pub(crate) fn all(source: &dyn Source) -> Vec<Vec<FieldValue>> {
    (0..source.len()).map(|index| values(source, index).unwrap()).collect()
}

fn values(source: &dyn Source, index: usize) -> Result<Vec<FieldValue>> {
    let mut values = vec![FieldValue::from("of an earlier record")];
    source.values(index, &mut values).map(|()| values)
}

/// What is wrong with a record's values.
pub(crate) fn cause(source: &dyn Source, index: usize) -> String {
    let error = values(source, index).unwrap_err();
    assert!(matches!(&error, Error::Sample { index: named, .. } if *named == index as u64), "{error}");
    error.source().unwrap().to_string()
}

pub(crate) fn refused<S>(opened: Result<S>, words: &[&str]) {
    let error = opened.map(drop).unwrap_err().to_string();
    words.iter().for_each(|word| assert!(error.contains(word), "`{word}` is not in: {error}"));
}

fn json(text: &str) -> FieldValue {
    FieldValue::Json(text.to_owned())
}

/// Three samples with a caption each, of which one lacks the rest.
fn archive(folder: &Path) -> PathBuf {
    let path = folder.join("a.tar");
    let members: [(&str, &[u8]); 8] = [
        ("n/1.json", br#"{"author": "me"}"#),
        ("n/1.jpg", b"one"),
        ("n/1.TXT", "ä caption\n".as_bytes()),
        ("n/1.cls", b"4"),
        ("n/1.score.float", b" 0.25\n"),
        ("n/2.png", b"two"),
        ("n/2.txt", b""),
        ("n/3.txt", b"of no image"),
    ];
    write::tar(&path, &members);
    path
}

#[test]
fn members_of_a_sample_are_fields_by_their_endings() {
    let folder = tempfile::tempdir().unwrap();
    let fields = [
        Field::text("caption").from("txt"),
        Field::json("json").default(serde_json::json!({})),
        Field::integer("class").from("cls").default(-1),
        Field::float("score").from("score.float").default(f64::INFINITY),
        Field::bytes("file").from("JPG").default(&b"none"[..]),
        Field::bytes("raw").from("txt"),
    ];
    let source = Shards::options().fields(fields.clone()).open([archive(folder.path())]).unwrap();
    assert_eq!((source.len(), source.fields()), (2, &fields[..]));
    let bytes = |text: &str| FieldValue::from(text.as_bytes());
    let first: [FieldValue; 6] = [
        "ä caption\n".into(),
        json(r#"{"author": "me"}"#),
        4.into(),
        0.25.into(),
        bytes("one"),
        bytes("ä caption\n"),
    ];
    let second = ["".into(), json("{}"), (-1).into(), f64::INFINITY.into(), bytes("none"), bytes("")];
    assert_eq!(all(&source), [first.to_vec(), second.to_vec()]);
    assert_eq!(all(&Cached::new(source, 1 << 20)), [first.to_vec(), second.to_vec()]);
}

#[test]
fn a_table_beside_an_archive_is_passed_over_where_fields_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    Shards::open([&path]).unwrap().write_tables().unwrap();
    let source = Shards::options().fields([Field::text("txt")]).folder(folder.path()).unwrap();
    assert_eq!(all(&source), [["ä caption\n".into()], ["".into()]]);
}

#[test]
fn a_member_that_is_missing_bad_or_too_large_makes_a_bad_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let members: [(&str, &[u8]); 6] = [
        ("1.jpg", b"one"),
        ("1.txt", b"caf\xE9"),
        ("2.jpg", b"two"),
        ("2.txt", b"0123456789"),
        ("3.jpg", b"three"),
        ("3.json", b"{"),
    ];
    write::tar(&path, &members);
    let caption = Field::text("caption").from("txt");
    let source = Shards::options().fields([caption]).open([&path]).unwrap().max_field_bytes(9);
    let says = values(&source, 0).unwrap_err().to_string();
    assert!(
        says.starts_with("sample 0 (a.tar/1.jpg): the field `caption` (from `txt`) is not UTF-8 at byte 3")
    );
    let says = cause(&source, 1);
    assert!(
        says.contains("has 10 bytes, which is above max_field_bytes = 9: raise max_field_bytes"),
        "{says}"
    );
    let says = cause(&source, 2);
    assert!(
        says.contains("the member with the ending `txt` holds nothing for this sample; add it"),
        "{says}"
    );
    assert!(says.contains("give the field a default") && says.contains("(bad_sample)"), "{says}");
    let source = Shards::options().fields([Field::json("json").default(serde_json::json!(1))]);
    let source = source.open([&path]).unwrap();
    assert_eq!(values(&source, 0).unwrap(), [json("1")]);
    assert!(cause(&source, 2).contains("is no JSON (EOF while parsing an object"), "a default is no excuse");
    assert!(values(&source, 3).unwrap_err().to_string().contains("the source holds 3 records"));
}

#[test]
fn a_field_that_no_sample_has_is_refused_with_the_endings_that_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let opened = |field: Field| Shards::options().fields([field]).open([archive(folder.path())]);
    refused(
        opened(Field::text("tixt").default("")),
        &[
            "the field `tixt`: no member with the ending is called `tixt`",
            "(there are cls, jpg, json, png, score.float, txt): did you mean `txt`?",
        ],
    );
    refused(opened(Field::text("label").from("txt")), &["give it another name"]);
    let apart = folder.path().join("b.tar");
    write::tar(&apart, &[("1.jpg", b"one"), ("2.jpg", b"two"), ("1.txt", b"a"), ("2.txt", b"b")]);
    refused(
        Shards::options().fields([Field::text("txt")]).open([&apart]),
        &["b.tar: the members of 1 lie apart", "tar --sort=name"],
    );
    let orphans = folder.path().join("d.tar");
    write::tar(&orphans, &[("1.jpg", b"one"), ("2.txt", b"b")]);
    refused(
        Shards::options().fields([Field::text("txt")]).open([&orphans]),
        &["no image has a member `.txt` next to it", "tar --sort=name"],
    );
    let twice = folder.path().join("c.tar");
    write::tar(&twice, &[("1.jpg", b"one"), ("1.txt", b"a"), ("1.TXT", b"b")]);
    refused(Shards::options().fields([Field::text("txt")]).open([&twice]), &["two members `1` of one kind"]);
    assert_eq!(Shards::open([&twice]).unwrap().len(), 1, "without fields it is of no matter");
}

#[test]
fn an_archive_that_is_replaced_gives_no_values_of_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path());
    let source = Shards::options().fields([Field::text("txt")]).open([&path]).unwrap();
    let other = folder.path().join("other");
    std::fs::write(&other, vec![7; 100_000]).unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert!(cause(&source, 0).contains("it was changed since the source was opened"));
}

fn list(name: &str, content: &str, fields: &[Field]) -> Result<List> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    List::options().fields(fields).open(path)
}

#[test]
fn columns_of_a_table_and_members_of_json_lines_are_fields() {
    let fields = [
        Field::text("caption"),
        Field::float("score").from("aesthetic").default(0.0),
        Field::integer("width").default(-1),
        Field::json("meta").default(serde_json::json!(null)),
    ];
    let expected = [
        vec!["a cat, asleep".into(), 0.5.into(), 640.into(), json("{\"a\":[1]}")],
        vec!["ä \"dog\"".into(), 0.0.into(), (-1).into(), json("null")],
    ];
    let table = "file,caption,aesthetic,width,meta,other\n\
                 1.jpg,\"a cat, asleep\",0.5,640,\"{\"\"a\"\":[1]}\",x\n2.jpg,\"ä \"\"dog\"\"\",,,,y\n";
    assert_eq!(all(&list("l.csv", table, &fields).unwrap()), expected);
    let table = "file\tcaption\taesthetic\twidth\tmeta\n1.jpg\ta cat, asleep\t0.5\t640\t\"{\"\"a\"\":[1]}\"\n\
                 2.jpg\t\"ä \"\"dog\"\"\"\t\t\t\n";
    assert_eq!(all(&list("l.tsv", table, &fields).unwrap()), expected);
    let lines = "{\"file\": \"1.jpg\", \"caption\": \"a cat, asleep\", \"aesthetic\": 0.5, \"width\": 640, \"meta\": {\"a\": [1]}}\n\
                 {\"file\": \"2.jpg\", \"caption\": \"ä \\\"dog\\\"\", \"width\": null}\n";
    assert_eq!(all(&list("l.jsonl", lines, &fields).unwrap()), expected);
}

#[test]
fn a_list_says_which_line_or_column_is_wrong() {
    let caption = || Field::text("caption");
    refused(
        list("l.csv", "path,captions\n1.jpg,a\n", &[caption()]),
        &[
            "l.csv, line 1: the field `caption`: no column is called `caption` (there are path, captions): did you mean \
         `captions`?",
        ],
    );
    refused(list("l.csv", "1.jpg,2\n", &[caption()]), &["line 1: there is no header", "`caption`"]);
    refused(
        list("l.csv", "path,n\n1.jpg,1\n2.jpg,x\n", &[Field::integer("n")]),
        &["line 3: the field `n` is `x`, which is no whole number"],
    );
    refused(
        list("l.jsonl", "{\"path\": \"1.jpg\", \"caption\": 5}\n", &[caption()]),
        &["line 1: the field `caption` is text, and `caption` is 5"],
    );
    refused(
        list("l.jsonl", "{\"path\": \"1.jpg\", \"text\": \"a\"}\n", &[caption()]),
        &["no member of any object is called `caption` (there are path, text)"],
    );
    refused(list("l.txt", "1.jpg\t2\n", &[caption()]), &["plain text has no columns", ".csv"]);
    // An empty cell is a bad sample, as a missing member is.
    let source = list("l.csv", "path,caption\n1.jpg,a\n2.jpg,\n", &[caption()]).unwrap().max_field_bytes(1);
    assert_eq!(values(&source, 0).unwrap(), ["a".into()]);
    assert!(cause(&source, 1).contains("the column `caption` holds nothing for this sample"));
}

#[test]
fn options_say_which_fields_are_read_and_refuse_them_where_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let opened = |data: &Path, fields: &str| {
        let mut options = Options::default();
        options.set_path("data", data.to_owned()).unwrap();
        options.set_text("fields", fields).unwrap();
        options.set_text("max_field_bytes", "10").unwrap();
        open(&options.data).map(|opened| opened.source)
    };
    let caption = "caption = { type = \"text\", from = \"txt\" }";
    let path = archive(folder.path());
    let source = opened(&path, caption).unwrap();
    assert_eq!(values(&source, 1).unwrap(), ["".into()]);
    assert!(cause(&source, 0).contains("max_field_bytes = 10"));
    std::fs::create_dir_all(folder.path().join("images/cat")).unwrap();
    std::fs::write(folder.path().join("images/cat/1.jpg"), b"one").unwrap();
    refused(
        opened(&folder.path().join("images"), caption),
        &[
            "max_field_bytes is for data of the kind list or tar or tfrecord or parquet",
            "is read as `folder`",
        ],
    );
}

#[cfg(feature = "tfrecord")]
mod tfrecord {
    use super::{all, cause, refused};
    use crate::write::{Feature, example, tfrecord};
    use feedline::field::{Field, FieldValue};
    use feedline::source::{Source, TfRecord};

    #[test]
    fn features_of_a_record_are_fields() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tfrecord");
        let image = || ("image/encoded", Feature::Bytes(b"an image"));
        let records = [
            example(&[
                ("caption", Feature::Bytes("ä cat".as_bytes())),
                image(),
                ("score", Feature::Fraction(0.5)),
                ("image/width", Feature::Number(640)),
                ("meta", Feature::Bytes(b"{\"a\": 1}")),
            ]),
            example(&[image(), ("caption", Feature::Bytes(b"a dog")), ("score", Feature::Number(3))]),
            example(&[image(), ("caption", Feature::Numbers(&[1, 2]))]),
            example(&[image(), ("caption", Feature::Number(1))]),
            example(&[image(), ("caption", Feature::Bytes(&[b'x'; 200]))]),
            example(&[image(), ("caption", Feature::Numbers(&[]))]),
        ];
        tfrecord(&path, &records[..2]);
        let fields = [
            Field::text("caption"),
            Field::float("score"),
            Field::integer("width").from("image/width").default(0),
            Field::json("meta").default(serde_json::json!(null)),
        ];
        let json = |text: &str| FieldValue::Json(text.to_owned());
        let source = TfRecord::options().fields(fields.clone()).open(&path).unwrap();
        assert_eq!(
            all(&source),
            [
                ["ä cat".into(), 0.5.into(), 640.into(), json("{\"a\": 1}")],
                ["a dog".into(), 3.0.into(), 0.into(), json("null")],
            ]
        );
        tfrecord(&path, &records);
        let source = TfRecord::options().fields([Field::text("caption")]).open(&path).unwrap();
        let source = source.max_field_bytes(100);
        assert!(cause(&source, 2).contains("the feature `caption` holds 2 values"));
        assert!(cause(&source, 3).contains("is text, and the feature `caption` holds whole numbers"));
        assert!(cause(&source, 4).contains("which is above max_field_bytes = 100"));
        assert!(cause(&source, 5).contains("the feature `caption` holds nothing for this sample"));
        refused(
            TfRecord::options().fields([Field::text("captoin")]).open(&path),
            &[
                "no feature is called `captoin` (there are caption, image/width, meta, score): did you mean `caption`?",
            ],
        );
        assert!(TfRecord::open(&path).unwrap().fields().is_empty());
    }
}

#[cfg(feature = "parquet")]
mod parquet {
    use super::{all, cause, refused};
    use ::parquet::data_type::{
        BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
    };
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
    use ::parquet::schema::parser::parse_message_type;
    use feedline::field::{Field, FieldValue};
    use feedline::source::{Parquet, Source};
    use std::fs::File;
    use std::path::Path;
    use std::sync::Arc;

    const SCHEMA: &str = "message schema {
        required binary image;
        optional binary caption (UTF8);
        optional group meta { optional binary note (JSON); }
        optional int32 width (UINT_16);
        optional int64 id;
        optional double score;
        optional float weight;
        required boolean nsfw;
        repeated int32 tags;
        optional int64 hash (UINT_64);
    }";

    fn column<T: DataType>(
        group: &mut SerializedRowGroupWriter<'_, File>,
        depth: i16,
        values: Vec<Option<T::T>>,
    ) {
        let levels: Vec<i16> = values.iter().map(|v| if v.is_some() { depth } else { 0 }).collect();
        let values: Vec<T::T> = values.into_iter().flatten().collect();
        let mut column = group.next_column().unwrap().unwrap();
        let levels = (depth > 0).then_some(&levels[..]);
        column.typed::<T>().write_batch(&values, levels, None).unwrap();
        column.close().unwrap();
    }

    /// Whether row `i` has values.
    fn has(i: usize) -> bool {
        i % 3 != 1
    }

    fn caption(i: usize) -> String {
        format!("caption {i} {}", "é".repeat(i % 50))
    }

    fn write(path: &Path, rows: usize, (per_group, per_page): (usize, usize), dictionary: bool) {
        let properties = WriterProperties::builder()
            .set_data_page_row_count_limit(per_page)
            .set_write_batch_size(per_page)
            .set_dictionary_enabled(dictionary)
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let mut writer =
            SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
        for first in (0..rows).step_by(per_group) {
            let own: Vec<usize> = (first..rows.min(first + per_group)).collect();
            let some = |i: &usize| has(*i).then_some(*i);
            let mut group = writer.next_row_group().unwrap();
            let image = |i: &usize| Some(vec![*i as u8; 300_000].into());
            column::<ByteArrayType>(&mut group, 0, own.iter().map(image).collect());
            let text = |text: String| text.into_bytes().into();
            column::<ByteArrayType>(
                &mut group,
                1,
                own.iter().map(|i| some(i).map(|i| text(caption(i)))).collect(),
            );
            let note = |i: &usize| some(i).map(|i| text(format!("[{i}]")));
            column::<ByteArrayType>(&mut group, 2, own.iter().map(note).collect());
            column::<Int32Type>(
                &mut group,
                1,
                own.iter().map(|i| some(i).map(|i| 65_000 + i as i32)).collect(),
            );
            column::<Int64Type>(&mut group, 1, own.iter().map(|i| some(i).map(|i| i as i64 - 5)).collect());
            column::<DoubleType>(
                &mut group,
                1,
                own.iter().map(|i| some(i).map(|i| i as f64 / 7.0)).collect(),
            );
            column::<FloatType>(&mut group, 1, own.iter().map(|i| some(i).map(|i| i as f32 / 8.0)).collect());
            column::<BoolType>(&mut group, 0, own.iter().map(|i| Some(i % 2 == 0)).collect());
            let mut tags = group.next_column().unwrap().unwrap();
            tags.typed::<Int32Type>()
                .write_batch(&[], Some(&vec![0; own.len()]), Some(&vec![0; own.len()]))
                .unwrap();
            tags.close().unwrap();
            column::<Int64Type>(&mut group, 1, own.iter().map(|i| some(i).map(|i| i as i64 - 10)).collect());
            group.close().unwrap();
        }
        writer.close().unwrap();
    }

    fn fields() -> [Field; 8] {
        [
            Field::text("caption").default("none"),
            Field::json("note").from("meta.note").default(serde_json::json!(null)),
            Field::integer("width").default(-1),
            Field::integer("id").default(-1),
            Field::float("score").default(-1.0),
            Field::float("weight").default(-1.0),
            Field::integer("nsfw"),
            Field::float("number").from("id").default(-1.0),
        ]
    }

    fn expected(i: usize) -> [FieldValue; 8] {
        let nsfw = i64::from(i.is_multiple_of(2)).into();
        let null = FieldValue::Json("null".into());
        if !has(i) {
            return [
                "none".into(),
                null,
                (-1).into(),
                (-1).into(),
                (-1.0).into(),
                (-1.0).into(),
                nsfw,
                (-1.0).into(),
            ];
        }
        [
            caption(i).into(),
            FieldValue::Json(format!("[{i}]")),
            (65_000 + i as i64).into(),
            (i as i64 - 5).into(),
            (i as f64 / 7.0).into(),
            (i as f32 / 8.0).into(),
            nsfw,
            (i as f64 - 5.0).into(),
        ]
    }

    #[test]
    fn columns_are_fields_in_any_order_whatever_the_groups_and_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        for (sizes, dictionary) in [((100, 3), false), ((7, 2), true), ((100, 100), true)] {
            write(&path, 60, sizes, dictionary);
            for cache_bytes in [0, 20 << 20] {
                let source =
                    Parquet::options().image_column("image").cache_bytes(cache_bytes).fields(fields());
                let source = source.open(&path).unwrap();
                let mut values = Vec::new();
                for index in (0..60).chain((0..60).map(|i| i * 23 % 60)) {
                    source.values(index, &mut values).unwrap();
                    assert_eq!(values, expected(index), "{index}, {sizes:?}");
                }
            }
        }
    }

    #[test]
    fn a_column_that_is_null_missing_or_of_another_type_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        write(&path, 12, (100, 3), false);
        let open = |fields: &[Field]| Parquet::options().image_column("image").fields(fields).open(&path);
        let source = open(&[Field::text("caption")]).unwrap().max_field_bytes(12);
        assert!(cause(&source, 1).contains("the column `caption` holds nothing for this sample"));
        assert!(cause(&source, 5).contains("has 20 bytes, which is above max_field_bytes = 12"));
        refused(
            open(&[Field::text("captoin")]),
            &["a.parquet", "no column is called `captoin` (there are image, caption,"],
        );
        refused(open(&[Field::text("captoin")]), &["did you mean `caption`?"]);
        refused(open(&[Field::text("width")]), &["is text, and the column `width` holds whole numbers"]);
        refused(open(&[Field::integer("score")]), &["holds numbers: declare it as float"]);
        refused(open(&[Field::float("caption")]), &["holds text or bytes"]);
        refused(open(&[Field::integer("tags")]), &["holds lists"]);
        let hash = open(&[Field::integer("hash")]).unwrap();
        assert!(cause(&hash, 0).contains("a number is above 9223372036854775807"), "{}", cause(&hash, 0));
        assert_eq!(all(&open(&[Field::integer("nsfw")]).unwrap()).len(), 12);
        assert!(open(&[]).unwrap().fields().is_empty());
    }
}
