//! libjpeg-turbo, through `reference.c`.

use std::ffi::{CStr, c_char, c_int, c_uint};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Intact,
    Damaged,
    Refused,
}

pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) pixels: Vec<u8>,
    pub(crate) message: String,
}

#[repr(C)]
struct RawAnswer {
    pixels: *mut u8,
    width: u32,
    height: u32,
    message: [c_char; 200],
}

type Decode = unsafe extern "C" fn(*const u8, usize, u64, c_uint, *mut RawAnswer) -> c_int;
type Recode = unsafe extern "C" fn(*const u8, usize, c_int, c_int, *mut u8, usize) -> usize;
type Free = unsafe extern "C" fn(*mut RawAnswer);

const NAMES: &str = "the library has the functions of reference.c";

pub(crate) struct Reference {
    library: libloading::Library,
}

impl Reference {
    pub(crate) fn open() -> Self {
        let path = std::env::var("FEEDLINE_LIBJPEG").expect("FEEDLINE_LIBJPEG names the reference library");
        // SAFETY: the library has no initialisers beyond libc's.
        let library = unsafe { libloading::Library::new(&path) };
        Self { library: library.unwrap_or_else(|error| panic!("{path}: {error}")) }
    }

    /// At a scale of 1 to `scale`, which is 1, 2, 4 or 8.
    pub(crate) fn decode(&self, bytes: &[u8], max_pixels: u64, scale: u32) -> Answer {
        let mut raw = RawAnswer { pixels: std::ptr::null_mut(), width: 0, height: 0, message: [0; 200] };
        // SAFETY: these are the functions of reference.c, with its types.
        let (decode, free) = unsafe {
            let decode = self.library.get::<Decode>(b"reference_decode").expect(NAMES);
            (decode, self.library.get::<Free>(b"reference_free").expect(NAMES))
        };
        // SAFETY: `bytes` has so many bytes, and `raw` is an answer.
        let verdict = unsafe { decode(bytes.as_ptr(), bytes.len(), max_pixels, scale, &mut raw) };
        // SAFETY: the message is a C string of fewer than 200 bytes.
        let message = unsafe { CStr::from_ptr(raw.message.as_ptr()) }.to_string_lossy().into_owned();
        let mut pixels = Vec::new();
        if !raw.pixels.is_null() {
            let count = raw.width as usize * raw.height as usize * 3;
            // SAFETY: a file that was decoded has so many bytes of pixels.
            pixels = unsafe { std::slice::from_raw_parts(raw.pixels, count) }.to_vec();
        }
        // SAFETY: as above; nothing refers to the pixels any more.
        unsafe { free(&mut raw) };
        let verdict = [Verdict::Intact, Verdict::Damaged, Verdict::Refused][verdict as usize];
        Answer { verdict, pixels, message }
    }

    /// The same picture, coded arithmetically.
    pub(crate) fn arithmetic(&self, bytes: &[u8], progressive: bool, restart: u16) -> Vec<u8> {
        let mut file = vec![0; 1 << 20];
        // SAFETY: this is the function of reference.c, with its types.
        let recode = unsafe { self.library.get::<Recode>(b"reference_arithmetic").expect(NAMES) };
        // SAFETY: both have so many bytes.
        let length = unsafe {
            let (progressive, restart) = (c_int::from(progressive), c_int::from(restart));
            recode(bytes.as_ptr(), bytes.len(), progressive, restart, file.as_mut_ptr(), file.len())
        };
        file.truncate(length);
        file
    }
}
