//! What `feedline doctor` says of CUDA: the driver, its devices, nvJPEG, and for each that is missing the remedy.

use serde::Serialize;

/// What there is of CUDA.
#[derive(Serialize)]
pub(super) struct Findings {
    /// Whether the first device can be used.
    usable: bool,
    #[serde(flatten)]
    lacks: Lacks,
    /// The newest CUDA that the driver knows.
    driver: Option<String>,
    devices: Vec<Device>,
    nvjpeg: Nvjpeg,
}

#[derive(Serialize)]
struct Device {
    ordinal: u32,
    name: String,
    compute_capability: String,
    memory_mb: u64,
    /// No GPU, but a driver made for tests.
    simulated: bool,
    usable: bool,
    /// How JPEGs are decoded for it.
    decoding: Option<String>,
    /// Where its kernels come from.
    kernels: String,
    /// The flags that nvJPEG's decoders were opened with.
    engine_flags: Option<u32>,
    hybrid_flags: Option<u32>,
    /// For being used at all, or for decoding better.
    #[serde(flatten)]
    lacks: Lacks,
}

#[derive(Serialize, Default)]
struct Nvjpeg {
    path: Option<String>,
    version: Option<String>,
    /// Whether it decodes parts of images right.
    decodes_parts: Option<bool>,
    /// Libraries that were found ahead of it and do not work.
    passed_over: Vec<String>,
    #[serde(flatten)]
    lacks: Lacks,
}

/// Why something cannot be used, and what to do about it; none of both if it can.
#[derive(Clone, Serialize, Default)]
struct Lacks {
    why: Option<String>,
    remedy: Option<String>,
}

#[cfg(feature = "cuda")]
impl From<Option<feedline::device::cuda::Missing>> for Lacks {
    fn from(missing: Option<feedline::device::cuda::Missing>) -> Self {
        let (why, remedy) = missing.map(|missing| (missing.why, missing.remedy)).unzip();
        Self { why, remedy }
    }
}

#[cfg(feature = "cuda")]
pub(super) fn examine() -> Findings {
    use feedline::device::cuda;
    let survey = cuda::survey();
    let first = survey.devices.clone().and_then(|devices| {
        let first = devices.into_iter().next().map_or_else(|| cuda::find(0), Ok)?;
        first.usable
    });
    let nvjpeg = match survey.nvjpeg {
        Ok(found) => Nvjpeg {
            path: Some(found.path.display().to_string()),
            version: Some(found.version),
            decodes_parts: Some(found.decodes_parts),
            passed_over: found.passed_over,
            ..Nvjpeg::default()
        },
        Err(missing) => Nvjpeg { lacks: Some(missing).into(), ..Nvjpeg::default() },
    };
    Findings {
        usable: first.is_ok(),
        lacks: first.err().into(),
        driver: survey.driver.ok().map(|(major, minor)| format!("{major}.{minor}")),
        devices: survey.devices.unwrap_or_default().into_iter().map(device).collect(),
        nvjpeg,
    }
}

#[cfg(feature = "cuda")]
fn device(found: feedline::device::cuda::Found) -> Device {
    use feedline::device::cuda::Decoding;
    let (major, minor) = found.compute_capability;
    let lacks = match &found.usable {
        Ok(Decoding::Hybrid { engines, .. }) => Some(engines.clone()),
        Ok(Decoding::Cpu { nvjpeg }) => Some(nvjpeg.clone()),
        Ok(_) => None,
        Err(missing) => Some(missing.clone()),
    };
    let (engine_flags, hybrid_flags) = match &found.usable {
        Ok(Decoding::Engines { flags, hybrid, .. }) => (Some(flags.bits()), Some(hybrid.bits())),
        Ok(Decoding::Hybrid { flags, .. }) => (None, Some(flags.bits())),
        _ => (None, None),
    };
    Device {
        engine_flags,
        hybrid_flags,
        ordinal: found.ordinal,
        compute_capability: format!("{major}.{minor}"),
        memory_mb: found.memory_bytes / 1_000_000,
        simulated: found.is_simulated(),
        kernels: found.kernels(),
        usable: found.usable.is_ok(),
        decoding: found.usable.ok().map(|decoding| decoding.to_string()),
        name: found.name,
        lacks: lacks.into(),
    }
}

#[cfg(not(feature = "cuda"))]
pub(super) fn examine() -> Findings {
    let lacks = Lacks {
        why: Some("this build was made without the feature `cuda`".to_owned()),
        remedy: Some("build with it: it is one of the default features".to_owned()),
    };
    let nvjpeg = Nvjpeg { lacks: lacks.clone(), ..Nvjpeg::default() };
    Findings { usable: false, lacks, driver: None, devices: Vec::new(), nvjpeg }
}

impl Findings {
    /// The lines for people: one for the driver, one for each device, one for nvJPEG, and the remedies below.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.driver {
            Some(version) => lines.push(format!("cuda      the driver knows CUDA {version}")),
            None => lines.push(format!("cuda      {}", self.lacks.why.as_deref().unwrap_or("unknown"))),
        }
        for device in &self.devices {
            let simulated = if device.simulated { ", SIMULATED" } else { "" };
            let usable = |decoding| format!("{decoding}, {}", device.kernels);
            let state = device.decoding.as_ref().map_or_else(|| "not usable".to_owned(), usable);
            lines.push(format!(
                "  cuda:{}  {} ({}, {} MB{simulated}): {state}",
                device.ordinal, device.name, device.compute_capability, device.memory_mb
            ));
            lines.extend(device.lacks.describe());
        }
        if self.devices.is_empty() {
            // The driver's line holds the reason already where there is no driver.
            let why = self.driver.as_ref().and(self.lacks.why.clone());
            lines.extend(Lacks { why, ..self.lacks.clone() }.describe());
        }
        let Nvjpeg { path, version, decodes_parts, passed_over, lacks } = &self.nvjpeg;
        lines.push(match (path, version) {
            (Some(path), Some(version)) => {
                let whole = if *decodes_parts == Some(true) { "" } else { ", whole images only" };
                format!("nvjpeg    {version}{whole} ({path})")
            }
            _ => "nvjpeg    not used".to_owned(),
        });
        lines.extend(passed_over.iter().map(|library| format!("          passed over: {library}")));
        lines.extend(lacks.describe());
        lines
    }
}

impl Lacks {
    fn describe(&self) -> impl Iterator<Item = String> {
        let remedy = self.remedy.as_ref().map(|remedy| format!("to do: {remedy}"));
        self.why.clone().into_iter().chain(remedy).map(|text| format!("          {text}"))
    }
}
