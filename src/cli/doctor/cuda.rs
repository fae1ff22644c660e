//! What `feedline doctor` says of CUDA: the driver, its devices, nvJPEG, and for each that is missing the remedy.

use serde::Serialize;

/// What there is of CUDA.
#[derive(Serialize)]
pub(super) struct Findings {
    /// Whether the first device can be used.
    pub(super) usable: bool,
    /// Why not; none if it can.
    pub(super) why: Option<String>,
    remedy: Option<String>,
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
    /// What it lacks, to be used at all or to decode better.
    why: Option<String>,
    remedy: Option<String>,
}

#[derive(Serialize, Default)]
struct Nvjpeg {
    path: Option<String>,
    version: Option<String>,
    /// Whether it decodes parts of images right.
    decodes_parts: Option<bool>,
    why: Option<String>,
    remedy: Option<String>,
}

#[cfg(feature = "cuda")]
pub(super) fn examine() -> Findings {
    use feedline::device::cuda;
    let survey = cuda::survey();
    let first = match &survey.devices {
        Ok(devices) => match devices.first() {
            Some(device) => device.usable.clone().map(|_| ()),
            None => cuda::find(0).map(|_| ()),
        },
        Err(missing) => Err(missing.clone()),
    };
    let (why, remedy) = first.clone().err().map(|missing| (missing.why, missing.remedy)).unzip();
    let nvjpeg = match survey.nvjpeg {
        Ok(found) => Nvjpeg {
            path: Some(found.path.display().to_string()),
            version: Some(found.version),
            decodes_parts: Some(found.decodes_parts),
            ..Nvjpeg::default()
        },
        Err(missing) => Nvjpeg { why: Some(missing.why), remedy: Some(missing.remedy), ..Nvjpeg::default() },
    };
    Findings {
        usable: first.is_ok(),
        why,
        remedy,
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
        Ok(Decoding::Hybrid { engines }) => Some(engines.clone()),
        Ok(Decoding::Cpu { nvjpeg }) => Some(nvjpeg.clone()),
        Ok(_) => None,
        Err(missing) => Some(missing.clone()),
    };
    let (why, remedy) = lacks.map(|missing| (missing.why, missing.remedy)).unzip();
    Device {
        ordinal: found.ordinal,
        compute_capability: format!("{major}.{minor}"),
        memory_mb: found.memory_bytes / 1_000_000,
        simulated: found.is_simulated(),
        usable: found.usable.is_ok(),
        decoding: found.usable.ok().map(|decoding| decoding.to_string()),
        name: found.name,
        why,
        remedy,
    }
}

#[cfg(not(feature = "cuda"))]
pub(super) fn examine() -> Findings {
    let without = || {
        (
            Some("this build was made without the feature `cuda`".to_owned()),
            Some("build with it: it is one of the default features".to_owned()),
        )
    };
    let (why, remedy) = without();
    let nvjpeg = Nvjpeg { why: why.clone(), remedy: remedy.clone(), ..Nvjpeg::default() };
    Findings { usable: false, why, remedy, driver: None, devices: Vec::new(), nvjpeg }
}

impl Findings {
    /// The lines for people: one for the driver, one for each device, one for nvJPEG, and the remedies below.
    pub(super) fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match (&self.driver, &self.why) {
            (Some(version), _) => lines.push(format!("cuda      the driver knows CUDA {version}")),
            (None, why) => lines.push(format!("cuda      {}", why.as_deref().unwrap_or("unknown"))),
        }
        for device in &self.devices {
            let simulated = if device.simulated { ", SIMULATED" } else { "" };
            let state = device.decoding.as_deref().unwrap_or("not usable");
            lines.push(format!(
                "  cuda:{}  {} ({}, {} MB{simulated}): {state}",
                device.ordinal, device.name, device.compute_capability, device.memory_mb
            ));
            lines.extend(because(&device.why, &device.remedy));
        }
        if self.devices.is_empty() {
            // The driver's line holds the reason already where there is no driver.
            let why = self.driver.as_ref().and(self.why.clone());
            lines.extend(because(&why, &self.remedy));
        }
        let Nvjpeg { path, version, decodes_parts, why, remedy } = &self.nvjpeg;
        lines.push(match (path, version) {
            (Some(path), Some(version)) => {
                let whole = if *decodes_parts == Some(true) { "" } else { ", whole images only" };
                format!("nvjpeg    {version}{whole} ({path})")
            }
            _ => "nvjpeg    not used".to_owned(),
        });
        lines.extend(because(why, remedy));
        lines
    }
}

fn because(why: &Option<String>, remedy: &Option<String>) -> Vec<String> {
    let line = |text: &String| format!("          {text}");
    why.iter().map(line).chain(remedy.iter().map(|remedy| line(&format!("to do: {remedy}")))).collect()
}
