//! Records as TFRecord files hold them, made of features.

use super::checksum;
use super::example::{Example, Feature, Features};
use prost::Message;

/// The frame, the data and their checksums of one `tf.train.Example`, whose features are written in the order of their
/// names.
pub(crate) fn record(features: impl IntoIterator<Item = (String, Feature)>) -> Vec<u8> {
    let example = Example { features: Some(Features { feature: features.into_iter().collect() }) };
    let length = (example.encoded_len() as u64).to_le_bytes();
    let mut record = Vec::with_capacity(example.encoded_len() + 16);
    record.extend_from_slice(&length);
    record.extend_from_slice(&checksum(&length).to_le_bytes());
    let data = record.len();
    record.append(&mut example.encode_to_vec());
    let sum = checksum(&record[data..]);
    record.extend_from_slice(&sum.to_le_bytes());
    record
}
