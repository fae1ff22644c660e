//! libjpeg-turbo's crop path, by way of `shim.c`.
#![expect(unsafe_code, reason = "calls into C")]

use std::ffi::{CStr, c_char, c_int};
use std::ptr::NonNull;

use anyhow::{Context, Result, bail, ensure};
use feedline::geometry::{Rect, Size};
use feedline::image::Image;

#[repr(C)]
struct Handle {
    _private: [u8; 0],
}

// SAFETY: these are the declarations of `shim.c`.
unsafe extern "C" {
    fn turbo_version() -> *const c_char;
    fn turbo_has_simd() -> c_int;
    fn turbo_new() -> *mut Handle;
    fn turbo_free(turbo: *mut Handle);
    fn turbo_message(turbo: *const Handle) -> *const c_char;
    fn turbo_decode(
        turbo: *mut Handle,
        bytes: *const u8,
        length: usize,
        rect: *mut u32,
        out: *mut u8,
        capacity: usize,
    ) -> c_int;
}

// turbojpeg-sys says what to link with only to a program that names it.
use turbojpeg_sys as _;

/// Which libjpeg-turbo this is.
pub fn version() -> String {
    // SAFETY: it is a literal of the shim.
    unsafe { CStr::from_ptr(turbo_version()) }.to_string_lossy().into_owned()
}

/// A decompressor that is kept from image to image.
pub struct Turbo(NonNull<Handle>);

impl Turbo {
    /// # Errors
    /// Where libjpeg-turbo was built without its vector code, which would be no fair comparison.
    pub fn new() -> Result<Self> {
        // SAFETY: it takes nothing and asks only for the processor's features.
        ensure!(
            unsafe { turbo_has_simd() } != 0,
            "libjpeg-turbo has no vector code here: unset JSIMD_FORCENONE"
        );
        // SAFETY: it takes nothing.
        Ok(Self(NonNull::new(unsafe { turbo_new() }).context("libjpeg-turbo cannot be set up")?))
    }

    /// Decodes `region` into `image`, and as much to its left as libjpeg-turbo needs to begin at an MCU.
    ///
    /// # Errors
    /// libjpeg-turbo's, warnings included.
    pub fn decode(&mut self, bytes: &[u8], stored: Size, region: Rect, image: &mut Image) -> Result<()> {
        let stored_rect = stored.rect();
        ensure!(!region.is_empty() && stored_rect.contains(region), "{region:?} is no part of {stored}");
        image.reset(stored, stored_rect);
        let mut rect = [region.x as u32, region.y as u32, region.width, region.height];
        // SAFETY: the handle is alive, `rect` has four numbers, and lengths are those of the slices.
        let failed = unsafe {
            turbo_decode(
                self.0.as_ptr(),
                bytes.as_ptr(),
                bytes.len(),
                rect.as_mut_ptr(),
                image.data.as_mut_ptr(),
                image.data.len() - Image::TAIL,
            )
        };
        if failed != 0 {
            // SAFETY: the message lies in the handle, ends with zero and is copied at once.
            bail!("{}", unsafe { CStr::from_ptr(turbo_message(self.0.as_ptr())) }.to_string_lossy());
        }
        image.reset(stored, Rect::new(rect[0] as i32, rect[1] as i32, rect[2], rect[3]));
        Ok(())
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { turbo_free(self.0.as_ptr()) }
    }
}
