//! A small CUDA program's view of the driver, for the tests of the double itself: functions by name, numbers for
//! errors, and no owner that would tidy up behind a mistake that a scenario makes on purpose.

#![expect(unsafe_code, reason = "functions of a C library, found by name")]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::ptr::null_mut;

/// A call that failed.
#[derive(Debug, thiserror::Error)]
#[error("{call} returned {code}")]
pub(crate) struct Failed {
    pub(crate) call: &'static str,
    pub(crate) code: u32,
}

/// An address in device memory.
pub(crate) type Device = u64;
/// A stream, an event, a module or a function.
pub(crate) type Raw = *mut c_void;

macro_rules! functions {
    ($(fn $name:ident($($argument:ident: $kind:ty),*);)*) => {
        /// The driver, started, with device 0's context current on this thread.
        #[allow(non_snake_case, reason = "the names are the driver's")]
        pub(crate) struct Client {
            $($name: unsafe extern "C" fn($($kind),*) -> u32,)*
        }

        impl Client {
            fn find() -> Result<Self, libloading::Error> {
                // SAFETY: the types are those of the driver's documentation; the library stays loaded.
                unsafe {
                    let library = ManuallyDrop::new(libloading::Library::new("libcuda.so.1")?);
                    Ok(Self { $($name: *library.get(stringify!($name))?,)* })
                }
            }

            $(
                // Every wrapper below passes live pointers of the right kind, or a wrong one that the double refuses.
                #[allow(non_snake_case, reason = "the names are the driver's")]
                #[allow(clippy::too_many_arguments, reason = "the arguments are the driver's")]
                fn $name(&self, $($argument: $kind),*) -> Result<(), Failed> {
                    // SAFETY: as said above.
                    match unsafe { (self.$name)($($argument),*) } {
                        0 => Ok(()),
                        code => Err(Failed { call: stringify!($name), code }),
                    }
                }
            )*
        }
    };
}

functions! {
    fn cuInit(flags: c_uint);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: c_int);
    fn cuDevicePrimaryCtxRetain(context: *mut Raw, device: c_int);
    fn cuDevicePrimaryCtxRelease_v2(device: c_int);
    fn cuCtxSetCurrent(context: Raw);
    fn cuCtxSynchronize();
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemAlloc_v2(start: *mut Device, bytes: usize);
    fn cuMemFree_v2(start: Device);
    fn cuMemHostAlloc(start: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemFreeHost(start: *mut c_void);
    fn cuMemcpyHtoDAsync_v2(to: Device, from: *const c_void, bytes: usize, stream: Raw);
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Device, bytes: usize, stream: Raw);
    fn cuMemsetD8Async(at: Device, value: u8, bytes: usize, stream: Raw);
    fn cuStreamCreateWithPriority(stream: *mut Raw, flags: c_uint, priority: c_int);
    fn cuStreamDestroy_v2(stream: Raw);
    fn cuStreamSynchronize(stream: Raw);
    fn cuStreamWaitEvent(stream: Raw, event: Raw, flags: c_uint);
    fn cuStreamBeginCapture_v2(stream: Raw, mode: c_int);
    fn cuStreamEndCapture(stream: Raw, graph: *mut Raw);
    fn cuEventCreate(event: *mut Raw, flags: c_uint);
    fn cuEventDestroy_v2(event: Raw);
    fn cuEventRecord(event: Raw, stream: Raw);
    fn cuEventSynchronize(event: Raw);
    fn cuEventQuery(event: Raw);
    fn cuModuleLoadDataEx(
        module: *mut Raw, image: *const c_void, count: c_uint, options: *mut c_int, values: *mut *mut c_void
    );
    fn cuModuleUnload(module: Raw);
    fn cuModuleGetFunction(function: *mut Raw, module: Raw, name: *const c_char);
    fn cuLaunchKernel(
        function: Raw, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared_bytes: c_uint, stream: Raw, parameters: *mut *mut c_void, extra: *mut *mut c_void
    );
}

impl Client {
    /// Starts the driver and takes device 0's context.
    pub(crate) fn start() -> Result<Self, Box<dyn std::error::Error>> {
        // Dropping it gives the context back, which there is only from the retaining on.
        let client = ManuallyDrop::new(Self::find()?);
        client.cuInit(0)?;
        let mut context = null_mut();
        client.cuDevicePrimaryCtxRetain(&mut context, 0)?;
        let client = ManuallyDrop::into_inner(client);
        client.cuCtxSetCurrent(context)?;
        Ok(client)
    }

    pub(crate) fn device_count(&self) -> Result<i32, Failed> {
        let mut count = 0;
        self.cuDeviceGetCount(&mut count)?;
        Ok(count)
    }

    pub(crate) fn device_name(&self) -> Result<String, Failed> {
        let mut name = [0u8; 64];
        self.cuDeviceGetName(name.as_mut_ptr().cast(), 64, 0)?;
        Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
    }

    /// Bytes of the device's memory that nobody has.
    pub(crate) fn free_memory(&self) -> Result<usize, Failed> {
        let (mut free, mut total) = (0, 0);
        self.cuMemGetInfo_v2(&mut free, &mut total)?;
        Ok(free)
    }

    /// Waits for all streams.
    pub(crate) fn synchronize(&self) -> Result<(), Failed> {
        self.cuCtxSynchronize()
    }

    pub(crate) fn upload(&self, to: &Buffer, from: &Pinned, stream: &Stream) -> Result<(), Failed> {
        self.cuMemcpyHtoDAsync_v2(to.start, from.start.cast(), from.count * 4, stream.raw)
    }

    /// Copies from memory that is not page-locked.
    pub(crate) fn upload_ordinary(&self, to: &Buffer, from: &[f32], stream: &Stream) -> Result<(), Failed> {
        self.cuMemcpyHtoDAsync_v2(to.start, from.as_ptr().cast(), size_of_val(from), stream.raw)
    }

    pub(crate) fn download(&self, to: &Pinned, from: &Buffer, stream: &Stream) -> Result<(), Failed> {
        self.download_from(to, from.start, stream)
    }

    /// Copies as much as `to` holds from an address in device memory.
    pub(crate) fn download_from(&self, to: &Pinned, from: Device, stream: &Stream) -> Result<(), Failed> {
        self.cuMemcpyDtoHAsync_v2(to.start.cast(), from, to.count * 4, stream.raw)
    }

    pub(crate) fn fill(&self, at: Device, value: u8, bytes: usize, stream: Raw) -> Result<(), Failed> {
        self.cuMemsetD8Async(at, value, bytes, stream)
    }

    /// Waits for one stream.
    pub(crate) fn synchronize_stream(&self, stream: &Stream) -> Result<(), Failed> {
        self.cuStreamSynchronize(stream.raw)
    }

    /// From now on what the stream gets becomes part of a graph, in the mode that CUDA and torch begin with: calls that might
    /// matter to it are forbidden to every thread.
    pub(crate) fn begin_capture(&self, stream: &Stream) -> Result<(), Failed> {
        self.cuStreamBeginCapture_v2(stream.raw, 0)
    }

    /// Fails where a call has ended the capture before. Nobody replays the graph, which goes with the process.
    pub(crate) fn end_capture(&self, stream: &Stream) -> Result<(), Failed> {
        self.cuStreamEndCapture(stream.raw, &mut null_mut())
    }

    /// The stream's further work waits for the event.
    pub(crate) fn wait(&self, stream: &Stream, event: &Event) -> Result<(), Failed> {
        self.cuStreamWaitEvent(stream.raw, event.raw, 0)
    }

    pub(crate) fn record(&self, event: &Event, stream: &Stream) -> Result<(), Failed> {
        self.cuEventRecord(event.raw, stream.raw)
    }

    /// The host waits for the event.
    pub(crate) fn synchronize_event(&self, event: &Event) -> Result<(), Failed> {
        self.cuEventSynchronize(event.raw)
    }

    pub(crate) fn is_passed(&self, event: &Event) -> Result<bool, Failed> {
        match self.cuEventQuery(event.raw) {
            Ok(()) => Ok(true),
            Err(Failed { code: 600, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Launches `blocks` blocks of 256 threads of a kernel whose parameters are addresses and then one int.
    pub(crate) fn launch(
        &self,
        kernel: &Kernel,
        blocks: u32,
        addresses: &[Device],
        last: usize,
        stream: &Stream,
    ) -> Result<(), Failed> {
        let (mut addresses, mut last) = (addresses.to_vec(), last as c_int);
        let mut parameters: Vec<*mut c_void> = addresses.iter_mut().map(|a| (&raw mut *a).cast()).collect();
        parameters.push((&raw mut last).cast());
        let parameters = parameters.as_mut_ptr();
        self.cuLaunchKernel(kernel.function, blocks, 1, 1, 256, 1, 1, 0, stream.raw, parameters, null_mut())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.cuDevicePrimaryCtxRelease_v2(0);
    }
}

macro_rules! owners {
    ($($(#[$doc:meta])* $name:ident { $handle:ident: $kind:ty $(, $field:ident: $field_kind:ty)* } $free:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name<'a> {
            client: &'a Client,
            pub(crate) $handle: $kind,
            $(pub(crate) $field: $field_kind,)*
        }

        impl Drop for $name<'_> {
            fn drop(&mut self) {
                // Nobody is left to be told.
                let _ = self.client.$free(self.$handle.cast_for_free());
            }
        }
    )*};
}

/// What the freeing function wants of an owner's handle.
trait ForFree<T> {
    fn cast_for_free(self) -> T;
}

impl ForFree<Device> for Device {
    fn cast_for_free(self) -> Device {
        self
    }
}

impl<T> ForFree<*mut c_void> for *mut T {
    fn cast_for_free(self) -> *mut c_void {
        self.cast()
    }
}

owners! {
    /// Device memory.
    Buffer { start: Device } cuMemFree_v2;
    /// Page-locked memory for floats.
    Pinned { start: *mut f32, count: usize } cuMemFreeHost;
    /// A stream that does not wait for the default stream.
    Stream { raw: Raw } cuStreamDestroy_v2;
    /// An event without times.
    Event { raw: Raw } cuEventDestroy_v2;
    /// The only kernel of a module.
    Kernel { module: Raw, function: Raw } cuModuleUnload;
}

impl Buffer<'_> {
    /// Frees ahead of the owner, which then frees a second time.
    pub(crate) fn free_early(&self) -> Result<(), Failed> {
        self.client.cuMemFree_v2(self.start)
    }
}

impl Pinned<'_> {
    /// Frees ahead of the owner, which then frees a second time.
    pub(crate) fn free_early(&self) -> Result<(), Failed> {
        self.client.cuMemFreeHost(self.start.cast())
    }
}

impl<'a> Buffer<'a> {
    pub(crate) fn new(client: &'a Client, bytes: usize) -> Result<Self, Failed> {
        let mut start = 0;
        client.cuMemAlloc_v2(&mut start, bytes)?;
        Ok(Self { client, start })
    }
}

impl<'a> Pinned<'a> {
    pub(crate) fn new(client: &'a Client, count: usize) -> Result<Self, Failed> {
        let mut start = null_mut();
        client.cuMemHostAlloc(&mut start, count * 4, 0)?;
        Ok(Self { client, start: start.cast(), count })
    }

    /// Copies in from a vector, as a program does that has read a file.
    pub(crate) fn write(&self, value: impl Fn(usize) -> f32) {
        let values: Vec<f32> = (0..self.count).map(value).collect();
        // SAFETY: so many floats were pinned. Whether a copy still reads them is what the scenarios are about.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.start, self.count) };
    }

    /// Copies out what is there now.
    pub(crate) fn values(&self) -> Vec<f32> {
        let mut values = vec![0f32; self.count];
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(self.start, values.as_mut_ptr(), self.count) };
        values
    }

    /// The first element that is not as wanted, as an error.
    pub(crate) fn compare(&self, want: impl Fn(usize) -> f32) -> Result<(), String> {
        match self.values().iter().enumerate().find(|(i, value)| **value != want(*i)) {
            None => Ok(()),
            Some((i, value)) => Err(format!("wrong: element {i} is {value}, not {}", want(i))),
        }
    }
}

impl<'a> Stream<'a> {
    pub(crate) fn new(client: &'a Client) -> Result<Self, Failed> {
        let mut raw = null_mut();
        client.cuStreamCreateWithPriority(&mut raw, 1, 0)?;
        Ok(Self { client, raw })
    }

    /// The default stream, which nobody may destroy.
    pub(crate) fn default_of(client: &'a Client) -> Self {
        Self { client, raw: null_mut() }
    }
}

impl<'a> Event<'a> {
    pub(crate) fn new(client: &'a Client) -> Result<Self, Failed> {
        let mut raw = null_mut();
        client.cuEventCreate(&mut raw, 2)?;
        Ok(Self { client, raw })
    }
}

impl<'a> Kernel<'a> {
    /// The kernel of this name, whose parameters are so many addresses and one int.
    pub(crate) fn new(
        client: &'a Client,
        name: &str,
        addresses: usize,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        Self::from_text(client, name, &ptx(name, addresses))
    }

    /// The kernel of this name in a module's text.
    pub(crate) fn from_text(
        client: &'a Client,
        name: &str,
        text: &str,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        Self::from_image(client, name, &CString::new(text)?.into_bytes_with_nul())
    }

    /// The kernel of this name in a module: a text that ends in a zero, or a whole cubin.
    pub(crate) fn from_image(
        client: &'a Client,
        name: &str,
        image: &[u8],
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let (mut module, name) = (null_mut(), CString::new(name)?);
        client.cuModuleLoadDataEx(&mut module, image.as_ptr().cast(), 0, null_mut(), null_mut())?;
        let mut kernel = Self { client, module, function: null_mut() };
        client.cuModuleGetFunction(&mut kernel.function, module, name.as_ptr())?;
        Ok(kernel)
    }
}

/// Declared last and so dropped first: nothing is freed under work that is still to run, on an early return neither.
pub(crate) struct Quiet<'a>(pub(crate) &'a Client);

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // What went wrong was told to who waited.
        let _ = self.0.synchronize().or_else(|_| self.0.synchronize());
    }
}

/// The text of a module that holds the head of one kernel, which is all that the double reads of it.
pub(crate) fn ptx(name: &str, addresses: usize) -> String {
    let address = |index: usize| format!("\t.param .u64 {name}_param_{index},\n");
    let list: String = (0..addresses).map(address).collect();
    format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry {name}(\n{list}\t.param .u32 \
         {name}_param_{addresses}\n)\n{{\n\tret;\n}}\n"
    )
}
