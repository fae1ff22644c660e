//! Memory that Python's objects lend: bytes to read, and arrays to write pixels to.

#![expect(unsafe_code, reason = "the buffer protocol consists of raw pointers")]

use feedline::decode::PixelsMut;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::ptr::null_mut;

/// Python's `Py_buffer`. It belongs to the stable interface since Python 3.11; 3.9 and 3.10 have the same fields, and export
/// the functions that fill it.
#[repr(C)]
struct View {
    buf: *mut c_void,
    obj: *mut PyObject,
    len: isize,
    itemsize: isize,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut isize,
    strides: *mut isize,
    suboffsets: *mut isize,
    internal: *mut c_void,
}

unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut PyObject, view: *mut View, flags: c_int) -> c_int;
    fn PyBuffer_Release(view: *mut View);
}

/// What is asked of an object: its bytes in one piece; or an array that may be written, with its axes and number format.
const SIMPLE: c_int = 0;
const WRITABLE_ARRAY: c_int = 0x1 | 0x4 | 0x18;

/// Memory of an object, which stays where it is until this is dropped.
pub(crate) struct Buffer {
    /// In a box of its own, because objects let it point at itself.
    view: Box<View>,
}

// SAFETY: the view is only read; it is released while this thread is attached to the interpreter, and Python lets any thread do
// that.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// The bytes of an object.
    ///
    /// # Errors
    /// Python's exception for an object without bytes, or whose bytes do not lie in one piece.
    pub(crate) fn of_bytes(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::get(object, SIMPLE)
    }

    /// The memory of an array that is written. torch's tensors lend none, and NumPy's arrays of them do.
    fn of_array(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::get(object, WRITABLE_ARRAY).or_else(|error| {
            let is_other = error.is_instance_of::<PyTypeError>(object.py()) && object.hasattr("numpy")?;
            if is_other { Self::get(&object.call_method0("numpy")?, WRITABLE_ARRAY) } else { Err(error) }
        })
    }

    fn get(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Self> {
        let mut view = Box::new(View {
            buf: null_mut(),
            obj: null_mut(),
            len: 0,
            itemsize: 0,
            readonly: 0,
            ndim: 0,
            format: null_mut(),
            shape: null_mut(),
            strides: null_mut(),
            suboffsets: null_mut(),
            internal: null_mut(),
        });
        // SAFETY: the interpreter is attached, `object` is alive, and the view is laid out as Python's.
        match unsafe { PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) } {
            0 => Ok(Self { view }),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    /// The bytes. Nobody may write them meanwhile, as with everything that reads such memory while other threads run.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.view.len <= 0 {
            return &[];
        }
        // SAFETY: the object keeps `len` bytes at `buf` until the view is released, for SIMPLE in one piece.
        unsafe { std::slice::from_raw_parts(self.view.buf.cast(), self.view.len as usize) }
    }

    fn axis(&self, values: *mut isize) -> &[isize] {
        if values.is_null() {
            return &[];
        }
        // SAFETY: where they are there, shape and strides have `ndim` numbers each.
        unsafe { std::slice::from_raw_parts(values, self.view.ndim as usize) }
    }

    fn is_u8(&self) -> bool {
        let format = match self.view.format.is_null() {
            true => c"B",
            // SAFETY: where it is there, it is text that lives as long as the view.
            false => unsafe { CStr::from_ptr(self.view.format) },
        };
        self.view.itemsize == 1 && matches!(format.to_bytes(), b"B" | b"=B" | b"<B" | b"|B" | b"@B")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the interpreter is attached, and the view is one that it filled and that nobody has released.
        Python::attach(|_| unsafe { PyBuffer_Release(&raw mut *self.view) });
    }
}

/// Memory for images: rows of packed RGB, maybe with gaps between rows and between images.
pub(crate) struct Pixels {
    buffer: Buffer,
    images: usize,
    height: usize,
    width: usize,
    /// Bytes from one row to the next, and from one image to the next.
    row: usize,
    image: usize,
}

impl Pixels {
    /// The memory of an array of shape (height, width, 3) or, with `many`, (n, height, width, 3).
    ///
    /// # Errors
    /// Python's exception for an object that is no array or that may not be written; `ValueError` for one of another shape or
    /// number format, or whose pixels do not lie side by side.
    pub(crate) fn of(array: &Bound<'_, PyAny>, many: bool) -> PyResult<Self> {
        let buffer = Buffer::of_array(array)?;
        let axes = buffer.axis(buffer.view.shape).iter().zip(buffer.axis(buffer.view.strides));
        let axes: Vec<(isize, isize)> = axes.map(|(&length, &stride)| (length, stride)).collect();
        let form = if many { "(n, height, width, 3)" } else { "(height, width, 3)" };
        let refused = |what: &str| {
            let lengths: Vec<isize> = axes.iter().map(|axis| axis.0).collect();
            Err(PyValueError::new_err(format!(
                "out {what}: give an array of uint8 of the shape {form}, with rows without gaps; its shape is {lengths:?}"
            )))
        };
        if !buffer.is_u8() {
            return refused("is not of uint8");
        }
        let single = [(1, 0)];
        let all = if many { axes.clone() } else { single.iter().copied().chain(axes.clone()).collect() };
        let &[(images, image), (height, row), (width, pixel), (channels, level)] = &all[..] else {
            return refused("has another number of axes");
        };
        if channels != 3 {
            return refused("has no three channels");
        }
        let has_pixels = images > 0 && height > 0 && width > 0;
        // An axis of one entry has no stride that counts.
        let stride = |length: isize, stride: isize, least: isize| if length > 1 { stride } else { least };
        let row = stride(height, row, width * 3);
        let image = stride(images, image, row * height);
        let side_by_side = level == 1
            && (width <= 1 || pixel == 3)
            && row >= width * 3
            && image >= row * (height - 1) + width * 3;
        if has_pixels && !side_by_side {
            return refused("has gaps between pixels, or rows in another order");
        }
        let [images, height, width, row, image] =
            [images, height, width, row, image].map(|length| length.max(0) as usize);
        Ok(Self { buffer, images, height, width, row, image })
    }

    /// Number of images.
    pub(crate) fn len(&self) -> usize {
        self.images
    }

    /// Height and width.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// The rows of all images, each apart from the others.
    pub(crate) fn images_mut(&mut self) -> Vec<PixelsMut<'_>> {
        let bytes = self.image_bytes();
        let first: *mut u8 = self.buffer.view.buf.cast();
        let one = |at: usize| {
            let data = match bytes {
                0 => &mut [][..],
                // SAFETY: the array has this image's rows there, which no other image shares, since it begins where the one
                // before has ended; this borrow of the array is the only one on this side, and Python's users are told not
                // to use it meanwhile.
                _ => unsafe { std::slice::from_raw_parts_mut(first.add(at * self.image), bytes) },
            };
            PixelsMut { data, stride: self.row }
        };
        (0..self.images).map(one).collect()
    }

    /// Bytes from the first pixel of an image to its last, without the gap behind that.
    fn image_bytes(&self) -> usize {
        match self.height * self.width {
            0 => 0,
            _ => self.row * (self.height - 1) + self.width * 3,
        }
    }

    /// The addresses between which is written.
    pub(crate) fn addresses(&self) -> Range<usize> {
        let start = self.buffer.view.buf as usize;
        start..start + self.image * self.images.saturating_sub(1) + self.image_bytes()
    }
}
