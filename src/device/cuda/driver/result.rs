//! The error of a driver call: which call, which code, and the code's name.

/// A driver call that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call}: {name} ({code})")]
pub(crate) struct CudaError {
    /// The function's name in the driver.
    pub(crate) call: &'static str,
    /// The returned code: kept as a number, since a newer driver has codes that no present declaration lists.
    pub(crate) code: u32,
    /// The code's name, as the driver itself gives it, and its message.
    pub(crate) name: String,
}

/// Codes that are distinguished; all others are only shown.
pub(crate) mod code {
    pub(crate) const SUCCESS: u32 = 0;
    pub(crate) const OUT_OF_MEMORY: u32 = 2;
    pub(crate) const NOT_INITIALIZED: u32 = 3;
    pub(crate) const STUB_LIBRARY: u32 = 34;
    pub(crate) const NO_DEVICE: u32 = 100;
    pub(crate) const NOT_READY: u32 = 600;
    /// What a driver says of machine code that it cannot use: of no form that it knows, of another architecture, or newer.
    pub(crate) const UNFIT_IMAGE: &[u32] = &[200, 209, 218, 222];
    pub(crate) const SYSTEM_DRIVER_MISMATCH: u32 = 803;

    /// What a driver says of calls that a capture of a stream forbids.
    pub(crate) const CAPTURE: std::ops::RangeInclusive<u32> = 900..=908;
    pub(crate) const STREAM_CAPTURE_UNSUPPORTED: u32 = 900;
    /// The default stream is asked about while another stream, which it would wait for, is captured.
    pub(crate) const STREAM_CAPTURE_IMPLICIT: u32 = 906;

    /// After one of these nothing works any more in the context, and so in the process: memory or links with errors that
    /// cannot be corrected, and kernels that access what is not theirs, run for too long, or hold what the processors
    /// cannot execute.
    pub(crate) const STICKY: &[u32] = &[214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721];
}

impl CudaError {
    /// Whether the driver cannot use the machine code that it was given.
    pub(crate) fn is_unfit_image(&self) -> bool {
        code::UNFIT_IMAGE.contains(&self.code)
    }

    /// Whether the context is lost, and with it whatever this process has on the device.
    pub(crate) fn is_sticky(&self) -> bool {
        code::STICKY.contains(&self.code)
    }

    /// Whether the call may be made once no stream is captured into a graph.
    pub(crate) fn is_of_capture(&self) -> bool {
        code::CAPTURE.contains(&self.code)
    }

    /// Whether asking for less memory might help.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.code == code::OUT_OF_MEMORY
    }
}

/// Turns a query's "not yet" into `false`; every other failure stays one.
pub(super) fn ready(result: Result<(), CudaError>) -> Result<bool, CudaError> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code == code::NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_call_and_the_code() {
        let error = CudaError { call: "cuMemAlloc_v2", code: 2, name: "CUDA_ERROR_OUT_OF_MEMORY".into() };
        assert_eq!(error.to_string(), "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2)");
        assert!(error.is_out_of_memory() && !error.is_sticky());
        assert!(CudaError { code: 700, ..error }.is_sticky());
    }

    #[test]
    fn not_ready_is_an_answer_and_no_error() {
        let failed = |code| Err(CudaError { call: "cuEventQuery", code, name: String::new() });
        assert_eq!(ready(Ok(())), Ok(true));
        assert_eq!(ready(failed(code::NOT_READY)), Ok(false));
        assert_eq!(ready(failed(700)).unwrap_err().code, 700);
    }
}
