//! Tests of what is opened and what is not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use super::*;
use std::io::Write;

#[test]
fn what_is_no_regular_file_is_refused_with_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |path: &Path| {
        let [opened, bytes, text] =
            [open(path).map(drop), read(path).map(drop), read_text(path).map(drop)].map(Result::unwrap_err);
        assert_eq!((bytes.to_string(), text.to_string()), (opened.to_string(), opened.to_string()));
        opened
    };
    assert_eq!(refused(folder.path()).to_string(), "it is a folder and not a regular file");
    assert_eq!(refused(&folder.path().join("nothing")).kind(), io::ErrorKind::NotFound);
    #[cfg(unix)]
    assert_eq!(
        refused(Path::new("/dev/null")).to_string(),
        "it is a pipe or a device and not a regular file"
    );
    let file = folder.path().join("file");
    fs::write(&file, "content").unwrap();
    assert_eq!((read(&file).unwrap(), read_text(&file).unwrap().as_str()), (b"content".to_vec(), "content"));
    fs::write(&file, [0xFF]).unwrap();
    assert_eq!(read_text(&file).unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_file_that_is_made_is_empty_and_what_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for content in ["longer", "short"] {
        create(&file).unwrap().write_all(content.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
    assert_eq!(create_new(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    let refused = create(folder.path()).unwrap_err();
    assert_eq!(refused.to_string(), "it is a folder and not a regular file");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_waited_for_even_where_it_takes_a_files_place_just_before_it_is_opened() {
    use feedline_test_support::pipe;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe::make(&path);
    let at = path.clone();
    let refused = pipe::ends("opening a pipe", move || {
        let [read, written] = [File::options().read(true), File::options().write(true)]
            .map(|how| open_checked(&at, how).map(drop).unwrap_err());
        [read, written, create(&at).unwrap_err(), open_pipe_or_device(&at).unwrap_err()]
    });
    let [read, _, made, written] = refused.map(|error| error.to_string());
    assert_eq!([read, made], ["it is a pipe or a device and not a regular file"; 2]);
    assert!(written.contains("nobody reads") && written.contains("start its reader"), "{written}");
    assert!(open_checked(Path::new("/dev/null"), File::options().write(true)).is_err());
}

#[cfg(unix)]
#[test]
fn a_pipe_that_is_read_slowly_is_written_to_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let [path, copy] = ["pipe", "copy"].map(|name| folder.path().join(name));
    feedline_test_support::pipe::make(&path);
    // Open for both, so that this end waits for no other, and the writer need not wait for the program.
    let _open = File::options().read(true).write(true).open(&path).unwrap();
    let script = "head -c 1048576 \"$0\" >\"$1\"";
    let mut reader =
        std::process::Command::new("sh").args(["-c", script]).args([&path, &copy]).spawn().unwrap();
    let content: Vec<u8> = (0..1 << 20).map(|at: u32| (at % 251) as u8).collect();
    open_pipe_or_device(&path).unwrap().write_all(&content).unwrap();
    assert!(reader.wait().unwrap().success());
    assert!(fs::read(&copy).unwrap() == content);
}
