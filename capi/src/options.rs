//! Options by name, as text, so that a new one changes no function.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::border::{Failure, Status, alone, give, guard, release, text};
use std::ffi::c_char;

/// What a loader is to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name and value; the latest value of a name counts.
    pub(crate) given: Vec<(String, String)>,
}

/// Makes empty options.
///
/// # Safety
/// `options` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_options_new(options: *mut *mut Options) -> Status {
    // SAFETY: the caller's promise.
    guard(|| unsafe { give(options, Options::default(), "options") })
}

/// Sets an option. The last value counts; what it means is checked when the loader is opened.
///
/// `data` is the only one that must be set: a path. What lies there is found by looking at it, or said by `source`:
/// `folder` (with or without a directory for each class), `list`, `tar`, `tfrecord`, `lmdb`, `parquet`, `yolo` or `coco`;
/// `split` is the split of a data set that has some, `image_dir` the folder of COCO's images, `on_bad_label` is `fail`, `skip_object` or `skip_image`.
///
/// `recipe` is a built-in recipe's name (`imagenet-train`, which is the default) or the path of a TOML file,
/// `recipe_text` the TOML itself. What a recipe says can be said anew by section and key, the value being TOML or a bare
/// word: `output.dtype` = `f16`, `output.size` = `[224, 224]`, `labels.format` = `cxcywh`. A key without a section is one
/// of `[loader]`: `batch_size`, `shuffle`, `seed`, `workers`, `prefetch`, `last_batch`, `bad_sample`, ...
///
/// `device` is `cpu` (the default), `cuda`, `cuda:N` or `auto`; `rank` and `world_size` make the loader one of several;
/// `max_failures`, `partner_window`, `image_cache`, `device_memory`, `pinned_memory` and `low_priority` are those of the
/// Rust library's LoaderBuilder.
///
/// # Safety
/// `options` is from feedline_options_new() and used by no other thread; `key` and `value` are text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_options_set(
    options: *mut Options,
    key: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (options, key) = unsafe { (alone(options, "options")?, text(key, "key")?) };
        // SAFETY: the caller's promise.
        let value = unsafe { text(value, "value")? };
        if key.is_empty() {
            return Err(Failure::invalid("the key is empty: name an option, such as batch_size"));
        }
        options.given.retain(|(other, _)| other != key);
        options.given.push((key.to_owned(), value.to_owned()));
        Ok(Status::Ok)
    })
}

/// Frees options; null is let pass. Loaders that were opened with them stay.
///
/// # Safety
/// `options` is null or from feedline_options_new(), and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_options_free(options: *mut Options) {
    // SAFETY: the caller's promise.
    unsafe { release(options) }
}
