//! Parquet files: which columns count, how they are cut and kept, and what is refused.

use super::{cause, labels, refused};
use crate::hostile;
use crate::write::{Labels, Table, parquet};
use ::parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use feedline::label::Label;
use feedline::source::{Parquet, Source};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

/// Images of all sizes.
fn images(count: usize) -> Vec<(String, Vec<u8>)> {
    let image = |i: usize| {
        let bytes = (i * 7919) % 100_000;
        (format!("{i}.jpg"), (0..bytes).map(|j| (i * 31 + j * 17 + j / 251) as u8).collect())
    };
    (0..count).map(image).collect()
}

fn rows(images: &[(String, Vec<u8>)]) -> Vec<(&str, Option<&[u8]>)> {
    images.iter().map(|(path, bytes)| (path.as_str(), Some(bytes.as_slice()))).collect()
}

fn file(folder: &Path, table: &Table<'_>, labels: Option<(&str, Labels<'_>)>) -> PathBuf {
    let path = folder.join("a.parquet");
    parquet(&path, table, &rows(&images(3)), labels);
    path
}

#[test]
fn every_compression_group_and_page_size_gives_the_same_images() {
    let folder = tempfile::tempdir().unwrap();
    let images = images(60);
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
    ];
    let path = folder.path().join("a.parquet");
    for (compression, (rows_per_group, rows_per_page, page_index)) in compressions.into_iter().zip([
        (100, 1, true),
        (7, 3, true),
        (100, 5, false),
        (13, 100, false),
        (60, 60, true),
    ]) {
        let table = Table { rows_per_group, rows_per_page, page_index, compression, ..Table::default() };
        parquet(&path, &table, &rows(&images), None);
        for cache_bytes in [0, 300_000, u64::MAX] {
            let source = Parquet::options().cache_bytes(cache_bytes).open(&path).unwrap();
            assert_eq!(source.len(), 60);
            // In order, backwards, and in leaps.
            let order = (0..60).chain((0..60).rev()).chain((0..60).map(|i| i * 23 % 60));
            let mut bytes = Vec::new();
            for index in order {
                source.read(index, &mut bytes).unwrap();
                assert!(bytes == images[index].1, "image {index} with {compression:?}");
                assert_eq!(source.key(index), format!("a.parquet/{index}/{index}.jpg"));
            }
        }
    }
}

/// Groups of rows that are larger than what is decoded at once.
#[test]
fn a_large_group_is_decoded_in_parts_with_and_without_an_index_of_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let image = |i: usize| {
        (format!("{i}.jpg"), (0..500_000 + i).map(|j| (i * 31 + j * 17 + j / 251) as u8).collect())
    };
    let images: Vec<(String, Vec<u8>)> = (0..40).map(image).collect();
    for (rows_per_page, page_index, compression) in [
        (1, true, Compression::SNAPPY),
        (7, true, Compression::UNCOMPRESSED),
        (3, false, Compression::UNCOMPRESSED),
    ] {
        let table = Table { rows_per_page, page_index, compression, ..Table::default() };
        parquet(&path, &table, &rows(&images), None);
        let source = Parquet::options().cache_bytes(8 << 20).open(&path).unwrap();
        let mut bytes = Vec::new();
        for index in (0..40).chain((0..40).map(|i| i * 11 % 40)) {
            source.read(index, &mut bytes).unwrap();
            assert!(bytes == images[index].1, "image {index}, {rows_per_page} a page");
        }
    }
}

#[test]
fn every_encoding_and_version_of_pages_gives_the_same_images() {
    let folder = tempfile::tempdir().unwrap();
    // Each twice, so that a dictionary holds less than the rows, and one that is null.
    let images: Vec<_> = images(20).into_iter().flat_map(|image| [image.clone(), image]).collect();
    let mut rows = rows(&images);
    rows[7].1 = None;
    for (encoding, dictionary) in [
        (Encoding::PLAIN, false),
        (Encoding::PLAIN, true),
        (Encoding::DELTA_LENGTH_BYTE_ARRAY, false),
        (Encoding::DELTA_BYTE_ARRAY, false),
    ] {
        for second_version in [false, true] {
            let path = folder.path().join("a.parquet");
            let table =
                Table { rows_per_group: 15, encoding, dictionary, second_version, ..Table::default() };
            parquet(&path, &table, &rows, None);
            let source = Parquet::open(&path).unwrap();
            let mut bytes = Vec::new();
            for index in (0..40).filter(|index| *index != 7).rev() {
                source.read(index, &mut bytes).unwrap();
                assert!(
                    bytes == images[index].1,
                    "image {index} as {encoding}, {dictionary}, {second_version}"
                );
            }
            assert!(cause(&source, 7).contains("there are no bytes (null)"));
        }
    }
}

#[test]
fn rows_of_one_image_in_a_dictionary_share_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = hostile::one_image_many_times(folder.path(), 20_000);
    let source = Parquet::options().cache_bytes(16 << 20).open(&path).unwrap();
    assert_eq!(source.len(), 20_000);
    let mut bytes = Vec::new();
    for index in [19_999, 0, 10_000, 16_384] {
        source.read(index, &mut bytes).unwrap();
        assert!(bytes.len() == 4 << 20 && bytes.iter().all(|byte| *byte == 0), "image {index}");
    }
}

#[test]
fn a_dictionary_that_claims_more_values_than_it_can_hold_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let table = Table { dictionary: true, with_path: false, ..Table::default() };
    parquet(&path, &table, &[("", Some(&b"x"[..])); 5], None);
    let mut bytes = std::fs::read(&path).unwrap();
    // In Thrift: the header of a dictionary, whose first field is the count; 1 is written as 2, and 63 as 126.
    let header = bytes.windows(3).position(|bytes| bytes == [0x4C, 0x15, 0x02]).unwrap();
    bytes[header + 2] = 126;
    std::fs::write(&path, bytes).unwrap();
    let told = cause(&Parquet::open(&path).unwrap(), 1);
    assert!(told.contains("a dictionary cannot have 63 values") && told.contains("copy the file"), "{told}");
}

/// Rewrites the footer of a file of one row group and one column, so that it claims to have `rows` rows.
fn claim_rows(path: &Path, rows: i64) {
    use ::parquet::file::metadata::{
        FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter,
    };
    let mut bytes = std::fs::read(path).unwrap();
    let about = ParquetMetaDataReader::new().parse_and_finish(&std::fs::File::open(path).unwrap()).unwrap();
    let (file, group) = (about.file_metadata(), about.row_group(0));
    let column = group.column(0).clone().into_builder().set_num_values(rows).build().unwrap();
    let group =
        group.clone().into_builder().set_num_rows(rows).set_column_metadata(vec![column]).build().unwrap();
    let schema = file.schema_descr_ptr();
    let about = ParquetMetaData::new(FileMetaData::new(1, rows, None, None, schema, None), vec![group]);
    let footer = u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap()) as usize;
    bytes.truncate(bytes.len() - 8 - footer);
    ParquetMetaDataWriter::new(&mut bytes, &about).finish().unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_footer_of_a_gigabyte_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let mut file = std::fs::File::create(&path).unwrap();
    // A hole, which takes no room.
    file.seek(SeekFrom::Start(2 << 30)).unwrap();
    file.write_all(&[&(1u32 << 30).to_le_bytes()[..], b"PAR1"].concat()).unwrap();
    refused(Parquet::open(&path), &["a footer of 1073741824 bytes", "a.parquet"]);
}

#[test]
fn a_footer_that_claims_more_rows_than_the_file_can_hold_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let table = Table { with_path: false, page_index: false, ..Table::default() };
    parquet(&path, &table, &[("", Some(&b"x"[..])); 5], None);
    claim_rows(&path, 5);
    assert_eq!(Parquet::open(&path).unwrap().len(), 5, "the footer is written anew soundly");
    for rows in [1 << 21, 1 << 55] {
        claim_rows(&path, rows);
        refused(Parquet::open(&path), &["a.parquet", &format!("claims {rows} rows"), "copy the file again"]);
    }
}

#[test]
fn lists_that_take_no_bytes_are_not_counted_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    parquet(&path, &Table::default(), &[("a.jpg", Some(&b"x"[..]))], None);
    let mut bytes = std::fs::read(&path).unwrap();
    let footer = u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap()) as usize;
    // In Thrift: field 100, which nobody knows, a list of two thousand million booleans; thirty times, which would take
    // minutes. The end of the footer's struct follows.
    bytes.truncate(bytes.len() - 9);
    let list = [9, 0xC8, 1, 0xF1, 0xFF, 0xFF, 0xFF, 0xFF, 7];
    bytes.extend(list.repeat(30));
    bytes.push(0);
    bytes.extend(((footer + 30 * list.len()) as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    std::fs::write(&path, bytes).unwrap();
    refused(Parquet::open(&path), &["a.parquet", "its footer contradicts itself", "copy the file again"]);
}

#[test]
fn indexes_of_pages_have_no_more_bytes_than_the_file() {
    use ::parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let table = Table { with_path: false, rows_per_group: 1, ..Table::default() };
    parquet(&path, &table, &[("", Some(&b"x"[..])); 3], None);
    let sound = std::fs::read(&path).unwrap();
    let about = ParquetMetaDataReader::new().parse_and_finish(&std::fs::File::open(&path).unwrap()).unwrap();
    let footer = u32::from_le_bytes(*sound[..sound.len() - 4].last_chunk().unwrap()) as usize;
    let claim = |start: i64, length: usize| {
        let groups = about.row_groups().iter().map(|group| {
            let column = group.column(0).clone().into_builder().set_offset_index_offset(Some(start));
            let column = column.set_offset_index_length(Some(length as i32)).build().unwrap();
            group.clone().into_builder().set_column_metadata(vec![column]).build().unwrap()
        });
        let groups = groups.collect();
        let about = about.clone().into_builder().set_row_groups(groups).build();
        let mut bytes = sound[..sound.len() - 8 - footer].to_vec();
        ParquetMetaDataWriter::new(&mut bytes, &about).finish().unwrap();
        std::fs::write(&path, bytes).unwrap();
        Parquet::open(&path)
    };
    refused(claim(sound.len() as i64, 900), &["a.parquet", "the index of its pages lies outside"]);
    // Each has two thirds of the file, which begin with the header of a page.
    refused(
        claim(4, sound.len() * 2 / 3),
        &["a.parquet", "the index of its pages has more bytes than the file"],
    );
}

#[test]
fn paths_and_labels_of_any_length_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let (sound, long) = ("a".repeat(64 << 10), "a".repeat((64 << 10) + 1));
    parquet(&path, &Table::default(), &[(&sound, Some(&b"x"[..]))], None);
    assert!(Parquet::open(&path).unwrap().key(0).ends_with(&sound));
    parquet(&path, &Table::default(), &[(&long, Some(&b"x"[..]))], None);
    refused(Parquet::open(&path), &["a.parquet", "has 65537 bytes", "write a shorter one"]);
    let label = Labels::Text(vec![Some(&long)]);
    parquet(&path, &Table::default(), &[("a.jpg", Some(&b"x"[..]))], Some(("label", label)));
    refused(Parquet::open(&path), &["a.parquet", "has 65537 bytes"]);
}

#[test]
fn a_page_whose_counts_contradict_each_other_shifts_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let table = Table {
        with_path: false,
        page_index: false,
        second_version: true,
        rows_per_page: 3,
        ..Table::default()
    };
    parquet(&path, &table, &[("", Some(&b"x"[..])); 6], None);
    let mut bytes = std::fs::read(&path).unwrap();
    // In Thrift: field 8, with 3 values, no null and 3 rows, each doubled. The first page then claims 2 rows.
    let header = bytes.windows(7).position(|bytes| bytes == [0x5C, 0x15, 6, 0x15, 0, 0x15, 6]).unwrap();
    bytes[header + 6] = 4;
    std::fs::write(&path, bytes).unwrap();
    let told = cause(&Parquet::open(&path).unwrap(), 3);
    assert!(told.contains("a page of 2 rows has 3 values") && told.contains("copy the file"), "{told}");
}

#[test]
fn an_index_of_pages_that_is_wrong_shifts_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    // Each page is a stretch of its own.
    let table =
        Table { with_path: false, rows_per_page: 1 << 14, rows_per_group: 50_000, ..Table::default() };
    let images: Vec<_> = (0..40_000u32).map(|i| (String::new(), i.to_le_bytes().to_vec())).collect();
    parquet(&path, &table, &rows(&images), None);
    let sound = std::fs::read(&path).unwrap();
    // In Thrift: row 16,384, the first of the second page, doubled; then the end of its struct.
    let at = sound.windows(5).rposition(|bytes| bytes == [0x16, 0x80, 0x80, 2, 0]).unwrap() + 1;
    let claim = |doubled: [u8; 3]| {
        let mut bytes = sound.clone();
        bytes[at..at + 3].copy_from_slice(&doubled);
        std::fs::write(&path, bytes).unwrap();
        Parquet::open(&path)
    };
    let mut bytes = Vec::new();
    claim([0x80, 0x80, 2]).unwrap().read(16_386, &mut bytes).unwrap();
    assert_eq!(bytes, images[16_386].1, "as it was written");
    let told = cause(&claim([0x82, 0x80, 2]).unwrap(), 16_386);
    assert!(told.contains("a page of 16383 rows") && told.contains("has 16384 values"), "{told}");
    let third = claim([0x80, 0x80, 4]);
    refused(third, &["a.parquet", "the index of its pages contradicts itself", "write the file anew"]);
}

#[test]
fn a_small_page_that_unpacks_to_far_more_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let image = vec![0; 65 << 20];
    for compression in [Compression::GZIP(GzipLevel::default()), Compression::ZSTD(ZstdLevel::default())] {
        for page_index in [false, true] {
            let table = Table { compression, page_index, with_path: false, ..Table::default() };
            parquet(&path, &table, &[("", Some(&image[..]))], None);
            let told = cause(&Parquet::open(&path).unwrap(), 0);
            assert!(told.contains("claims to unpack to 68157"), "{told}");
            // In Thrift: the kind 0, then the size, doubled. It claims to be a byte.
            let mut bytes = std::fs::read(&path).unwrap();
            assert_eq!(bytes[4..7], [0x15, 0, 0x15]);
            bytes[7..11].copy_from_slice(&[0x82, 0x80, 0x80, 0]);
            std::fs::write(&path, bytes).unwrap();
            let told = cause(&Parquet::open(&path).unwrap(), 0);
            let inflates = told.contains("inflates to more than 67108864 bytes: copy the file again");
            assert_eq!(inflates, matches!(compression, Compression::GZIP(_)), "{told}");
        }
    }
}

/// Of 16,386 rows that say "as the one before" of an image of 16 KiB, two are in the second stretch.
#[cfg(target_os = "linux")]
#[test]
fn rows_that_are_passed_over_are_not_all_in_memory() {
    const FILE: &str = "FEEDLINE_TEST_PARQUET";
    let image = vec![7; 16 << 10];
    if let Some(path) = std::env::var_os(FILE) {
        let mut bytes = Vec::new();
        Parquet::open(path).unwrap().read(16_385, &mut bytes).unwrap();
        assert!(bytes == image);
        let peak = feedline::machine::bytes_in("/proc/self/status", "VmHWM:").unwrap();
        assert!(peak < 150 << 20, "{peak} bytes, where all rows together take 268 MB");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let table = Table {
        with_path: false,
        page_index: false,
        encoding: Encoding::DELTA_BYTE_ARRAY,
        rows_per_page: 20_000,
        rows_per_group: 20_000,
        ..Table::default()
    };
    parquet(&path, &table, &vec![("", Some(&image[..])); 16_386], None);
    // In a process of its own, since a peak is that of a whole process.
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "formats::parquet::rows_that_are_passed_over_are_not_all_in_memory"]);
    let done = test.env(FILE, path).output().unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && told.contains("1 passed"), "{told}");
}

#[test]
fn columns_are_found_by_metadata_then_by_name_then_alone() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = || Labels::Int64(vec![Some(1), Some(0), Some(-1)]);
    let table = Table { image: "photo", names: &["cat", "dog"], ..Table::default() };
    let source = Parquet::open(file(folder.path(), &table, Some(("label", numbers())))).unwrap();
    assert_eq!((labels(&source), source.classes().join(" ")), (vec![1, 0, -1], "cat dog".to_owned()));
    let table = Table { image: "photo", with_path: false, ..Table::default() };
    let source = Parquet::open(file(folder.path(), &table, Some(("cls", numbers())))).unwrap();
    assert_eq!(source.key(2), "a.parquet/2");
    assert_eq!((labels(&source), source.classes().len()), (vec![1, 0, -1], 0));
    let other = Parquet::open(file(folder.path(), &table, Some(("breed", numbers())))).unwrap();
    assert_eq!(labels(&other), [-1; 3]);
    let named = Parquet::options().image_column("photo").label_column("breed").open(folder.path()).unwrap();
    assert_eq!(labels(&named), [1, 0, -1]);
}

#[test]
fn labels_may_be_numbers_of_any_size_or_text() {
    let folder = tempfile::tempdir().unwrap();
    let columns: [(Labels<'_>, &[i64], &str); 4] = [
        (Labels::Int32(vec![Some(5), None, Some(-1)]), &[5, -1, -1], ""),
        (Labels::UInt8(vec![255, 0, 7]), &[255, 0, 7], ""),
        (Labels::Text(vec![Some("10"), Some("9"), None]), &[0, 1, -1], "10 9"),
        (Labels::Text(vec![Some("dog"), Some("cat"), Some("dog")]), &[1, 0, 1], "cat dog"),
    ];
    for (column, expected, names) in columns {
        let source = Parquet::open(file(folder.path(), &Table::default(), Some(("label", column)))).unwrap();
        assert_eq!((labels(&source).as_slice(), source.classes().join(" ").as_str()), (expected, names));
    }
    let bad = Labels::Int64(vec![Some(0), Some(1), Some(-7)]);
    let path = file(folder.path(), &Table::default(), Some(("label", bad)));
    refused(Parquet::open(path), &["a.parquet", "row 2: the label -7 is no class"]);
}

#[test]
fn columns_that_are_not_there_are_named_with_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let fractions = Labels::Float(vec![0.5; 3]);
    let path = file(folder.path(), &Table::default(), Some(("label", fractions)));
    let open = || Parquet::options();
    let there = "image.bytes, image.path, label";
    refused(open().image_column("img").open(&path), &["a.parquet", "no column `img` holds bytes", there]);
    refused(open().image_column("label").open(&path), &["no column `label` holds bytes"]);
    refused(
        open().label_column("label").open(&path),
        &["no column `label` holds whole numbers or text", there],
    );
    assert_eq!(labels(&Parquet::open(&path).unwrap()), [-1; 3]);
}

#[test]
fn a_row_without_bytes_is_a_bad_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let table = Table { rows_per_group: 2, ..Table::default() };
    parquet(
        &path,
        &table,
        &[("0.jpg", Some(b"zero")), ("1.jpg", Some(b"one")), ("2.jpg", Some(b"")), ("3.jpg", None)],
        None,
    );
    let source = Parquet::open(&path).unwrap();
    let told = cause(&source, 3);
    assert!(told.contains("a.parquet, row 1 of row group 1: there are no bytes (null)"), "{told}");
    let mut bytes = vec![1];
    source.read(2, &mut bytes).unwrap();
    assert!(bytes.is_empty());
    assert!(cause(&source.max_file_bytes(3), 0).contains("raise max_file_bytes"));
}

#[test]
fn files_with_different_classes_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let column = || Labels::Int64(vec![Some(0), Some(1), Some(0)]);
    for (name, names) in [("a.parquet", ["cat", "dog"]), ("b.parquet", ["dog", "cat"])] {
        let table = Table { names: &names, ..Table::default() };
        parquet(&folder.path().join(name), &table, &rows(&images(3)), Some(("label", column())));
    }
    refused(Parquet::open(folder.path()), &["a.parquet and", "b.parquet name different classes"]);
    assert_eq!(Parquet::open(folder.path().join("b.parquet")).unwrap().classes(), ["dog", "cat"]);
}

#[test]
fn what_is_no_parquet_file_is_refused_and_what_vanishes_is_a_bad_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), &Table::default(), None);
    assert!(Parquet::is_at(&path) && Parquet::is_at(folder.path()));
    let source = Parquet::open(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let told = cause(&source, 1);
    assert!(told.contains("No such file") && told.contains("restore the file"), "{told}");
    std::fs::write(&path, &bytes).unwrap();
    source.read(1, &mut Vec::new()).unwrap();
    for end in [0, 4, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..end]).unwrap();
        refused(Parquet::open(&path), &["a.parquet", "copy the file again"]);
    }
}

#[test]
fn eight_threads_in_any_order_get_their_own_images() {
    let folder = tempfile::tempdir().unwrap();
    let (path, images) = (folder.path().join("a.parquet"), images(200));
    let table = Table { rows_per_group: 50, rows_per_page: 10, ..Table::default() };
    parquet(&path, &table, &rows(&images), None);
    let source = Parquet::options().cache_bytes(1 << 20).open(&path).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (source, images) = (&source, &images);
            scope.spawn(move || {
                let mut bytes = Vec::new();
                for turn in 0..100 {
                    let index = (turn * (7 + 2 * thread) + thread) % 200;
                    source.read(index, &mut bytes).unwrap();
                    assert!(bytes == images[index].1, "image {index}");
                    assert_eq!(source.label(index), Label::Unlabelled);
                }
            });
        }
    });
}
