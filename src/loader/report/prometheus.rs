//! A loader's figures as the text that Prometheus reads.

use crate::error::{Result, ensure};
use serde_json::Value;
use std::fmt::Write;

/// A metric: where its value stands in the figures' JSON, its name, its kind, the label that sets it apart from others of the
/// name, and what it is. Metrics of one name follow each other.
type Metric = (&'static str, &'static str, Kind, Option<(&'static str, &'static str)>, &'static str);

#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

use Kind::{Counter, Gauge};

const METRICS: &[Metric] = &[
    (
        "/source/total_seconds",
        "feedline_stage_seconds_total",
        Counter,
        Some(("stage", "read")),
        "Seconds that workers spent in a stage.",
    ),
    ("/plan/total_seconds", "feedline_stage_seconds_total", Counter, Some(("stage", "plan")), ""),
    ("/decode/total_seconds", "feedline_stage_seconds_total", Counter, Some(("stage", "decode")), ""),
    ("/render/total_seconds", "feedline_stage_seconds_total", Counter, Some(("stage", "render")), ""),
    ("/source/count", "feedline_stage_runs_total", Counter, Some(("stage", "read")), "Runs of a stage."),
    ("/plan/count", "feedline_stage_runs_total", Counter, Some(("stage", "plan")), ""),
    ("/decode/count", "feedline_stage_runs_total", Counter, Some(("stage", "decode")), ""),
    ("/render/count", "feedline_stage_runs_total", Counter, Some(("stage", "render")), ""),
    (
        "/wait/total_seconds",
        "feedline_wait_seconds_total",
        Counter,
        None,
        "Seconds that the consumer waited for batches, the first of each epoch apart.",
    ),
    (
        "/wait/count",
        "feedline_waits_total",
        Counter,
        None,
        "Batches that the consumer asked for, the first of each epoch apart.",
    ),
    (
        "/trainer/total_seconds",
        "feedline_trainer_seconds_total",
        Counter,
        None,
        "Seconds between a batch's delivery and the next request.",
    ),
    ("/samples", "feedline_samples_total", Counter, None, "Samples finished."),
    ("/images", "feedline_images_decoded_total", Counter, None, "Image files decoded."),
    (
        "/images_shared",
        "feedline_images_shared_total",
        Counter,
        None,
        "Decodes that were saved, because another sample had the image.",
    ),
    (
        "/bytes_read",
        "feedline_read_bytes_total",
        Counter,
        None,
        "Bytes of images read, from the data or a cache.",
    ),
    ("/failures", "feedline_bad_samples_total", Counter, None, "Bad samples in delivered batches."),
    (
        "/damaged",
        "feedline_damaged_images_total",
        Counter,
        None,
        "Damaged files that were decoded nonetheless.",
    ),
    (
        "/ready_batches",
        "feedline_ready_batches",
        Gauge,
        None,
        "Mean count of batches that were ready when one was asked for.",
    ),
    ("/slots", "feedline_batch_slots", Gauge, None, "Batches that may exist at once."),
    ("/workers", "feedline_workers", Gauge, None, "Worker threads."),
    (
        "/first_batch_seconds",
        "feedline_first_batch_seconds",
        Gauge,
        None,
        "From the latest epoch's start to its first batch.",
    ),
    (
        "/image_cache_bytes",
        "feedline_image_cache_bytes",
        Gauge,
        None,
        "Decoded images that are kept for other samples.",
    ),
    ("/index/bytes", "feedline_decode_index_bytes", Gauge, None, "Memory of the decode indexes."),
    (
        "/io/memory_hits",
        "feedline_cache_hits_total",
        Counter,
        Some(("cache", "memory")),
        "Reads that a cache answered.",
    ),
    ("/io/disk_hits", "feedline_cache_hits_total", Counter, Some(("cache", "disk")), ""),
    ("/io/shared_hits", "feedline_cache_hits_total", Counter, Some(("cache", "shared")), ""),
    (
        "/io/memory_misses",
        "feedline_cache_misses_total",
        Counter,
        Some(("cache", "memory")),
        "Reads that a cache could not answer.",
    ),
    ("/io/disk_misses", "feedline_cache_misses_total", Counter, Some(("cache", "disk")), ""),
    ("/io/shared_misses", "feedline_cache_misses_total", Counter, Some(("cache", "shared")), ""),
    ("/io/requests", "feedline_store_requests_total", Counter, None, "Requests to an object store."),
    ("/io/retries", "feedline_store_retries_total", Counter, None, "Requests that were sent again."),
    ("/io/bytes_fetched", "feedline_store_bytes_total", Counter, None, "Bytes fetched from an object store."),
];

/// A loader's figures, as [`super::stats::Stats`] gives them as JSON, as text in Prometheus' format, each with these labels besides
/// its own. What the figures have not is left out.
///
/// # Errors
/// [`Error::Config`](crate::error::Error::Config) where a label's name is none that Prometheus takes, is that of another label, or is
/// `stage` or `cache`, which the figures have themselves.
pub fn prometheus(figures: &Value, labels: &[(&str, &str)]) -> Result<String> {
    for (number, (name, _)) in labels.iter().enumerate() {
        ensure!(
            is_label(name) && !["stage", "cache"].contains(name),
            "`{name}` is no name for a label: letters, digits and underscores, no digit first, and neither stage nor cache"
        );
        let is_first = labels[..number].iter().all(|(other, _)| other != name);
        ensure!(is_first, "two labels are called `{name}`: leave one out");
    }
    Ok(text(figures, labels))
}

/// The figures as text, each with these labels besides its own; what the figures have not is left out.
fn text(figures: &Value, labels: &[(&str, &str)]) -> String {
    let (mut text, mut last) = (String::new(), "");
    for &(pointer, name, kind, own, help) in METRICS {
        let Some(value) = figures.pointer(pointer).and_then(Value::as_f64) else { continue };
        if name != last {
            let kind = match kind {
                Counter => "counter",
                Gauge => "gauge",
            };
            // A `String` takes everything.
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
            last = name;
        }
        let all: Vec<String> = labels
            .iter()
            .copied()
            .chain(own)
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let braces = if all.is_empty() { String::new() } else { format!("{{{}}}", all.join(",")) };
        let _ = writeln!(text, "{name}{braces} {value}");
    }
    text
}

/// Whether a text may be the name of a label.
fn is_label(name: &str) -> bool {
    let mut characters = name.chars();
    let begins = characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    begins
        && !name.starts_with("__")
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::Stats;
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_is_a_figure_of_a_loader_and_those_of_a_name_stand_together() {
        let stats = Stats { first_batch_seconds: Some(0.5), ..Stats::default() };
        let figures = serde_json::to_value(&stats).unwrap();
        let mut names: Vec<&str> = Vec::new();
        for (pointer, name, _, _, help) in METRICS {
            assert!(figures.pointer(pointer).is_some_and(Value::is_number), "{pointer}");
            assert_eq!(help.is_empty(), names.last() == Some(name), "{name} is told what it is once, first");
            if names.last() != Some(name) {
                names.push(name);
            }
        }
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn values_have_labels_that_are_escaped_and_what_is_not_known_is_left_out() {
        let figures =
            serde_json::json!({"source": {"total_seconds": 1.5}, "workers": 2, "first_batch_seconds": null});
        let text = text(&figures, &[("job", "a \"b\"\\\n")]);
        let want = "# HELP feedline_stage_seconds_total Seconds that workers spent in a stage.\n\
                    # TYPE feedline_stage_seconds_total counter\n\
                    feedline_stage_seconds_total{job=\"a \\\"b\\\"\\\\\\n\",stage=\"read\"} 1.5\n\
                    # HELP feedline_workers Worker threads.\n\
                    # TYPE feedline_workers gauge\n\
                    feedline_workers{job=\"a \\\"b\\\"\\\\\\n\"} 2\n";
        assert_eq!(text, want);
        assert!(super::text(&figures, &[]).contains("\nfeedline_workers 2\n"));
    }

    #[test]
    fn labels_are_words_of_which_each_stands_once() {
        assert!(["rank", "_a", "a1"].into_iter().all(is_label));
        assert!(!["", "1a", "a-b", "__name", "ä"].into_iter().any(is_label));
        let refusal = |labels| prometheus(&Value::Null, labels).unwrap_err().to_string();
        assert!(
            refusal(&[("rank", "0"), ("job", "a"), ("rank", "1")]).contains("two labels are called `rank`")
        );
        assert!(refusal(&[("stage", "a")]).contains("neither stage nor cache"));
    }
}
