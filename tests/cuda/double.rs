//! The simulated libraries: built once per test run, and chosen by a child's environment.

use crate::scenario::{Libraries, Scenario};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};

/// How the simulated libraries are built: by `FEEDLINE_TESTDOUBLE`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Variant {
    /// Guard pages around memory; the fastest.
    Plain,
    /// With AddressSanitizer and UndefinedBehaviorSanitizer.
    Asan,
    /// With ThreadSanitizer.
    Tsan,
}

impl Variant {
    pub(crate) fn chosen() -> Result<Self, String> {
        match std::env::var("FEEDLINE_TESTDOUBLE").as_deref() {
            Err(_) | Ok("plain") => Ok(Self::Plain),
            Ok("asan") => Ok(Self::Asan),
            Ok("tsan") => Ok(Self::Tsan),
            Ok(other) => Err(format!("FEEDLINE_TESTDOUBLE={other}: use plain, asan or tsan")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Asan => "asan",
            Self::Tsan => "tsan",
        }
    }

    /// What a child must load first: a sanitizer's runtime sees only memory that was allocated after it, and exceptions
    /// only of a C++ library that is there when it starts.
    fn preloaded(self) -> Result<Option<String>, String> {
        let runtime = match self {
            Self::Plain => return Ok(None),
            Self::Asan => "libasan.so",
            Self::Tsan => "libtsan.so",
        };
        Ok(Some(format!("{}:{}", library(runtime)?, library("libstdc++.so.6")?)))
    }
}

/// Which kernels run: by `FEEDLINE_KERNELS`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kernels {
    /// Their sources, as g++ compiles them.
    Source,
    /// The PTX that the library embeds, translated to C++.
    Ptx,
}

impl Kernels {
    fn chosen() -> Result<Self, String> {
        match std::env::var("FEEDLINE_KERNELS").as_deref() {
            Err(_) | Ok("source") => Ok(Self::Source),
            Ok("ptx") => Ok(Self::Ptx),
            Ok(other) => Err(format!("FEEDLINE_KERNELS={other}: use source or ptx")),
        }
    }
}

/// What FAKECUDA says to a child: the mode with its faults, which kernels there must be, and what the scenario adds.
pub(crate) fn asked(mode: &str, scenario: &Scenario) -> Result<String, String> {
    let kernels = match Kernels::chosen()? {
        Kernels::Source => "",
        Kernels::Ptx => ",ptx=1",
    };
    Ok(format!("{mode}{kernels}{}", scenario.driver))
}

/// Where one of the compiler's libraries lies.
fn library(name: &str) -> Result<String, String> {
    let output = Command::new("g++").arg(format!("-print-file-name={name}")).output();
    let path = output.map_err(|error| remedy(&format!("g++: {error}")))?.stdout;
    let path = String::from_utf8_lossy(&path).trim().to_owned();
    // Where there is none, g++ prints the name as it was given.
    if Path::new(&path).is_absolute() { Ok(path) } else { Err(remedy(&format!("there is no {name}"))) }
}

fn remedy(what: &str) -> String {
    format!(
        "the simulated CUDA libraries cannot be built: {what}. They need g++ and make (Debian: apt-get install g++ \
         make); FEEDLINE_CUDA=real tests on a GPU instead"
    )
}

/// Where the libraries of a variant are built.
fn folder(variant: Variant) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(Path::new("target"));
    target.join("testdouble").join(variant.name())
}

/// The folder with the libraries of a variant, and below it those without one function.
fn whole(variant: Variant) -> Result<PathBuf, String> {
    Ok(match Kernels::chosen()? {
        Kernels::Source => folder(variant),
        Kernels::Ptx => folder(variant).join("ptx"),
    })
}

/// Builds what is not built yet, and remembers how it went: make is asked once for each set of libraries.
fn build(variant: Variant, lacking: &'static str) -> Result<(), String> {
    static BUILT: OnceLock<Mutex<HashMap<&'static str, Result<(), String>>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().map_err(|_| "a build panicked")?;
    built.entry(lacking).or_insert_with(|| make(variant, lacking)).clone()
}

fn make(variant: Variant, lacking: &str) -> Result<(), String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdouble");
    let kernels = if Kernels::chosen()? == Kernels::Ptx { "ptx" } else { "source" };
    let output = Command::new("make")
        .args(["--silent", "--jobs=2", "--directory"])
        .arg(sources)
        .arg(format!("V={}", variant.name()))
        .arg(format!("KERNELS={kernels}"))
        .arg(format!("OUT={}", folder(variant).display()))
        .arg(format!("LACKING={lacking}"))
        .output()
        .map_err(|error| remedy(&format!("make: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(remedy(&format!("make ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr))))
}

/// The environment in which a child finds the simulated libraries that its scenario asks for.
pub(crate) fn environment(scenario: &Scenario) -> Result<Vec<(&'static str, String)>, String> {
    let variant = Variant::chosen()?;
    let whole = whole(variant)?;
    let libraries = match scenario.libraries {
        Libraries::Whole | Libraries::DriverOnly => {
            build(variant, "")?;
            whole
        }
        Libraries::Wheels => {
            build(variant, "")?;
            wheels(&whole).map_err(|error| format!("{}: {error}", whole.display()))?
        }
        Libraries::Without(function) => {
            build(variant, function)?;
            whole.join(format!("without-{function}"))
        }
        Libraries::None => {
            build(variant, "")?;
            empty_folder(&whole).map_err(|error| format!("{}: {error}", whole.display()))?
        }
    };
    let mut search = libraries.display().to_string();
    if let Ok(before) = std::env::var("LD_LIBRARY_PATH") {
        search = format!("{search}:{before}");
    }
    let nvjpeg = match scenario.libraries {
        Libraries::DriverOnly => libraries.join("no-libnvjpeg"),
        // As good as not set.
        Libraries::Wheels => PathBuf::new(),
        _ => libraries.join("libnvjpeg.so.13"),
    };
    let mut set = vec![
        ("LD_LIBRARY_PATH", search),
        ("FEEDLINE_NVJPEG", nvjpeg.display().to_string()),
        ("FEEDLINE_TEST_WHEELS", libraries.display().to_string()),
        ("FAKENVJPEG", scenario.nvjpeg.to_owned()),
        ("FAKENVML", scenario.nvml.to_owned()),
        // Freed memory is filled with rubbish, so that who reads it later, such as a copy that is late, is seen.
        ("MALLOC_PERTURB_", "165".to_owned()),
    ];
    if let Some(runtime) = variant.preloaded()? {
        set.push(("LD_PRELOAD", runtime));
        set.push(("ASAN_OPTIONS", "exitcode=66:detect_leaks=0:detect_stack_use_after_return=0".into()));
        set.push(("UBSAN_OPTIONS", "print_stacktrace=1".into()));
        set.push(("TSAN_OPTIONS", TSAN_OPTIONS.into()));
    }
    Ok(set)
}

/// Rust's channels and locks are not instrumented, so ThreadSanitizer would take what they order for races of host
/// threads. Only the device's own timelines are judged; the modes of the scheduler judge the host's.
const TSAN_OPTIONS: &str = "exitcode=66:atexit_sleep_ms=0:ignore_interceptors_accesses=1";

/// A folder with the driver and, as in `site-packages`, the wheels that hold nvJPEG. The system's search finds none there.
fn wheels(beside: &Path) -> std::io::Result<PathBuf> {
    static MADE: Mutex<()> = Mutex::new(());
    let _made = MADE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = beside.join("wheels");
    let copies = [
        ("libcuda.so.1", "libcuda.so.1"),
        ("libnvjpeg.so.13", crate::libraries::NVIDIAS),
        ("libnvjpeg.so.13", crate::libraries::TORCHVISIONS),
    ];
    for (from, to) in copies {
        let (from, to) = (beside.join(from), folder.join(to));
        let newer = |from: &Path, to: &Path| {
            Ok::<_, std::io::Error>(from.metadata()?.modified()? > to.metadata()?.modified()?)
        };
        // Another child may have it open: a file that is up to date is left as it is, and another one replaced.
        if newer(&from, &to).unwrap_or(true) {
            std::fs::create_dir_all(to.parent().unwrap_or(&folder))?;
            let made = to.with_extension("new");
            std::fs::copy(&from, &made)?;
            std::fs::rename(&made, &to)?;
        }
    }
    Ok(folder)
}

/// A folder in which the driver's name stands on a file that is none: the loader stops there, also on a machine that
/// has a driver.
fn empty_folder(beside: &Path) -> std::io::Result<PathBuf> {
    let folder = beside.join("none");
    std::fs::create_dir_all(&folder)?;
    for name in ["libcuda.so.1", "libcuda.so"] {
        std::fs::write(folder.join(name), "no library\n")?;
    }
    Ok(folder)
}
