//! What lies beside remote images is what lies beside local ones: members of archives, columns of lists.

use crate::faults::storm;
use crate::server::{Act, Server};
use crate::support::{are_alike, data_at, options, picture, says, uploaded, write};
use feedline::field::{Field, FieldValue};
use feedline::label::Label;
use feedline::options::{DataOptions, Fields, Kind};
use feedline::source::{self, List, Remote, Shards, Source};
use std::path::Path;

/// An archive of samples with a caption, JSON, a second image and, but for the first, a score.
fn archive(folder: &Path, name: &str, numbers: std::ops::Range<usize>) {
    let mut archive = tar::Builder::new(std::fs::File::create(folder.join(name)).unwrap());
    for number in numbers {
        let mut members = vec![
            ("png", picture(number)),
            ("cls", (number % 3).to_string().into_bytes()),
            ("TXT", format!("caption {number}").into_bytes()),
            ("json", format!("{{\"number\": {number}}}").into_bytes()),
            ("night.png", picture(1000 + number)),
            ("empty", Vec::new()),
        ];
        if number > 0 {
            members.push(("score", format!("{number}.5").into_bytes()));
        }
        for (ending, bytes) in members {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("{number:03}.{ending}"), &bytes[..]).unwrap();
        }
    }
    archive.finish().unwrap();
}

fn members() -> Vec<Field> {
    vec![
        Field::text("caption").from("txt"),
        Field::json("json"),
        Field::image("night").from("night.png"),
        Field::bytes("nothing").from("empty"),
        Field::float("score").default(-1.0),
    ]
}

/// Two archives in a folder `shards`.
fn archives() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("shards")).unwrap();
    archive(&folder.path().join("shards"), "train-0.tar", 0..9);
    archive(&folder.path().join("shards"), "train-1.tar", 9..14);
    folder
}

#[test]
fn members_of_archives_are_those_of_local_ones_through_a_storm_too() {
    let folder = archives();
    let local = Shards::options().fields(members()).folder(folder.path().join("shards")).unwrap();
    // Tables know nothing of members, and are passed over.
    local.write_tables().unwrap();
    let mut objects = uploaded(folder.path());
    objects.insert("bucket/shards/list.txt".into(), b"train-0.tar\ntrain-1.tar\n".to_vec());
    let server = Server::start(objects, false);
    let open = |url: &str| options(&server).fields(members()).open(url).unwrap();
    are_alike(&open("s3://bucket/shards"), &local);
    are_alike(&open("s3://bucket/shards/list.txt"), &local);
    are_alike(&open(&format!("{}/bucket/shards/list.txt", server.url())), &local);
    let one = Shards::options().fields(members()).open([folder.path().join("shards/train-1.tar")]).unwrap();
    are_alike(&open("s3://bucket/shards/train-1.tar"), &one);
    let by_shards = options(&server).shards(Shards::options().fields(members()));
    are_alike(&by_shards.open("s3://bucket/shards").unwrap(), &local);
    server.rule(storm(11));
    let stormy = open("s3://bucket/shards");
    are_alike(&stormy, &local);
    assert!(stormy.io_stats().retries > 20, "the storm was none: {:?}", stormy.io_stats());
}

#[test]
fn what_was_found_in_archives_is_kept_in_the_cache_on_disk() {
    let (folder, cache) = (archives(), tempfile::tempdir().unwrap());
    let local = Shards::options().fields(members()).folder(folder.path().join("shards")).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    let open = || {
        options(&server).fields(members()).cache(cache.path(), 1 << 24).open("s3://bucket/shards").unwrap()
    };
    are_alike(&open(), &local);
    let before = server.seen().len();
    let again = open();
    are_alike(&again, &local);
    assert!(again.notes().iter().any(|note| note.contains("cache_dir")), "{:?}", again.notes());
    let asked = server.seen().split_off(before);
    assert!(asked.iter().all(|request| request.query.contains_key("list-type")), "{asked:?}");
    // With other fields it is another matter.
    let other = options(&server).fields([Field::text("txt")]).cache(cache.path(), 1 << 24);
    let other = other.open("s3://bucket/shards").unwrap();
    let mut values = Vec::new();
    other.values(3, &mut values).unwrap();
    assert_eq!(values, [FieldValue::Text("caption 3".into())]);
}

#[test]
fn members_that_are_missing_too_large_or_changed_make_bad_samples_and_misspelt_ones_an_error() {
    let folder = archives();
    let server = Server::start(uploaded(folder.path()), false);
    let open = |fields: Vec<Field>| options(&server).fields(fields).open("s3://bucket/shards");
    let values = |source: &Remote, index| source.values(index, &mut Vec::new());
    let lacking = open(vec![Field::float("score")]).unwrap();
    says(values(&lacking, 0), &["train-0.tar/000.png", "`score` is missing", "give the field a default"]);
    values(&lacking, 1).unwrap();
    says(values(&lacking, 99), &["holds 14 records"]);
    says(
        open(vec![Field::text("capton").from("txtt")]),
        &["no member with the ending", "`txtt`", "did you mean `txt`?"],
    );
    let small = options(&server).fields([Field::text("txt")]).max_field_bytes(3);
    says(values(&small.open("s3://bucket/shards").unwrap(), 2), &["max_field_bytes = 3"]);
    let gone = open(vec![Field::text("txt")]).unwrap();
    let other = archives();
    archive(other.path(), "train-0.tar", 20..29);
    server.put("bucket/shards/train-0.tar", std::fs::read(other.path().join("train-0.tar")).unwrap());
    says(values(&gone, 0), &["s3://bucket/shards/train-0.tar", "not the one that was there"]);
    values(&gone, 10).unwrap();
}

#[cfg(feature = "pack")]
mod packed {
    use super::*;
    use crate::labelled::{masks_of, yolo};
    use feedline::pack::{Format, Pack};
    use feedline::source::{Folder, WithMasks, Yolo};

    /// A YOLO data set with masks, packed.
    fn shards() -> tempfile::TempDir {
        let (folder, out) = (yolo(), tempfile::tempdir().unwrap());
        masks_of(folder.path());
        let images = Yolo::open(folder.path().join("set")).unwrap();
        let source = WithMasks::options().allow_missing(true);
        let source = source.open(images, folder.path().join("masks")).unwrap();
        Pack::to(out.path().join("packed")).shard_records(3).run(&source, &mut |_| {}).unwrap();
        out
    }

    #[test]
    fn packed_data_have_their_objects_masks_and_classes() {
        let out = shards();
        let local = Shards::folder(out.path().join("packed")).unwrap();
        assert!(local.has_masks() && local.report().unwrap().objects > 3);
        let server = Server::start(uploaded(out.path()), false);
        server.rule(storm(4));
        let remote = options(&server).open("s3://bucket/packed").unwrap();
        are_alike(&remote, &local);
        assert_eq!(remote.report(), local.report());
        // One of them is known by the manifest beside it, on a plain server as well.
        let one = Shards::open([out.path().join("packed/shard-000001.tar")]).unwrap();
        for url in ["s3://bucket".to_owned(), format!("{}/bucket", server.url())] {
            are_alike(&options(&server).open(&format!("{url}/packed/shard-000001.tar")).unwrap(), &one);
        }
        let opened = source::open(&data_at(&server, "s3://bucket/packed", DataOptions::default())).unwrap();
        assert_eq!((opened.kind, opened.objects), (Kind::Remote, true));
        assert_eq!(opened.labels, local.report());
    }

    #[test]
    fn packed_coefficients_name_their_jpegs_by_a_request_each() {
        let out = tempfile::tempdir().unwrap();
        let photos = Folder::open("data/photos").unwrap();
        let pack = Pack::to(out.path().join("packed")).format(Format::Coefficients).shard_records(20);
        pack.run(&photos, &mut |_| {}).unwrap();
        let local = Shards::folder(out.path().join("packed")).unwrap();
        let server = Server::start(uploaded(out.path()), false);
        let remote = options(&server).open("s3://bucket/packed").unwrap();
        let opened = server.seen().len();
        for index in 0..local.len() {
            let sum = local.jpeg_sha256(index).unwrap();
            assert!(sum.as_ref().is_none_or(|sum| sum.len() == 64));
            assert_eq!(remote.jpeg_sha256(index).unwrap(), sum, "record {index}");
        }
        assert_eq!(server.seen().len() - opened, local.len());
        says(remote.jpeg_sha256(local.len()), &["so there is none at"]);
        // Images that lie in no archive have nothing behind them.
        let server = Server::start(uploaded(Path::new("data/photos")), false);
        assert_eq!(options(&server).open("s3://bucket").unwrap().jpeg_sha256(0).unwrap(), None);
    }

    #[test]
    fn a_manifest_of_a_later_version_or_objects_that_are_none_are_refused_with_the_url() {
        let out = shards();
        let mut objects = uploaded(out.path());
        let manifest = String::from_utf8(objects["bucket/packed/manifest.json"].clone()).unwrap();
        let later = manifest.replace("\"version\": 2", "\"version\": 3");
        assert_ne!(later, manifest);
        objects.insert("bucket/later/manifest.json".into(), later.into_bytes());
        objects.insert("bucket/later/a.tar".into(), objects["bucket/packed/shard-000000.tar"].clone());
        let mut bad = objects["bucket/packed/shard-000000.tar"].clone();
        let at = bad.windows(7).position(|window| window == b"\"unit\":").unwrap();
        bad[at..at + 7].copy_from_slice(b"\"tinu\":");
        objects.insert("bucket/bad/shard-000000.tar".into(), bad);
        objects.insert("bucket/bad/manifest.json".into(), manifest.into_bytes());
        let server = Server::start(objects, false);
        let open = |url: &str| options(&server).open(url);
        says(open("s3://bucket/later"), &["s3://bucket/later/manifest.json", "version 3", "newer feedline"]);
        says(open("s3://bucket/bad"), &["s3://bucket/bad/shard-000000.tar/", "no `unit`"]);
        // One that is there and may not be read is none of those that are not there.
        server.rule(|request| match request.path.ends_with("packed/manifest.json") {
            true => Act::Refuse(403, String::new()),
            false => Act::Serve,
        });
        says(open("s3://bucket/packed"), &["s3://bucket/packed/manifest.json", "403", "credentials"]);
    }
}

#[test]
fn columns_of_a_list_are_those_of_a_local_one() {
    let folder = tempfile::tempdir().unwrap();
    let pictures: Vec<Vec<u8>> = (0..4).map(picture).collect();
    let table = "image,label,text,n,night\n0.png,cat|dog,\"one, two\",1,2.png\n1.png,cat,,7,3.png\n";
    let lines = "{\"path\": \"a/0.png\", \"label\": 1, \"text\": \"x\", \"n\": 3, \"night\": \"a/1.png\"}\n";
    write(
        folder.path(),
        &[
            ("set/list.csv", table.as_bytes()),
            ("set/rows.jsonl", lines.as_bytes()),
            ("set/0.png", &pictures[0]),
            ("set/1.png", &pictures[1]),
            ("set/2.png", &pictures[2]),
            ("set/3.png", &pictures[3]),
            ("other/a/0.png", &pictures[2]),
            ("other/a/1.png", &pictures[3]),
        ],
    );
    let fields = || vec![Field::text("text").default("none"), Field::integer("n"), Field::image("night")];
    let local = List::options().label_separator("|").fields(fields());
    let local = local.open(folder.path().join("set/list.csv")).unwrap();
    let server = Server::start(uploaded(folder.path()), false);
    let how = List::options().label_separator("|");
    let open = |url: &str| options(&server).list(how.clone()).fields(fields()).open(url).unwrap();
    for url in ["s3://bucket/set/list.csv".to_owned(), format!("{}/bucket/set/list.csv", server.url())] {
        server.rule(storm(url.len() as u64));
        let remote = open(&url);
        are_alike(&remote, &local);
        assert_eq!(remote.label(0), Label::Classes([0, 1].into()));
    }
    let root = List::options().fields(fields()).root(folder.path().join("other"));
    let root = root.open(folder.path().join("set/rows.jsonl")).unwrap();
    let rows = |root: &str| {
        let how = List::options().fields(fields()).root(root);
        options(&server).list(how).open("s3://bucket/set/rows.jsonl")
    };
    are_alike(&rows("s3://bucket/other").unwrap(), &root);
    says(rows("s3://elsewhere/other"), &["root is in s3://elsewhere", "name a place in the same store"]);
    server.put("bucket/set/3.png", picture(3));
    server.rule(|request| match request.path.ends_with("/2.png") {
        true => Act::Refuse(404, "<Error><Code>NoSuchKey</Code></Error>".into()),
        false => Act::Serve,
    });
    let remote = open("s3://bucket/set/list.csv");
    says(remote.values(0, &mut Vec::new()), &["0.png", "`night`", "s3://bucket/set/2.png", "404", "restore"]);
    server.put("bucket/set/bad.csv", b"image,n\n0.png,x\n".to_vec());
    server.put("bucket/set/plain.txt", b"0.png\n".to_vec());
    let n = || options(&server).fields([Field::integer("n")]);
    says(n().open("s3://bucket/set/bad.csv"), &["s3://bucket/set/bad.csv, line 2", "`n`"]);
    says(n().open("s3://bucket/set/plain.txt"), &["s3://bucket/set/plain.txt", "no columns for fields"]);
}

#[test]
fn a_split_chooses_archives_by_their_names() {
    let folder = archives();
    archive(&folder.path().join("shards"), "val-0.tar", 20..23);
    let server = Server::start(uploaded(folder.path()), false);
    let local = Shards::find(folder.path().join("shards"), Some("val")).unwrap();
    let open = |split: &str| options(&server).split(split).open("s3://bucket/shards");
    are_alike(&open("val").unwrap(), &local);
    assert_eq!(open("train").unwrap().len(), 14);
    says(open("test"), &["s3://bucket/shards", "none of 3", "there are train, validation"]);
    says(options(&server).open("s3://bucket/shards"), &["s3://bucket/shards holds the splits", "choose one"]);
    // Archives that are named are no exception.
    let one = |split: &str| options(&server).split(split).open("s3://bucket/shards/val-0.tar");
    are_alike(&one("val").unwrap(), &local);
    says(one("train"), &["val-0.tar", "none of 1", "there are validation"]);
    let listing = || std::fs::read_dir(folder.path().join("shards")).unwrap();
    let names = listing().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| name.ends_with(".tar")).collect();
    server.put("bucket/shards/shards.txt", names.join("\n").into_bytes());
    let listed = || options(&server);
    are_alike(&listed().split("val").open("s3://bucket/shards/shards.txt").unwrap(), &local);
    assert_eq!(listed().open("s3://bucket/shards/shards.txt").unwrap().len(), 17);
}

#[test]
fn options_say_the_fields_and_those_that_nothing_reads_are_refused() {
    let folder = archives();
    write(
        folder.path(),
        &[("cat/1.png", &picture(1)), ("images/a.png", &picture(2)), ("data.txt", b"cat/1.png\n")],
    );
    let server = Server::start(uploaded(folder.path()), false);
    let fields: Fields = serde_json::from_str(r#"{"caption": {"type": "text", "from": "txt"}}"#).unwrap();
    let asked = DataOptions { fields: Some(fields), ..DataOptions::default() };
    let opened = source::open(&data_at(&server, "s3://bucket/shards", asked.clone())).unwrap();
    let local = source::open(&DataOptions { path: Some(folder.path().join("shards")), ..asked.clone() });
    are_alike(&opened.source, &local.unwrap().source);
    let refused = |url: &str, more: DataOptions, words: &[&str]| {
        says(source::open(&data_at(&server, url, more)), words);
    };
    refused("s3://bucket/cat", asked.clone(), &["`caption`", "folders hold pictures alone"]);
    says(options(&server).fields([Field::text("x")]).open("s3://bucket/cat"), &["`x`", "read as a folder"]);
    let header = DataOptions { header: Some(true), ..DataOptions::default() };
    refused(
        "s3://bucket/cat",
        header.clone(),
        &["header is for data of the kind list", "s3://bucket/cat is read as `folder`"],
    );
    refused("s3://bucket/shards", header, &["is read as `tar`"]);
    let database = DataOptions { database: Some("x".into()), ..DataOptions::default() };
    refused("s3://bucket/shards", database, &["is read as `remote`"]);
    let image_dir = DataOptions { image_dir: Some("s3://bucket/x".into()), ..DataOptions::default() };
    refused(
        "s3://bucket/data.txt",
        DataOptions { kind: Some(Kind::List), ..image_dir },
        &["image_dir is for COCO"],
    );
    let kind = |kind| DataOptions { kind: Some(kind), ..DataOptions::default() };
    refused(
        "s3://bucket/cat",
        kind(Kind::Parquet),
        &["Parquet files cannot be read from a URL", "copy the data"],
    );
    refused("s3://bucket/cat", kind(Kind::Tar), &["neither tar files"]);
    refused(
        "s3://bucket/data.txt",
        kind(Kind::Tar),
        &["s3://bucket/data.txt names other files than tar files"],
    );
    let images = source::open(&data_at(
        &server,
        "s3://bucket",
        DataOptions { flat: Some(true), ..kind(Kind::Folder) },
    ));
    assert_eq!(images.unwrap().source.len(), 2);
}
