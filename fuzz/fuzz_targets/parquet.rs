//! Any bytes as a Parquet file: an error or bad samples, and the same ones in any order.
#![no_main]

mod records;
mod scratch;

use feedline::source::Parquet;
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    // The crate that decodes Parquet may panic, of which the source makes an error; the fuzzer would end the process
    // before that. Any other panic still ends it.
    init: std::panic::set_hook(Box::new(|panic| eprintln!("{panic}"))),
    |input: &[u8]| {
        let file = scratch::write("a.parquet", input);
        let Ok(source) = Parquet::options().cache_bytes(0).open(file) else { return };
        records::check(&source);
    }
);
