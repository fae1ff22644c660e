//! A function of indices on several threads, with the results in order.

use std::io;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Results by which each thread may be ahead of their reader.
const AHEAD: usize = 2;

/// Calls `work` for each of `numbers` on `threads` threads, and `take` with each result, in order, on this one. Every
/// thread works with a state of its own, which `state` makes. At most three results per thread exist at once. The system may
/// refuse threads; then there are fewer, or this one does the work too.
///
/// # Errors
/// The first error of `take`, after which no more work is begun.
pub(crate) fn parallel_map<S, T: Send, E>(
    numbers: Range<usize>,
    threads: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
    take: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let wanted = threads.clamp(1, numbers.len().max(1));
    map_on((wanted, |_| Ok(thread::Builder::new())), numbers, state, work, take)
}

/// As [`parallel_map`], on at most `wanted` threads. `builder` makes the builder of each one; its error counts as the system's
/// refusal.
fn map_on<S, T: Send, E>(
    (wanted, builder): (usize, impl Fn(usize) -> io::Result<thread::Builder>),
    numbers: Range<usize>,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> T + Sync,
    mut take: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let (state, work) = (&state, &work);
    thread::scope(|scope| {
        let mut workers = Vec::new();
        for first in 0..wanted {
            // Among how many the numbers are shared is known once all are started.
            let (say_threads, threads) = sync_channel(1);
            let (sender, receiver) = sync_channel(AHEAD);
            let mine = numbers.clone().skip(first);
            let run = move || {
                let Ok(threads) = threads.recv() else { return };
                let mut state = state();
                // Nobody receives any more once `take` has failed.
                mine.step_by(threads)
                    .map(|number| work(&mut state, number))
                    .all(|result| sender.send(result).is_ok());
            };
            if builder(first).and_then(|builder| builder.spawn_scoped(scope, run)).is_err() {
                break;
            }
            workers.push((say_threads, receiver));
        }
        if workers.is_empty() {
            let mut state = state();
            return numbers.into_iter().try_for_each(|number| take(number, work(&mut state, number)));
        }
        for (say_threads, _) in &workers {
            // Its thread waits for it.
            let _ = say_threads.send(workers.len());
        }
        for (number, (_, queue)) in numbers.zip(workers.iter().cycle()) {
            // A sender is only gone early when its thread has panicked, and then the scope passes that panic on.
            let Ok(result) = queue.recv() else { break };
            take(number, result)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        for threads in 1..6 {
            let mut seen = Vec::new();
            let take = |number, square| {
                seen.push((number, square));
                Ok::<_, ()>(())
            };
            parallel_map(3..40, threads, || (), |(), number| number * number, take).unwrap();
            assert_eq!(seen, (3..40).map(|number| (number, number * number)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn threads_that_the_system_refuses_are_done_without() {
        for started in 0..4 {
            let builder = |number| match number < started {
                true => Ok(thread::Builder::new()),
                false => Err(io::Error::other("too many threads")),
            };
            let mut seen = Vec::new();
            let take = |number, square| {
                seen.push((number, square));
                Ok::<_, ()>(())
            };
            map_on((4, builder), 3..40, || (), |(), number| number * number, take).unwrap();
            assert_eq!(seen, (3..40).map(|number| (number, number * number)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_of_the_reader_ends_the_work() {
        let take = |number, _| if number == 5 { Err(number) } else { Ok(()) };
        assert_eq!(parallel_map(0..usize::MAX, 3, || (), |(), number| number, take), Err(5));
    }

    #[test]
    fn nothing_to_do_is_done() {
        let never = |_, ()| -> Result<(), ()> { unreachable!() };
        assert_eq!(parallel_map(4..4, 2, || (), |(), _| (), never), Ok(()));
    }
}
