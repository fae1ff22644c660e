//! Notes what the binary was built from, for `feedline doctor` and `feedline --version`, and puts the kernels' PTX where
//! the crate embeds it: what is checked in, or, with `FEEDLINE_NVCC=/path/to/nvcc`, what that compiler makes; with
//! `FEEDLINE_CUBINS=FOLDER` machine code for some GPUs besides. For the feature `tch` it compiles the one call that tch does
//! not have.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The kernels, by file.
const KERNELS: [&str; 25] = [
    "taps",
    "measure",
    "tables",
    "filter",
    "neighbours",
    "clahe_tables",
    "clahe",
    "lightness_sums",
    "sensor",
    "compress_planes",
    "compress_pixels",
    "distort",
    "crop",
    "render",
    "blend",
    "blend_erased",
    "object_masks",
    "sentinels",
    "huffman_tables",
    "entropy",
    "expand",
    "synchronise",
    "prefix",
    "inverse_dct",
    "planes_to_rgb",
];

/// The architectures that `kernels/build.py --cubins` assembles the kernels for.
const CUBINS: [u32; 3] = [80, 90, 100];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| "unknown".into());
    note("COMMIT", &commit().unwrap_or_else(|| "unknown".into()));
    note("TARGET", &variable("TARGET"));
    note("PROFILE", &variable("PROFILE"));
    note("RUSTC", &output(&variable("RUSTC"), &["--version"]).unwrap_or_else(|| "unknown".into()));
    if std::env::var_os("CARGO_FEATURE_CUDA").is_some()
        && let Err(why) = kernels(Path::new(&variable("OUT_DIR")))
    {
        println!("cargo::error={why}");
    }
    #[cfg(feature = "tch")]
    torch();
}

/// Compiles `src/dlpack/tch.cpp` against the torch that torch-sys has found, and lets this package's own programs find that
/// torch when they run.
#[cfg(feature = "tch")]
fn torch() {
    println!("cargo::rerun-if-env-changed=LIBTORCH_INCLUDE");
    println!("cargo::rerun-if-changed=src/dlpack/tch.cpp");
    // Where there is none, torch-sys was built for documentation or lints only, by its feature `doc-only`.
    let Some(libraries) = std::env::var_os("DEP_TCH_LIBTORCH_LIB").map(PathBuf::from) else { return };
    let beside = libraries.parent().map(Path::to_path_buf).unwrap_or_default();
    let root = std::env::var_os("LIBTORCH_INCLUDE").map_or(beside, PathBuf::from);
    let include = root.join("include");
    if !include.join("ATen/DLConvertor.h").is_file() {
        println!(
            "cargo::error={} has no ATen/DLConvertor.h: set LIBTORCH (and LIBTORCH_INCLUDE, if the headers lie \
             elsewhere) to a whole libtorch, as docs/rust-trainer.md says",
            include.display()
        );
        return;
    }
    cc::Build::new()
        .cpp(true)
        .std("c++17") // as torch-sys's own
        .warnings(false) // torch's headers have many
        .include(include)
        .file("src/dlpack/tch.cpp")
        .compile("feedline_tch");
    for kind in ["tests", "examples"] {
        println!("cargo::rustc-link-arg-{kind}=-Wl,-rpath,{}", libraries.display());
        // Nothing names a symbol of it, so a linker that links as needed leaves it out, and CUDA with it.
        if libraries.join("libtorch_cuda.so").is_file() {
            println!("cargo::rustc-link-arg-{kind}=-Wl,--no-as-needed,-ltorch_cuda,--as-needed");
        }
    }
}

/// Writes each kernel's PTX, and a zero behind it, to `folder`.
fn kernels(folder: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=FEEDLINE_NVCC");
    println!("cargo::rerun-if-changed=kernels");
    let compiler = std::env::var_os("FEEDLINE_NVCC").map(PathBuf::from);
    let stamp =
        format!("// feedline kernels of sources {:016x}\n", stamp().map_err(|e| format!("kernels: {e}"))?);
    for name in KERNELS {
        let target = folder.join(format!("{name}.ptx"));
        let mut ptx = match &compiler {
            Some(nvcc) => compiled(nvcc, name, &target)?,
            None => {
                let path = format!("kernels/prebuilt/{name}.ptx");
                let ptx = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
                if !ptx.starts_with(stamp.as_bytes()) {
                    return Err(format!(
                        "{path} was made from other sources than those in kernels/: run `kernels/build.py VENV`, \
                         or set FEEDLINE_NVCC to a compiler"
                    ));
                }
                ptx
            }
        };
        ptx.push(0);
        std::fs::write(&target, ptx).map_err(|error| format!("{}: {error}", target.display()))?;
    }
    cubins(folder, stamp.trim_end())
}

/// Writes the table of embedded cubins, `(kernel, architecture, bytes)`: empty unless a folder of them is named.
fn cubins(folder: &Path, stamp: &str) -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=FEEDLINE_CUBINS");
    let mut table = String::from("&[\n");
    if let Some(from) = std::env::var_os("FEEDLINE_CUBINS").map(PathBuf::from) {
        let from = std::path::absolute(&from).map_err(|error| format!("FEEDLINE_CUBINS: {error}"))?;
        println!("cargo::rerun-if-changed={}", from.display());
        let made_from = std::fs::read_to_string(from.join("stamp")).unwrap_or_default();
        if made_from.trim_end() != stamp {
            return Err(format!(
                "FEEDLINE_CUBINS={}: there are no cubins of the sources in kernels/: run `kernels/build.py VENV \
                 --cubins FOLDER`",
                from.display()
            ));
        }
        for name in KERNELS {
            for architecture in CUBINS {
                let path = from.join(format!("{name}.sm_{architecture}.cubin"));
                table += &format!("    ({name:?}, {architecture}, include_bytes!({path:?})),\n");
            }
        }
    }
    let target = folder.join("cubins.rs");
    std::fs::write(&target, table + "]\n").map_err(|error| format!("{}: {error}", target.display()))
}

/// What a compiler at hand makes of a kernel; the flags are those of `kernels/build.py`.
fn compiled(nvcc: &Path, name: &str, target: &Path) -> Result<Vec<u8>, String> {
    let mut command = Command::new(nvcc);
    command.args(["-ptx", "-std=c++17", "-arch=compute_75", "-O3", "-fmad=false", "-o"]).arg(target);
    let ran = command.arg(source(name)).output();
    let ran = ran.map_err(|error| format!("FEEDLINE_NVCC={}: {error}", nvcc.display()))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr).replace('\n', "; ");
        return Err(format!("FEEDLINE_NVCC={}: {name}.cu: {said}", nvcc.display()));
    }
    std::fs::read(target).map_err(|error| format!("{}: {error}", target.display()))
}

/// The file of a kernel: in its own room, where it is one of the JPEG decoder's.
fn source(name: &str) -> PathBuf {
    let own = PathBuf::from(format!("kernels/jpeg/{name}.cu"));
    if own.is_file() { own } else { PathBuf::from(format!("kernels/{name}.cu")) }
}

/// FNV-1a, 64 bits, over the names and bytes of the kernels' sources, as `kernels/build.py` computes it.
fn stamp() -> std::io::Result<u64> {
    let mut names = Vec::new();
    for room in ["", "jpeg/"] {
        for entry in std::fs::read_dir(Path::new("kernels").join(room))? {
            names.push(format!("{room}{}", entry?.file_name().to_string_lossy()));
        }
    }
    names.retain(|name| [".cu", ".cuh", ".h"].iter().any(|end| name.ends_with(end)));
    names.sort();
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for name in names {
        let bytes = std::fs::read(Path::new("kernels").join(&name))?;
        for byte in name.bytes().chain([0]).chain(bytes).chain([0]) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    Ok(state)
}

fn note(name: &str, value: &str) {
    println!("cargo::rustc-env=FEEDLINE_{name}={value}");
}

/// The commit, if this is a checkout of its own: a packaged crate inside another checkout must not take that one's.
fn commit() -> Option<String> {
    if !Path::new(".git").exists() {
        return None;
    }
    // HEAD changes with the branch, its log with every commit; in a worktree neither lies in .git itself.
    for file in ["HEAD", "logs/HEAD"] {
        let path = output("git", &["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    output("git", &["rev-parse", "--short=12", "HEAD"])
}

/// The first line that a command prints, if there is such a command and it succeeds.
fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output =
        Command::new(command).args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}
