//! Data sets that are named by URLs, the tables of archives, and the cache in memory.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use crate::support::{fail, photos, report, succeed, word};

#[test]
fn tables_are_written_beside_archives_on_request_and_over_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.tar");
    let mut archive = tar::Builder::new(std::fs::File::create(&path).unwrap());
    archive.append_path_with_name(photos().join("rocket/0000.jpg"), "rocket.jpg").unwrap();
    archive.finish().unwrap();
    let table = folder.path().join("a.tar.index");
    assert_eq!(succeed(&["index", word(folder.path()), "--tables"]).trim(), word(&table));
    let text = std::fs::read_to_string(&table).unwrap();
    assert!(text.starts_with("feedline tar index 1\n") && text.contains("\trocket.jpg\n"), "{text}");
    assert_eq!(succeed(&["index", word(&path), "--tables"]).trim(), word(&table), "again, over our own");
    let train = folder.path().join("train-0.tar");
    std::fs::copy(&path, &train).unwrap();
    let split = ["index", word(folder.path()), "--tables", "--split", "train"];
    let own = folder.path().join("train-0.tar.index");
    assert_eq!(succeed(&split).trim(), word(&own), "those of one split");
    let pattern = folder.path().join("train-*.tar");
    assert_eq!(succeed(&["index", word(&pattern), "--tables"]).trim(), word(&own), "those of a pattern");
    std::fs::write(&table, "notes of somebody else").unwrap();
    assert!(fail(&["index", word(&path), "--tables"]).contains("none is written over it"));
    assert!(fail(&["index", word(&photos()), "--tables"]).contains("is for tar files"));
}

#[test]
fn a_cache_in_memory_is_counted() {
    let folder = photos().join("rocket");
    let files = std::fs::read_dir(&folder).unwrap().count() as u64;
    let images = (4 * files).to_string();
    let run = |more: &[&str]| {
        let always = ["bench", "--data", word(&folder), "--images", &images, "--workers", "1", "--json"];
        report(&[&always, more].concat())["io"].clone()
    };
    let io = run(&["--byte-cache", "1G"]);
    assert_eq!((&io["memory_hits"], &io["memory_misses"]), (&(3 * files).into(), &files.into()));
    let none = run(&[]);
    assert_eq!((&none["memory_hits"], &none["memory_misses"]), (&0.into(), &0.into()));
}

#[test]
fn a_cache_on_disk_is_for_urls() {
    assert!(
        fail(&["bench", "--data", word(&photos()), "--cache-dir", "cache"])
            .contains("cache_dir is for data of the kind remote")
    );
}

#[cfg(feature = "remote")]
#[test]
fn the_size_of_a_cache_on_disk_needs_its_place() {
    let output = crate::support::feedline(&["bench", "--data", "s3://bucket/x", "--cache-bytes", "1G"]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("cache_dir"));
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_url_says_how_to_build_the_command_that_can_read_it() {
    for command in [&["bench", "--data"][..], &["verify"]] {
        let error = fail(&[command, &["s3://bucket/train"]].concat());
        assert!(
            error.contains("without the feature `remote`") && error.contains("--features remote"),
            "{error}"
        );
    }
}

#[cfg(feature = "remote")]
mod with_a_server {
    use crate::server::{Act, Server};
    use crate::support::{feedline, photos, word};
    use std::process::{Command, Output};

    fn photographs() -> Server {
        let folder = photos();
        let mut objects = std::collections::BTreeMap::new();
        for entry in walkdir::WalkDir::new(&folder).into_iter().map(Result::unwrap) {
            if entry.file_type().is_file() {
                let path = entry.path().strip_prefix(&folder).unwrap();
                objects.insert(format!("bucket/train/{}", word(path)), std::fs::read(entry.path()).unwrap());
            }
        }
        Server::start(objects, false)
    }

    fn run(server: &Server, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_feedline"))
            .args(arguments)
            .env("AWS_ENDPOINT_URL", server.url())
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", "s3cret-in-the-environment")
            .env("AWS_SESSION_TOKEN", "t0ken-in-the-environment")
            .output()
            .unwrap()
    }

    #[test]
    fn a_bench_reads_a_url_with_the_environments_keys_and_from_the_cache_the_second_time() {
        let (server, folder) = (photographs(), tempfile::tempdir().unwrap());
        let bench = || {
            let cache = ["--cache-dir", word(folder.path()), "--cache-bytes", "1G"];
            let always = ["bench", "--data", "s3://bucket/train", "--images", "43", "--json"];
            let output = run(&server, &[&always[..], &cache].concat());
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["io"].clone()
        };
        let (first, second) = (bench(), bench());
        assert_eq!((&first["disk_hits"], &first["disk_misses"]), (&0.into(), &43.into()));
        assert_eq!((&second["disk_hits"], &second["disk_misses"]), (&43.into(), &0.into()));
        assert!(
            first["bytes_fetched"].as_u64() > Some(1 << 20)
                && second["bytes_fetched"].as_u64() < Some(1 << 17)
        );
        let signed = |request: &crate::server::Request| request.headers.contains_key("authorization");
        assert!(server.seen().iter().all(signed));
        let verify = run(&server, &["verify", "s3://bucket/train"]);
        assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
    }

    #[test]
    fn no_secret_is_shown_whatever_fails() {
        let server = photographs();
        let acts = [
            Act::Refuse(
                403,
                "<Error><Code>ExpiredToken</Code><Token-0>t0ken-in-the-environment</Token-0></Error>".into(),
            ),
            Act::Refuse(
                403,
                "<Error><Code>SignatureDoesNotMatch</Code><StringToSign>s3cret</StringToSign></Error>".into(),
            ),
            Act::Refuse(400, "s3cret".into()),
            Act::Refuse(404, String::new()),
        ];
        for act in acts {
            let shown = format!("{act:?}");
            server.rule(move |_| act.clone());
            let output = run(&server, &["bench", "--data", "s3://bucket/train"]);
            let text = format!("{:?}", output);
            assert!(!output.status.success(), "{shown}: {text}");
            for secret in ["s3cret", "t0ken", "AKIAEXAMPLE"] {
                assert!(!text.contains(secret), "{shown}: {text}");
            }
        }
        let output = feedline(&["bench", "--data", "https://name:s3cret@host/list.txt"]);
        assert!(!output.status.success() && !format!("{output:?}").contains("s3cret"));
    }
}
