//! What each thread did when, as a trace that Chrome and Perfetto show.

use crate::loader::report::errors::Stage;
use serde::Serialize;
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of spans that are kept; more are counted.
const MOST_SPANS: usize = 1 << 20;
/// Spans that are taken out at once to be written: threads that record wait for that and not for the writer.
const PIECE: usize = 4096;

/// Spans of a loader's threads, from [`crate::loader::LoaderBuilder::trace`] on: each stage of each sample, and the consumer's waits
/// and work. Clones share what is recorded.
///
/// It is written in Chrome's trace event format (JSON), which <https://ui.perfetto.dev> and `chrome://tracing` open. A span costs
/// about a hundred nanoseconds, and the first [`Trace::MOST_SPANS`] are kept, in 56 bytes each.
///
/// ```
/// use feedline::loader::{Loader, Trace};
/// use feedline::recipe::Recipe;
/// use feedline::source::Folder;
///
/// let (recipe, trace) = (Recipe::load("imagenet-train")?, Trace::new());
/// let loader = Loader::builder(Folder::open("data/photos")?).recipe(&recipe).batch_size(8).trace(&trace).build()?;
/// loader.epoch(0).take(2).try_for_each(|batch| batch.map(drop))?;
/// let mut json = Vec::new();
/// trace.write_json(&mut json)?;
/// assert!(String::from_utf8_lossy(&json).contains(r#""name":"decode""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trace(Arc<Recorded>);

#[derive(Debug)]
struct Recorded {
    began: Instant,
    spans: Mutex<Vec<Span>>,
    /// Of threads that recorded something, by their numbers.
    threads: Mutex<Vec<(u32, String)>>,
    left_out: AtomicU64,
}

impl Default for Recorded {
    fn default() -> Self {
        let (spans, threads) = (Mutex::default(), Mutex::default());
        Self { began: Instant::now(), spans, threads, left_out: AtomicU64::new(0) }
    }
}

#[derive(Clone, Copy, Debug)]
struct Span {
    what: What,
    thread: u32,
    began: Duration,
    took: Duration,
    /// The sample's index; none of a whole batch.
    sample: Option<u64>,
}

/// What a span is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::loader) enum What {
    /// A stage of a sample, or of a batch that is submitted to a device.
    Stage(Stage),
    /// The consumer's wait for a batch.
    Wait,
    /// What the consumer did between two batches.
    Trainer,
}

impl What {
    const fn name(self) -> &'static str {
        match self {
            What::Stage(Stage::Read) => "read",
            What::Stage(Stage::Plan) => "plan",
            What::Stage(Stage::Decode) => "decode",
            What::Stage(Stage::Render) => "render",
            What::Wait => "wait",
            What::Trainer => "trainer",
        }
    }
}

impl Trace {
    /// Maximum number of spans that are kept.
    pub const MOST_SPANS: usize = MOST_SPANS;

    /// An empty one; its time begins now.
    pub fn new() -> Self {
        Self::default()
    }

    pub(in crate::loader) fn add(&self, what: What, sample: Option<u64>, began: Instant, took: Duration) {
        let Recorded { began: zero, left_out, .. } = &*self.0;
        let span =
            Span { what, thread: self.thread(), began: began.saturating_duration_since(*zero), took, sample };
        let mut spans = self.spans();
        match spans.len() < MOST_SPANS {
            true => spans.push(span),
            false => drop(left_out.fetch_add(1, Relaxed)),
        }
    }

    /// The number of this thread; its name is noted with its first span.
    fn thread(&self) -> u32 {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        thread_local! { static NUMBER: Cell<u32> = const { Cell::new(0) } }
        if NUMBER.get() == 0 {
            NUMBER.set(NEXT.fetch_add(1, Relaxed));
        }
        let number = NUMBER.get();
        let mut threads = self.0.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.iter().all(|(known, _)| *known != number) {
            let name = std::thread::current().name().unwrap_or("thread").to_owned();
            threads.push((number, name));
        }
        number
    }

    /// Writes what was recorded until now.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json(&self, mut to: impl Write) -> io::Result<()> {
        // Ahead of the threads: the name of a span's thread is noted ahead of the span.
        let until = self.spans().len();
        let threads = self.0.threads.lock().unwrap_or_else(PoisonError::into_inner).clone();
        write!(
            to,
            "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"spans_left_out\":{}}},\"traceEvents\":[",
            self.0.left_out.load(Relaxed)
        )?;
        let mut separator = "\n";
        for (thread, name) in &threads {
            let named = Event {
                name: "thread_name",
                ph: "M",
                tid: *thread,
                args: Some(Args::Name { name }),
                ..Event::default()
            };
            to.write_all(separator.as_bytes())?;
            serde_json::to_writer(&mut to, &named)?;
            separator = ",\n";
        }
        for from in (0..until).step_by(PIECE) {
            let piece = self.spans()[from..until.min(from + PIECE)].to_vec();
            for span in &piece {
                to.write_all(separator.as_bytes())?;
                serde_json::to_writer(&mut to, &span.event())?;
                separator = ",\n";
            }
        }
        to.write_all(b"\n]}\n")
    }

    fn spans(&self) -> MutexGuard<'_, Vec<Span>> {
        self.0.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Span {
    fn event(&self) -> Event<'static> {
        Event {
            name: self.what.name(),
            ph: "X",
            ts: Some(self.began.as_nanos() as f64 / 1000.0),
            dur: Some(self.took.as_nanos() as f64 / 1000.0),
            tid: self.thread,
            args: self.sample.map(|sample| Args::Sample { sample }),
            ..Event::default()
        }
    }
}

/// An event as the format has it; times are in microseconds.
#[derive(Default, Serialize)]
struct Event<'a> {
    name: &'static str,
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Args<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Args<'a> {
    Sample { sample: u64 },
    Name { name: &'a str },
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn spans_are_written_with_their_thread_their_sample_and_microseconds() {
        let trace = Trace::new();
        let began = trace.0.began + Duration::from_millis(2);
        trace.add(What::Stage(Stage::Decode), Some(7), began, Duration::from_micros(1500));
        let other = trace.clone();
        let named = std::thread::Builder::new().name("other".into());
        let thread =
            named.spawn(move || other.add(What::Wait, None, Instant::now(), Duration::ZERO)).unwrap();
        thread.join().unwrap();
        let mut json = Vec::new();
        trace.write_json(&mut json).unwrap();
        let json: Value = serde_json::from_slice(&json).unwrap();
        let events = json["traceEvents"].as_array().unwrap();
        let [_, other, decode, wait] = &events[..] else { panic!("{events:?}") };
        assert_eq!((&other["ph"], &other["args"]["name"]), (&"M".into(), &"other".into()));
        assert_eq!(other["tid"], wait["tid"]);
        assert_ne!(decode["tid"], wait["tid"]);
        assert_eq!(
            (&decode["name"], &decode["ts"], &decode["dur"]),
            (&"decode".into(), &2000.0.into(), &1500.0.into())
        );
        assert_eq!((&decode["args"]["sample"], &wait["args"]), (&7.into(), &Value::Null));
        assert_eq!(json["otherData"]["spans_left_out"], 0);
    }

    /// A writer that records spans itself, each time that it is given something.
    struct Recording(Trace, Vec<u8>);

    impl Write for Recording {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.add(What::Wait, None, Instant::now(), Duration::ZERO);
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn threads_go_on_recording_while_a_trace_is_written() {
        let trace = Trace::new();
        // Two pieces, and a part of one.
        let count = 2 * PIECE as u64 + 1;
        for sample in 0..count {
            trace.add(What::Stage(Stage::Read), Some(sample), Instant::now(), Duration::ZERO);
        }
        let mut writer = Recording(trace.clone(), Vec::new());
        trace.write_json(&mut writer).unwrap();
        assert!(trace.spans().len() > count as usize);
        let json: Value = serde_json::from_slice(&writer.1).unwrap();
        let samples = json["traceEvents"].as_array().unwrap().iter().skip(1);
        assert!(samples.map(|event| event["args"]["sample"].as_u64().unwrap()).eq(0..count));
    }

    #[test]
    fn a_span_takes_what_the_documentation_says() {
        assert!(size_of::<Span>() <= 56);
    }
}
