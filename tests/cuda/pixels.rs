//! feedline's own decoder, lent to the simulated nvJPEG: then both have the same pixels, and differences are mistakes.

#![expect(unsafe_code, reason = "gives a function to a C library")]

#[allow(unreachable_pub, reason = "it is a program of its own, too")]
#[path = "../../examples/fake_pixels.rs"]
mod fake_pixels;

type Decode = unsafe extern "C" fn(*const u8, usize, u32, u32, *mut u8) -> i32;

/// Gives the simulated nvJPEG a decoder. The real one is left alone: it has its own.
pub(crate) fn lend_the_decoder() -> Result<(), Box<dyn std::error::Error>> {
    let Some(path) = std::env::var_os("FEEDLINE_NVJPEG") else { return Ok(()) };
    // SAFETY: the library that the code under test loads as well.
    let Ok(library) = (unsafe { libloading::Library::new(path) }) else { return Ok(()) };
    // SAFETY: the simulated library declares it so; the real one lacks it.
    if let Ok(set) = unsafe { library.get::<unsafe extern "C" fn(Decode)>("fakenvjpeg_set_decoder") } {
        // SAFETY: the function lives as long as the program.
        unsafe { set(fake_pixels::fakenvjpeg_decode) };
    }
    // It stays: the code under test uses it until the process ends.
    std::mem::forget(library);
    Ok(())
}
