//! The scheduling priority of worker threads.

use crate::error::{Error, Result};
use crate::policy::WorkerPriority;
use std::thread;

/// Checks that threads of this process can take `priority`, in a thread that ends at once.
///
/// # Errors
/// [`Error::Unavailable`] where they cannot.
pub(super) fn check(priority: WorkerPriority) -> Result<()> {
    if priority == WorkerPriority::Normal {
        return Ok(());
    }
    let thread = thread::Builder::new().spawn(move || enter(priority)).map_err(|error| error.to_string());
    let entered =
        thread.and_then(|thread| thread.join().unwrap_or_else(|_| Err("it cannot be tried".into())));
    entered.map_err(|why| Error::Unavailable {
        what: "worker_priority = \"idle\"".into(),
        why,
        remedy: "leave worker_priority out".into(),
    })
}

/// Gives the calling thread `priority`.
pub(super) fn enter(priority: WorkerPriority) -> std::result::Result<(), String> {
    match priority {
        WorkerPriority::Normal => Ok(()),
        WorkerPriority::Idle => enter_idle(),
    }
}

#[cfg(target_os = "linux")]
fn enter_idle() -> std::result::Result<(), String> {
    use thread_priority::unix::{
        NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    };
    use thread_priority::{Error, ThreadPriority};
    let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    let entered = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
    entered.map_err(|error| match error {
        Error::OS(code) => std::io::Error::from_raw_os_error(code).to_string(),
        other => other.to_string(),
    })
}

#[cfg(not(target_os = "linux"))]
fn enter_idle() -> std::result::Result<(), String> {
    Err("only Linux has it".into())
}
