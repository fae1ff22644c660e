//! Folders are read as torchvision's `ImageFolder` reads them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use feedline::error::Error;
use feedline::label::Label;
use feedline::source::{Folder, List, Source};

/// A folder that holds these files, each with its own path as content.
fn folder_of(paths: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in paths {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, path).unwrap();
    }
    folder
}

fn keys(source: &impl Source) -> Vec<String> {
    (0..source.len()).map(|index| source.key(index).replace('\\', "/")).collect()
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("an error").to_string()
}

#[test]
fn files_come_by_directory_and_then_by_name() {
    let folder =
        folder_of(&["c/a.jpg", "c/b/a.jpg", "c/b-/a.jpg", "c/b/z/a.jpg", "c/Z.jpg", "c/b.png", "c/10.jpg"]);
    // Directories sort as whole strings, so `b-` stands between `b` and `b/z`.
    let expected = ["c/10.jpg", "c/Z.jpg", "c/a.jpg", "c/b.png", "c/b/a.jpg", "c/b-/a.jpg", "c/b/z/a.jpg"];
    assert_eq!(keys(&Folder::open(folder.path()).unwrap()), expected);
}

#[test]
fn endings_count_in_any_case_and_other_files_are_left_out() {
    let folder = folder_of(&[
        "c/a.JpG",
        "c/b.webp",
        "c/c.gif",
        "c/d.txt",
        "c/.jpg",
        "c/jpg",
        "c/e.jpg.part",
        "c/f.TIFF",
    ]);
    assert_eq!(keys(&Folder::open(folder.path()).unwrap()), ["c/.jpg", "c/a.JpG", "c/b.webp", "c/f.TIFF"]);
}

#[test]
fn a_class_without_images_is_named_unless_it_is_allowed() {
    let folder = folder_of(&["a/1.jpg", ".cache/index.txt", "z/1.jpg"]);
    let told = message(Folder::open(folder.path()));
    assert!(told.contains(".cache") && told.contains("allow_empty"), "{told}");
    let source = Folder::options().allow_empty(true).open(folder.path()).unwrap();
    assert_eq!(source.classes(), [".cache", "a", "z"]);
    assert_eq!([source.label(0), source.label(1)], [Label::Class(1), Label::Class(2)]);
}

#[test]
fn a_flat_folder_is_refused_with_the_way_out_and_taken_without_labels() {
    let folder = folder_of(&["b.jpg", "a.png", "note.txt"]);
    let told = message(Folder::open(folder.path()));
    assert!(told.contains("2 images but no class directories") && told.contains("Folder::flat"), "{told}");
    for source in [Folder::flat(folder.path()).unwrap(), Folder::open_any(folder.path()).unwrap()] {
        assert_eq!(keys(&source), ["a.png", "b.jpg"]);
        assert_eq!(source.label(0), Label::Unlabelled);
        assert!(source.classes().is_empty());
    }
}

#[test]
fn open_any_takes_classes_where_directories_hold_images() {
    let folder = folder_of(&["loose.jpg", "a/1.jpg", "b/c/1.jpg"]);
    let source = Folder::open_any(folder.path()).unwrap();
    assert_eq!(source.classes(), ["a", "b"]);
    assert_eq!(source.loose_images(), 1);
    let beside_an_empty_one = folder_of(&["loose.jpg", "logs/run.txt"]);
    assert_eq!(keys(&Folder::open_any(beside_an_empty_one.path()).unwrap()), ["loose.jpg"]);
}

#[test]
fn a_folder_without_images_is_an_error_whichever_way_it_is_opened() {
    let nothing = folder_of(&[]);
    let only_text = folder_of(&["a/note.txt"]);
    for folder in [&nothing, &only_text] {
        assert!(matches!(Folder::open(folder.path()), Err(Error::Config(_))));
        assert!(matches!(Folder::flat(folder.path()), Err(Error::Config(_))));
        assert!(matches!(Folder::open_any(folder.path()), Err(Error::Config(_))));
    }
    let missing = nothing.path().join("missing");
    assert!(message(Folder::open(&missing)).contains("missing"));
    assert!(matches!(Folder::flat(&missing), Err(Error::Io { .. })));
}

#[test]
fn a_file_above_the_bound_is_a_bad_sample() {
    let folder = folder_of(&["a/1.jpg", "a/longer name.jpg"]);
    let source = Folder::options().max_file_bytes(7).open(folder.path()).unwrap();
    let mut bytes = Vec::new();
    source.read(0, &mut bytes).unwrap();
    let told = message(source.read(1, &mut bytes));
    assert!(told.contains("a/longer name.jpg") && told.contains("max_file_bytes"), "{told}");
}

#[test]
fn a_list_takes_comments_marks_and_lines_without_labels() {
    let folder = folder_of(&["a.jpg", "b c.jpg", "noending"]);
    let list = folder.path().join("list.txt");
    std::fs::write(&list, "\u{feff}# a comment\r\n\r\na.jpg, tabby cat\r\nb c.jpg\r\nnoending dog\n\n")
        .unwrap();
    let source = List::open(&list).unwrap();
    assert_eq!(keys(&source), ["a.jpg", "b c.jpg", "noending"]);
    assert_eq!(source.classes(), ["dog", "tabby cat"]);
    let labels: Vec<Label> = (0..3).map(|index| source.label(index)).collect();
    assert_eq!(labels, [Label::Class(1), Label::Unlabelled, Label::Class(0)]);
    let mut bytes = Vec::new();
    source.read(1, &mut bytes).unwrap();
    assert_eq!(bytes, b"b c.jpg");
}

#[test]
fn a_file_that_a_list_names_elsewhere_keeps_its_whole_path_as_its_key() {
    let (folder, elsewhere) = (folder_of(&["1.jpg"]), folder_of(&["2.jpg"]));
    let list = folder.path().join("list.txt");
    let there = elsewhere.path().join("2.jpg");
    std::fs::write(&list, format!("1.jpg\n{}\n", there.display())).unwrap();
    assert_eq!(keys(&List::open(&list).unwrap()), ["1.jpg".to_owned(), there.display().to_string()]);
}

#[test]
fn a_bad_list_names_its_file_and_line() {
    let folder = folder_of(&[]);
    let told = |content: &[u8]| {
        let list = folder.path().join("list.txt");
        std::fs::write(&list, content).unwrap();
        message(List::open(&list))
    };
    assert!(told(b"a.jpg 0\n# x\nb.jpg cat\n").contains("list.txt, line 3: the label `cat`"));
    assert!(told(b"a.jpg 0\n\xff\xfe.jpg 1\n").contains("list.txt, line 2: the text is not UTF-8"));
    assert!(told(b"\t3\n").contains("line 1: there is no path"));
    assert!(told(b"\"a,b.jpg\",3\n").contains("line 1: quotes"));
    assert!(told(b"\n# nothing\n").contains("lists no file"));
    assert!(message(List::open(folder.path().join("missing.txt"))).contains("missing.txt"));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_loops_end() {
        let folder = folder_of(&["a/1.jpg", "elsewhere/2.jpg"]);
        let outside = folder_of(&["x/3.jpg"]);
        symlink(folder.path().join("a"), folder.path().join("a/back")).unwrap();
        symlink(folder.path(), folder.path().join("a/root")).unwrap();
        symlink(outside.path().join("x"), folder.path().join("linked")).unwrap();
        symlink(outside.path().join("x/3.jpg"), folder.path().join("a/4.jpg")).unwrap();
        symlink("nowhere", folder.path().join("a/5.jpg")).unwrap();
        let source = Folder::open(folder.path()).unwrap();
        assert_eq!(source.classes(), ["a", "elsewhere", "linked"]);
        let own: Vec<String> = keys(&source).into_iter().filter(|key| !key.contains("root/")).collect();
        assert_eq!(own, ["a/1.jpg", "a/4.jpg", "a/5.jpg", "elsewhere/2.jpg", "linked/3.jpg"]);
        let mut bytes = Vec::new();
        let lost = keys(&source).iter().position(|key| key == "a/5.jpg").unwrap();
        assert!(matches!(source.read(lost, &mut bytes), Err(Error::Sample { .. })));
    }

    #[test]
    fn names_that_are_no_text_are_shown_and_read() {
        let folder = folder_of(&[]);
        let class = folder.path().join(OsStr::from_bytes(b"\xffclass"));
        std::fs::create_dir(&class).unwrap();
        std::fs::write(class.join(OsStr::from_bytes(b"\xfe.jpg")), b"first").unwrap();
        std::fs::write(class.join("\u{ffff}.jpg"), b"second").unwrap();
        let source = Folder::open(folder.path()).unwrap();
        assert_eq!(
            keys(&source),
            ["\\xffclass/\\xfe.jpg", "\\xffclass/\u{ffff}.jpg"].map(|key| key.replace('\\', "/"))
        );
        assert_eq!(source.classes(), ["\\xffclass"]);
        let mut bytes = Vec::new();
        source.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, b"first");
    }

    #[test]
    fn too_many_directories_below_each_other_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a").join(["d"; 70].join("/"));
        std::fs::create_dir_all(&deep).unwrap();
        assert!(message(Folder::open(folder.path())).contains("directories below each other"));
    }

    #[test]
    fn an_unreadable_directory_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder_of(&["a/1.jpg", "a/locked/2.jpg"]);
        let locked = folder.path().join("a/locked");
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
        let opened = Folder::open(folder.path());
        let may_read_all = std::fs::read_dir(&locked).is_ok();
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
        // The administrator reads everything, so there is nothing to refuse.
        if !may_read_all {
            assert!(message(opened).contains("locked"));
        }
    }

    #[test]
    fn a_pipe_is_neither_listed_nor_waited_for() {
        let folder = folder_of(&["a/1.jpg"]);
        let pipe = folder.path().join("a/2.jpg");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        assert_eq!(keys(&Folder::open(folder.path()).unwrap()), ["a/1.jpg"]);
        let list = folder.path().join("list.txt");
        std::fs::write(&list, "a/2.jpg").unwrap();
        let told = message(List::open(&list).unwrap().read(0, &mut Vec::new()));
        assert!(told.contains("not a regular file"), "{told}");
    }
}
