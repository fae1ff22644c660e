//! Parquet files: pages made by hand, whose footers the crate `parquet` writes, and files of that crate's, of which a few bytes
//! are replaced.

use crate::write::{Labels, Table, parquet, varint};
use ::parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ColumnChunkMetaDataBuilder, FileMetaData, ParquetMetaData, ParquetMetaDataReader,
    ParquetMetaDataWriter, RowGroupMetaData,
};
use ::parquet::schema::parser::parse_message_type;
use ::parquet::schema::types::SchemaDescriptor;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// 2^31 - 1, as the length of a list has it in Thrift.
const HUGE: [u8; 5] = [0xFF, 0xFF, 0xFF, 0xFF, 7];
/// The same as a number with a sign.
const HUGE_SIZE: [u8; 5] = [0xFE, 0xFF, 0xFF, 0xFF, 0xF];
/// How a footer ends, after its schema, that has no rows: their number, no row groups, and the end.
const NO_ROWS: [u8; 5] = [0x16, 0, 0x19, 0x0C, 0];

/// So many rows that refer to one image of 4 MiB in a dictionary, which holds zeros.
pub(crate) fn one_image_many_times(folder: &Path, rows: u64) -> PathBuf {
    let image = [&(4u32 << 20).to_le_bytes()[..], &vec![0; 4 << 20]].concat();
    // Indices of one bit: a run of the first.
    let indices = [&[1][..], &varint(rows << 1), &[0]].concat();
    let about = [&[0x2C, 0x15][..], &varint(rows << 1), &[0x15, 16, 0x15, 6, 0x15, 6, 0]].concat();
    let dictionary = page(4, image.len(), &deflated(&image), &[0x4C, 0x15, 2, 0x15, 0, 0]);
    let data = page(0, indices.len(), &deflated(&indices), &about);
    file(folder, rows, Compression::GZIP(GzipLevel::default()), Some(dictionary), data, Vec::new())
}

/// A page that has 10 bytes, says so, and then claims to have 2^31 of them.
pub(crate) fn size_said_twice(folder: &Path) -> PathBuf {
    let content = b"\x06\0\0\0images";
    // Snappy: the length, and then a literal.
    let packed = [&[10, 9 << 2][..], content].concat();
    let about = [&[0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 5, 4][..], &HUGE_SIZE].concat();
    let data = page(0, content.len(), &packed, &about);
    file(folder, 1, Compression::SNAPPY, None, data, Vec::new())
}

/// 256 rows that say "as the one before" of an image of a megabyte.
pub(crate) fn copies_of_the_one_before(folder: &Path) -> PathBuf {
    let table = Table {
        with_path: false,
        page_index: false,
        encoding: Encoding::DELTA_BYTE_ARRAY,
        compression: Compression::ZSTD(ZstdLevel::default()),
        rows_per_page: 1000,
        rows_per_group: 1000,
        ..Table::default()
    };
    written(folder, &table, 256, &vec![0; 1 << 20])
}

/// A footer with a list, of which nobody knows what it is for, of 2^31 booleans.
pub(crate) fn footer_of_booleans(folder: &Path) -> PathBuf {
    let path = written(folder, &Table { with_path: false, ..Table::default() }, 1, b"image");
    with_footer(&path, |footer| {
        assert_eq!(footer.pop(), Some(0), "the end of a struct");
        let list = [&[9, 0xD0, 0xF, 0xF1][..], &HUGE, &[0]].concat();
        footer.extend(list);
    });
    path
}

/// A footer whose schema has a hundred thousand groups of columns, each in the one before.
pub(crate) fn schema_of_any_depth(folder: &Path) -> PathBuf {
    let path = written(folder, &Table { with_path: false, ..Table::default() }, 1, b"image");
    with_footer(&path, |footer| {
        let groups = b"\x48\x01g\x15\x02\0".repeat(100_000);
        let head = [&[0x15, 2, 0x19, 0xFC][..], &varint(100_000)].concat();
        *footer = [&head[..], &groups, &[0]].concat();
    });
    path
}

/// A footer whose schema is 20,000 groups of one column each if a boolean takes no bytes, and 20,000 nested groups if it is
/// read as a struct without fields. The boolean is the logical type of this number, which each group claims to have.
pub(crate) fn schema_behind_variants(folder: &Path, number: u8) -> PathBuf {
    let path = written(folder, &Table { with_path: false, ..Table::default() }, 1, b"image");
    let groups = 20_000;
    with_footer(&path, |footer| {
        let root = [&b"\x48\x01r\x15"[..], &varint(groups << 1), &[0]].concat();
        // The end of the type, and of the group; or the type itself, and its end, so that the column's fields are the group's.
        let group = [&b"\x35\0\x18\x01g\x15\x02\x5C\x01"[..], &[2 * number, 0, 0]].concat();
        let both = [&group, &b"\x35\0\x18\x01c\0"[..]].concat().repeat(groups as usize);
        // Who wrote the file, and the footer's end; or as many more columns.
        let more = b"\x48\x01m\0".repeat(groups as usize);
        let head = [&[0x15, 2, 0x19, 0xFC][..], &varint(1 + 2 * groups)].concat();
        *footer = [head, root, both, more].concat();
    });
    path
}

/// A footer of a megabyte: a group whose name has half of it, and 71,428 columns in it, of which each gets that name in its path.
pub(crate) fn long_name_above_many_columns(folder: &Path) -> PathBuf {
    let path = written(folder, &Table { with_path: false, ..Table::default() }, 1, b"image");
    let (columns, name) = (71_428, vec![b'n'; 500_000]);
    with_footer(&path, |footer| {
        let root = b"\x48\x01r\x15\x02\0";
        let group =
            [&[0x35, 0, 0x18][..], &varint(500_000), &name, &[0x15], &varint(columns << 1), &[0]].concat();
        let column = b"\x15\x02\x25\0\x18\0\0".repeat(columns as usize);
        *footer =
            [&[0x15, 2, 0x19, 0xFC][..], &varint(2 + columns), root, &group, &column, &NO_ROWS].concat();
    });
    path
}

/// A footer of so many columns of bytes, and of no rows.
pub(crate) fn many_columns(folder: &Path, columns: u64) -> PathBuf {
    let path = written(folder, &Table { with_path: false, ..Table::default() }, 1, b"image");
    with_footer(&path, |footer| {
        let root = [&b"\x48\x01r\x15"[..], &varint(columns << 1), &[0]].concat();
        let column =
            |number: u64| [&b"\x15\x0C\x25\0\x18\x05"[..], format!("{number:05}").as_bytes(), &[0]].concat();
        let head = [&[0x15, 2, 0x19, 0xFC][..], &varint(1 + columns)].concat();
        let columns: Vec<u8> = (0..columns).flat_map(column).collect();
        *footer = [&head[..], &root, &columns, &NO_ROWS].concat();
    });
    path
}

/// An index of pages that claims to list 2^31 of them.
pub(crate) fn index_of_too_many_pages(folder: &Path) -> PathBuf {
    let path = written(folder, &Table { with_path: false, ..Table::default() }, 1, b"image");
    let index = metadata(&path).row_group(0).column(0).offset_index_range().unwrap().start as usize;
    let mut bytes = std::fs::read(&path).unwrap();
    // The first field, a list; and the list, of one struct.
    assert_eq!(bytes[index..index + 2], [0x19, 0x1C]);
    bytes[index + 1] = 0xFC;
    bytes[index + 2..index + 7].copy_from_slice(&HUGE);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Two pages and an index of them, of which the second one is half a hundred bytes long, claims to be packed into 8 MiB, and to
/// unpack to 2^31 - 1.
pub(crate) fn page_larger_than_its_place(folder: &Path) -> PathBuf {
    let first_rows = 1 << 14;
    let about = |rows: u64| [&[0x2C, 0x15][..], &varint(rows << 1), &[0x15, 0, 0x15, 6, 0x15, 6, 0]].concat();
    // The lengths of empty images. In Snappy: how many bytes, one zero, and copies of 64 and of 63 from one byte before.
    let copies = [0xFE, 1, 0].repeat(1023);
    let zeros = [&varint(4 * first_rows)[..], &[0, 0], &copies, &[0xFA, 1, 0]].concat();
    let first = page(0, 4 * first_rows as usize, &zeros, &about(first_rows));
    let packed = [&HUGE[..], &[0; 20]].concat();
    let sizes = [&[0x15, 0, 0x15][..], &HUGE_SIZE, &[0x15], &varint(8 << 21)].concat();
    let second = [&sizes[..], &about(1), &[0], &packed].concat();
    let (start, middle, rows) = (4u64, 4 + first.len() as u64, first_rows + 1);
    let location = |offset: u64, bytes: usize, row: u64| {
        [
            &[0x16][..],
            &varint(offset << 1),
            &[0x15],
            &varint((bytes as u64) << 1),
            &[0x16],
            &varint(row << 1),
            &[0],
        ]
        .concat()
    };
    let pages = [location(start, first.len(), 0), location(middle, second.len(), first_rows)].concat();
    let index = [&[0x19, 0x2C][..], &pages, &[0]].concat();
    file(folder, rows, Compression::SNAPPY, None, [first, second].concat(), index)
}

/// Two row groups whose indexes of pages lie 64 GiB apart, with nothing between them.
pub(crate) fn indexes_far_apart(folder: &Path) -> PathBuf {
    let table = Table { with_path: false, rows_per_group: 1, ..Table::default() };
    let (path, far) = (written(folder, &table, 2, b"image"), 1 << 36);
    let index = metadata(&path).row_group(1).column(0).offset_index_range().unwrap();
    let index = std::fs::read(&path).unwrap()[index.start as usize..index.end as usize].to_vec();
    with_columns(&path, |group, _, column| match group {
        1 => column.set_offset_index_offset(Some(far)),
        _ => column,
    });
    let mut bytes = std::fs::read(&path).unwrap();
    let footer = bytes.split_off(bytes.len() - 8 - footer_bytes(&bytes));
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&bytes).unwrap();
    file.seek(SeekFrom::Start(far as u64)).unwrap();
    file.write_all(&[index, footer].concat()).unwrap();
    path
}

/// A list of one row that goes on over so many pages, each of which has a few bytes for 2^24 nulls.
pub(crate) fn list_over_pages(folder: &Path, pages: usize) -> PathBuf {
    let path = folder.join("a.parquet");
    let table = Table { with_path: false, compression: Compression::UNCOMPRESSED, ..Table::default() };
    parquet(&path, &table, &[("", Some(b"image"))], Some(("label", Labels::Numbers(vec![Some(vec![1])]))));
    let count = 1u64 << 24;
    let about = [&[0x2C, 0x15][..], &varint(count << 1), &[0x15, 0, 0x15, 6, 0x15, 6, 0]].concat();
    let run = |length: u64, level: u8| [varint(length << 1), vec![level]].concat();
    let levels = |runs: Vec<u8>| [&(runs.len() as u32).to_le_bytes()[..], &runs].concat();
    let data: Vec<u8> = (0..pages)
        .flat_map(|number| {
            // Only the first entry begins a list.
            let repeats = if number == 0 { [run(1, 0), run(count - 1, 1)].concat() } else { run(count, 1) };
            let body = [levels(repeats), levels(run(count, 2))].concat();
            page(0, body.len(), &body, &about)
        })
        .collect();
    let mut bytes = std::fs::read(&path).unwrap();
    let footer = bytes.split_off(bytes.len() - 8 - footer_bytes(&bytes));
    let place = bytes.len() as i64;
    std::fs::write(&path, [&bytes[..], &data, &footer].concat()).unwrap();
    with_columns(&path, |_, leaf, column| match leaf {
        1 => column
            .set_dictionary_page_offset(None)
            .set_data_page_offset(place)
            .set_num_values(count as i64 * pages as i64)
            .set_total_compressed_size(data.len() as i64)
            .set_total_uncompressed_size(data.len() as i64)
            .set_offset_index_offset(None)
            .set_offset_index_length(None)
            .set_column_index_offset(None)
            .set_column_index_length(None),
        _ => column,
    });
    path
}

/// Writes a file's footer anew. Each column is given with its row group and its number.
pub(crate) fn with_columns(
    path: &Path,
    edit: impl Fn(usize, usize, ColumnChunkMetaDataBuilder) -> ColumnChunkMetaDataBuilder,
) {
    let mut about = metadata(path).into_builder();
    let groups = about.take_row_groups().into_iter().enumerate().map(|(number, group)| {
        let mut group = group.into_builder();
        let columns = group.take_columns().into_iter().enumerate();
        let columns =
            columns.map(|(leaf, column)| edit(number, leaf, column.into_builder()).build().unwrap());
        group.set_column_metadata(columns.collect()).build().unwrap()
    });
    let groups = groups.collect();
    let mut bytes = std::fs::read(path).unwrap();
    bytes.truncate(bytes.len() - 8 - footer_bytes(&bytes));
    ParquetMetaDataWriter::new(&mut bytes, &about.set_row_groups(groups).build()).finish().unwrap();
    std::fs::write(path, bytes).unwrap();
}

pub(crate) fn metadata(path: &Path) -> ParquetMetaData {
    ParquetMetaDataReader::new().parse_and_finish(&std::fs::File::open(path).unwrap()).unwrap()
}

/// The length of a file's footer, without what follows it.
fn footer_bytes(file: &[u8]) -> usize {
    u32::from_le_bytes(*file[..file.len() - 4].last_chunk().unwrap()) as usize
}

fn written(folder: &Path, table: &Table<'_>, rows: usize, image: &[u8]) -> PathBuf {
    let path = folder.join("a.parquet");
    parquet(&path, table, &vec![("", Some(image)); rows], None);
    path
}

/// Replaces a file's footer.
fn with_footer(path: &Path, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(path).unwrap();
    let length = footer_bytes(&bytes);
    bytes.truncate(bytes.len() - 8);
    let mut footer = bytes.split_off(bytes.len() - length);
    edit(&mut footer);
    bytes.extend_from_slice(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    std::fs::write(path, bytes).unwrap();
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    flate2::bufread::GzEncoder::new(content, flate2::Compression::best()).read_to_end(&mut packed).unwrap();
    packed
}

/// A page of this kind, of so many bytes before they were packed; `about` is the rest of its header.
fn page(kind: u8, unpacked: usize, packed: &[u8], about: &[u8]) -> Vec<u8> {
    let size = |bytes: usize| [&[0x15][..], &varint((bytes as u64) << 1)].concat();
    [&[0x15, kind][..], &size(unpacked), &size(packed.len()), about, &[0], packed].concat()
}

/// A file of one column in one row group, with an index of its pages unless that is empty.
fn file(
    folder: &Path,
    rows: u64,
    compression: Compression,
    dictionary: Option<Vec<u8>>,
    data: Vec<u8>,
    index: Vec<u8>,
) -> PathBuf {
    let schema = Arc::new(parse_message_type("message schema { required binary image; }").unwrap());
    let schema = Arc::new(SchemaDescriptor::new(schema));
    let has_dictionary = dictionary.is_some();
    let dictionary = dictionary.unwrap_or_default();
    let bytes = (dictionary.len() + data.len()) as i64;
    let column = ColumnChunkMetaData::builder(schema.column(0))
        .set_compression(compression)
        .set_num_values(rows as i64)
        .set_total_compressed_size(bytes)
        .set_total_uncompressed_size(bytes)
        .set_dictionary_page_offset(has_dictionary.then_some(4))
        .set_data_page_offset(4 + dictionary.len() as i64)
        .set_offset_index_offset((!index.is_empty()).then_some(4 + bytes))
        .set_offset_index_length((!index.is_empty()).then_some(index.len() as i32))
        .build()
        .unwrap();
    let group = RowGroupMetaData::builder(Arc::clone(&schema))
        .set_num_rows(rows as i64)
        .set_total_byte_size(bytes)
        .add_column_metadata(column)
        .build()
        .unwrap();
    let about =
        ParquetMetaData::new(FileMetaData::new(1, rows as i64, None, None, schema, None), vec![group]);
    let mut file = [b"PAR1", &dictionary[..], &data, &index].concat();
    ParquetMetaDataWriter::new(&mut file, &about).finish().unwrap();
    let path = folder.join("a.parquet");
    std::fs::File::create(&path).unwrap().write_all(&file).unwrap();
    path
}
