//! A cache that processes share: the same batches as without, and each file read once over all of them.

use crate::mixing::Mix;
use crate::support::png;
use feedline::augment::{
    CenterCrop, ColorJitter, LetterBox, RandomHorizontalFlip, RandomResizedCrop, Resize, ResizeLongest,
};
use feedline::loader::{BadSample, Batch, LastBatch, Loader, LoaderBuilder};
use feedline::options::Options;
use feedline::output::{DType, Layout};
use feedline::source::{Folder, IoStats, Version};
use feedline_test_support::jpeg::{ColorType, Jpeg, SamplingFactor};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime};

/// Files of every kind: turned in each way, grey, of four components, progressive, damaged, and one that is none.
fn files() -> Vec<(String, Vec<u8>)> {
    let usual = Jpeg::new(SamplingFactor::F_2_2);
    let mut files: Vec<(String, Vec<u8>)> = (1..=8u8)
        .map(|orientation| {
            let turned = Jpeg { orientation, ..usual };
            (format!("turned-{orientation}.jpg"), turned.picture(67, 45, u32::from(orientation)))
        })
        .collect();
    let kinds = [
        ("grey.jpg", Jpeg { color: ColorType::Luma, ..usual }),
        ("cmyk.jpg", Jpeg { color: ColorType::Cmyk, sampling: SamplingFactor::F_1_1, ..usual }),
        ("progressive.jpg", Jpeg { progressive: true, ..usual }),
        ("full.jpg", Jpeg::new(SamplingFactor::F_1_1)),
    ];
    files.extend(kinds.map(|(name, jpeg)| (name.to_owned(), jpeg.picture(80, 50, 3))));
    let mut damaged = Jpeg { restart: 4, ..usual }.picture(90, 70, 8);
    let middle = damaged.len() / 2;
    damaged[middle..middle + 6].fill(0xFF);
    let mut cut = usual.picture(90, 70, 9);
    cut.truncate(cut.len() * 2 / 3);
    files.extend([
        ("flat.png".to_owned(), png([200, 9, 4], 50, 40)),
        ("grey.png".to_owned(), png([7, 7, 7], 50, 40)),
        ("levels.ppm".to_owned(), [b"P6 3 2 255 ".as_slice(), &(0..18).collect::<Vec<u8>>()].concat()),
        ("damaged.jpg".to_owned(), damaged),
        ("cut.jpg".to_owned(), cut),
        ("none.jpg".to_owned(), b"no image at all".to_vec()),
        ("empty.jpg".to_owned(), Vec::new()),
    ]);
    files
}

/// A folder of them, whose dates are old enough to tell.
fn data() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("class")).unwrap();
    for (name, bytes) in files() {
        let path = folder.path().join("class").join(name);
        fs::write(&path, bytes).unwrap();
        let old = SystemTime::now() - Duration::from_secs(100_000);
        File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        while Version::of_file(&path) == Version::Changing {
            std::hint::spin_loop();
        }
    }
    folder
}

fn builder(data: &Path, said: &[(&str, &str)]) -> LoaderBuilder {
    let mut options = Options::default();
    said.iter().for_each(|(name, value)| options.set_text(name, value).unwrap());
    Loader::builder(Folder::open(data).unwrap())
        .batch_size(5)
        .shuffle(true)
        .workers(1)
        .last_batch(LastBatch::Partial)
        .bad_sample(BadSample::Skip)
        .output(DType::U8, Layout::Nchw)
        .options(&options)
}

fn training(data: &Path, said: &[(&str, &str)]) -> LoaderBuilder {
    builder(data, said)
        .augment(RandomResizedCrop::new(24))
        .augment(RandomHorizontalFlip::default())
        .augment(ColorJitter::new(0.4, 0.4, 0.4, 0.1))
}

/// What three epochs show, and what was wrong with the files.
fn shown(loader: &Loader) -> (Vec<Vec<u8>>, Vec<Vec<u64>>, String) {
    let (mut pixels, mut indices) = (Vec::new(), Vec::new());
    for batch in (0..3).flat_map(|epoch| loader.epoch(epoch)) {
        let batch: Batch = batch.unwrap();
        pixels.push(batch.as_u8().unwrap().to_vec());
        indices.push(batch.indices().to_vec());
    }
    let mut report = loader.report();
    report.files.sort_by_key(|file| (file.index, file.cause.clone()));
    report.damaged_files.sort_by_key(|file| file.index);
    (pixels, indices, format!("{report:?}"))
}

fn counts(loader: &Loader) -> [u64; 4] {
    let IoStats { shared_hits, shared_misses, shared_failures, shared_damaged, .. } = loader.stats().io;
    [shared_hits, shared_misses, shared_failures, shared_damaged]
}

#[test]
fn batches_and_reports_are_the_same_with_a_cache_of_files_or_of_pixels_and_without() {
    let (data, caches) = (data(), tempfile::tempdir().unwrap());
    for (exif, damaged, mixes) in
        [("true", "torchvision", false), ("false", "refuse", false), ("true", "libjpeg", true)]
    {
        let build = |more: &[(&str, &str)]| {
            let usual = [("exif", exif), ("damaged", damaged), ("partner_window", "8")];
            let builder = training(data.path(), &[&usual[..], more].concat());
            if mixes { builder.augment(Mix) } else { builder }.build().unwrap()
        };
        let want = shown(&build(&[]));
        for (number, (place, form)) in
            [("ram", "compressed"), ("ram", "decoded"), ("disk", "decoded")].into_iter().enumerate()
        {
            let file = caches.path().join(format!("{exif}-{damaged}-{number}"));
            let said = [
                ("cache", place),
                ("cache_form", form),
                ("cache_file", file.to_str().unwrap()),
                ("cache_limit", "16M"),
            ];
            let loader = build(&said);
            assert!(shown(&loader) == want, "{place} {form} {exif} {damaged}");
            let [hits, misses, failures, damages] = counts(&loader);
            assert_eq!(misses, 19);
            // Where samples mix, those of a window share what was decoded once.
            assert!(if mixes { hits > 0 } else { hits == 38 }, "{hits}");
            assert_eq!((failures, damages), (0, 0));
            drop(loader);
            assert_eq!(file.exists(), place == "disk");
            if place == "disk" {
                let again = build(&said);
                assert!(shown(&again) == want);
                assert_eq!(counts(&again)[1..], [0, 0, 0]);
            }
        }
    }
}

#[test]
fn a_cache_without_room_changes_nothing_but_what_it_saves() {
    let (data, caches) = (data(), tempfile::tempdir().unwrap());
    let want = shown(&training(data.path(), &[]).build().unwrap());
    for (form, limit) in [("compressed", "12000"), ("decoded", "30000"), ("decoded", "8192")] {
        let file = caches.path().join(format!("{form}-{limit}"));
        let file = file.to_str().unwrap();
        let said = [("cache", "ram"), ("cache_form", form), ("cache_file", file), ("cache_limit", limit)];
        let loader = training(data.path(), &said).build().unwrap();
        assert!(shown(&loader) == want, "{form} {limit}");
        let io = loader.stats().io;
        assert!(io.shared_full > 10 && io.shared_bytes <= limit.parse().unwrap(), "{io:?}");
        assert!(loader.stats().explain().contains("raise cache_limit"));
    }
}

/// What is resized in the cache is what the same resizing ahead of the chain shows. Damaged files stay as they are.
#[test]
fn resized_pixels_are_those_of_a_resize_ahead_whether_they_are_stored_or_not() {
    let (data, caches) = (data(), tempfile::tempdir().unwrap());
    for name in ["damaged.jpg", "cut.jpg"] {
        fs::remove_file(data.path().join("class").join(name)).unwrap();
    }
    // Of the smallest image no edge is as long.
    fs::remove_file(data.path().join("class/levels.ppm")).unwrap();
    let want = shown(
        &builder(data.path(), &[]).augment(Resize::new(20)).augment(CenterCrop::new(9)).build().unwrap(),
    );
    for limit in ["8192", "60000", "16M"] {
        let file = caches.path().join(limit);
        let said = [
            ("cache", "disk"),
            ("cache_form", "decoded"),
            ("cache_resize", "20"),
            ("cache_file", file.to_str().unwrap()),
            ("cache_limit", limit),
        ];
        let loader = builder(data.path(), &said).augment(CenterCrop::new(9)).build().unwrap();
        let got = shown(&loader);
        assert!(got.0 == want.0 && got.1 == want.1, "{limit}");
    }
}

#[test]
fn batches_that_follow_the_sizes_of_images_follow_those_of_what_is_stored() {
    let (data, caches) = (data(), tempfile::tempdir().unwrap());
    let by_shape = [("rect", "true"), ("shuffle", "false")];
    let by_largest = [("pad_to_largest", "true"), ("seed", "0")];
    for (number, sizes) in [by_shape, by_largest].into_iter().enumerate() {
        let build = |more: &[(&str, &str)]| {
            let usual = [("size", "64"), ("stride", "4")];
            let builder = builder(data.path(), &[&sizes[..], &usual, more].concat());
            let builder = builder.augment(ResizeLongest::new(64));
            let builder = if number == 0 { builder.augment(LetterBox::new(64)) } else { builder };
            builder.build().unwrap()
        };
        let want = shown(&build(&[]));
        for form in ["compressed", "decoded"] {
            let file = caches.path().join(format!("{form}-{number}"));
            let said = [("cache", "disk"), ("cache_form", form), ("cache_file", file.to_str().unwrap())];
            assert!(shown(&build(&said)) == want, "{form} {sizes:?}");
        }
        let file = caches.path().join(format!("resized-{number}"));
        let file = ("cache_file", file.to_str().unwrap());
        let said = [("cache", "ram"), ("cache_form", "decoded"), ("cache_resize", "20"), file];
        let resized = shown(&build(&said));
        let rows = |indices: &[Vec<u64>]| {
            let mut rows = indices.concat();
            rows.sort_unstable();
            rows
        };
        assert_eq!((rows(&resized.1), &resized.2), (rows(&want.1), &want.2), "{sizes:?}");
        assert!(resized.0 != want.0);
    }
}

#[test]
fn what_cannot_be_had_together_is_refused_with_the_remedy() {
    let data = data();
    let refusal = |said: &[(&str, &str)]| training(data.path(), said).build().err().unwrap().to_string();
    let decoded = [("cache", "ram"), ("cache_form", "decoded")];
    for (said, words) in [
        (&[("cache", "ram"), ("byte_cache", "1M")][..], "leave one of them out"),
        (&[("cache_limit", "1M")], "cache_limit means nothing here: set cache"),
        (&[("cache_file", "x")], "cache_file means nothing here: set cache"),
        (&[("cache_form", "decoded")], "cache_form means nothing here: set cache"),
        (&[("cache", "ram"), ("cache_resize", "9")], "set cache_form = \"decoded\""),
        (&[decoded[0], decoded[1], ("cache_resize", "0")], "at least 1 pixel"),
        (&[decoded[0], decoded[1], ("decode_scale", "fast")], "leave one of them out"),
        (&[decoded[0], decoded[1], ("decoder", "nvjpeg")], "leave the decoder auto"),
        (&[("cache", "disk"), ("cache_file", "/dev/null")], "it is a pipe or a device"),
    ] {
        let told = refusal(said);
        assert!(told.contains(words), "{said:?}: {told}");
    }
}

/// What a rank does in a process of its own: epochs as it is told to, each followed by its counts.
#[test]
fn child_that_is_a_rank() {
    let Ok(said) = std::env::var("FEEDLINE_RANK_OF_CACHE_TEST") else { return };
    let mut words = said.split('\n');
    let mut next = || words.next().unwrap();
    let (data, rank, place, file) = (PathBuf::from(next()), next(), next(), next());
    let said = [
        ("cache", place),
        ("cache_file", file),
        ("cache_limit", "16M"),
        ("cache_form", "decoded"),
        ("rank", rank),
        ("world_size", "4"),
    ];
    let loader = training(&data, &said).build().unwrap();
    println!("\nready");
    for line in std::io::stdin().lines() {
        let shown =
            loader.epoch(line.unwrap().parse().unwrap()).map(|batch| batch.unwrap().len()).sum::<usize>();
        let [hits, misses, failures, damaged] = counts(&loader);
        println!("\nshown {shown} {hits} {misses} {failures} {damaged}");
    }
}

struct Rank {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Rank {
    fn start(data: &Path, rank: usize, place: &str, file: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["shared_cache::child_that_is_a_rank", "--exact", "--nocapture"])
            .env(
                "FEEDLINE_RANK_OF_CACHE_TEST",
                format!("{}\n{rank}\n{place}\n{}", data.display(), file.display()),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// The next line that begins with the word.
    fn line(&mut self, word: &str) -> String {
        let mut lines = self.said.by_ref().lines().map(|line| line.unwrap());
        lines.find(|line| line.starts_with(word)).unwrap()
    }

    /// Shows an epoch: rows, and the counts so far.
    fn epoch(&mut self, epoch: u64) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{epoch}").unwrap();
    }

    fn shown(&mut self) -> [u64; 5] {
        let line = self.line("shown");
        let numbers: Vec<u64> = line.split(' ').skip(1).map(|word| word.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    }
}

#[test]
fn four_ranks_read_each_file_once_over_all_and_the_last_one_leaves_nothing() {
    let (data, caches) = (data(), tempfile::tempdir().unwrap());
    let total = files().len() as u64;
    for place in ["ram", "disk"] {
        let file = caches.path().join(place);
        let mut ranks: Vec<Rank> = (0..4).map(|rank| Rank::start(data.path(), rank, place, &file)).collect();
        ranks.iter_mut().for_each(|rank| drop(rank.line("ready")));
        let mut hits = 0;
        for epoch in 0..3 {
            ranks.iter_mut().for_each(|rank| rank.epoch(epoch));
            let shown: Vec<[u64; 5]> = ranks.iter_mut().map(Rank::shown).collect();
            let sum = |at: usize| shown.iter().map(|rank| rank[at]).sum::<u64>();
            // A rank that has one sample fewer repeats one to fill its batch up.
            assert!((total..total + 4).contains(&sum(2)) && (sum(3), sum(4)) == (0, 0), "{shown:?}");
            hits = sum(1);
        }
        assert!(hits >= 2 * total, "{hits}");
        // One that dies without a word takes nothing along.
        ranks[1].child.kill().unwrap();
        for rank in &mut ranks {
            drop(rank.child.stdin.take());
            rank.child.wait().unwrap();
        }
        assert_eq!(file.exists(), place == "disk");
    }
}
