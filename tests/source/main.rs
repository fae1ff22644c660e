//! Sources from outside: what each promises, what its files may hold, and what is packed of it.

#[cfg(feature = "pack")]
mod coefficients;
mod contract;
mod decorators;
mod fields;
mod folder;
#[cfg(feature = "formats")]
mod formats;
#[cfg(feature = "formats")]
mod hostile;
#[cfg(feature = "pack")]
mod manifest;
#[cfg(feature = "formats")]
mod memory;
mod mixture;
mod multi_label;
mod number_lists;
mod pack;
#[cfg(feature = "pack")]
mod packed;
#[cfg(feature = "formats")]
mod pipes;
mod promises;
mod rasters;
#[cfg(feature = "remote")]
#[allow(dead_code, reason = "faults are for the tests in tests/remote")]
#[path = "../remote/server.rs"]
mod server;
mod shards;
#[cfg(target_os = "linux")]
mod shared;
mod write;
