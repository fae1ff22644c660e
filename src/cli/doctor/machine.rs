//! What this machine has, what this build can use of it, and what will be used by default.

use super::cuda;
use crate::cli::words::device_word;
use feedline::device::Device;
use feedline::loader;
use feedline::machine;
use feedline::simd;
use feedline::source::{FoundCache, shared_caches};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Findings {
    version: &'static str,
    commit: Option<&'static str>,
    target: Option<&'static str>,
    profile: Option<&'static str>,
    rustc: Option<&'static str>,
    /// Cores that this process may use: affinity and the container's quota are taken into account.
    cores: usize,
    memory_mb: Option<u64>,
    memory_available_mb: Option<u64>,
    /// The lower of what the containers around this process allow; none where nothing limits it.
    memory_limit_mb: Option<u64>,
    simd_detected: Vec<&'static str>,
    simd: String,
    /// What `FEEDLINE_SIMD` asks for, if it is set.
    simd_asked: Option<String>,
    cuda: cuda::Findings,
    device: String,
    device_why: String,
    workers: usize,
    prefetch: usize,
    /// Caches that processes share or have left behind.
    caches: Vec<FoundCache>,
}

pub(super) fn examine() -> anyhow::Result<Findings> {
    let device = Device::best()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let noted = |value: Option<&'static str>| value.filter(|value| *value != "unknown");
    Ok(Findings {
        version: env!("CARGO_PKG_VERSION"),
        commit: noted(option_env!("FEEDLINE_COMMIT")),
        target: noted(option_env!("FEEDLINE_TARGET")),
        profile: noted(option_env!("FEEDLINE_PROFILE")),
        rustc: noted(option_env!("FEEDLINE_RUSTC")),
        cores,
        memory_mb: meminfo("MemTotal:"),
        memory_available_mb: meminfo("MemAvailable:"),
        memory_limit_mb: machine::memory_limit().map(|bytes| bytes / 1_000_000),
        simd_detected: detected(),
        simd: simd_word(),
        simd_asked: std::env::var("FEEDLINE_SIMD").ok(),
        cuda: cuda::examine(),
        device: device_word(device),
        device_why: device.describe(),
        workers: cores,
        prefetch: loader::AUTO_PREFETCH.0,
        caches: shared_caches(),
    })
}

/// The level that the pipeline uses, as `FEEDLINE_SIMD` names it.
pub(crate) fn simd_word() -> String {
    format!("{:?}", simd::level()).to_lowercase()
}

#[cfg(target_arch = "x86_64")]
fn detected() -> Vec<&'static str> {
    macro_rules! looked_up {
        ($($feature:tt)*) => { [$(($feature, is_x86_feature_detected!($feature))),*] };
    }
    let features = looked_up!("sse4.1" "avx2" "fma" "bmi2" "avx512f" "avx512bw" "avx512vl" "avx512vbmi");
    features.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn detected() -> Vec<&'static str> {
    simd::Vectors::detected(simd::Level::Neon).neon().map_or_else(Vec::new, |_| vec!["neon"])
}

fn meminfo(field: &str) -> Option<u64> {
    machine::bytes_in("/proc/meminfo", field).map(|bytes| bytes / 1_000_000)
}

pub(super) fn describe(found: &Findings) -> Vec<String> {
    let known =
        |value: Option<u64>| value.map_or("unknown".to_owned(), |megabytes| format!("{megabytes} MB"));
    let commit = found.commit.map(|commit| format!("commit {commit}"));
    let build: Vec<String> = commit.into_iter().chain(found.target.map(str::to_owned)).collect();
    let detected = if found.simd_detected.is_empty() { "none".into() } else { found.simd_detected.join(" ") };
    let asked = found.simd_asked.as_ref().map_or(String::new(), |word| format!(" (FEEDLINE_SIMD={word})"));
    let limit = found.memory_limit_mb.map_or(String::new(), |limit| format!(", limited to {limit} MB"));
    let mut lines = vec![
        format!("feedline  {} {}", found.version, build.join(", ")).trim_end().to_owned(),
        format!("built     {} with {}", found.profile.unwrap_or("?"), found.rustc.unwrap_or("?")),
        format!("cores     {} (affinity and container quota taken into account)", found.cores),
        format!("memory    {}, {} free{limit}", known(found.memory_mb), known(found.memory_available_mb)),
        format!("simd      {} is used{asked}; the machine has {detected}", found.simd),
    ];
    lines.extend(found.cuda.describe());
    lines.extend([
        format!("device    {}: {}", found.device, found.device_why),
        format!(
            "pipeline  {} workers, one a core, and more where reading is waited for; {} batches ahead, up to {} where \
             the waits are uneven",
            found.workers,
            found.prefetch,
            loader::AUTO_PREFETCH.1
        ),
        "storage   not measured: `feedline doctor DATA` measures it".to_owned(),
    ]);
    lines.extend(found.caches.iter().map(cache_line));
    lines
}

fn cache_line(FoundCache { path, bytes, is_used, .. }: &FoundCache) -> String {
    let used = if *is_used { "in use" } else { "used by no process: it may be removed" };
    format!("cache     {}: {:.1} MB, {used}", path.display(), *bytes as f64 / 1e6)
}
