//! Named pipes, which keep whoever opens them waiting for ever, and tests that end in spite of that.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Makes a named pipe, to which nothing is ever written.
///
/// # Panics
/// Where the command `mkfifo` cannot make it.
pub fn make(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "no pipe was made at {}", path.display());
}

/// What `run` returns.
///
/// # Panics
/// Where `run` has not ended after a minute, as it never does when it has opened a pipe; `what` is named then.
pub fn ends<T: Send + 'static>(what: &str, run: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || send.send(run()));
    receive.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|error| panic!("{what}: {error}"))
}
