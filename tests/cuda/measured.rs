//! What measures feedline's own decoder on a device: why files are left out, how cuts settle, and that every kernel is timed.

use crate::scenario::{Outcome, Scenario};
use feedline::device::cuda::jpeg::{FilePart, LeftOut, ParallelDecoder};
use feedline::geometry::Rect;
use feedline::jpeg::Index;
use feedline_test_support::jpeg::{ColorType, Jpeg, SAMPLINGS};
use feedline_test_support::scribble::Scribble;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("jpeg: a file that is left to the CPU has its reason", reasons).decides(),
    Scenario::new("jpeg: a batch is measured without changing what is decoded", measured).decides(),
    Scenario::new("jpeg: where the device has less than may be taken, fewer files go at once", less_memory)
        .decides()
        .driver(",memory=20M"),
];

fn open(memory: usize) -> Result<ParallelDecoder, String> {
    ParallelDecoder::open(0, memory).map_err(|cause| cause.to_string())
}

fn whole<'a>(bytes: &'a [u8], index: Option<&'a Index>) -> FilePart<'a> {
    FilePart { bytes, region: None, index }
}

fn reasons() -> Outcome {
    let sound = Jpeg { quality: 97, ..Jpeg::new(SAMPLINGS[3].0) }.picture(120, 90, 1);
    let mut broken = sound.clone();
    let middle = sound.len() * 3 / 4;
    // Ones are no code of the usual tables; the zeros are stuffing.
    broken[middle..middle + 16].copy_from_slice(&[0xFF, 0].repeat(8));
    let unmarked = Jpeg { restart: 2, ..Jpeg::default() }.picture(64, 64, 2);
    let at = unmarked.windows(2).position(|two| two == [0xFF, 0xD1]).ok_or("a file without a marker")?;
    let unmarked = [&unmarked[..at], &unmarked[at + 2..]].concat();
    // A marker after each of more blocks than there may be pieces.
    let all_markers = Scribble { factors: vec![(1, 1)], restart: 1, coefficients: 1, ..Scribble::default() };
    let files = [
        (all_markers.file(2904, 2904), Some(LeftOut::Uncut)),
        (sound.clone(), None),
        (b"GIF89a".to_vec(), Some(LeftOut::Header)),
        (Jpeg { progressive: true, ..Jpeg::default() }.picture(40, 40, 3), Some(LeftOut::Progressive)),
        (Jpeg { color: ColorType::Cmyk, ..Jpeg::default() }.picture(40, 40, 4), Some(LeftOut::Components)),
        (Jpeg::new(SAMPLINGS[4].0).picture(40, 40, 5), Some(LeftOut::Scans)),
        (unmarked, Some(LeftOut::Uncut)),
        (broken, Some(LeftOut::Damaged)),
    ];
    let parts: Vec<FilePart<'_>> = files.iter().map(|(bytes, _)| whole(bytes, None)).collect();
    let decoded = open(64 << 20)?.decode(&parts).map_err(|cause| cause.to_string())?;
    for ((_, wanted), decoded) in files.iter().zip(decoded) {
        assert_eq!(decoded.err(), *wanted);
    }
    for region in [
        Rect::new(-4, 0, 20, 20),
        Rect::new(100, 0, 24, 20),
        Rect::new(0, 80, 20, 11),
        Rect::new(300, 0, 4, 4),
    ] {
        let part = FilePart { region: Some(region), ..whole(&sound, None) };
        let decoded = open(64 << 20)?.decode(&[part]).map_err(|cause| cause.to_string())?;
        assert_eq!(decoded.into_iter().next().and_then(Result::err), Some(LeftOut::Uncut), "{region:?}");
    }
    let decoded = open(1000)?.decode(&[whole(&sound, None)]).map_err(|cause| cause.to_string())?;
    assert_eq!(decoded.into_iter().next().and_then(Result::err), Some(LeftOut::Room));
    Ok(())
}

/// Six files take about three MiB each, and besides their pixels there are eight.
fn less_memory() -> Outcome {
    let files: Vec<Vec<u8>> = (0..6).map(|seed| Jpeg::new(SAMPLINGS[3].0).picture(900, 700, seed)).collect();
    let parts: Vec<FilePart<'_>> = files.iter().map(|bytes| whole(bytes, None)).collect();
    let decoded = open(64 << 20)?.decode_on_device(&parts).map_err(|cause| cause.to_string())?;
    assert!(decoded.iter().all(Result::is_ok), "{decoded:?}");
    Ok(())
}

fn measured() -> Outcome {
    let nothing = Index::default();
    let picture = |seed| Jpeg { quality: 97, ..Jpeg::new(SAMPLINGS[3].0) }.picture(220, 200, seed);
    let progressive = Jpeg { progressive: true, ..Jpeg::default() }.picture(40, 40, 3);
    let files = [picture(1), progressive, picture(2)];
    let parts: Vec<FilePart<'_>> = files.iter().map(|bytes| whole(bytes, Some(&nothing))).collect();
    let mut decoder = open(64 << 20)?;
    let cause = |cause: feedline::error::Cause| cause.to_string();
    let before = decoder.decode(&parts).map_err(cause)?;
    let prepared = decoder.prepare(&parts).map_err(cause)?;
    assert_eq!(prepared.files(), 2);
    let bits = files[0].len() + files[2].len();
    let moved = prepared.moved();
    assert!((bits / 2..2 * bits).contains(&moved.to_device) && moved.to_host >= 8, "{moved:?} of {bits}");
    for with_copies in [false, true] {
        let times = prepared.time(3, with_copies).map_err(cause)?;
        assert!(times.len() == 3 && times.iter().all(|&time| time >= 0.0), "{times:?}");
    }
    let names: Vec<_> = prepared.time_kernels(2).map_err(cause)?.into_iter().map(|(name, _)| name).collect();
    let (entropy, pixels) =
        (["huffman_tables", "entropy", "synchronise", "prefix"], ["expand", "inverse_dct", "planes_to_rgb"]);
    assert_eq!(names, [&entropy[..], &pixels].concat());
    let settling = prepared.settling().map_err(cause)?;
    assert_eq!((settling.rounds.len(), settling.unsettled), (2, 0));
    // Cuts of photographs need another round than the first, and far from all.
    assert!(settling.rounds.iter().all(|rounds| rounds.is_some_and(|rounds| (2..20).contains(&rounds))));
    assert!(settling.cuts > 10 && settling == prepared.settling().map_err(cause)?);
    drop(prepared);
    let after = decoder.decode(&parts).map_err(cause)?;
    for (before, after) in before.iter().zip(&after) {
        match (before, after) {
            (Ok(before), Ok(after)) => {
                assert!(before.image.data == after.image.data && before.index == after.index)
            }
            (before, after) => assert_eq!(before.as_ref().err(), after.as_ref().err()),
        }
    }
    let learned = decoder.decode_on_device(&parts).map_err(cause)?;
    assert!(learned.iter().zip(&after).all(|(learned, after)| match (learned, after) {
        (Ok(learned), Ok(after)) => *learned == after.index && learned.is_some(),
        (learned, after) => learned.as_ref().err() == after.as_ref().err(),
    }));
    Ok(())
}
