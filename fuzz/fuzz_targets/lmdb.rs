//! Any bytes as an LMDB environment: an error or samples, no more of them than its bytes can hold, and the same ones in any
//! order.
#![no_main]

mod records;
mod scratch;

use feedline::source::{Lmdb, Source};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let file = scratch::write("data.mdb", input);
    if let Ok(source) = Lmdb::open(&file) {
        // A page has 8 bytes for each node at least.
        assert!(source.len() <= input.len() / 8);
        records::check(&source);
    }
    // The database of this name, if there is one.
    if let Ok(source) = Lmdb::options().database("images").open(file) {
        records::check(&source);
    }
});
