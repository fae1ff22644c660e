//! The loader behind a handle.

#![expect(unsafe_code, reason = "what C hands over are raw pointers")]

use crate::border::{Failure, Status, c_text, give, guard, is_there, release, shared, text, write};
use crate::epoch::Epoch;
use crate::options::{Options, recipe};
use feedline::loader::State;
use std::ffi::{CString, c_char};

/// Delivers the batches of any epoch. It may be used by several threads at once.
pub struct Loader {
    loader: feedline::loader::Loader,
    classes: Vec<CString>,
    notes: Vec<CString>,
}

const _: () = {
    /// C may hand the object to any thread, which no compiler checks there.
    const fn used_by_several_threads<T: Send + Sync>() {}
    used_by_several_threads::<Loader>();
    used_by_several_threads::<crate::batch::Batch>();
};

/// Opens a loader. It checks everything that can be checked before the first epoch.
///
/// # Safety
/// `options` is from feedline_options_new() and not changed meanwhile; `loader` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_open(options: *const Options, loader: *mut *mut Loader) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let options = unsafe { shared(options, "options")? };
        let (opened, notes) = feedline::loader::Loader::open(&recipe(&options.given)?)?;
        let notes = notes.iter().map(|note| c_text(&note.to_string())).collect();
        let classes = opened.source().classes().iter().map(|name| c_text(name)).collect();
        // SAFETY: the caller's promise.
        unsafe { give(loader, Loader { loader: opened, classes, notes }, "loader") }
    })
}

/// Frees a loader; null is let pass. Its epochs and batches stay valid.
///
/// # Safety
/// `loader` is null or from feedline_loader_open(), and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_free(loader: *mut Loader) {
    // SAFETY: the caller's promise.
    unsafe { release(loader) }
}

/// Batches of an epoch, exactly.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `batches` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_batches(loader: *const Loader, batches: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(batches, shared(loader, "loader")?.loader.batches() as u64, "batches") }
    })
}

/// Number of samples in the data set.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `samples` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_samples(loader: *const Loader, samples: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(samples, shared(loader, "loader")?.loader.samples() as u64, "samples") }
    })
}

/// Number of class names that the data set knows; 0 where it knows none.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `classes` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_classes(loader: *const Loader, classes: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(classes, shared(loader, "loader")?.classes.len() as u64, "classes") }
    })
}

/// The name of a class, valid as long as the loader.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `name` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_class_name(
    loader: *const Loader,
    class_index: u64,
    name: *mut *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let classes = unsafe { &shared(loader, "loader")?.classes };
        let class = usize::try_from(class_index).ok().and_then(|class| classes.get(class));
        let class = class.ok_or_else(|| {
            Failure::invalid(format!("there is no class {class_index}: the data set has {}", classes.len()))
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(name, class.as_ptr(), "name") }
    })
}

/// The figures since the loader was opened, as JSON: count, mean, p50 and p99 of each stage, waits, ready batches, slots,
/// workers, bytes, caches, decode indexes, and the limiting stage. To be freed by feedline_string_free().
///
/// # Safety
/// `loader` is from feedline_loader_open(); `stats` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_stats_json(
    loader: *const Loader,
    stats: *mut *mut c_char,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { give_json(loader, stats, "stats", |loader| serde_json::to_string(&loader.stats())) }
}

/// What was wrong with the files so far, as JSON: `failures` (how often a bad sample was met), `files` (the first 1000
/// different ones: stage, key, index, cause), `damaged` (how often a damaged file was decoded, as the option of that name
/// allows) and `damaged_files` (the first 1000 different ones: key, index, damage, times). To be freed by
/// feedline_string_free().
///
/// # Safety
/// `loader` is from feedline_loader_open(); `report` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_report_json(
    loader: *const Loader,
    report: *mut *mut c_char,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { give_json(loader, report, "report", |loader| serde_json::to_string(&loader.report())) }
}

/// Gives what a loader tells of itself as JSON, with the keys that Python's has.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `out`, which the caller calls `what`, may be written.
unsafe fn give_json(
    loader: *const Loader,
    out: *mut *mut c_char,
    what: &str,
    tell: fn(&feedline::loader::Loader) -> serde_json::Result<String>,
) -> Status {
    guard(|| {
        // SAFETY: `loader` is from feedline_loader_open().
        let loader = unsafe { shared(loader, "loader")? };
        is_there(out, what)?;
        let text = tell(&loader.loader)
            .map_err(|error| Failure::invalid(format!("`{what}` has no text: {error}")))?;
        // SAFETY: `out` may be written.
        unsafe { write(out, c_text(&text).into_raw(), what) }
    })
}

/// What limits the speed so far, why, and what to do about it, in one sentence. To be freed by feedline_string_free().
///
/// # Safety
/// `loader` is from feedline_loader_open(); `explanation` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_explain(
    loader: *const Loader,
    explanation: *mut *mut c_char,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let loader = unsafe { shared(loader, "loader")? };
        is_there(explanation, "explanation")?;
        // SAFETY: the caller's promise.
        unsafe { write(explanation, c_text(&loader.loader.explain()).into_raw(), "explanation") }
    })
}

/// Why batches are not page-locked, or not all of them, although the option `pin_memory` asks for it, so far; to be freed by
/// feedline_string_free(). FEEDLINE_STATUS_ABSENT, and nothing written, where they are or need not be.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `reason` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_unpinned(loader: *const Loader, reason: *mut *mut c_char) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let loader = unsafe { shared(loader, "loader")? };
        is_there(reason, "reason")?;
        let Some(why) = loader.loader.unpinned() else { return Ok(Status::Absent) };
        // SAFETY: the caller's promise.
        unsafe { write(reason, c_text(&why).into_raw(), "reason") }
    })
}

/// Number of notes: what a user should know of the data, such as images that belong to no class and labels that were
/// left out.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `notes` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_notes(loader: *const Loader, notes: *mut u64) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { write(notes, shared(loader, "loader")?.notes.len() as u64, "notes") }
    })
}

/// A note, valid as long as the loader.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `note` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_note(
    loader: *const Loader,
    note_index: u64,
    note: *mut *const c_char,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let notes = unsafe { &shared(loader, "loader")?.notes };
        let found = usize::try_from(note_index).ok().and_then(|note| notes.get(note));
        let found = found.ok_or_else(|| {
            Failure::invalid(format!("there is no note {note_index}: there are {}", notes.len()))
        })?;
        // SAFETY: the caller's promise.
        unsafe { write(note, found.as_ptr(), "note") }
    })
}

/// What the loader was told, section by section, as TOML. To be freed by feedline_string_free().
///
/// # Safety
/// `loader` is from feedline_loader_open(); `text` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_options(loader: *const Loader, text: *mut *mut c_char) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let loader = unsafe { shared(loader, "loader")? };
        is_there(text, "text")?;
        let told = toml::to_string(loader.loader.options());
        let told = told.map_err(|error| Failure::invalid(format!("the options have no text: {error}")))?;
        // SAFETY: the caller's promise.
        unsafe { write(text, c_text(&told).into_raw(), "text") }
    })
}

/// Starts epoch `number`, which ends the one that still runs.
///
/// # Safety
/// `loader` is from feedline_loader_open(); `epoch` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_epoch(
    loader: *const Loader,
    number: u64,
    epoch: *mut *mut Epoch,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        unsafe { give(epoch, Epoch::new(shared(loader, "loader")?.loader.epoch(number)), "epoch") }
    })
}

/// Goes on where feedline_epoch_state() was asked: the rest of that epoch. Which epoch it is stands in the text (JSON).
///
/// # Safety
/// `loader` is from feedline_loader_open(); `state` is text; `epoch` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feedline_loader_resume(
    loader: *const Loader,
    state: *const c_char,
    epoch: *mut *mut Epoch,
) -> Status {
    guard(|| {
        // SAFETY: the caller's promise.
        let (loader, state) = unsafe { (shared(loader, "loader")?, text(state, "state")?) };
        let state: State = serde_json::from_str(state).map_err(|error| {
            Failure::invalid(format!("the state is not one: {error}; give what feedline_epoch_state() gave"))
        })?;
        // SAFETY: the caller's promise.
        unsafe { give(epoch, Epoch::new(loader.loader.resume(&state)?), "epoch") }
    })
}
