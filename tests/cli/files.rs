//! `decode` and `verify`: single files, good and bad.

use crate::support::{Array, fail, feedline, folder_with_a_bad_file, photo, photos, succeed, word};
use feedline::image::parse_header;
use feedline::source::{Folder, Source};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A bundled photograph that is stored on its side.
fn photo_on_its_side() -> PathBuf {
    let source = Folder::open(photos()).expect("the bundled photographs");
    let mut bytes = Vec::new();
    let lies = |index: &usize| {
        source.read(*index, &mut bytes).expect("a photograph");
        parse_header(&bytes).expect("a header").orientation.transposes()
    };
    let found = (0..source.len()).find(lies).expect("the photographs have all orientations");
    photos().join(source.key(found).as_ref())
}

#[test]
fn decoding_stands_an_image_upright_unless_it_is_wanted_raw() {
    let folder = tempfile::tempdir().expect("a folder");
    let (upright, raw, applied) =
        (folder.path().join("u.npy"), folder.path().join("r.npy"), folder.path().join("a.npy"));
    let image = photo_on_its_side();
    succeed(&["decode", word(&image), "--out", word(&upright)]);
    succeed(&["decode", word(&image), "--out", word(&raw), "--raw"]);
    succeed(&["apply", "--ops", "[]", word(&image), "--out", word(&applied)]);
    let (upright, raw) = (Array::read(&upright), Array::read(&raw));
    assert_eq!((upright.shape[0], upright.shape[1]), (raw.shape[1], raw.shape[0]));
    assert_eq!((upright.descr.as_str(), upright.shape[2]), ("|u1", 3));
    assert_eq!(upright, Array::read(&applied));
}

#[test]
fn a_file_that_is_missing_or_no_image_is_named_with_its_cause() {
    let missing = fail(&["decode", "nowhere.jpg", "--out", "out/never.npy"]);
    assert!(missing.contains("nowhere.jpg") && missing.contains("check the path"), "{missing}");
    let text = fail(&["decode", "Cargo.toml", "--out", "out/never.npy"]);
    assert!(text.contains("Cargo.toml") && text.contains("not an image"), "{text}");
}

#[test]
fn verify_judges_every_image_file_at_any_depth_by_its_content() {
    let folder = folder_with_a_bad_file(1);
    let deep = folder.path().join("deep/er");
    fs::create_dir_all(&deep).expect("a folder");
    fs::copy(photo(), deep.join("UPPER é.JPG")).expect("a copy");
    fs::copy(photo(), folder.path().join("jpeg.png")).expect("a copy");
    fs::write(folder.path().join("notes.txt"), "no image").expect("a text");
    fs::write(folder.path().join("text.webp"), "no image").expect("a text");
    let output = feedline(&["verify", word(folder.path()), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let mut found: Vec<(String, String, bool, Value)> = Vec::new();
    for line in text.lines() {
        let finding: Value = serde_json::from_str(line).expect("one object a line");
        let path = PathBuf::from(finding["path"].as_str().expect("a path"));
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let status = finding["status"].as_str().expect("a status").to_owned();
        found.push((name, status, finding["cause"].is_null(), finding["format"].clone()));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let seen: Vec<(&str, &str, bool)> =
        found.iter().map(|(name, status, fine, _)| (name.as_str(), status.as_str(), *fine)).collect();
    let want = [
        ("UPPER é.JPG", "ok", true),
        ("a0.jpg", "ok", true),
        ("jpeg.png", "ok", true),
        ("text.webp", "bad", false),
        ("z_bad.jpg", "damaged", false),
    ];
    assert_eq!(seen, want);
    assert_eq!(found[2].3, "jpeg");
}

#[test]
fn verify_is_content_with_good_files_and_gives_their_upright_size() {
    let image = photo_on_its_side();
    let text = succeed(&["verify", word(&image), "--json"]);
    let finding: Value = serde_json::from_str(&text).expect("one object");
    let header = parse_header(&fs::read(&image).expect("the photograph")).expect("a header");
    assert_eq!(finding["width"], header.size.height);
    assert_eq!(finding["height"], header.size.width);
    let lines = succeed(&["verify", word(&photos())]);
    assert_eq!(lines.lines().last(), Some("43 files: 43 ok, 0 damaged, 0 bad"));
    assert!(fail(&["verify", "nowhere"]).contains("nowhere"));
}

#[test]
fn verify_tells_sound_damaged_and_bad_files_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = fs::read(photo()).expect("the photograph");
    let middle = sound.len() / 2;
    let mut damaged = sound.clone();
    damaged[middle..middle + 2].copy_from_slice(&[0xFF, 0x01]);
    let padded = [&sound[..2], &[0; 5], &sound[2..]].concat();
    for (name, bytes) in [
        ("a_sound.jpg", &sound[..]),
        ("b_damaged.jpg", &damaged),
        ("c_cut.jpg", &sound[..middle]),
        ("d_padded.jpg", &padded),
        ("e_none.jpg", b"none"),
    ] {
        fs::write(folder.path().join(name), bytes).expect("a file");
    }
    let statuses = |damaged: &str| {
        let output = feedline(&["verify", word(folder.path()), "--json", "--damaged", damaged]);
        assert_eq!(output.status.code(), Some(1), "one file is none");
        let lines = String::from_utf8(output.stdout).expect("UTF-8");
        let of = |line: &str| {
            let finding: Value = serde_json::from_str(line).expect("one object a line");
            let status = finding["status"].as_str().expect("a status").to_owned();
            (status, finding["damage"].as_str().map(str::to_owned), finding["cause"].is_null())
        };
        lines.lines().map(of).collect::<Vec<_>>()
    };
    for (setting, taken) in
        [("refuse", [false, false]), ("torchvision", [true, false]), ("libjpeg", [true, true])]
    {
        let found = statuses(setting);
        let words: Vec<&str> = found.iter().map(|(status, ..)| status.as_str()).collect();
        assert_eq!(words, ["ok", "damaged", "damaged", "damaged", "bad"], "{setting}");
        assert_eq!([found[1].2, found[2].2], taken, "{setting}");
        assert_eq!(found[2].1.as_deref(), Some("Premature end of JPEG file"));
        let warning = "Corrupt JPEG data: 5 extraneous bytes before marker ";
        assert!(found[3].1.as_ref().is_some_and(|damage| damage.starts_with(warning)) && found[3].2);
    }
    let text = String::from_utf8(feedline(&["verify", word(folder.path())]).stdout).expect("UTF-8");
    assert_eq!(text.lines().last(), Some("5 files: 1 ok, 3 damaged (of which 1 are refused), 1 bad"));
    let quiet = feedline(&["verify", "--quiet", word(folder.path())]);
    assert_eq!(quiet.status.code(), Some(1));
    let told: Vec<&str> =
        text.lines().filter(|line| line.contains(".jpg") && !line.starts_with("ok")).collect();
    let quiet = String::from_utf8(quiet.stdout).expect("UTF-8");
    assert_eq!((quiet.lines().collect::<Vec<_>>(), told.len()), (told, 4));
    assert_eq!(succeed(&["verify", "-q", word(&photos())]), "");
    let json =
        String::from_utf8(feedline(&["verify", "-q", "--json", word(folder.path())]).stdout).expect("UTF-8");
    assert!(json.lines().count() == 4 && !json.contains("a_sound.jpg"), "{json}");
}

#[cfg(unix)]
#[test]
fn verify_escapes_what_would_end_a_line_or_move_the_cursor() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::copy(photo(), folder.path().join("a\nok      b\u{1b}[2J.jpg")).expect("a copy");
    let text = succeed(&["verify", word(folder.path())]);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("a\\nok      b\\u{1b}[2J.jpg"), "{text}");
}

#[cfg(unix)]
#[test]
fn verify_goes_on_where_a_folder_cannot_be_read_and_gives_the_bytes_of_names() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("a folder");
    // The administrator reads whatever is locked; nobody reads folders without end.
    let deep = (0..70).fold(folder.path().join("deep"), |path, _| path.join("er"));
    fs::create_dir_all(&deep).expect("folders");
    fs::copy(photo(), deep.join("unseen.jpg")).expect("a copy");
    let name = b"a\xFF\\xFF.jpg";
    fs::copy(photo(), folder.path().join(std::ffi::OsStr::from_bytes(name))).expect("a copy");
    fs::copy(photo(), folder.path().join("z.jpg")).expect("a copy");
    let output = feedline(&["verify", word(folder.path()), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let found: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let statuses: Vec<&str> = found.iter().map(|finding| finding["status"].as_str().expect("one")).collect();
    assert_eq!(statuses, ["bad", "ok", "ok"], "{text}");
    let (path, cause) = (found[0]["path"].as_str(), found[0]["cause"].as_str());
    assert!(path.is_some_and(|path| path.contains("deep/er/er")), "{text}");
    assert!(cause.is_some_and(|cause| cause.contains("64 directories") && cause.contains("move")), "{text}");
    assert!(found[1]["path"].as_str().is_some_and(|path| path.ends_with("/a\\xff\\xFF.jpg")), "{text}");
    let whole = [folder.path().as_os_str().as_bytes(), b"/", name].concat();
    assert_eq!(found[1]["path_bytes"], serde_json::json!(whole));
    assert!(found[2].get("path_bytes").is_none(), "{text}");
    let text = String::from_utf8(feedline(&["verify", word(folder.path())]).stdout).expect("UTF-8");
    assert_eq!(text.lines().last(), Some("3 files: 2 ok, 0 damaged, 1 bad"));
}

#[cfg(unix)]
#[test]
fn a_pipe_that_a_command_is_given_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.toml");
    feedline_test_support::pipe::make(&pipe);
    let (pipe, image) = (word(&pipe).to_owned(), word(&photo()).to_owned());
    let commands: [&[&str]; 6] = [
        &["decode", &pipe, "--out", "out/never.npy"],
        &["apply", "--ops", &pipe, &image, "--out", "out/never.npy"],
        &["apply", "--batch", &pipe],
        &["plan", "--recipe", &pipe],
        &["bench", "--resume", &pipe],
        &["verify", &pipe],
    ];
    for command in commands {
        let command: Vec<String> = command.iter().map(|word| word.to_string()).collect();
        let output = feedline_test_support::pipe::ends(&format!("{command:?}"), {
            let command = command.clone();
            move || feedline(&command.iter().map(String::as_str).collect::<Vec<_>>())
        });
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let told = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert!(told.contains("pipe.toml") && told.contains("regular file"), "{command:?}: {told}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_at_a_path_that_is_written_to_ends_the_command_unless_it_is_read() {
    use feedline_test_support::pipe;
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| word(&folder.path().join(name)).to_owned();
    for name in ["pipe", "lock/.feedline-pack.lock", "shard/.unfinished-shard"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        pipe::make(&path);
    }
    let run = |command: &[&str]| {
        let command: Vec<String> = command.iter().map(|word| word.to_string()).collect();
        pipe::ends(&format!("{command:?}"), move || {
            feedline(&command.iter().map(String::as_str).collect::<Vec<_>>())
        })
    };
    let state = ["bench", "--images", "4", "--save-state"];
    let image = photo();
    let decode = ["decode", word(&image), "--out"];
    let (pipe, lock, shard) = (at("pipe"), at("lock"), at("shard"));
    for (command, place, remedy) in [
        ([&state[..], &[&pipe]].concat(), &*pipe, "start its reader first"),
        ([&decode[..], &[&pipe]].concat(), &pipe, "start its reader first"),
        (vec!["pack", "--out", &lock], "/lock/.feedline-pack.lock", "remove it"),
        (vec!["pack", "--out", &shard], "/shard/.unfinished-shard", "remove it"),
    ] {
        let output = run(&command);
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1), "{command:?}: {error}");
        assert!(error.contains(place) && error.contains(remedy), "{command:?}: {error}");
    }
    let written = run(&[&decode[..], &["/dev/stdout"]].concat());
    assert!(written.status.success() && written.stdout.starts_with(b"\x93NUMPY"));
    assert_eq!(written.stdout.len(), 128 + 640 * 427 * 3);
    for device in ["/dev/null", "/dev/fd/1"] {
        assert!(run(&[&state[..], &[device]].concat()).status.success(), "{device}");
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_be_written_to_a_full_disk_leaves_what_was_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let (image, out) = (word(&photo()).to_owned(), folder.path().join("out.png"));
    let state = ["--images", "8", "--batch-size", "4", "--steps", "1", "--save-state", word(&out)];
    let commands: [&[&str]; 4] = [
        &[&["bench"][..], &state].concat(),
        &["decode", &image, "--out", word(&out)],
        &["apply", "--ops", "[]", &image, "--out", word(&out)],
        &["preview", "--count", "1", "--out", word(&out)],
    ];
    for command in commands {
        fs::write(&out, "of an earlier run").expect("a file");
        // No file may have a byte; that is an error and no signal.
        let limit = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
        let output = Command::new("sh")
            .args(["-c", limit, "sh", env!("CARGO_BIN_EXE_feedline")])
            .args(command)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("a shell");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {told}");
        assert!(told.contains("out.png"), "{command:?}: {told}");
        assert_eq!(fs::read(&out).expect("the file"), b"of an earlier run", "{command:?}");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing is left beside it");
    }
}

#[test]
fn a_file_above_max_file_bytes_is_bad_alone_as_it_is_in_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.jpg");
    // Two gigabytes that take no room.
    fs::File::create(&path).and_then(|file| file.set_len(1 << 31)).expect("a hole");
    for path in [path.as_path(), folder.path()] {
        let output = feedline(&["verify", word(path)]);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert_eq!(output.status.code(), Some(1));
        assert!(text.contains("2147483648 bytes") && text.contains("raise max_file_bytes"), "{text}");
    }
}

#[test]
fn a_closed_pipe_ends_a_command_without_a_word() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_feedline"))
        .args(["verify", word(&photos())])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary was built for this test");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
