//! Entries are whole or not there, whatever happens to the process or to the file.

use super::*;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Content that follows from its key, of a few bytes to some 100 kB.
fn content(number: u64) -> Vec<u8> {
    let length = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 47;
    (0..length).map(|at| (at ^ number) as u8).collect()
}

fn key(number: u64) -> String {
    format!("s3://bucket/{number}\nversion\n0..7")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let below = walkdir::WalkDir::new(folder).into_iter().map(|entry| entry.unwrap().into_path());
    below.filter(|path| path.extension().is_some_and(|ending| ending == "entry")).collect()
}

#[test]
fn an_entry_comes_back_in_another_process_and_only_under_its_key() {
    let folder = tempfile::tempdir().unwrap();
    DiskCache::open(folder.path(), 1 << 20).unwrap().write("a", b"content");
    let again = DiskCache::open(folder.path(), 1 << 20).unwrap();
    let mut bytes = vec![1];
    assert!(again.read("a", &mut bytes) && bytes == b"content");
    assert!(!again.read("b", &mut bytes) && bytes.is_empty());
    let IoStats { disk_hits, disk_misses, disk_bytes, .. } = again.count(IoStats::default());
    assert_eq!((disk_hits, disk_misses, disk_bytes), (1, 1, FRAME_BYTES + 1 + 7));
    // Another key with the same hash, which is made here by hand.
    let other = again.path("b");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::copy(again.path("a"), &other).unwrap();
    assert!(!again.read("b", &mut bytes) && bytes.is_empty());
}

#[test]
fn an_entry_that_is_damaged_anywhere_or_cut_anywhere_is_gone_and_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = DiskCache::open(folder.path(), 1 << 20).unwrap();
    cache.write("key", b"some content");
    let path = cache.path("key");
    let sound = fs::read(&path).unwrap();
    let mut bytes = Vec::new();
    let mut cases: Vec<Vec<u8>> = (0..sound.len()).map(|length| sound[..length].to_vec()).collect();
    cases.extend((0..sound.len()).map(|at| {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x40;
        damaged
    }));
    cases.push([&sound[..], b"x"].concat());
    for (number, case) in cases.iter().enumerate() {
        fs::write(&path, case).unwrap();
        assert!(!cache.read("key", &mut bytes) && bytes.is_empty(), "case {number}");
        assert!(!path.exists(), "case {number}");
        assert_eq!(cache.count(IoStats::default()).disk_damaged, number as u64 + 1);
    }
    cache.write("key", b"some content");
    assert!(cache.read("key", &mut bytes) && bytes == b"some content");
}

#[test]
fn what_was_not_used_for_the_longest_time_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let cache = DiskCache::open(folder.path(), 10_000).unwrap();
    let name = |number: u64| format!("entry {number}");
    let mut bytes = Vec::new();
    for number in 0..9 {
        cache.write(&name(number), &[7; 900]);
        let old = SystemTime::now() - Duration::from_secs(1000 - number);
        File::open(cache.path(&name(number))).unwrap().set_modified(old).unwrap();
    }
    assert!(cache.read(&name(0), &mut bytes), "read, and so the youngest now");
    for number in 9..13 {
        cache.write(&name(number), &[7; 900]);
        let held: u64 = entries(folder.path()).iter().map(|path| path.metadata().unwrap().len()).sum();
        assert!(held <= 10_000, "{held} bytes");
        assert_eq!(cache.count(IoStats::default()).disk_bytes, held);
    }
    let here: Vec<u64> = (0..13).filter(|&number| cache.path(&name(number)).exists()).collect();
    assert!(here.contains(&0) && here.contains(&12) && !here.contains(&1), "{here:?}");
    cache.write("larger than all", &[7; 20_000]);
    assert_eq!(here.len(), entries(folder.path()).len(), "what can never fit drives nothing out");
    // A smaller limit holds from the opening on.
    DiskCache::open(folder.path(), 3000).unwrap();
    assert!(entries(folder.path()).len() <= 3);
}

#[test]
fn a_folder_of_somebody_else_is_refused_and_its_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "years of work").unwrap();
    let error = DiskCache::open(folder.path(), 1).unwrap_err().to_string();
    assert!(error.contains("thesis.tex") && error.contains("empty folder"), "{error}");
    let ours = tempfile::tempdir().unwrap();
    let cache = DiskCache::open(ours.path(), 2000).unwrap();
    fs::write(ours.path().join("notes.entry"), "mine").unwrap();
    (0..20).for_each(|number| cache.write(&key(number), &[1; 500]));
    assert_eq!(fs::read_to_string(ours.path().join("notes.entry")).unwrap(), "mine");
}

#[test]
fn what_a_dead_process_left_half_written_goes_after_an_hour() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(MARKER), MARKER_TEXT).unwrap();
    let below = folder.path().join("ab");
    fs::create_dir(&below).unwrap();
    let [old, young] = ["old.tmp", "young.tmp"].map(|name| below.join(name));
    [&old, &young].into_iter().for_each(|path| fs::write(path, "half").unwrap());
    let long_ago = SystemTime::now() - Duration::from_secs(4000);
    File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
    DiskCache::open(folder.path(), 1 << 20).unwrap();
    assert!(!old.exists() && young.exists());
}

#[test]
fn a_disk_that_cannot_be_written_to_costs_only_the_entry() {
    let folder = tempfile::tempdir().unwrap();
    let cache = DiskCache::open(folder.path(), 1 << 20).unwrap();
    // A file takes the place of the entry's folder, so that no user, root included, can write there.
    let below = cache.path("key").parent().unwrap().to_owned();
    fs::write(&below, "in the way").unwrap();
    cache.write("key", b"content");
    let IoStats { disk_failures, disk_bytes, .. } = cache.count(IoStats::default());
    assert_eq!((disk_failures, disk_bytes), (1, 0));
    assert!(!cache.read("key", &mut Vec::new()));
}

#[test]
fn a_folder_that_another_process_has_just_made_a_cache_is_one() {
    let folder = tempfile::tempdir().unwrap();
    DiskCache::open(folder.path(), 4 << 20).unwrap().write("key", &content(0));
    // As if the marker had not been there yet when it was looked for.
    mark_new(folder.path(), &folder.path().join(MARKER)).unwrap();
    fs::remove_file(folder.path().join(MARKER)).unwrap();
    let error = mark_new(folder.path(), &folder.path().join(MARKER)).unwrap_err().to_string();
    assert!(error.contains("is no cache of feedline's"), "{error}");
}

/// What the killed child does: it writes and reads entries until it is killed.
#[test]
fn child_that_writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os("FEEDLINE_TEST_CACHE") else { return };
    let cache = DiskCache::open(Path::new(&folder), 4 << 20).unwrap();
    let mut bytes = Vec::new();
    for number in (u64::from(std::process::id()) * 1000).. {
        // On a busy machine it may be a while before it has done anything.
        if number % 1000 == 25 {
            println!("started");
        }
        cache.write(&key(number % 200), &content(number % 200));
        let read = (number * 7) % 200;
        assert!(!cache.read(&key(read), &mut bytes) || bytes == content(read));
    }
}

#[test]
fn a_process_that_is_killed_at_any_point_leaves_no_entry_that_is_not_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = BTreeMap::new();
    for round in 0..20u64 {
        let start = || {
            Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "--nocapture",
                    "source::disk_cache::tests::child_that_writes_until_it_is_killed",
                ])
                .env("FEEDLINE_TEST_CACHE", folder.path())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        // Two at once, so that they also meet each other.
        let mut children = [start(), start()];
        for child in &mut children {
            let said = BufReader::new(child.stdout.as_mut().unwrap()).lines();
            assert!(said.map_while(io::Result::ok).any(|line| line.contains("started")));
        }
        // Points in time that differ from round to round; where in its work that finds the child is chance.
        std::thread::sleep(Duration::from_micros(7_000 + round * 2_713 % 40_000));
        children.iter_mut().for_each(|child| child.kill().unwrap());
        children.iter_mut().for_each(|child| assert!(!child.wait().unwrap().success()));
        for path in entries(folder.path()) {
            let number = (0..200).find(|&number| path.ends_with(name_of(folder.path(), number)));
            let number = number.expect("an entry of the children's");
            let mut bytes = Vec::new();
            let file = File::open(&path).unwrap();
            assert!(read_entry(&file, &key(number), &mut bytes).unwrap(), "round {round}, entry {number}");
            assert_eq!(bytes, content(number));
            *found.entry(number).or_insert(0) += 1;
        }
    }
    assert!(found.len() > 20, "only {} entries were ever found: the children did not work", found.len());
}

fn name_of(folder: &Path, number: u64) -> PathBuf {
    let name = format!("{:032x}.entry", XxHash3_128::oneshot(key(number).as_bytes()));
    folder.join(&name[..2]).join(&name[2..])
}

#[test]
fn what_cannot_be_deleted_stays_and_the_rest_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    // A folder in the place of an entry, which nobody's rights let delete as a file.
    let stays = folder.path().join("ab").join("cd.entry");
    let cache = DiskCache::open(folder.path(), 1 << 16).unwrap();
    fs::create_dir_all(&stays).unwrap();
    for number in 0..40 {
        cache.write(&key(number), &[7; 5000]);
    }
    assert!(stays.is_dir() && cache.read(&key(39), &mut Vec::new()));
    let held: u64 = entries(folder.path()).iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(held <= 1 << 16, "{held}");
}

#[test]
fn where_no_room_can_be_made_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let cache = DiskCache::open(folder.path(), 10_000).unwrap();
    for number in 0..3 {
        fs::create_dir_all(folder.path().join("ab").join(format!("{number}.entry"))).unwrap();
    }
    cache.lock().bytes = 9_000;
    cache.write("a", &[7; 5000]);
    cache.write("b", &[7; 5000]);
    assert!(!cache.read("a", &mut Vec::new()) && !cache.read("b", &mut Vec::new()));
    assert_eq!(cache.count(IoStats::default()).disk_failures, 1);
}
