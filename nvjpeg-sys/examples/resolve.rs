//! Loads a library that is named, or the one that would be found, and says which functions it has: a check of the
//! declarations against a real nvJPEG, which needs no GPU.

use nvjpeg_sys::{Functions, Library, OpenError};

fn main() -> Result<(), OpenError> {
    let named: Vec<std::path::PathBuf> = std::env::args_os().skip(1).map(Into::into).collect();
    let library = if named.is_empty() { Library::open()? } else { Library::open_first(named)? };
    let version = |property| {
        let mut value = -1;
        // SAFETY: one number to be written.
        unsafe { (library.functions.nvjpegGetProperty)(property, &mut value) };
        value
    };
    println!(
        "{}: version {}.{}.{}, all of {} required functions",
        library.path.display(),
        version(nvjpeg_sys::MAJOR_VERSION),
        version(nvjpeg_sys::MINOR_VERSION),
        version(nvjpeg_sys::PATCH_LEVEL),
        Functions::REQUIRED.len(),
    );
    Ok(())
}
