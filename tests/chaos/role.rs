//! What a process of this program is for, as its environment says.

use crate::case::Case;
use crate::device;
use crate::judge::Verdict;
use crate::{children, soak, watch};
use feedline::device::Device;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const ROLE: &str = "FEEDLINE_CHAOS_ROLE";
const FOLDER: &str = "FEEDLINE_CHAOS_FOLDER";
pub(crate) const SEED: &str = "FEEDLINE_CHAOS_SEED";
/// Where batches are made: `cpu` or `device`.
pub(crate) const ON: &str = "FEEDLINE_CHAOS_ON";

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// Runs case after case.
    Soak,
    /// Trains, and is killed.
    Train,
    /// Packs, and is killed.
    Pack,
    /// Runs a case although nothing can be written.
    Full,
}

impl Role {
    const ALL: [Self; 4] = [Self::Soak, Self::Train, Self::Pack, Self::Full];

    /// That of this process; none where it only starts others.
    pub(crate) fn of_this_process() -> Option<Self> {
        let word = std::env::var(ROLE).ok()?;
        Self::ALL.into_iter().find(|role| role.word() == word)
    }

    pub(crate) fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    pub(crate) fn play(self) -> ExitCode {
        watch::start();
        let played = device::lend_the_decoder().and_then(|()| match self {
            Self::Soak => soak::run(),
            Self::Train => with_case(children::train),
            Self::Pack => with_case(children::pack),
            Self::Full => with_case(children::full),
        });
        match played {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("FAILED: {error}");
                ExitCode::FAILURE
            }
        }
    }
}

fn with_case(act: fn(&Case, &Path) -> Verdict) -> Verdict {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).ok_or("no seed")?;
    let folder = std::env::var_os(FOLDER).ok_or("no folder")?;
    watch::case(seed);
    act(&Case::draw(seed, device()), Path::new(&folder))
}

/// The device that this process makes batches on.
pub(crate) fn device() -> Device {
    match std::env::var(ON).as_deref() {
        Ok("device") => Device::Cuda { ordinal: 0 },
        _ => Device::Cpu,
    }
}

pub(crate) fn program() -> PathBuf {
    std::env::current_exe().expect("this program has a path")
}

/// Tells a process its role, its case and its folder.
pub(crate) fn describe<'a>(
    command: &'a mut Command,
    role: Role,
    case: &Case,
    folder: &Path,
) -> &'a mut Command {
    command.env(ROLE, role.word()).env(SEED, case.seed.to_string()).env(FOLDER, folder)
}

/// A process that runs case after case.
pub(crate) fn soaking() -> Command {
    let mut command = Command::new(program());
    command.env(ROLE, Role::Soak.word()).env("RUST_BACKTRACE", "0");
    // What was freed goes back to the system, or the allocator's habits with hundreds of threads hide what is kept.
    command
        .env("MALLOC_ARENA_MAX", "2")
        .env("MALLOC_TRIM_THRESHOLD_", "65536")
        .env("MALLOC_MMAP_THRESHOLD_", "65536");
    command
}
