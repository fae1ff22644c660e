//! The driver's library: opened once, its symbols looked up by name, every call checked.

#![expect(unsafe_code, reason = "functions of a C library, found by name")]

use super::result::{CudaError, code};
use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUjit_option, CUmodule,
    CUresult, CUstream, CUstreamCaptureMode, CUstreamCaptureStatus,
};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// The names of the driver's library. The numbered name comes first: it is the driver's own, while the bare one may be
/// the stub that a toolkit links against.
#[cfg(not(windows))]
const NAMES: &[&str] = &["libcuda.so.1", "libcuda.so"];
#[cfg(windows)]
const NAMES: &[&str] = &["nvcuda.dll"];

/// Why the driver cannot be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// No file of these names can be opened; the linker's message for the first.
    Library { tried: &'static [&'static str], why: String },
    /// The library exists, but lacks these functions.
    Symbols(Vec<&'static str>),
    /// The library has all functions, but does not start.
    Start(CudaError),
}

/// Declares the functions: their addresses, the search for them, and a checked call of each.
///
/// The constants at the end make the compiler compare every argument list with cudarc's declaration of that function.
macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),*);)*) => {
        #[allow(non_snake_case, reason = "the names are the driver's")]
        struct Functions {
            $($name: unsafe extern "C" fn($($kind),*) -> u32,)*
            cuGetErrorName: unsafe extern "C" fn(u32, *mut *const c_char) -> u32,
        }

        impl Functions {
            fn find(library: &libloading::Library) -> Result<Self, Vec<&'static str>> {
                let missing = missing(library, &[$(stringify!($name),)* "cuGetErrorName"]);
                // SAFETY: the types are those of the driver's documentation, with its result as the number that it is.
                let found = unsafe {
                    (|| Ok::<_, libloading::Error>(Self {
                        $($name: *library.get(stringify!($name))?,)*
                        cuGetErrorName: *library.get("cuGetErrorName")?,
                    }))()
                };
                found.map_err(|_| missing)
            }
        }

        #[allow(non_snake_case, reason = "the names are the driver's")]
        #[allow(clippy::too_many_arguments, reason = "the arguments are the driver's")]
        impl Driver {
            $(
                /// # Safety
                /// As in the driver's documentation of the function of this name.
                pub(super) unsafe fn $name(&self, $($argument: $kind),*) -> Result<(), CudaError> {
                    // SAFETY: the arguments are what the driver's documentation of this function asks for, and it was looked up by the
                    // type that stands there.
                    self.check(stringify!($name), unsafe { (self.functions.$name)($($argument),*) })
                }
            )*
        }

        $(const _: unsafe fn($($kind),*) -> CUresult = declared!($name);)*
    };
}

/// cudarc's declaration of a function. cudarc has the newest version of each, and one of ours is older: every driver
/// exports `cuEventElapsedTime`, only those since 12.8 its second version, and both take the same arguments.
macro_rules! declared {
    (cuEventElapsedTime) => {
        cudarc::driver::sys::cuEventElapsedTime_v2
    };
    ($name:ident) => {
        cudarc::driver::sys::$name
    };
}

functions! {
    fn cuInit(flags: c_uint);
    fn cuDriverGetVersion(version: *mut c_int);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    fn cuDevicePrimaryCtxGetState(device: CUdevice, flags: *mut c_uint, active: *mut c_int);
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    fn cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    fn cuCtxGetCurrent(context: *mut CUcontext);
    fn cuCtxSetCurrent(context: CUcontext);
    fn cuCtxSynchronize();
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemAlloc_v2(pointer: *mut CUdeviceptr, bytes: usize);
    fn cuMemFree_v2(pointer: CUdeviceptr);
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemFreeHost(pointer: *mut c_void);
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemsetD8Async(at: CUdeviceptr, value: u8, bytes: usize, stream: CUstream);
    fn cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int);
    fn cuStreamDestroy_v2(stream: CUstream);
    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    fn cuStreamSynchronize(stream: CUstream);
    fn cuStreamIsCapturing(stream: CUstream, status: *mut CUstreamCaptureStatus);
    fn cuThreadExchangeStreamCaptureMode(mode: *mut CUstreamCaptureMode);
    fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    fn cuEventDestroy_v2(event: CUevent);
    fn cuEventRecord(event: CUevent, stream: CUstream);
    fn cuEventSynchronize(event: CUevent);
    fn cuEventQuery(event: CUevent);
    fn cuEventElapsedTime(milliseconds: *mut f32, from: CUevent, to: CUevent);
    fn cuModuleLoadDataEx(
        module: *mut CUmodule, image: *const c_void, count: c_uint, options: *mut CUjit_option,
        values: *mut *mut c_void
    );
    fn cuModuleUnload(module: CUmodule);
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    fn cuLaunchKernel(
        function: CUfunction, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared_bytes: c_uint, stream: CUstream, parameters: *mut *mut c_void,
        extra: *mut *mut c_void
    );
}

/// The driver, started: its functions, and what it reports of itself.
pub(crate) struct Driver {
    functions: Functions,
    /// The newest CUDA that the driver knows: 12040 is 12.4.
    version: u32,
}

impl Driver {
    /// The driver of this process. It is opened and started once, and never closed: its threads outlive our handles.
    pub(crate) fn get() -> Result<&'static Self, &'static Absent> {
        static DRIVER: OnceLock<Result<Driver, Absent>> = OnceLock::new();
        DRIVER.get_or_init(Self::open).as_ref()
    }

    fn open() -> Result<Self, Absent> {
        let library = load(NAMES)?;
        let functions = Functions::find(&library).map_err(Absent::Symbols)?;
        // The library is never closed: its own threads and exit handlers run its code until the process ends.
        std::mem::forget(library);
        let mut driver = Self { functions, version: 0 };
        let mut version = 0;
        // SAFETY: 0 is the only valid flag, and `version` is one int to be written.
        unsafe {
            driver.cuInit(0).map_err(Absent::Start)?;
            driver.cuDriverGetVersion(&mut version).map_err(Absent::Start)?;
        }
        driver.version = u32::try_from(version).unwrap_or(0);
        Ok(driver)
    }

    /// The newest CUDA that the driver knows, as (major, minor).
    pub(crate) fn version(&self) -> (u32, u32) {
        (self.version / 1000, self.version % 1000 / 10)
    }

    fn check(&self, call: &'static str, code: u32) -> Result<(), CudaError> {
        match code {
            code::SUCCESS => Ok(()),
            code => Err(CudaError { call, code, name: self.name(code) }),
        }
    }

    /// The driver's own name for a code; a code that it does not know has none.
    fn name(&self, code: u32) -> String {
        let mut name = std::ptr::null();
        // SAFETY: any number may be passed, and `name` is one pointer to be written.
        let known = unsafe { (self.functions.cuGetErrorName)(code, &mut name) } == code::SUCCESS;
        if !known || name.is_null() {
            return "an error without a name".into();
        }
        // SAFETY: the driver gave a string that lives as long as the library, which is never closed.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

fn load(names: &'static [&'static str]) -> Result<libloading::Library, Absent> {
    let mut why = None;
    for name in names {
        // SAFETY: the system's own driver; loading it is as sound as the system is.
        match unsafe { libloading::Library::new(*name) } {
            Ok(library) => return Ok(library),
            Err(error) => why = why.or_else(|| Some(said(&error))),
        }
    }
    Err(Absent::Library { tried: names, why: why.unwrap_or_default() })
}

/// The linker's own message: the error itself only names the failed call.
fn said(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Those of `names` that the library does not export.
fn missing(library: &libloading::Library, names: &[&'static str]) -> Vec<&'static str> {
    // SAFETY: the symbol is only looked for, never called or read.
    let lacks = |name: &&&'static str| unsafe { library.get::<*const c_void>(**name) }.is_err();
    names.iter().filter(lacks).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_told_by_name() {
        let Err(Absent::Library { tried, why }) = load(&["libno-such-driver.so.1"]) else {
            panic!("there is no such library");
        };
        assert_eq!(tried, ["libno-such-driver.so.1"]);
        assert!(why.contains("libno-such-driver.so.1"), "{why}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_without_the_functions_is_told_by_their_names() {
        let library = load(&["libc.so.6"]).unwrap();
        let missing = Functions::find(&library).err().unwrap();
        assert!(missing.contains(&"cuInit") && missing.contains(&"cuGetErrorName"));
        assert_eq!(super::missing(&library, &["malloc", "cuInit"]), ["cuInit"]);
    }

    #[test]
    fn asking_for_the_driver_never_panics() {
        assert_eq!(Driver::get().is_ok(), Driver::get().is_ok());
    }
}
