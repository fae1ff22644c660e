//! Small files that claim much, and files that lead round in circles: of each kind of container, and of what lies beside them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unused_imports, reason = "memory is measured on Linux")
)]

mod lmdb;
mod parquet;
mod sidecars;
mod tar;
mod tfrecord;

pub(crate) use lmdb::{a_tree_of_countless_ways, a_tree_that_leads_back, edited, one_page_many_times};
pub(crate) use parquet::{
    copies_of_the_one_before, footer_of_booleans, index_of_too_many_pages, indexes_far_apart,
    list_over_pages, long_name_above_many_columns, many_columns, one_image_many_times,
    page_larger_than_its_place, schema_behind_variants, schema_of_any_depth, size_said_twice, with_columns,
};
pub(crate) use sidecars::{index_of_a_long_record, labels_of_too_many_bytes, table_of_too_many_images};
pub(crate) use tar::long_name;
pub(crate) use tfrecord::{feature_of_many_values, long_feature, long_record, many_features};
