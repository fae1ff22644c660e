//! The native half of the Python package `feedline`: options in, batches out. The package's own files make it a face.

mod batch;
mod buffer;
mod calls;
mod capsule;
mod data;
mod decode;
mod decode_batch;
mod doctor;
mod epoch;
mod error;
mod header;
mod input;
mod loader;
mod options;
mod records;
mod settings;
mod site_packages;
mod tensor;
mod timer;
mod transforms;
mod waiting;

use pyo3::prelude::*;

// Free-threaded Python may keep the GIL off: classes are frozen, what changes in them is behind a Mutex, and no reference into a
// Python object outlives the call that got it.
#[pymodule(gil_used = false)]
mod _feedline {
    #[pymodule_export]
    use super::calls::end_calls;
    #[pymodule_export]
    use super::decode::decode;
    #[pymodule_export]
    use super::decode_batch::decode_batch;
    #[pymodule_export]
    use super::doctor::{GpuMeter, doctor, prometheus};
    #[pymodule_export]
    use super::epoch::Epoch;
    #[pymodule_export]
    use super::error::{DecodeError, PanicError, SampleError, UnavailableError};
    #[pymodule_export]
    use super::header::Header;
    #[pymodule_export]
    use super::loader::Loader;
    #[pymodule_export]
    use super::options::{check_options, option_list, recipe_names, recipe_parameters};
    #[pymodule_export]
    use super::site_packages::nvjpeg_candidates;
    #[pymodule_export]
    use super::tensor::Tensor;
    #[pymodule_export]
    use super::timer::Timer;
    #[pymodule_export]
    use super::transforms::{check_transform, check_view, transform_arguments, transform_names};
    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("OPTIMISED", !cfg!(debug_assertions))?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
