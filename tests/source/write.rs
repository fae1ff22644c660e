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
fn field(number: u64, content: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 0x7F {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
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
fn masked(bytes: &[u8]) -> u32 {
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
            compression: parquet::basic::Compression::SNAPPY,
        }
    }
}

/// Path, bytes and label column of a Parquet file, written by the `parquet` crate.
#[cfg(feature = "parquet")]
pub(crate) fn parquet(
    file: &Path,
    table: &Table<'_>,
    rows: &[(&str, Option<&[u8]>)],
    labels: Option<(&str, arrow_array::ArrayRef)>,
) {
    use arrow_array::{ArrayRef, BinaryArray, RecordBatch, StringArray, StructArray};
    use arrow_schema::{DataType, Field, Schema};
    use std::sync::Arc;
    let bytes: ArrayRef = Arc::new(rows.iter().map(|(_, bytes)| *bytes).collect::<BinaryArray>());
    let paths: ArrayRef = Arc::new(rows.iter().map(|(path, _)| Some(*path)).collect::<StringArray>());
    let image: ArrayRef = match table.with_path {
        true => Arc::new(StructArray::from(vec![
            (Arc::new(Field::new("bytes", DataType::Binary, true)), bytes),
            (Arc::new(Field::new("path", DataType::Utf8, true)), paths),
        ])),
        false => bytes,
    };
    let columns: Vec<(&str, ArrayRef)> = [(table.image, image)].into_iter().chain(labels).collect();
    let field = |(name, column): &(&str, ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let features = serde_json::json!({"info": {"features": {
        table.image: {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": table.names},
    }}});
    let metadata = (!table.names.is_empty()).then(|| {
        vec![parquet::file::metadata::KeyValue::new("huggingface".to_owned(), features.to_string())]
    });
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(table.rows_per_group))
        .set_data_page_row_count_limit(table.rows_per_page)
        .set_write_batch_size(table.rows_per_page)
        .set_dictionary_enabled(false)
        .set_offset_index_disabled(!table.page_index)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .set_compression(table.compression)
        .set_key_value_metadata(metadata)
        .build();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    let batch = RecordBatch::try_new(Arc::new(schema), columns).unwrap();
    let file = std::fs::File::create(file).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}
