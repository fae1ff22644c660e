//! A folder for the files that a fuzz target writes, one for each process, in memory where the machine has such a place.

use std::path::{Path, PathBuf};

/// The folder, made at the first call.
pub fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let above = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    above.join(format!("feedline-fuzz-{}", std::process::id()))
}

/// Writes a file there, and the folders above it.
pub fn write(path: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(path);
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).expect("a folder for scratch files");
    }
    std::fs::write(&path, bytes).expect("a scratch file");
    path
}
