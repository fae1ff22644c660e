//! Which nvJPEG is used where several are found, and how its decoders are opened.

#![expect(unsafe_code, reason = "loads a library")]

use crate::scenario::{Libraries, Outcome, Scenario};
use feedline::device::cuda::{self, Decoding, Found, Missing};
use std::path::{Path, PathBuf};

/// Where NVIDIA's wheel has nvJPEG, in a folder with Python's packages.
pub(crate) const NVIDIAS: &str = "nvidia/cu13/lib/libnvjpeg.so.13";
/// Where torchvision's wheel carries a copy.
pub(crate) const TORCHVISIONS: &str = "torchvision.libs/libnvjpeg-0b8f1c2d.so.13";

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("of two libraries NVIDIA's own is used", || uses(NVIDIAS, &[]))
        .decides()
        .libraries(Libraries::Wheels),
    Scenario::new("a library that does not start leaves the place to the next one", || {
        uses(TORCHVISIONS, &[NVIDIAS])
    })
    .decides()
    .libraries(Libraries::Wheels)
    .nvjpeg("refused_path=/nvidia/"),
    Scenario::new("where no library starts each is named with its version and reason", none_starts)
        .decides()
        .libraries(Libraries::Wheels)
        .nvjpeg("refused_path=libnvjpeg"),
    Scenario::new("a library that the process has loaded is preferred", loaded)
        .decides()
        .libraries(Libraries::Wheels),
    Scenario::new("a library that was chosen stays, whatever is found later", chosen)
        .decides()
        .libraries(Libraries::Wheels),
    Scenario::new("a device whose memory is full is no reason for another library", full)
        .decides()
        .libraries(Libraries::Wheels)
        .nvjpeg("nvjpegCreateEx@1:5"),
    Scenario::new("engines that refuse two flags together are opened with one", || engines(32))
        .decides()
        .nvjpeg("refused_flags=3:36"),
    Scenario::new("engines that do not interpolate are opened strictly", || engines(4))
        .decides()
        .nvjpeg("refused_flags=3:36,refused_flags=3:32"),
    Scenario::new("engines that refuse all flags are opened without", || engines(0))
        .decides()
        .nvjpeg("refused_flags=3:36,refused_flags=3:32,refused_flags=3:4"),
    Scenario::new("engines that refuse even no flags are none", no_engines)
        .decides()
        .nvjpeg("refused_flags=3:36,refused_flags=3:32,refused_flags=3:4,refused_flags=3:0"),
    Scenario::new("a decoder that fails for want of memory is not opened with fewer flags", || {
        let engines = without_engines(device()?)?;
        says(
            engines.why.contains("nvjpegCreateEx") && engines.why.contains("ALLOCATOR_FAILURE"),
            &engines.why,
        )
    })
    .decides()
    .nvjpeg("nvjpegCreateEx@2:5"),
    Scenario::new("a device without engines says how the other decoder was opened", hybrid)
        .decides()
        .nvjpeg("engines=0,refused_flags=1:36"),
];

/// The folder with the wheels, in which nvJPEG is looked for from now on, as a Python process would ask for it.
fn wheels() -> PathBuf {
    let folder = PathBuf::from(std::env::var_os("FEEDLINE_TEST_WHEELS").unwrap_or_default());
    cuda::look_for_nvjpeg_in(vec![folder.clone()]);
    folder
}

fn device() -> Result<Found, Box<dyn std::error::Error>> {
    Ok(cuda::find(0).map_err(|missing| missing.error("a device"))?)
}

/// Decodes with this library, and says that those were passed over.
fn uses(library: &str, passed_over: &[&str]) -> Outcome {
    let folder = wheels();
    let decoding = device()?.usable.map_err(|missing| missing.error("decoding"))?;
    says(matches!(decoding, Decoding::Engines { .. }), &format!("{decoding:?}"))?;
    let found = cuda::survey().nvjpeg.map_err(|missing| missing.error("nvJPEG"))?;
    let told = format!("{found:?}");
    says(found.path == folder.join(library) && found.version == "13.3.2", &told)?;
    says(found.passed_over.len() == passed_over.len(), &told)?;
    found.passed_over.iter().zip(passed_over).try_for_each(|(told, path)| names(told, &folder.join(path)))
}

/// A message says of this library that it does not start.
fn names(told: &str, library: &Path) -> Outcome {
    let words = format!("{} (version 13.3.2) does not start (nvjpegCreateEx: ", library.display());
    says(told.contains(&words), told)
}

fn none_starts() -> Outcome {
    let folder = wheels();
    let Ok(Decoding::Cpu { nvjpeg }) = device()?.usable else { return Err("a library starts".into()) };
    names(&nvjpeg.why, &folder.join(NVIDIAS))?;
    names(&nvjpeg.why, &folder.join(TORCHVISIONS))?;
    says(nvjpeg.remedy.contains("no newer than the driver"), &nvjpeg.remedy)?;
    says(cuda::survey().nvjpeg == Err(nvjpeg), "the survey says the same")
}

fn loaded() -> Outcome {
    load_torchvisions()?;
    uses(TORCHVISIONS, &[])
}

/// As a program does that imports torchvision.
fn load_torchvisions() -> Outcome {
    // SAFETY: the simulated library, which does nothing as it is loaded.
    std::mem::forget(unsafe { libloading::Library::new(wheels().join(TORCHVISIONS)) }?);
    Ok(())
}

fn chosen() -> Outcome {
    uses(NVIDIAS, &[])?;
    load_torchvisions()?;
    cuda::look_for_nvjpeg_in(Vec::new());
    // Another look, as at a second device.
    let found = cuda::survey().nvjpeg.map_err(|missing| missing.error("nvJPEG"))?;
    says(found.path.ends_with(NVIDIAS), &format!("{found:?}"))
}

fn full() -> Outcome {
    wheels();
    let Ok(Decoding::Cpu { nvjpeg }) = device()?.usable else { return Err("a library starts".into()) };
    let once = nvjpeg.why.matches("does not start").count() == 1 && nvjpeg.why.contains("ALLOCATOR_FAILURE");
    says(once, &nvjpeg.why)
}

/// There are engines, which were opened with these flags, and the description says what these are.
fn engines(bits: u32) -> Outcome {
    let decoding = device()?.usable.map_err(|missing| missing.error("decoding"))?;
    let Decoding::Engines { flags, hybrid, .. } = &decoding else {
        return Err(format!("{decoding:?}").into());
    };
    let told = decoding.to_string();
    says(flags.bits() == bits && hybrid.bits() == 36, &format!("{decoding:?}"))?;
    says(flags.is_strict() == (bits & 4 != 0) && flags.interpolates() == (bits & 32 != 0), &told)?;
    says(told.contains(&format!("of 1 core ({flags})")), &told)
}

fn no_engines() -> Outcome {
    let engines = without_engines(device()?)?;
    says(engines.why.contains("no decoding engine that it can use"), &engines.why)
}

fn without_engines(found: Found) -> Result<Missing, Box<dyn std::error::Error>> {
    match found.usable {
        Ok(Decoding::Hybrid { engines, .. }) => Ok(engines),
        other => Err(format!("{other:?}").into()),
    }
}

fn hybrid() -> Outcome {
    let decoding = device()?.usable.map_err(|missing| missing.error("decoding"))?;
    let told = decoding.to_string();
    says(told.contains("nvJPEG without engines") && told.contains("(not strict, chroma interpolated)"), &told)
}

fn says(holds: bool, told: &str) -> Outcome {
    if holds { Ok(()) } else { Err(told.to_owned().into()) }
}
