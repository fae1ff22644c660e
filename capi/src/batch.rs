//! A batch behind a handle: what its rows are, and its arrays.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::border::{Failure, Status, c_text, give, guard, is_there, release, shared, text, write};
use crate::tensor::Field;
use feedline::field::FieldType;
use feedline::loader;
use feedline::plan::Placement;
use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, OnceLock};

/// One batch. Its memory goes back to the loader when the handle is freed and all its DLPack tensors are deleted.
pub struct Batch {
    pub(crate) batch: Arc<loader::Batch>,
    /// The view whose pixels, masks and objects it shows.
    pub(crate) view: usize,
    /// Made when the first one is asked for.
    keys: OnceLock<Vec<CString>>,
}

impl Batch {
    pub(crate) fn new(batch: loader::Batch) -> Self {
        Self { batch: Arc::new(batch), view: 0, keys: OnceLock::new() }
    }

    /// The view that it shows.
    fn shown(&self) -> Result<loader::BatchView<'_>, Failure> {
        let gone = || Failure::invalid("the view is gone; this is a bug, please report it");
        self.batch.view(self.view).ok_or_else(gone)
    }

    fn row(&self, row: u64) -> Result<usize, Failure> {
        let rows = self.batch.len();
        usize::try_from(row).ok().filter(|&row| row < rows).ok_or_else(|| {
            Failure::invalid(format!("there is no row {row}: the batch has {rows}, counted from 0"))
        })
    }
}

/// How a row came to be in its batch.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStatus {
    /// It is the sample that the epoch's order names.
    Ok = 0,
    /// It stands in for a bad sample.
    Substituted = 1,
    /// It repeats a sample to fill the last batch up: leave it out of metrics.
    Padded = 2,
}

/// Where a sample shows its image: what lies at x in the image, as a viewer shows it, lies at `ratio_x * x + pad_x` in the
/// sample, in pixels, so `(x - pad_x) / ratio_x` leads a prediction back to the image. For y likewise.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// By how much the image was made larger along x.
    pub ratio_x: f64,
    /// By how much it was made larger along y.
    pub ratio_y: f64,
    /// How far from the sample's left edge the image begins; negative where it was cropped there.
    pub pad_x: f64,
    /// How far from its upper edge.
    pub pad_y: f64,
}

/// What the values of a field are.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// UTF-8, without a zero at the end.
    Text = 0,
    /// Any bytes.
    Bytes = 1,
    /// JSON as text, which was checked.
    Json = 2,
    /// 64-bit integers.
    Integer = 3,
    /// 64-bit floats.
    Float = 4,
    /// Lists of 64-bit integers.
    Integers = 5,
    /// Lists of 64-bit floats.
    Floats = 6,
}

/// The values of a field in the n rows of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Values {
    /// What they are.
    pub kind: ValueType,
    /// n.
    pub rows: u64,
    /// Text, bytes and JSON of all rows, one after the other; of no meaning where there are none, null for numbers.
    pub bytes: *const u8,
    /// The value of row i is `bytes[offsets[i]]` to `bytes[offsets[i + 1]]`, or of lists the numbers there: n + 1 of them; null for
    /// numbers, and for lists that have a length.
    pub offsets: *const usize,
    /// Integers, one for each row, or those of lists one after the other; null for other types.
    pub integers: *const i64,
    /// Floats, likewise; null for other types.
    pub floats: *const f64,
    /// How many numbers each list has, where the field says so; else 0.
    pub length: u64,
}

/// Number of rows.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `rows` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_rows(batch: *const Batch, rows: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(rows, shared(batch, "batch")?.batch.len() as u64, "rows") }
    })
}

/// Which batch of its epoch it is, from 0.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `number` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_number(batch: *const Batch, number: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(number, shared(batch, "batch")?.batch.number() as u64, "number") }
    })
}

/// Number of views of each sample: 1 where the recipe has none.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `views` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_view_count(batch: *const Batch, views: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(views, shared(batch, "batch")?.batch.view_count() as u64, "views") }
    })
}

/// Another handle for the same batch, whose pixels, masks and objects are those of view `number`, counted from 0; those of
/// a batch itself are the first view's. It keeps the batch's memory, and is freed with feedline_batch_free() like the batch.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `view` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_view(
    batch: *const Batch,
    number: u64,
    view: *mut *mut Batch,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        let views = batch.batch.view_count();
        let number = usize::try_from(number).ok().filter(|&number| number < views).ok_or_else(|| {
            Failure::invalid(format!("there is no view {number}: the batch has {views}, counted from 0"))
        })?;
        let of_view = Batch { batch: Arc::clone(&batch.batch), view: number, keys: OnceLock::new() };
        // SAFETY: the caller's promise.
        unsafe { give(view, of_view, "view") }
    })
}

/// The name of a row's sample: its path, or its key in a shard. Valid as long as the batch's handle.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `key` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_key(
    batch: *const Batch,
    row: u64,
    key: *mut *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        let keys = || batch.batch.keys().iter().map(|key| c_text(key)).collect();
        let row = batch.row(row)?;
        // SAFETY: the caller's promise.
        unsafe { write(key, batch.keys.get_or_init(keys)[row].as_ptr(), "key") }
    })
}

/// How a row came to be there.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `status` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_row_status(
    batch: *const Batch,
    row: u64,
    status: *mut RowStatus,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        let here = match batch.batch.status()[batch.row(row)?] {
            loader::Status::Ok => RowStatus::Ok,
            loader::Status::Substituted { .. } => RowStatus::Substituted,
            loader::Status::Padded => RowStatus::Padded,
        };
        // SAFETY: the caller's promise.
        unsafe { write(status, here, "status") }
    })
}

/// Height and width of a row's image as a viewer shows it, before anything was done to it, in pixels; in what is mixed, those
/// of the row's own image.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `height` and `width` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_original_size(
    batch: *const Batch,
    row: u64,
    height: *mut i64,
    width: *mut i64,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        is_there(width, "width")?;
        let [own_height, own_width] = batch.batch.original_sizes()[batch.row(row)?];
        // SAFETY: the caller's promise.
        unsafe {
            write(height, own_height, "height")?;
            write(width, own_width, "width")
        }
    })
}

/// Where a row shows its image, in the view of the handle; FEEDLINE_STATUS_ABSENT, and nothing written, for a row that shows
/// several images, or shows its image mirrored, turned, sheared or distorted.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `place` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_place(batch: *const Batch, row: u64, place: *mut Place) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        is_there(place, "place")?;
        let Some(shown) = batch.shown()?.placements()[batch.row(row)?] else {
            return Ok(Status::Absent);
        };
        let Placement { ratio: [ratio_x, ratio_y], pad: [pad_x, pad_y] } = shown;
        // SAFETY: the caller's promise.
        unsafe { write(place, Place { ratio_x, ratio_y, pad_x, pad_y }, "place") }
    })
}

/// The values of the field that is called `name` (see the option `fields`); FEEDLINE_STATUS_ABSENT, and nothing written,
/// where the batch has none of it. They lie in the host's memory on every device, and are valid as long as the batch's
/// handle.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `name` ends with a zero; `values` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_values(
    batch: *const Batch,
    name: *const c_char,
    values: *mut Values,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (batch, name) = unsafe { (shared(batch, "batch")?, text(name, "name")?) };
        is_there(values, "values")?;
        let Some(field) = batch.batch.field(name) else { return Ok(Status::Absent) };
        let kind = match field.kind() {
            FieldType::Text => ValueType::Text,
            FieldType::Json => ValueType::Json,
            FieldType::Integer => ValueType::Integer,
            FieldType::Float => ValueType::Float,
            FieldType::Integers => ValueType::Integers,
            FieldType::Floats => ValueType::Floats,
            _ => ValueType::Bytes,
        };
        let is_ragged = matches!(kind, ValueType::Text | ValueType::Bytes | ValueType::Json);
        let here = Values {
            kind,
            rows: field.len() as u64,
            bytes: if is_ragged { field.data().as_ptr() } else { std::ptr::null() },
            offsets: if field.offsets().is_empty() { std::ptr::null() } else { field.offsets().as_ptr() },
            integers: field.integers().map_or(std::ptr::null(), <[i64]>::as_ptr),
            floats: field.floats().map_or(std::ptr::null(), <[f64]>::as_ptr),
            length: field.list_length().unwrap_or(0) as u64,
        };
        // SAFETY: the caller's promise.
        unsafe { write(values, here, "values") }
    })
}

/// The number that the second images or depth maps of the field that is called `name` have in place of a
/// FEEDLINE_FIELD_..., which is the same in every batch of a loader; FEEDLINE_STATUS_ABSENT, and nothing written, where
/// there are none. They lie where the pixels are: second images in the form of the pixels, depth maps as
/// `[n, height, width]`, f32.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `name` ends with a zero; `field` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_picture(
    batch: *const Batch,
    name: *const c_char,
    field: *mut i32,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (batch, name) = unsafe { (shared(batch, "batch")?, text(name, "name")?) };
        is_there(field, "field")?;
        let number = batch.batch.picture_names().position(|own| own == name);
        let Some(number) = number.and_then(|number| i32::try_from(number).ok()) else {
            return Ok(Status::Absent);
        };
        // SAFETY: the caller's promise.
        unsafe { write(field, Field::FirstPicture as i32 + number, "field") }
    })
}

/// Waits until the pixels are finished, which a device may still be working on.
///
/// # Safety
/// `batch` is from feedline_epoch_next().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_wait(batch: *const Batch) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { shared(batch, "batch")? }.batch.wait()?;
        Ok(Status::Ok)
    })
}

/// Orders what is enqueued on a CUDA stream from now on behind the finished pixels, and their memory's next use behind
/// what has been enqueued there when the batch and its tensors are gone. The host does not wait. Null is the default
/// stream. Without effect where the pixels lie in the host's memory.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `stream` is null or a stream (CUstream, cudaStream_t) of the batch's device, no
/// per-thread default stream, and lives as long as the batch and its tensors; where they go while it is captured into a CUDA
/// graph, until the loader and all its batches are gone. While it is captured the batch cannot be used on it: FEEDLINE_STATUS_CONFIG.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_use_on(batch: *const Batch, stream: *mut c_void) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        if let Some(images) = batch.batch.on_device() {
            // SAFETY: the caller's promise.
            unsafe { images.use_on(stream)? };
        }
        Ok(Status::Ok)
    })
}

/// Writes the labels as one row of `classes` numbers for each sample, by their shares in mixes: one-hot, soft, or multi-hot where
/// images have several classes. `smoothing`, in 0 to 1, is taken from the shares and spread evenly over all classes. A sample
/// without a label has a row of zeros. A handle of a view has those of its view.
///
/// # Safety
/// `batch` is from feedline_epoch_next(); `count` numbers may be written at `targets`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_one_hot(
    batch: *const Batch,
    classes: u64,
    smoothing: f32,
    targets: *mut f32,
    count: u64,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let batch = unsafe { shared(batch, "batch")? };
        let dense = batch.shown()?.one_hot(usize::try_from(classes).unwrap_or(usize::MAX), smoothing)?;
        if count != dense.len() as u64 {
            let message =
                format!("there is room for {count} numbers, and the rows take {}: give as much", dense.len());
            return Err(Failure::invalid(message));
        }
        if count > 0 {
            is_there(targets, "targets")?;
            // SAFETY: the caller's promise; there are as many numbers.
            unsafe { targets.copy_from_nonoverlapping(dense.as_ptr(), dense.len()) };
        }
        Ok(Status::Ok)
    })
}

/// Frees a batch's handle; null is let pass. Pointers into the batch are not valid any more, but its DLPack tensors are.
///
/// # Safety
/// `batch` is null or from feedline_epoch_next(), and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_batch_free(batch: *mut Batch) {
    // SAFETY: the caller's promise.
    unsafe { release(batch) }
}
