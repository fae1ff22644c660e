//! The kernels' code, as PTX and, where the build was told to embed some, as machine code.

use super::driver::{Context, CudaError, Function};
use std::ffi::{CStr, CString};

/// A kernel's name, and its PTX with the trailing zero that the driver needs; the build script puts it there.
macro_rules! ptx {
    ($name:literal) => {
        ($name, include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".ptx")))
    };
}

const PTX: [(&str, &[u8]); 25] = [
    ptx!("taps"),
    ptx!("measure"),
    ptx!("tables"),
    ptx!("filter"),
    ptx!("neighbours"),
    ptx!("clahe_tables"),
    ptx!("clahe"),
    ptx!("lightness_sums"),
    ptx!("sensor"),
    ptx!("compress_planes"),
    ptx!("compress_pixels"),
    ptx!("distort"),
    ptx!("crop"),
    ptx!("render"),
    ptx!("blend"),
    ptx!("blend_erased"),
    ptx!("object_masks"),
    ptx!("sentinels"),
    ptx!("huffman_tables"),
    ptx!("entropy"),
    ptx!("expand"),
    ptx!("synchronise"),
    ptx!("prefix"),
    ptx!("inverse_dct"),
    ptx!("planes_to_rgb"),
];

/// Machine code by kernel and architecture: none, unless the build was told to embed some.
const CUBINS: &[(&str, u32, &[u8])] = include!(concat!(env!("OUT_DIR"), "/cubins.rs"));

/// The architecture of the machine code that such a device runs, 90 for 9.0; `None` where its driver translates the PTX.
pub(crate) fn compiled_for(compute_capability: (u32, u32)) -> Option<u32> {
    best(CUBINS.iter().map(|&(_, architecture, _)| architecture), compute_capability)
}

/// Code runs on its own generation of processors, from its own member on.
fn best(architectures: impl Iterator<Item = u32>, (major, minor): (u32, u32)) -> Option<u32> {
    architectures.filter(|architecture| architecture / 10 == major && architecture % 10 <= minor).max()
}

/// Loads the kernel `name`: machine code where there is some that the driver takes, and PTX else. What the driver
/// translates it keeps on disk, so that the next time is fast.
pub(crate) fn load(context: &Context, name: &str) -> Result<Function, CudaError> {
    let ptx = PTX.iter().find(|(known, _)| *known == name).map_or(&b"\0"[..], |(_, ptx)| ptx);
    let kernel = CString::new(name).unwrap_or_default();
    let architecture = compiled_for(context.compute_capability()?);
    let compiled = CUBINS.iter().find(|cubin| cubin.0 == name && Some(cubin.1) == architecture);
    if let Some((.., cubin)) = compiled {
        match Function::load_compiled(context, cubin, &kernel) {
            // An older driver, most likely: PTX is for all.
            Err(error) if error.is_unfit_image() => {}
            loaded => return loaded,
        }
    }
    let ptx = CStr::from_bytes_until_nul(ptx).unwrap_or_default();
    Function::load(context, ptx, &kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_chosen_of_the_devices_own_generation_and_not_above_it() {
        let of = |capability| best([80, 90, 100, 103].into_iter(), capability);
        assert_eq!([(8, 0), (8, 6), (9, 0), (10, 0), (10, 3)].map(of), [80, 80, 90, 100, 103].map(Some));
        assert_eq!([(7, 5), (11, 0), (12, 0)].map(of), [None; 3]);
        assert_eq!(best(std::iter::empty(), (9, 0)), None);
    }

    #[test]
    fn where_there_is_machine_code_there_is_some_of_every_kernel() {
        for (_, architecture, _) in CUBINS {
            let has = |name| CUBINS.iter().any(|cubin| (cubin.0, cubin.1) == (name, *architecture));
            assert!(PTX.iter().all(|(name, _)| has(name)), "sm_{architecture}");
        }
    }
}
