//! Which decoder takes which file, and what a loader makes of decoders that refuse files or fail.

use crate::client::{Client, Stream};
use crate::compare::{DEVICE, choose, epoch, on_device, report, same_on_both};
use crate::counts::Counts;
use crate::pipeline::small;
use crate::scenario::{Outcome, Scenario};
use feedline::device::{DecodedBy, DecoderReport};
use feedline::loader::{Batch, LastBatch, Loader, LoaderBuilder};
use feedline::policy::DecoderChoice;
use feedline_test_support::jpeg::{Jpeg, SamplingFactor};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("dispatch: auto is the device's own decoder", auto_is_the_own_decoder).decides(),
    Scenario::new("dispatch: progressive files are the workers'", progressive_files_are_the_workers)
        .decides(),
    Scenario::new("dispatch: each decoder can be forced", each_decoder_can_be_forced).decides(),
    Scenario::new("dispatch: a decoder that is not there is named", a_decoder_that_is_not_there_is_named)
        .decides()
        .nvjpeg("engines=0"),
    Scenario::new("dispatch: engines get files of one sampling and whole images", one_sampling_whole_images)
        .decides()
        .nvjpeg("parts=0,mixed=0"),
    Scenario::new("dispatch: what follows an image costs it no engine", what_follows_an_image).decides(),
    Scenario::new("dispatch: calls of one batch do not wait for each other", calls_do_not_wait)
        .decides()
        // No wait of the kind that a batch of several calls would need between two of them.
        .driver(",fault=cuStreamSynchronize@1:2"),
    Scenario::new("dispatch: a file that breaks a call costs no other its engine", one_file_is_odd)
        .decides()
        .nvjpeg("odd=97:6"),
    Scenario::new("dispatch: one unsupported file says nothing of its kind", one_file_is_odd)
        .decides()
        .nvjpeg("unsupported=97"),
    Scenario::new("dispatch: what is always refused is offered no more", what_is_always_refused)
        .decides()
        .nvjpeg("unsupported=0"),
    Scenario::new("dispatch: an nvJPEG that refuses every call rests", every_call_is_refused)
        .decides()
        .nvjpeg("odd=0:2"),
    Scenario::new("dispatch: an nvJPEG that fails every call rests", every_call_is_refused)
        .decides()
        .nvjpeg("odd=0:6"),
    Scenario::new("dispatch: a call that fails once is made again", a_call_that_fails_once)
        .decides()
        .nvjpeg("nvjpegDecodeBatchedEx@2:6"),
    Scenario::new("dispatch: what hybrid decoding refuses the CPU decodes in its place", hybrid_refuses)
        .nvjpeg("engines=0,nvjpegDecodeJpegHost@3:6"),
    Scenario::new("dispatch: a state is set up again after a call that failed", one_file_alone_is_odd)
        .decides()
        .nvjpeg("odd=97:6"),
    Scenario::new("dispatch: a state's last call has ended when it gets the next", states_take_turns)
        .decides()
        .nvjpeg("engines=0,small=0"),
    Scenario::new("dispatch: few calls are timed", few_calls_are_timed)
        .decides()
        .driver(",fault=cuEventElapsedTime@8:2"),
    Scenario::new("dispatch: the GPU's processors get no small batches", no_small_batches)
        .decides()
        .nvjpeg("engines=0,small=0"),
];

/// Baseline files of four samplings that the engines know; the first is 97 wide and of a sampling that others have too.
fn photos(count: usize) -> Vec<Vec<u8>> {
    use SamplingFactor::{F_1_1, F_1_2, F_2_1, F_2_2};
    let samplings = [F_2_2, F_1_1, F_2_1, F_1_2];
    let photo = |number: usize| {
        let width = if number == 0 { 97 } else { 70 + number as u16 % 20 };
        Jpeg::new(samplings[number % 4]).picture(width, 66, number as u32)
    };
    (0..count).map(photo).collect()
}

fn loader(files: Vec<Vec<u8>>) -> LoaderBuilder {
    small(files).shuffle(false).last_batch(LastBatch::Partial)
}

fn by(loader: &Loader) -> DecodedBy {
    loader.stats().decoded_by.unwrap()
}

fn auto_is_the_own_decoder() -> Outcome {
    choose(DecoderChoice::Auto);
    let cuda = same_on_both("auto", 3, || loader(photos(40)).batch_size(20));
    assert_eq!(by(&cuda), DecodedBy { feedline: 120, ..DecodedBy::default() });
    assert_eq!(report(&cuda, "feedline").images, 120);
    Ok(())
}

fn progressive_files_are_the_workers() -> Outcome {
    let progressive = |seed| Jpeg { progressive: true, ..Jpeg::default() }.picture(80, 60, seed);
    let files = || (0..6).map(progressive).chain(photos(6)).collect();
    let cuda = same_on_both("progressive", 1, || loader(files()));
    let by = by(&cuda);
    assert_eq!((by.cpu, by.total() - by.cpu), (6, 6), "{by:?}");
    Ok(())
}

/// One process can hold loaders of different decoders.
fn each_decoder_can_be_forced() -> Outcome {
    let build = || loader(photos(120)).batch_size(60);
    let want = epoch(&build().build()?, 0);
    for (choice, name) in [
        (DecoderChoice::NvjpegHardware, "nvjpeg-hardware"),
        (DecoderChoice::NvjpegGpu, "nvjpeg-gpu"),
        (DecoderChoice::NvjpegHybrid, "nvjpeg-hybrid"),
        (DecoderChoice::Cpu, "cpu"),
    ] {
        let cuda = build().device(DEVICE).decoder(choice).build()?;
        assert!(epoch(&cuda, 0) == want, "{name}: other pixels");
        let DecodedBy { hardware, gpu_huffman, hybrid, cpu, feedline } = by(&cuda);
        let by_name = [
            ("nvjpeg-hardware", hardware),
            ("feedline", feedline),
            ("nvjpeg-gpu", gpu_huffman),
            ("nvjpeg-hybrid", hybrid),
            ("cpu", cpu),
        ];
        for (other, images) in by_name {
            assert_eq!(images, if other == name { 120 } else { 0 }, "{other} where {name} is forced");
        }
        let shown: Vec<&str> = cuda.stats().decoders.iter().map(|decoder| decoder.name).collect();
        assert_eq!(shown, if name == "cpu" { vec![] } else { vec![name] });
    }
    let error = build().decoder(DecoderChoice::Nvjpeg).build().err().unwrap().to_string();
    assert!(error.contains("\"nvjpeg\" needs a GPU"), "{error}");
    let few = loader(photos(4)).batch_size(50).device(DEVICE);
    let error = few.decoder(DecoderChoice::NvjpegGpu).build().err().unwrap().to_string();
    assert!(error.contains("more than 50 images") && error.contains("batch_size is 50"), "{error}");
    Ok(())
}

fn a_decoder_that_is_not_there_is_named() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let error = on_device(loader(photos(2))).build().err().unwrap().to_string();
    assert!(error.contains("nvjpeg-hardware") && error.contains("engine"), "{error}");
    Ok(())
}

fn one_sampling_whole_images() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let large = |seed| Jpeg::default().picture(300, 260, seed);
    let cuda =
        same_on_both("samplings", 2, || loader((0..4).map(large).chain(photos(12)).collect()).batch_size(16));
    let DecoderReport { images, refused, failed_calls, .. } = report(&cuda, "nvjpeg-hardware");
    assert_eq!((images, refused, failed_calls), (32, 0, 0));
    Ok(())
}

fn what_follows_an_image() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let tails = [&b"MotionPhoto_Data and a film of some seconds"[..], &[0; 3], &[0xFF; 9]];
    let files =
        || photos(9).into_iter().enumerate().map(|(at, file)| [&file, tails[at % 3]].concat()).collect();
    let cuda = same_on_both("tails", 1, || loader(files()));
    assert_eq!(by(&cuda).hardware, 9);
    Ok(())
}

fn calls_do_not_wait() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let tiny = |seed| Jpeg::new(SamplingFactor::F_1_1).picture(16, 16, seed);
    let builder = loader((0..600).map(tiny).collect()).batch_size(600).workers(1);
    let loader = on_device(builder).build()?;
    let batch = loader.epoch(0).next().unwrap()?;
    batch.wait()?;
    assert_eq!((batch.len(), by(&loader).hardware), (600, 600));
    // The first wait of that kind is this one.
    let client = Client::start()?;
    assert!(client.synchronize_stream(&Stream::new(&client)?).is_err());
    Ok(())
}

fn one_file_is_odd() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let cuda = same_on_both("an odd file", 7, || loader(photos(24)).batch_size(24));
    let DecoderReport { images, refused, failed_calls, rests, last_failure, .. } =
        report(&cuda, "nvjpeg-hardware");
    // All others of its sampling stay where they are.
    assert_eq!((images, refused, failed_calls, rests), (7 * 23, 7, 0, 0));
    assert!(last_failure.is_some_and(|text| text.contains("NVJPEG_STATUS_") && text.contains("one file")));
    Ok(())
}

fn what_is_always_refused() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let cuda = same_on_both("refused kinds", 6, || loader(photos(24)).batch_size(24));
    let DecoderReport { images, refused, .. } = report(&cuda, "nvjpeg-hardware");
    // Four samplings: after three files of each, workers take the rest while the batches are staged. Batches that were
    // staged before say it once more for each file.
    assert!(images == 0 && refused <= 24 * 3, "{refused} of {}", 24 * 6);
    assert_eq!(by(&cuda).cpu, 24 * 6);
    Ok(())
}

fn every_call_is_refused() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let cuda = same_on_both("refused calls", 12, || loader(photos(24)).batch_size(24));
    let DecoderReport { images, failed_calls, rests, last_failure, .. } = report(&cuda, "nvjpeg-hardware");
    // Each call is of a sampling of its own; the third failure sends the engines to rest, for longer than this test.
    assert_eq!((images, failed_calls, rests), (0, 3, 1), "{last_failure:?}");
    let text = last_failure.unwrap();
    assert!(text.contains("nvjpegDecodeBatchedEx: NVJPEG_STATUS_") && text.contains("rests"), "{text}");
    Ok(())
}

fn a_call_that_fails_once() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let counts = Counts::open()?;
    let cuda = same_on_both("a late status", 3, || loader(photos(24)).batch_size(24));
    let DecoderReport { images, refused, failed_calls, .. } = report(&cuda, "nvjpeg-hardware");
    assert_eq!((images, refused, failed_calls), (72, 0, 1));
    // Three batches of four samplings: nothing was taken apart.
    assert_eq!(counts.operations("nvjpeg"), 3 * 4);
    Ok(())
}

fn hybrid_refuses() -> Outcome {
    choose(DecoderChoice::NvjpegHybrid);
    let cuda = same_on_both("one refusal", 2, || loader(photos(24)).batch_size(1));
    let by = by(&cuda);
    assert_eq!((by.hybrid, by.cpu), (47, 1));
    Ok(())
}

fn one_file_alone_is_odd() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let cuda = same_on_both("an odd file", 3, || loader(photos(24)).batch_size(1));
    assert_eq!((by(&cuda).hardware, by(&cuda).cpu), (3 * 23, 3));
    Ok(())
}

/// More calls are under way than there are states; sentinels would be waited for as well.
fn states_take_turns() -> Outcome {
    choose(DecoderChoice::NvjpegGpu);
    let tiny = |seed| Jpeg::new(SamplingFactor::F_1_1).picture(16, 16, seed);
    let builder = loader((0..60 * 8).map(tiny).collect()).batch_size(60).prefetch(8).workers(1);
    let loader = on_device(builder.verify_decoding(false)).build()?;
    let kept: Vec<Batch> = loader.epoch(0).collect::<Result<_, _>>()?;
    kept.iter().try_for_each(Batch::wait)?;
    assert_eq!(by(&loader).gpu_huffman, 60 * 8);
    Ok(())
}

fn few_calls_are_timed() -> Outcome {
    choose(DecoderChoice::NvjpegHardware);
    let loader = on_device(loader(photos(60)).batch_size(1)).build()?;
    for batch in loader.epoch(0) {
        batch?.wait()?;
    }
    assert_eq!(by(&loader).hardware, 60);
    assert!(report(&loader, "nvjpeg-hardware").nanoseconds_per_byte.is_some());
    Ok(())
}

fn no_small_batches() -> Outcome {
    choose(DecoderChoice::NvjpegGpu);
    // The last batch has twenty.
    let cuda = same_on_both("a small batch", 1, || loader(photos(80)).batch_size(60));
    let by = by(&cuda);
    assert_eq!((by.gpu_huffman, by.cpu), (60, 20));
    Ok(())
}
