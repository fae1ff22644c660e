//! What is fetched once and not again.

use crate::server::Server;
use crate::support::{archive, options, picture, pictures, read_all};
use feedline::source::{Cached, IoStats, Source};

#[test]
fn a_second_run_reads_everything_from_disk_and_a_changed_object_anew() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(pictures(12), false);
    let open = || options(&server).cache(folder.path(), 1 << 20).open("s3://bucket/train").unwrap();
    let gets = || server.seen().iter().filter(|request| request.path.ends_with(".png")).count();
    let wanted: Vec<Vec<u8>> = (0..12).step_by(2).chain((1..12).step_by(2)).map(picture).collect();
    assert_eq!(read_all(&open()), wanted);
    assert_eq!(gets(), 12);
    let again = open();
    assert_eq!(read_all(&again), wanted);
    let IoStats { disk_hits, disk_misses, .. } = again.io_stats();
    assert_eq!((gets(), disk_hits, disk_misses), (12, 12, 0));
    server.put("bucket/train/even/000.png", picture(99));
    assert_eq!(read_all(&open())[0], picture(99));
    assert_eq!(gets(), 13);
}

#[test]
fn the_headers_of_an_archive_are_read_once_and_a_damaged_entry_is_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    let objects = [("bucket/a.tar".to_owned(), archive(0..5))].into();
    let server = Server::start(objects, false);
    let open = || options(&server).cache(folder.path(), 1 << 20).open("s3://bucket/a.tar").unwrap();
    let wanted: Vec<Vec<u8>> = (0..5).map(picture).collect();
    assert_eq!(read_all(&open()), wanted);
    let before = server.seen().len();
    let again = open();
    assert_eq!(read_all(&again), wanted);
    // The archive is looked at once, to see whether it is the same, and a manifest for; nothing of the archive is read.
    let seen = server.seen().split_off(before);
    assert_eq!(
        seen.iter().map(|request| (request.method.as_str(), request.path.as_str())).collect::<Vec<_>>(),
        [("HEAD", "bucket/a.tar"), ("GET", "bucket/manifest.json")]
    );
    let mut damaged = 0;
    for entry in walkdir::WalkDir::new(folder.path()).into_iter().map(Result::unwrap) {
        if entry.path().extension().is_some_and(|ending| ending == "entry") {
            let mut bytes = std::fs::read(entry.path()).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            std::fs::write(entry.path(), bytes).unwrap();
            damaged += 1;
        }
    }
    let mended = open();
    assert_eq!(read_all(&mended), wanted);
    assert_eq!((damaged, mended.io_stats().disk_damaged), (6, 6));
    assert_eq!(read_all(&open()), wanted);
}

#[test]
fn a_cache_in_memory_saves_requests_from_the_second_epoch_on() {
    let server = Server::start(pictures(10), false);
    let source = Cached::new(options(&server).open("s3://bucket/train").unwrap(), 1 << 20);
    let opening = source.io_stats().requests;
    (0..3).for_each(|_| drop(read_all(&source)));
    let IoStats { memory_hits, memory_misses, requests, .. } = source.io_stats();
    assert_eq!((memory_hits, memory_misses, requests - opening), (20, 10, 10));
}
