//! Small data sets, and the way to open them.

use crate::server::Server;
use feedline::geometry::Size;
use feedline::loader::{BadSample, LastBatch, Loader, LoaderBuilder};
use feedline::options::DataOptions;
use feedline::output::{DType, Layout};
use feedline::source::{Remote, RemoteOptions, Source};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A PNG of one colour, which names its number.
pub(crate) fn picture(number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 4, 4);
    encoder.set_color(png::ColorType::Rgb);
    let pixel = [number as u8, (number >> 8) as u8, 77];
    encoder.write_header().unwrap().write_image_data(&pixel.repeat(16)).unwrap();
    bytes
}

pub(crate) fn name(number: usize) -> String {
    format!("train/{}/{number:03}.png", if number.is_multiple_of(2) { "even" } else { "odd" })
}

/// `count` pictures below `bucket/train`, in two classes.
pub(crate) fn pictures(count: usize) -> BTreeMap<String, Vec<u8>> {
    (0..count).map(|number| (format!("bucket/{}", name(number)), picture(number))).collect()
}

/// An archive of pictures with classes, as WebDataset names them.
pub(crate) fn archive(numbers: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for number in numbers {
        let class = (number % 2).to_string();
        for (path, bytes) in
            [(format!("{number}.png"), picture(number)), (format!("{number}.cls"), class.into())]
        {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, path, &bytes[..]).unwrap();
        }
    }
    archive.into_inner().unwrap()
}

/// Options that fail fast, for the server in the place of Amazon's; requests are signed if the environment has keys.
pub(crate) fn options(server: &Server) -> RemoteOptions {
    Remote::options()
        .endpoint(server.url())
        .anonymous(std::env::var_os("AWS_ACCESS_KEY_ID").is_none())
        .timeout(Duration::from_secs(20))
        .stall_timeout(Duration::from_millis(400))
}

pub(crate) fn builder(source: Remote, bad: BadSample) -> LoaderBuilder {
    let builder = Loader::builder(source).batch_size(8).workers(6).last_batch(LastBatch::Partial);
    builder.output(DType::U8, Layout::Nhwc).output_size(Size::new(4, 4)).bad_sample(bad)
}

/// The number that each delivered row's pixels name, in order, and the numbers that their keys name.
pub(crate) fn epoch(loader: &Loader, epoch: u64) -> feedline::error::Result<(Vec<usize>, Vec<usize>)> {
    let (mut pixels, mut keys) = (Vec::new(), Vec::new());
    for batch in loader.epoch(epoch) {
        let batch = batch?;
        let rows = batch.as_u8().unwrap().chunks(4 * 4 * 3);
        pixels.extend(rows.map(|row| usize::from(row[0]) | usize::from(row[1]) << 8));
        let number =
            |index: u64| loader.source().key(index as usize).rsplit('/').next().unwrap()[..3].to_owned();
        keys.extend(batch.indices().iter().map(|&index| number(index).parse::<usize>().unwrap()));
    }
    Ok((pixels, keys))
}

pub(crate) fn sorted(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers
}

/// All records of a source, and whether each can be read.
pub(crate) fn read_all(source: &dyn Source) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut read = |index| source.read(index, &mut bytes).map(|()| bytes.clone()).unwrap();
    (0..source.len()).map(&mut read).collect()
}

/// The files below a folder as objects of `bucket`, by their paths there.
pub(crate) fn uploaded(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let object = |file: walkdir::DirEntry| {
        let name = file.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
        (format!("bucket/{name}"), std::fs::read(file.path()).unwrap())
    };
    files.filter(|file| file.file_type().is_file()).map(object).collect()
}

/// Writes files below a folder, and the folders above them.
pub(crate) fn write(folder: &Path, files: &[(&str, &[u8])]) {
    for (path, content) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

/// Two sources have the same records, labels, masks and fields.
#[track_caller]
pub(crate) fn are_alike(one: &dyn Source, other: &dyn Source) {
    let keys = |source: &dyn Source| {
        (0..source.len()).map(|index| source.key(index).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(keys(one), keys(other));
    assert_eq!(one.classes(), other.classes());
    assert_eq!((one.fields(), one.has_masks()), (other.fields(), other.has_masks()));
    let all = |source: &dyn Source, index| {
        let (mut bytes, mut mask, mut values) = (Vec::new(), vec![1], Vec::new());
        source.read(index, &mut bytes).unwrap();
        let has_mask = source.mask(index, &mut mask).unwrap();
        source.values(index, &mut values).unwrap();
        (bytes, source.label(index), has_mask, mask, values)
    };
    for index in 0..one.len() {
        assert_eq!(all(one, index), all(other, index), "record {index}");
    }
}

/// The text of an error, which must say all of this.
#[track_caller]
pub(crate) fn says<T>(opened: feedline::error::Result<T>, words: &[&str]) {
    let error = opened.err().expect("an error").to_string();
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}

/// Options of a data set at `url`, read from the server.
pub(crate) fn data_at(server: &Server, url: &str, more: DataOptions) -> DataOptions {
    DataOptions { path: Some(url.into()), endpoint: Some(server.url()), anonymous: Some(true), ..more }
}
