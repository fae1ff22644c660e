//! What the simulated nvJPEG has in common with the real one that is easily forgotten: engines that do not wait for
//! their stream, bytes that are read late, buffers that are still in use.

#![expect(unsafe_code, reason = "calls of a C library")]

use crate::client::{Buffer, Client, Event, Kernel, Pinned, Quiet, Stream};
use crate::scenario::{Outcome, Scenario};
use feedline_test_support::jpeg::{Jpeg, SamplingFactor};
use nvjpeg_sys as sys;
use std::error::Error;
use std::ptr::null_mut;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("an engine that overwrites what the stream still reads is caught", || {
        read_then_decode(sys::BACKEND_HARDWARE, Wait::No)
    })
    .caught(&["wrong:"]),
    Scenario::new("an engine may write what the host has seen to be free", || {
        read_then_decode(sys::BACKEND_HARDWARE, Wait::ForReader)
    }),
    Scenario::new("the GPU's processors wait for their stream", || {
        read_then_decode(sys::BACKEND_GPU_HYBRID, Wait::No)
    }),
    Scenario::new("bytes that change under a batch are caught", bytes_change)
        .caught(&["bytes changed before"]),
    Scenario::new("a pinned buffer used again under its transfer is caught", || phases(false))
        .caught(&["its pinned buffer was used again"]),
    Scenario::new("a pinned buffer may be used again after its transfer", || phases(true)),
    Scenario::new("a state that is never destroyed is caught", || {
        let client = Client::start()?;
        std::mem::forget(Library::open(&client, sys::BACKEND_HYBRID)?.state()?);
        Ok(())
    })
    .caught(&["fakenvjpeg: LEAK: 0 handles, 1 states"]),
];

const SIDE: usize = 32;
const BYTES: usize = SIDE * SIDE * 3;
const FLOATS: usize = BYTES / 4;

#[derive(PartialEq)]
enum Wait {
    ForReader,
    No,
}

/// A kernel reads the target; then an image is decoded into it. The kernel must have seen the zeros.
fn read_then_decode(backend: sys::Backend, wait: Wait) -> Outcome {
    let client = Client::start()?;
    let library = Library::open(&client, backend)?;
    let state = library.state()?;
    let file = file(1);
    let stream = Stream::new(&client)?;
    let kernel = Kernel::new(&client, "planted_add_one", 2)?;
    let (target, copy) = (Buffer::new(&client, BYTES)?, Buffer::new(&client, BYTES)?);
    let host = Pinned::new(&client, FLOATS)?;
    let read = Event::new(&client)?;
    let _quiet = Quiet(&client);
    client.fill(target.start, 0, BYTES, stream.raw)?;
    client.synchronize_stream(&stream)?;
    client.launch(&kernel, 3, &[target.start, copy.start], FLOATS, &stream)?;
    client.record(&read, &stream)?;
    client.download(&host, &copy, &stream)?;
    if wait == Wait::ForReader {
        client.synchronize_event(&read)?;
    }
    state.decode(&file, &target, &stream)?;
    client.synchronize_stream(&stream)?;
    Ok(host.compare(|_| 1.0)?)
}

fn bytes_change() -> Outcome {
    let client = Client::start()?;
    let library = Library::open(&client, sys::BACKEND_GPU_HYBRID)?;
    let state = library.state()?;
    let mut file = file(1);
    let stream = Stream::new(&client)?;
    let target = Buffer::new(&client, BYTES)?;
    let _quiet = Quiet(&client);
    state.decode(&file, &target, &stream)?;
    file.fill(0);
    Ok(client.synchronize_stream(&stream)?)
}

/// Two images through one pinned buffer, with or without a wait between them.
fn phases(wait: bool) -> Outcome {
    let client = Client::start()?;
    let library = Library::open(&client, sys::BACKEND_HYBRID)?;
    let state = library.state()?;
    let files = [file(1), file(2)];
    let stream = Stream::new(&client)?;
    let target = Buffer::new(&client, BYTES)?;
    let _quiet = Quiet(&client);
    for file in &files {
        state.decode_in_phases(file, &target, &stream)?;
        if wait {
            client.synchronize_stream(&stream)?;
        }
    }
    Ok(client.synchronize_stream(&stream)?)
}

fn file(shade: u8) -> Vec<u8> {
    let pixels: Vec<u8> = (0..BYTES).map(|at| (at % 251) as u8 / 2 + shade).collect();
    Jpeg { quality: 90, ..Jpeg::new(SamplingFactor::F_1_1) }.file(&pixels, SIDE as u16, SIDE as u16)
}

fn checked(call: &str, status: sys::Status) -> Result<(), String> {
    if status == sys::SUCCESS { Ok(()) } else { Err(format!("{call} returned {status}")) }
}

/// Calls a function of the library, with its name in the error.
macro_rules! call {
    ($library:expr, $name:ident($($argument:expr),*)) => {
        // SAFETY: handles of the library's own making, and pointers to values that outlive the call.
        checked(stringify!($name), unsafe { ($library.functions.$name)($($argument),*) })
    };
}

/// nvJPEG, opened for a backend.
struct Library<'a> {
    functions: sys::Functions,
    handle: *mut sys::Handle,
    _client: &'a Client,
}

impl<'a> Library<'a> {
    fn open(client: &'a Client, backend: sys::Backend) -> Result<Self, Box<dyn Error>> {
        let functions = sys::Library::open().map_err(|error| error.to_string())?.functions;
        let mut library = Self { functions, handle: null_mut(), _client: client };
        let flags = sys::FLAG_BITSTREAM_STRICT | sys::FLAG_UPSAMPLING_WITH_INTERPOLATION;
        call!(library, nvjpegCreateEx(backend, null_mut(), null_mut(), flags, &mut library.handle))?;
        Ok(library)
    }

    fn state(&self) -> Result<State<'_>, String> {
        let mut state = State {
            library: self,
            state: null_mut(),
            parameters: null_mut(),
            jpeg: null_mut(),
            decoder: null_mut(),
            pinned: null_mut(),
            device: null_mut(),
        };
        call!(self, nvjpegJpegStateCreate(self.handle, &mut state.state))?;
        call!(self, nvjpegDecodeParamsCreate(self.handle, &mut state.parameters))?;
        call!(self, nvjpegJpegStreamCreate(self.handle, &mut state.jpeg))?;
        call!(self, nvjpegDecoderCreate(self.handle, sys::BACKEND_HYBRID, &mut state.decoder))?;
        call!(self, nvjpegBufferPinnedCreate(self.handle, null_mut(), &mut state.pinned))?;
        call!(self, nvjpegBufferDeviceCreate(self.handle, null_mut(), &mut state.device))?;
        Ok(state)
    }
}

impl Drop for Library<'_> {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = call!(self, nvjpegDestroy(self.handle));
    }
}

/// A state with all that it may need.
struct State<'a> {
    library: &'a Library<'a>,
    state: *mut sys::JpegState,
    parameters: *mut sys::DecodeParams,
    jpeg: *mut sys::JpegStream,
    decoder: *mut sys::JpegDecoder,
    pinned: *mut sys::BufferPinned,
    device: *mut sys::BufferDevice,
}

impl State<'_> {
    /// A batch of one.
    fn decode(&self, file: &[u8], target: &Buffer, stream: &Stream) -> Result<(), String> {
        let Self { library, state, .. } = *self;
        let (bytes, length, mut image, mut parameters) =
            (file.as_ptr(), file.len(), image(target), self.parameters);
        call!(library, nvjpegDecodeBatchedInitialize(library.handle, state, 1, 1, sys::OUTPUT_RGBI))?;
        let (handle, raw) = (library.handle, stream.raw);
        call!(
            library,
            nvjpegDecodeBatchedEx(handle, state, &bytes, &length, &mut image, &mut parameters, raw)
        )
    }

    fn decode_in_phases(&self, file: &[u8], target: &Buffer, stream: &Stream) -> Result<(), String> {
        let Self { library, state, parameters, jpeg, decoder, pinned, device } = *self;
        let (handle, raw, mut image) = (library.handle, stream.raw, image(target));
        call!(library, nvjpegJpegStreamParse(handle, file.as_ptr(), file.len(), 0, 0, jpeg))?;
        call!(library, nvjpegStateAttachPinnedBuffer(state, pinned))?;
        call!(library, nvjpegStateAttachDeviceBuffer(state, device))?;
        call!(library, nvjpegDecodeJpegHost(handle, decoder, state, parameters, jpeg))?;
        call!(library, nvjpegDecodeJpegTransferToDevice(handle, decoder, state, jpeg, raw))?;
        call!(library, nvjpegDecodeJpegDevice(handle, decoder, state, &mut image, raw))
    }
}

impl Drop for State<'_> {
    fn drop(&mut self) {
        let Self { library, state, parameters, jpeg, decoder, pinned, device } = *self;
        // Nobody is left to be told.
        let _ = [
            call!(library, nvjpegBufferDeviceDestroy(device)),
            call!(library, nvjpegBufferPinnedDestroy(pinned)),
            call!(library, nvjpegDecoderDestroy(decoder)),
            call!(library, nvjpegJpegStreamDestroy(jpeg)),
            call!(library, nvjpegDecodeParamsDestroy(parameters)),
            call!(library, nvjpegJpegStateDestroy(state)),
        ];
    }
}

fn image(target: &Buffer) -> sys::Image {
    let first = std::ptr::without_provenance_mut(target.start as usize);
    sys::Image { channel: [first, null_mut(), null_mut(), null_mut()], pitch: [SIDE * 3, 0, 0, 0] }
}
