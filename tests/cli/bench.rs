//! `bench`, and `doctor` without data: figures for programs, sentences for readers, and bad files.

use crate::support::{fail, feedline, folder_with_a_bad_file, has_keys, photo, report, succeed, word};
use feedline::loader::Loader;
use feedline::options::Options;
use feedline::recipe::Recipe;

#[test]
fn a_report_on_one_line_holds_the_figures_of_the_run() {
    let bench = report(&["bench", "--images", "50", "--batch-size", "8", "--workers", "2", "--json"]);
    has_keys(
        &bench,
        &[
            "images_per_s",
            "cpu_s_per_1000",
            "peak_rss_mb",
            "first_batch_s",
            "device",
            "workers",
            "recipe",
            "images",
            "seconds",
            "mb_per_s",
            "stages",
            "limiting_stage",
            "failures",
            "simd",
        ],
    );
    assert_eq!(
        (&bench["images"], &bench["workers"], &bench["device"]),
        (&50.into(), &2.into(), &"cpu".into())
    );
    assert_eq!((&bench["recipe"], &bench["failures"]), (&"imagenet-train".into(), &0.into()));
    let number = |key: &str| bench[key].as_f64().expect("a number");
    assert!(number("images_per_s") > 0.0 && number("cpu_s_per_1000") > 0.0 && number("peak_rss_mb") > 1.0);
    assert!(number("first_batch_s") <= number("seconds"));
    assert!(number("steady_images_per_s") > 0.0 && number("steady_cpu_s_per_1000") > 0.0);
    let alone = report(&["bench", "--images", "8", "--batch-size", "8", "--json"]);
    assert!(alone["steady_images_per_s"].is_null(), "nothing came behind the first batch");
    let shares: f64 = ["read", "plan", "decode", "render"]
        .iter()
        .map(|s| bench["stages"][s].as_f64().expect("a share"))
        .sum();
    assert!((shares - 1.0).abs() < 1e-9);
    let stats = &bench["stats"];
    assert_eq!((&stats["samples"], &stats["workers"]), (&50.into(), &2.into()), "{stats}");
    assert_eq!((&stats["limiting_stage"], &stats["decode"]["count"]), (&bench["limiting_stage"], &50.into()));
}

#[test]
fn a_benchmark_says_that_memory_could_not_be_page_locked() {
    let mut options = Options::default();
    options.data.path = Some("data/photos".into());
    options.device.pin_memory = Some(true);
    let recipe = Recipe::load("imagenet-eval").expect("a built-in recipe").with(options).expect("it fits");
    let unpinned = Loader::open(&recipe).expect("the bundled photographs").0.unpinned();
    let output = feedline(&["bench", "--images", "8", "--device", "cpu", "--pin-memory"]);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{said}");
    let expected = unpinned.map(|why| format!("note: --pin-memory has no effect: {why}\n"));
    assert_eq!(said, expected.unwrap_or_default());
}

#[test]
fn every_recipe_and_format_runs() {
    for more in [
        &["--recipe", "imagenet-eval", "--dtype", "bf16", "--layout", "nhwc"][..],
        &["--recipe", "decode-only"],
        &["--device", "cpu", "--prefetch", "1", "--seed", "7", "--dtype", "f16"],
    ] {
        let bench = report(&[&["bench", "--images", "20", "--json"], more].concat());
        assert_eq!(bench["images"], 20, "{more:?}");
    }
}

#[test]
fn a_slow_trainer_is_told_that_it_needs_no_faster_loader() {
    let text = succeed(&["bench", "--images", "24", "--batch-size", "2", "--step-ms", "60"]);
    assert!(
        text.contains("the trainer is the limit") && text.contains("you do not need a faster loader"),
        "{text}"
    );
}

#[test]
fn a_bad_file_ends_the_run_with_its_name_index_and_cause_only_if_it_is_to_fail() {
    let folder = folder_with_a_bad_file(2);
    let bench = |policy: &'static str| {
        [
            "bench",
            "--data",
            word(folder.path()),
            "--images",
            "30",
            "--batch-size",
            "4",
            "--bad-sample",
            policy,
        ]
    };
    let error = fail(&bench("fail"));
    assert!(
        error.contains("z_bad.jpg") && error.contains("sample 2 ") && error.contains("truncated"),
        "{error}"
    );
    let skipped = report(&[&bench("skip")[..], &["--json"]].concat());
    assert_eq!((&skipped["images"], &skipped["failures"]), (&20.into(), &10.into()));
    assert_eq!(
        (&skipped["failed"][0]["index"], skipped["failed"].as_array().map(Vec::len)),
        (&2.into(), Some(1))
    );
    let substituted = report(&[&bench("substitute")[..], &["--json"]].concat());
    assert_eq!(substituted["images"], 30);
    let text = succeed(&bench("skip"));
    assert!(text.contains("10 bad samples") && text.contains("z_bad.jpg (index 2)"), "{text}");
}

#[test]
fn what_cannot_be_had_is_refused_with_a_remedy() {
    let error = fail(&["bench", "--device", "cuda:4711"]);
    assert!(error.contains("CUDA device 4711") && error.contains("use the CPU device"), "{error}");
    let error = fail(&["bench", "--data", "nowhere"]);
    assert!(error.contains("nowhere") && error.contains("check the path"), "{error}");
    assert!(fail(&["bench", "--images", "0"]).contains("--images"));
    assert!(fail(&["bench", "--images", "9", "--dtype", "u8"]).contains("leave normalize out"));
}

#[test]
fn batches_that_differ_in_size_run_and_what_contradicts_them_is_refused() {
    for more in
        [&["--recipe", "yolo-eval", "--rect"][..], &["--recipe", "imagenet-train", "--multi-scale", "0.5"]]
    {
        let bench = report(&[&["bench", "--images", "50", "--batch-size", "4", "--json"], more].concat());
        assert_eq!((&bench["images"], &bench["failures"]), (&50.into(), &0.into()), "{more:?}");
    }
    let refused = |more: &[&str]| fail(&[&["bench", "--images", "9"], more].concat());
    assert!(refused(&["--recipe", "yolo-train", "--rect"]).contains("set shuffle to false"));
    assert!(
        refused(&["--recipe", "yolo-eval", "--rect", "--multi-scale", "0.5"])
            .contains("leave one of them out")
    );
    assert!(refused(&["--multi-scale", "1.5"]).contains("above 0 and below 1"));
}

#[test]
fn a_list_of_files_is_a_data_set_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("list.txt");
    std::fs::write(&list, format!("{}\t0\n", word(&photo()))).expect("the list");
    let bench = report(&["bench", "--data", word(&list), "--images", "5", "--json"]);
    assert_eq!((&bench["images"], &bench["files"]), (&5.into(), &1.into()));
}

#[test]
fn the_doctor_says_what_there_is_and_what_will_be_used() {
    let found = report(&["doctor", "--json"]);
    has_keys(
        &found,
        &["version", "cores", "memory_mb", "simd", "simd_detected", "cuda", "device", "workers", "prefetch"],
    );
    has_keys(&found["cuda"], &["usable", "why", "remedy", "driver", "devices", "nvjpeg"]);
    // What is not usable says why, and what to do about it.
    let cuda = &found["cuda"];
    assert!(cuda["usable"] == true || (cuda["why"].is_string() && cuda["remedy"].is_string()), "{cuda}");
    let text = succeed(&["doctor"]);
    assert!(text.contains("\ncuda ") && text.contains("\nnvjpeg ") && text.contains("cores"), "{text}");
}

#[test]
fn memory_does_not_grow_over_twenty_epochs() {
    // 43 photographs: three and twenty-three times through them. Batches are small, because how many of the slots are ever
    // filled depends on who else uses the machine.
    let peak = |images: &'static str| {
        let bench = report(&[
            "bench",
            "--images",
            images,
            "--batch-size",
            "2",
            "--workers",
            "2",
            "--prefetch",
            "2",
            "--json",
        ]);
        bench["peak_rss_mb"].as_f64().expect("a number")
    };
    let (few, many) = (peak("129"), peak("989"));
    assert!(many < few * 1.1 + 4.0, "{few} MB after 3 epochs, {many} MB after 23");
    assert!(many < 300.0, "{many} MB");
}

#[test]
fn images_beside_the_class_directories_are_left_out_aloud() {
    let folder = folder_with_a_bad_file(3);
    let class = folder.path().join("rockets");
    std::fs::create_dir(&class).expect("a class");
    std::fs::copy(photo(), class.join("0.jpg")).expect("a photograph in it");
    let run = feedline(&["bench", "--data", word(folder.path()), "--images", "2", "--batch-size", "1"]);
    let note = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success() && note.contains("note: 4 images directly in"), "{note}");
    assert!(String::from_utf8_lossy(&run.stdout).contains("from 1 files"));
}

#[test]
fn ranks_share_the_images_and_a_saved_run_goes_on_on_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("state.json");
    let run = |more: &[&str]| {
        let always = ["bench", "--images", "45", "--batch-size", "4", "--recipe", "imagenet-eval", "--json"];
        report(&[&always[..], more].concat())
    };
    let half = ["--rank", "1", "--world-size", "2"];
    let whole = run(&half);
    assert_eq!((&whole["images"], &whole["rank"], &whole["world_size"]), (&23.into(), &1.into(), &2.into()));
    let begun = run(&[&half[..], &["--steps", "2", "--save-state", word(&file)]].concat());
    assert_eq!(begun["images"], 8);
    assert_eq!(run(&[&half[..], &["--resume", word(&file)]].concat())["images"], 15);
    assert_eq!(run(&["--resume", word(&file)])["images"], 29, "45 less two batches of four on two ranks");
    let other = ["bench", "--images", "46", "--resume", word(&file), "--recipe", "imagenet-eval"];
    assert!(fail(&other).contains("its samples is 45, and this loader's is 46"));
    assert!(fail(&["bench", "--resume", word(&photo())]).contains("--resume"));
    assert!(fail(&["bench", "--rank", "2", "--world-size", "2"]).contains("ranks count from 0 to 1"));
    let first = run(&["--world-size", "2", "--steps", "1"]);
    assert_eq!((&first["rank"], &first["world_size"]), (&0.into(), &2.into()), "one of the two is enough");
    assert!(fail(&["bench", "--rank", "1"]).contains("ranks count from 0 to 0"));
}

#[test]
fn a_tar_file_is_a_data_set_too_and_so_is_a_folder_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("train.tar");
    let mut archive = tar::Builder::new(std::fs::File::create(&path).expect("the archive"));
    archive.append_path_with_name(photo(), "1.jpg").expect("a member");
    archive.finish().expect("its end");
    for data in [path.as_path(), folder.path()] {
        assert_eq!(report(&["bench", "--data", word(data), "--images", "3", "--json"])["files"], 1);
    }
    let packed = folder.path().join("train.tar.gz");
    std::fs::write(&packed, b"\x1f\x8b\x08").expect("its head");
    assert!(fail(&["bench", "--data", word(&packed)]).contains("compressed with gzip"));
}
