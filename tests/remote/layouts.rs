//! What may lie at a URL, and how it is found.

use crate::server::{Act, Server};
use crate::support::{archive, name, options, picture, pictures, read_all};
use feedline::label::Label;
use feedline::source::{Remote, Shards, Source};
use std::collections::BTreeMap;

fn keys(source: &dyn Source) -> Vec<String> {
    (0..source.len()).map(|index| source.key(index).into_owned()).collect()
}

fn classes(source: &dyn Source) -> Vec<Label> {
    (0..source.len()).map(|index| source.label(index)).collect()
}

#[test]
fn class_directories_are_those_of_a_local_folder_over_several_pages_of_a_listing() {
    let mut objects = pictures(30);
    objects.insert("bucket/train/even/deeper/a b, é.png".into(), picture(30));
    objects.insert("bucket/train/loose.png".into(), picture(31));
    objects.insert("bucket/train/even/notes.md".into(), b"no image".to_vec());
    objects.insert("bucket/training/other/0.png".into(), picture(32));
    // The same on disk is what it must be.
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in &objects {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let local = feedline::source::Folder::open(folder.path().join("bucket/train")).unwrap();
    let server = Server::start(objects, false);
    let remote = options(&server).open("s3://bucket/train/").unwrap();
    assert_eq!(keys(&remote), keys(&local));
    assert_eq!((classes(&remote), remote.classes()), (classes(&local), local.classes()));
    assert_eq!(read_all(&remote), read_all(&local));
    assert!(remote.notes().len() == 1 && remote.notes()[0].contains("1 images"), "{:?}", remote.notes());
    let pages = server.seen().iter().filter(|request| request.query.contains_key("list-type")).count();
    assert!(pages >= 5, "{pages} pages");
    let flat = options(&server).open("s3://bucket/train/odd").unwrap();
    assert_eq!((flat.len(), flat.label(0), flat.key(0).as_ref()), (15, Label::Unlabelled, "001.png"));
}

#[test]
fn a_page_of_a_listing_that_fails_is_asked_for_again_and_nothing_is_there_twice() {
    let server = Server::start(pictures(40), false);
    server.rule(|request| match (request.query.contains_key("list-type"), request.attempt) {
        (true, 0) => Act::Refuse(503, "<Error><Code>SlowDown</Code></Error>".into()),
        (true, 1) => Act::Cut,
        _ => Act::Serve,
    });
    let remote = options(&server).open("s3://bucket/train").unwrap();
    let even_first: Vec<String> = (0..40)
        .step_by(2)
        .chain((1..40).step_by(2))
        .map(|number| name(number).strip_prefix("train/").unwrap().to_owned())
        .collect();
    assert_eq!(keys(&remote), even_first);
    assert_eq!(remote.io_stats().retries, 2 * 6);
}

/// Two archives, as local files and as objects.
fn archives() -> (tempfile::TempDir, BTreeMap<String, Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let mut objects = BTreeMap::new();
    for (shard, numbers) in [("a.tar", 0..20), ("b.tar", 20..33)] {
        let bytes = archive(numbers);
        std::fs::write(folder.path().join(shard), &bytes).unwrap();
        objects.insert(format!("bucket/shards/{shard}"), bytes);
    }
    (folder, objects)
}

#[test]
fn archives_are_read_by_their_headers_or_by_the_table_beside_them() {
    let (folder, mut objects) = archives();
    let local = Shards::folder(folder.path()).unwrap();
    let same = |remote: &Remote| {
        assert_eq!((keys(remote), classes(remote)), (keys(&local), classes(&local)));
        assert_eq!(read_all(remote), read_all(&local));
    };
    let server = Server::start(objects.clone(), false);
    let walked = options(&server).open("s3://bucket/shards").unwrap();
    same(&walked);
    assert!(walked.notes().len() == 1 && walked.notes()[0].contains("--tables"), "{:?}", walked.notes());
    for table in local.write_tables().unwrap() {
        let name = table.file_name().unwrap().to_str().unwrap().to_owned();
        objects.insert(format!("bucket/shards/{name}"), std::fs::read(table).unwrap());
    }
    // With tables not a byte of an archive is read at the opening, and nothing is left to say.
    let server = Server::start(objects.clone(), false);
    let known = options(&server).open("s3://bucket/shards").unwrap();
    assert!(server.seen().iter().all(|request| !request.path.ends_with(".tar")), "{:?}", server.seen());
    assert!(known.notes().is_empty(), "{:?}", known.notes());
    same(&known);
    // One archive by its own URL, and behind a plain HTTP server; and a list of both.
    server.put("bucket/shards/list.txt", b"a.tar\nb.tar\n".to_vec());
    for url in ["s3://bucket/shards/a.tar".to_owned(), format!("{}/bucket/shards/a.tar", server.url())] {
        let one = options(&server).open(&url).unwrap();
        assert_eq!(
            (keys(&one), read_all(&one)),
            (keys(&local)[..20].to_vec(), read_all(&local)[..20].to_vec())
        );
    }
    same(&options(&server).open(&format!("{}/bucket/shards/list.txt", server.url())).unwrap());
    // A table of another archive is said, and not used.
    objects.insert("bucket/shards/a.tar".into(), archive((0..20).rev()));
    objects.insert("bucket/shards/b.tar.index".into(), b"feedline tar index 1\nnonsense".to_vec());
    objects.insert("bucket/shards/b.tar".into(), objects["bucket/shards/b.tar"].clone());
    let server = Server::start(objects.clone(), false);
    let mended = options(&server).open("s3://bucket/shards").unwrap();
    assert_eq!(read_all(&mended)[20..], read_all(&local)[20..]);
    assert!(
        mended.notes().iter().any(|note| note.contains("b.tar.index was not used")),
        "{:?}",
        mended.notes()
    );
    // One that is larger than a table of its archive can be is not even fetched.
    let bytes = objects["bucket/shards/b.tar"].len() * 5 + 129;
    objects.insert("bucket/shards/b.tar.index".into(), vec![b' '; bytes]);
    let server = Server::start(objects, false);
    let notes = options(&server).open("s3://bucket/shards").unwrap().notes().join("\n");
    assert!(
        notes.contains("b.tar.index was not used") && notes.contains(&format!("it has {bytes} bytes")),
        "{notes}"
    );
}

#[test]
fn a_list_behind_a_plain_server_names_images_and_labels() {
    let mut objects = pictures(6);
    let lines: String = (0..6).map(|number| format!("./{}\tclass {}\n", name(number), number % 3)).collect();
    objects.insert("bucket/list.txt".into(), lines.into_bytes());
    let server = Server::start(objects, false);
    let source = options(&server).open(&format!("{}/bucket/list.txt", server.url())).unwrap();
    assert_eq!(read_all(&source), (0..6).map(picture).collect::<Vec<_>>());
    assert_eq!(source.classes(), ["class 0", "class 1", "class 2"]);
    assert_eq!((source.key(3).into_owned(), source.label(3)), (name(3), Label::Class(0)));
    server.put("bucket/bad.txt", b"a.png 1\n../b.png 1\n".to_vec());
    let error = options(&server).open("s3://bucket/bad.txt").unwrap_err().to_string();
    assert!(error.contains("bad.txt, line 2"), "{error}");
}

#[test]
fn what_cannot_be_a_data_set_is_refused_with_the_url_and_the_remedy() {
    let mut objects = pictures(2);
    objects.insert("bucket/packed.tar.gz".into(), b"\x1f\x8b, and what follows".to_vec());
    objects.insert("bucket/cut.tar".into(), archive(0..3)[..560].to_vec());
    objects.insert("bucket/empty.txt".into(), b"# nothing\n".to_vec());
    let server = Server::start(objects, false);
    let says = |url: &str, wanted: [&str; 2]| {
        let error = options(&server).open(url).unwrap_err().to_string();
        assert!(wanted.iter().all(|part| error.contains(part)), "{url}: {error}");
    };
    says("s3://bucket/nothing/here", ["s3://bucket/nothing/here", "check bucket and prefix"]);
    says("s3://bucket/none.tar", ["s3://bucket/none.tar", "404"]);
    says("s3://bucket/packed.tar.gz", ["gzip", "gunzip"]);
    says("s3://bucket/cut.tar", ["s3://bucket/cut.tar", "copy it again"]);
    says("s3://bucket/empty.txt", ["empty.txt", "lists no object"]);
    says(&format!("{}/bucket/train/", server.url()), ["cannot say what it holds", ".tar"]);
    says("ftp://bucket/x", ["no URL of a remote data set", "s3://"]);
}

#[test]
fn archives_of_one_name_in_a_list_have_keys_of_their_own_as_on_a_disk() {
    let files = [("a/s.tar", archive(0..2)), ("b/s.tar", archive(2..4)), ("b/50%ü#.tar", archive(4..5))];
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in &files {
        crate::support::write(folder.path(), &[(path, bytes)]);
    }
    let local = Shards::open(files.iter().map(|(path, _)| folder.path().join(path))).unwrap();
    let mut objects: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, bytes)| (format!("bucket/{path}"), bytes.clone())).collect();
    let list: String = files.iter().map(|(path, _)| format!("{path}\n")).collect();
    objects.insert("bucket/list.txt".into(), list.into());
    let server = Server::start(objects, false);
    let remote = options(&server).open("s3://bucket/list.txt").unwrap();
    assert_eq!(keys(&remote), keys(&local));
    assert_eq!(keys(&remote)[..3], ["a/s.tar/0.png", "a/s.tar/1.png", "b/s.tar/2.png"]);
    assert_eq!(read_all(&remote), read_all(&local));
}
