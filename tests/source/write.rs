//! Writers of the formats, as short as can be; the sources know nothing of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(dead_code, unused_imports, reason = "each test program takes what it needs")]

use heed::types::Bytes;
use heed::{CommitOrAbort, DatabaseFlags, EnvFlags, EnvOpenOptions};
use std::path::Path;

/// What a feature of a `tf.train.Example` holds.
pub(crate) enum Feature<'a> {
    Bytes(&'a [u8]),
    Number(i64),
    Numbers(&'a [i64]),
    Fraction(f32),
}

/// A `tf.train.Example` of these features, in this order.
pub(crate) fn example(features: &[(&str, Feature<'_>)]) -> Vec<u8> {
    let entries = features.iter().flat_map(|(name, feature)| {
        let packed = |numbers: &[i64]| numbers.iter().flat_map(|n| varint(*n as u64)).collect::<Vec<u8>>();
        let list = match feature {
            Feature::Bytes(bytes) => field(1, &field(1, bytes)),
            Feature::Fraction(fraction) => field(2, &field(1, &fraction.to_le_bytes())),
            Feature::Number(number) => field(3, &field(1, &packed(&[*number]))),
            Feature::Numbers(numbers) => field(3, &field(1, &packed(numbers))),
        };
        field(1, &[field(1, name.as_bytes()), field(2, &list)].concat())
    });
    field(1, &entries.collect::<Vec<u8>>())
}

/// A field that has a length.
pub(crate) fn field(number: u64, content: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7F {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A tar file of members with these names and bytes, in this order.
pub(crate) fn tar(path: &Path, members: &[(&str, &[u8])]) {
    let mut archive = tar::Builder::new(std::fs::File::create(path).unwrap());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.finish().unwrap();
}

/// A tar file of images as WebDataset names them: the class of `a.jpg` is the text of `a.cls`.
pub(crate) fn tar_with_classes<'a>(path: &Path, images: impl Iterator<Item = (&'a str, &'a [u8], i64)>) {
    let with_class = |(image, bytes, class): (&str, &[u8], i64)| {
        let stem = image.rsplit_once('.').map_or(image, |(stem, _)| stem);
        [(image.to_owned(), bytes.to_vec()), (format!("{stem}.cls"), class.to_string().into_bytes())]
    };
    let members: Vec<_> = images.flat_map(with_class).collect();
    let members: Vec<_> = members.iter().map(|(name, bytes)| (&name[..], &bytes[..])).collect();
    tar(path, &members);
}

/// A TFRecord file of these records.
pub(crate) fn tfrecord(path: &Path, records: &[Vec<u8>]) {
    let frame = |data: &Vec<u8>| {
        let length = (data.len() as u64).to_le_bytes();
        let (head, tail) = (masked(&length).to_le_bytes(), masked(data).to_le_bytes());
        [&length[..], &head, data, &tail].concat()
    };
    std::fs::write(path, records.iter().flat_map(frame).collect::<Vec<u8>>()).unwrap();
}

/// The checksum as TFRecord stores it, bit by bit.
pub(crate) fn masked(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg());
        }
    }
    let crc = !crc;
    crc.rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// An LMDB environment in the folder `path` (or, with `NO_SUB_DIR`, in the file), written by LMDB;
/// `database` is the name of a database in it and its flags.
pub(crate) fn lmdb(
    path: &Path,
    flags: EnvFlags,
    database: (Option<&str>, DatabaseFlags),
    entries: &[(&str, Vec<u8>)],
) {
    if !flags.contains(EnvFlags::NO_SUB_DIR) {
        std::fs::create_dir_all(path).unwrap();
    }
    let mut options = EnvOpenOptions::new();
    options.map_size(64 << 20).max_dbs(4);
    #[expect(unsafe_code, reason = "LMDB maps the file, and nobody else writes to it here")]
    // SAFETY: the file is the test's own, and is not changed while it is mapped.
    let env = unsafe { options.flags(flags).open(path) }.unwrap();
    let created = env.create_databases_and_commit(env.write_txn().unwrap(), |creator, write| {
        let mut options = creator.database_options().types::<Bytes, Bytes>();
        options.flags(database.1);
        if let Some(name) = database.0 {
            options.name(name);
        }
        options.create(write).map(CommitOrAbort::<_, ()>::Commit)
    });
    let database = created.unwrap().unwrap_commit();
    let mut write = env.write_txn().unwrap();
    for (key, value) in entries {
        database.put(&mut write, key.as_bytes(), value).unwrap();
    }
    write.commit().unwrap();
    env.prepare_for_closing().wait();
}

/// How a Parquet file is written.
#[cfg(feature = "parquet")]
pub(crate) struct Table<'a> {
    /// The column of images.
    pub(crate) image: &'a str,
    /// Whether it has the fields `bytes` and `path`, or is bytes itself.
    pub(crate) with_path: bool,
    /// Names of the classes in the metadata of the Hugging Face hub; none without.
    pub(crate) names: &'a [&'a str],
    pub(crate) rows_per_group: usize,
    pub(crate) rows_per_page: usize,
    pub(crate) page_index: bool,
    /// Each distinct image once in a row group, and rows that refer to it.
    pub(crate) dictionary: bool,
    pub(crate) encoding: parquet::basic::Encoding,
    /// The second version of data pages.
    pub(crate) second_version: bool,
    pub(crate) compression: parquet::basic::Compression,
}

#[cfg(feature = "parquet")]
impl Default for Table<'_> {
    fn default() -> Self {
        Self {
            image: "image",
            with_path: true,
            names: &[],
            rows_per_group: 100,
            rows_per_page: 2,
            page_index: true,
            dictionary: false,
            encoding: parquet::basic::Encoding::PLAIN,
            second_version: false,
            compression: parquet::basic::Compression::SNAPPY,
        }
    }
}

/// A column of labels.
#[cfg(feature = "parquet")]
#[derive(Clone)]
pub(crate) enum Labels<'a> {
    Int64(Vec<Option<i64>>),
    Int32(Vec<Option<i32>>),
    UInt8(Vec<u8>),
    Float(Vec<f32>),
    Text(Vec<Option<&'a str>>),
    /// No labels, but a second column of images.
    Bytes(Vec<&'a [u8]>),
    Numbers(Vec<Option<Vec<i64>>>),
    Fractions(Vec<Option<Vec<f64>>>),
    Texts(Vec<Option<Vec<&'a str>>>),
    /// A list in which the second value is null.
    NullIn(Vec<i32>),
}

/// Path, bytes and label column of a Parquet file, written by the `parquet` crate.
#[cfg(feature = "parquet")]
pub(crate) fn parquet(
    file: &Path,
    table: &Table<'_>,
    rows: &[(&str, Option<&[u8]>)],
    labels: Option<(&str, Labels<'_>)>,
) {
    let image = match table.with_path {
        true => {
            format!(
                "optional group {} {{ optional binary bytes; optional binary path (UTF8); }}",
                table.image
            )
        }
        false => format!("optional binary {};", table.image),
    };
    let label = labels.as_ref().map_or_else(String::new, |(name, labels)| match labels {
        Labels::Int64(_) => format!("optional int64 {name};"),
        Labels::Int32(_) => format!("optional int32 {name};"),
        Labels::UInt8(_) => format!("optional int32 {name} (UINT_8);"),
        Labels::Float(_) => format!("optional float {name};"),
        Labels::Text(_) => format!("optional binary {name} (UTF8);"),
        Labels::Bytes(_) => format!("optional binary {name};"),
        Labels::Numbers(_) => list_of(name, "int64 element"),
        Labels::Fractions(_) => list_of(name, "double element"),
        Labels::Texts(_) => list_of(name, "binary element (UTF8)"),
        Labels::NullIn(_) => list_of(name, "int32 element"),
    });
    let schema = format!("message schema {{ {image} {label} }}");
    let schema = std::sync::Arc::new(parquet::schema::parser::parse_message_type(&schema).unwrap());
    let file = std::fs::File::create(file).unwrap();
    let properties = std::sync::Arc::new(properties(table));
    let mut writer = parquet::file::writer::SerializedFileWriter::new(file, schema, properties).unwrap();
    for (number, part) in rows.chunks(table.rows_per_group).enumerate() {
        let first = number * table.rows_per_group;
        let mut group = writer.next_row_group().unwrap();
        text(&mut group, 1 + i16::from(table.with_path), part.iter().map(|(_, bytes)| *bytes));
        if table.with_path {
            text(&mut group, 2, part.iter().map(|(path, _)| Some(path.as_bytes())));
        }
        if let Some((_, labels)) = &labels {
            label_column(&mut group, labels, first..first + part.len());
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

#[cfg(feature = "parquet")]
fn list_of(name: &str, element: &str) -> String {
    format!("optional group {name} (LIST) {{ repeated group list {{ optional {element}; }} }}")
}

/// Writes the next column, of lists.
#[cfg(feature = "parquet")]
fn lists<T: parquet::data_type::DataType>(
    group: &mut RowGroup<'_>,
    rows: impl Iterator<Item = Option<Vec<T::T>>>,
) {
    let (mut levels, mut repeats, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let count = row.as_ref().map_or(0, Vec::len);
        let level = row.as_ref().map_or(0, |list| if list.is_empty() { 1 } else { 3 });
        levels.extend(vec![level; count.max(1)]);
        repeats.extend((0..count.max(1)).map(|at| i16::from(at > 0)));
        values.extend(row.into_iter().flatten());
    }
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, Some(&levels), Some(&repeats)).unwrap();
    column.close().unwrap();
}

#[cfg(feature = "parquet")]
fn properties(table: &Table<'_>) -> parquet::file::properties::WriterProperties {
    use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
    let features = serde_json::json!({"info": {"features": {
        table.image: {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": table.names},
    }}});
    let metadata = (!table.names.is_empty()).then(|| {
        vec![parquet::file::metadata::KeyValue::new("huggingface".to_owned(), features.to_string())]
    });
    let image = match table.with_path {
        true => vec![table.image.to_owned(), "bytes".to_owned()],
        false => vec![table.image.to_owned()],
    };
    let version = if table.second_version { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
    WriterProperties::builder()
        .set_writer_version(version)
        .set_data_page_row_count_limit(table.rows_per_page)
        .set_write_batch_size(table.rows_per_page)
        .set_dictionary_enabled(table.dictionary)
        .set_column_encoding(image.into(), table.encoding)
        .set_offset_index_disabled(!table.page_index)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_compression(table.compression)
        .set_key_value_metadata(metadata)
        .build()
}

#[cfg(feature = "parquet")]
type RowGroup<'a> = parquet::file::writer::SerializedRowGroupWriter<'a, std::fs::File>;

/// Writes the next column; rows without a value are null at the innermost of `depth` levels.
#[cfg(feature = "parquet")]
fn column<T: parquet::data_type::DataType>(
    group: &mut RowGroup<'_>,
    depth: i16,
    values: impl Iterator<Item = Option<T::T>>,
) {
    let values: Vec<Option<T::T>> = values.collect();
    let levels: Vec<i16> =
        values.iter().map(|value| if value.is_some() { depth } else { depth - 1 }).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
}

#[cfg(feature = "parquet")]
fn text<'a>(group: &mut RowGroup<'_>, depth: i16, values: impl Iterator<Item = Option<&'a [u8]>>) {
    let values = values.map(|value| value.map(|bytes| bytes.to_vec().into()));
    column::<parquet::data_type::ByteArrayType>(group, depth, values);
}

#[cfg(feature = "parquet")]
fn label_column(group: &mut RowGroup<'_>, labels: &Labels<'_>, rows: std::ops::Range<usize>) {
    use parquet::data_type::{ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
    match labels {
        Labels::Int64(labels) => column::<Int64Type>(group, 1, labels[rows].iter().copied()),
        Labels::Int32(labels) => column::<Int32Type>(group, 1, labels[rows].iter().copied()),
        Labels::UInt8(labels) => {
            column::<Int32Type>(group, 1, labels[rows].iter().map(|label| Some(i32::from(*label))));
        }
        Labels::Float(labels) => column::<FloatType>(group, 1, labels[rows].iter().copied().map(Some)),
        Labels::Text(labels) => {
            text(group, 1, labels[rows].iter().map(|label| label.map(str::as_bytes)));
        }
        Labels::Bytes(images) => text(group, 1, images[rows].iter().copied().map(Some)),
        Labels::Numbers(labels) => lists::<Int64Type>(group, labels[rows].iter().cloned()),
        Labels::Fractions(labels) => lists::<DoubleType>(group, labels[rows].iter().cloned()),
        Labels::Texts(labels) => {
            let bytes = |list: &Vec<&str>| list.iter().map(|text| text.as_bytes().to_vec().into()).collect();
            lists::<ByteArrayType>(group, labels[rows].iter().map(|row| row.as_ref().map(bytes)));
        }
        Labels::NullIn(list) => {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(list, Some(&[3, 2, 3]), Some(&[0, 1, 1])).unwrap();
            column.close().unwrap();
        }
    }
}

/// An idx file of an array of this shape whose numbers have the type `kind`; packed by gzip where the path says so.
pub(crate) fn idx(path: &Path, kind: u8, shape: &[u32], bytes: &[u8]) {
    let mut file = vec![0, 0, kind, shape.len() as u8];
    file.extend(shape.iter().flat_map(|length| length.to_be_bytes()));
    file.extend(bytes);
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => gzip(path, &file),
        false => std::fs::write(path, file).unwrap(),
    }
}

/// A file of gzip that unpacks to `bytes`.
pub(crate) fn gzip(path: &Path, bytes: &[u8]) {
    let file = std::fs::File::create(path).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap();
}

/// A file of CIFAR's binary version: the labels and the interleaved levels of each image.
pub(crate) fn cifar(path: &Path, images: &[(Vec<u8>, Vec<u8>)]) {
    let plane = |levels: &[u8], channel: usize| levels.iter().skip(channel).step_by(3).copied().collect();
    let image = |(labels, levels): &(Vec<u8>, Vec<u8>)| {
        let planes: [Vec<u8>; 3] = [0, 1, 2].map(|channel| plane(levels, channel));
        [labels.clone(), planes.concat()].concat()
    };
    std::fs::write(path, images.iter().flat_map(image).collect::<Vec<u8>>()).unwrap();
}
