//! Compares the declarations with a real `nvjpeg.h` and a real nvJPEG of the same release; needs a C compiler and no GPU.
//!
//!     header LIBRARY INCLUDE...
//!
//! `LIBRARY` is a `libnvjpeg.so`, and the folders hold `nvjpeg.h` (the first) and the headers of CUDA's runtime that it
//! includes. A name that only one side has, a function of other types, another number, size or offset is an error; so
//! is a function that the library exports and its release should not have, or the other way round. Then the header is
//! spoiled in several ways, each of which must be noticed: a check that notices nothing is no check.

mod c_file;
mod names;

use nvjpeg_sys::declared::Release;
use nvjpeg_sys::{FUNCTIONS, Functions, Library};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Texts of the header and what makes them wrong, one for each way in which header and declarations may differ.
const SPOILED: &[(&str, &str)] = &[
    ("NVJPEG_BACKEND_HARDWARE = 3", "NVJPEG_BACKEND_HARDWARE = 33"),
    ("NVJPEG_CSS_UNKNOWN = -1", "NVJPEG_CSS_UNKNOWN = 99"),
    ("WITH_INTERPOLATION 1<<5", "WITH_INTERPOLATION 1<<6"),
    ("NVJPEG_STATUS_BAD_JPEG", "NVJPEG_STATUS_WORSE_JPEG"),
    ("NVJPEG_BACKEND_HYBRID  = 1,", "NVJPEG_BACKEND_HYBRID  = 1, NVJPEG_BACKEND_NEW = 50,"),
    ("channel[NVJPEG_MAX_COMPONENT]", "channel[NVJPEG_MAX_COMPONENT + 1]"),
    ("size_t    pitch[", "long    pitch["),
    ("void *dev_ctx;", "long dev_ctx;"),
    ("void *pinned_ctx;", "void *pinned_ctx; void *more;"),
    ("(*tDevFreeV2)(void* ctx, void *ptr, size_t size,", "(*tDevFreeV2)(void* ctx, size_t size, void *ptr,"),
    ("nvjpegSetDeviceMemoryPadding(size_t padding", "nvjpegSetDeviceMemoryPadding(unsigned padding"),
    ("          int max_cpu_threads,", ""),
    ("const size_t *lengths", "size_t *lengths"),
    ("nvjpegDestroy(nvjpegHandle_t handle);", "nvjpegDestroy(nvjpegJpegState_t handle);"),
    ("nvjpegStatus_t NVJPEGAPI nvjpegDestroy", "void NVJPEGAPI nvjpegDestroy"),
    (
        "nvjpegStatus_t NVJPEGAPI nvjpegDestroy(",
        "int NVJPEGAPI nvjpegNew(void); nvjpegStatus_t nvjpegDestroy(",
    ),
];

fn main() -> ExitCode {
    match check() {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Checks what the command line names, and says what was found to be as declared.
fn check() -> Result<String, String> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(library), folders) = (arguments.next(), arguments.collect::<Vec<_>>()) else {
        return Err("usage: header LIBRARY INCLUDE...".to_owned());
    };
    let first = folders.first().ok_or("no folder with nvjpeg.h")?.join("nvjpeg.h");
    let header = std::fs::read_to_string(&first).map_err(|error| format!("{}: {error}", first.display()))?;
    let release = names::release(&header)?;
    let work = std::env::temp_dir().join(format!("nvjpeg-header-{}", std::process::id()));
    std::fs::create_dir_all(&work).map_err(|error| error.to_string())?;
    let done = compare_all(&header, release, &folders, &work).and_then(|()| exports(&library, release));
    std::fs::remove_dir_all(&work).map_err(|error| error.to_string())?;
    done?;
    let functions = FUNCTIONS.iter().filter(|function| function.span.holds(release)).count();
    let (major, minor, patch) = release;
    let mistakes = SPOILED.len();
    Ok(format!(
        "nvJPEG {major}.{minor}.{patch}: {functions} functions as declared, {mistakes} mistakes noticed"
    ))
}

/// Compares the header with the declarations, and spoiled ones as well.
fn compare_all(header: &str, release: Release, folders: &[PathBuf], work: &Path) -> Result<(), String> {
    compare(header, release, folders, work)?;
    for (right, wrong) in SPOILED {
        if !header.contains(right) {
            return Err(format!("the header lacks `{right}`, which was to be spoiled"));
        }
        if compare(&header.replacen(right, wrong, 1), release, folders, work).is_ok() {
            return Err(format!("`{wrong}` in place of `{right}` is not noticed"));
        }
    }
    Ok(())
}

fn compare(header: &str, release: Release, folders: &[PathBuf], work: &Path) -> Result<(), String> {
    let differences = names::differences(header, release);
    if !differences.is_empty() {
        return Err(differences.join("\n"));
    }
    let file = work.join("declarations.c");
    let write = |path: &Path, text: &str| std::fs::write(path, text).map_err(|error| error.to_string());
    write(&work.join("nvjpeg.h"), header)?;
    write(&file, &c_file::c_file(release)?)?;
    let output = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(work)
        .args(folders.iter().flat_map(|folder| [Path::new("-isystem"), folder]))
        .arg(&file)
        .output()
        .map_err(|error| format!("cc: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

/// Compares what the library exports with what its release should have.
fn exports(path: &Path, release: Release) -> Result<(), String> {
    // The functions that decoding needs, under their types.
    let Library { functions, .. } =
        Library::open_first(vec![path.to_owned()]).map_err(|error| error.to_string())?;
    if version(&functions) != release {
        return Err(format!(
            "{} is version {:?}, and the header is of {release:?}",
            path.display(),
            version(&functions)
        ));
    }
    // SAFETY: it is loaded already.
    let library = unsafe { libloading::Library::new(path) }.map_err(|error| error.to_string())?;
    for function in FUNCTIONS {
        // SAFETY: the symbol is only looked for, never called or read.
        let there = unsafe { library.get::<*const ()>(function.name) }.is_ok();
        if there != function.span.holds(release) {
            let does = if there { "exports" } else { "does not export" };
            return Err(format!("{} {does} {}", path.display(), function.name));
        }
    }
    // It is never unloaded: its exit handlers run its code.
    std::mem::forget(library);
    Ok(())
}

fn version(functions: &Functions) -> Release {
    let part = |property| {
        let mut value = 0;
        // SAFETY: one number to be written.
        unsafe { (functions.nvjpegGetProperty)(property, &mut value) };
        value.unsigned_abs()
    };
    (part(nvjpeg_sys::MAJOR_VERSION), part(nvjpeg_sys::MINOR_VERSION), part(nvjpeg_sys::PATCH_LEVEL))
}
