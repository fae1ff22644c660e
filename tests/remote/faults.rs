//! Faults of server and network: nothing is lost, nothing comes twice, and nothing takes for ever.

use crate::server::{Act, Request, Server};
use crate::support::{archive, builder, epoch, name, options, picture, pictures, read_all, sorted};
use feedline::error::Error;
use feedline::loader::{BadSample, Status};
use feedline::source::{Remote, Source};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const COUNT: usize = 60;
const EXPIRED: &str = "<?xml version=\"1.0\"?><Error><Code>ExpiredToken</Code><Message>The provided token has expired.\
                       </Message><Token-0>FwoGZXIvYXdzEJr</Token-0></Error>";
/// Pictures that are listed, and gone when they are asked for.
const GONE: [usize; 4] = [0, 17, 33, 59];

/// A number that the request alone decides, so that faults do not depend on which thread comes first.
fn dice(seed: u64, request: &Request) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, &request.path, request.headers.get("range"), request.attempt).hash(&mut hasher);
    hasher.finish()
}

/// About half of all requests fail, in every way that passes; every fourth attempt of each succeeds.
pub(crate) fn storm(seed: u64) -> impl FnMut(&Request) -> Act + Send + 'static {
    move |request| match (dice(seed, request) % 12, request.attempt % 4) {
        (_, 3) => Act::Serve,
        (0, _) => Act::Drop,
        (1, _) => Act::Cut,
        (2, _) => Act::Refuse(500, "<Error><Code>InternalError</Code></Error>".into()),
        (3, _) => Act::Refuse(503, "<Error><Code>SlowDown</Code></Error>".into()),
        (4, _) => Act::Wait(Duration::from_millis(700)),
        (5, _) => Act::Trickle(Duration::from_micros(300)),
        _ => Act::Serve,
    }
}

/// The same, and the pictures of [`GONE`] are never there.
fn storm_with_losses(seed: u64) -> impl FnMut(&Request) -> Act + Send + 'static {
    let mut storm = storm(seed);
    move |request| match GONE.iter().any(|&number| request.path.ends_with(&name(number))) {
        true => Act::Refuse(404, "<Error><Code>NoSuchKey</Code></Error>".into()),
        false => storm(request),
    }
}

fn open(server: &Server) -> Remote {
    options(server).open("s3://bucket/train").unwrap()
}

fn all() -> Vec<usize> {
    (0..COUNT).collect()
}

fn each_sample_comes_exactly_once_through_a_storm(real: bool) {
    for seed in 0..2 {
        let server = Server::start(pictures(COUNT), real);
        server.rule(storm(seed));
        let loader = builder(open(&server), BadSample::Fail).shuffle(true).build().unwrap();
        for number in 0..2 {
            let (pixels, keys) = epoch(&loader, number).unwrap();
            assert_eq!(pixels, keys, "each row shows what its key names");
            assert_eq!(sorted(pixels), all(), "seed {seed}, epoch {number}");
        }
        let stats = loader.stats().io;
        assert!(stats.retries > COUNT as u64 / 2, "the storm was none: {stats:?}");
    }
}

fn parts_of_an_archive_come_whole_through_a_storm(real: bool) {
    let server = Server::start([("bucket/a.tar".to_owned(), archive(0..20))].into(), real);
    server.rule(storm(3));
    let source = options(&server).open("s3://bucket/a.tar").unwrap();
    assert_eq!(read_all(&source), (0..20).map(picture).collect::<Vec<_>>());
    assert!(source.io_stats().retries > 5, "the storm was none: {:?}", source.io_stats());
}

fn skip_loses_what_is_gone_and_nothing_else(real: bool) {
    let server = Server::start(pictures(COUNT), real);
    server.rule(storm_with_losses(5));
    let loader = builder(open(&server), BadSample::Skip).build().unwrap();
    let (pixels, keys) = epoch(&loader, 0).unwrap();
    assert_eq!(pixels, keys);
    let left: Vec<usize> = all().into_iter().filter(|number| !GONE.contains(number)).collect();
    assert_eq!(sorted(pixels), left);
    let report = loader.report();
    assert_eq!(report.failures, GONE.len() as u64);
    for file in &report.files {
        assert!(file.cause.contains(&format!("s3://bucket/train/{}", file.key)), "{}", file.cause);
        assert!(file.cause.contains("404") && file.cause.contains("restore"), "{}", file.cause);
    }
}

fn substitutes_stand_only_where_something_is_gone(real: bool) {
    let server = Server::start(pictures(COUNT), real);
    server.rule(storm_with_losses(6));
    let loader = builder(open(&server), BadSample::Substitute).build().unwrap();
    let (mut own, mut substituted) = (Vec::new(), Vec::new());
    let number = |index: u64| {
        loader.source().key(index as usize)[..].rsplit('/').next().unwrap()[..3].parse().unwrap()
    };
    for batch in loader.epoch(0) {
        let batch = batch.unwrap();
        for (&index, status) in batch.indices().iter().zip(batch.status()) {
            match status {
                Status::Substituted { for_index } => substituted.push(number(*for_index)),
                _ => own.push(number(index)),
            }
        }
    }
    assert_eq!(sorted(substituted), GONE);
    assert_eq!(sorted(own), all().into_iter().filter(|number| !GONE.contains(number)).collect::<Vec<_>>());
}

fn fail_names_the_object_that_is_gone(real: bool) {
    let server = Server::start(pictures(COUNT), real);
    server.rule(storm_with_losses(7));
    let loader = builder(open(&server), BadSample::Fail).build().unwrap();
    let error = epoch(&loader, 0).unwrap_err();
    assert!(
        matches!(&error, Error::Sample { key, .. } if GONE.iter().any(|&gone| name(gone).ends_with(key)))
    );
    assert!(error.to_string().contains("s3://bucket/train/"), "{error}");
}

fn credentials_that_expire_in_mid_epoch_end_it_at_once_and_say_so(real: bool) {
    for status in [400, 403] {
        let server = Server::start(pictures(COUNT), real);
        let source = open(&server);
        let served = AtomicUsize::new(0);
        server.rule(move |_| match served.fetch_add(1, Ordering::SeqCst) {
            0..20 => Act::Serve,
            _ => Act::Refuse(status, EXPIRED.into()),
        });
        let before = server.seen().len();
        let began = Instant::now();
        let loader = builder(source, BadSample::Fail).build().unwrap();
        let error = epoch(&loader, 0).unwrap_err().to_string();
        assert!(error.contains("credentials have expired") && error.contains("renew"), "{error}");
        assert!(!error.contains("FwoGZXIvYXdzEJr"), "the token is shown: {error}");
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        // Not one of these is tried again.
        assert!(server.seen().len() - before <= COUNT, "{} requests", server.seen().len() - before);
    }
}

/// Makes a test of each function in front of a store in memory, and one test of all of them in front of a real server,
/// whose bucket they share.
macro_rules! in_front_of_both_stores {
    ($($name:ident)+) => {
        mod in_front_of_the_store_in_memory {
            $(#[test]
            fn $name() {
                super::$name(false);
            })+
        }

        #[test]
        #[ignore = "needs an S3 server: FEEDLINE_S3 names its host:port"]
        fn in_front_of_a_real_server() {
            $($name(true);)+
        }
    };
}

in_front_of_both_stores! {
    each_sample_comes_exactly_once_through_a_storm
    parts_of_an_archive_come_whole_through_a_storm
    skip_loses_what_is_gone_and_nothing_else
    substitutes_stand_only_where_something_is_gone
    fail_names_the_object_that_is_gone
    credentials_that_expire_in_mid_epoch_end_it_at_once_and_say_so
}

/// How long reading the first record takes, and the error.
fn first_read(source: &Remote) -> (Duration, String) {
    let began = Instant::now();
    let mut bytes = vec![1];
    let error = source.read(0, &mut bytes).unwrap_err().to_string();
    assert!(bytes.is_empty());
    (began.elapsed(), error)
}

#[test]
fn a_read_takes_no_longer_than_it_may_whatever_the_server_does() {
    let timeout = Duration::from_millis(1500);
    let acts = [
        (Act::Trickle(Duration::from_millis(100)), "1.5 s"),
        (Act::Wait(Duration::from_secs(20)), "did not answer in time"),
        (Act::Drop, "the connection broke"),
        (Act::Cut, "the connection broke"),
        (Act::Refuse(503, String::new()), "503"),
    ];
    let server = Server::start(pictures(2), false);
    for (act, wanted) in acts {
        let source = options(&server).timeout(timeout).open("s3://bucket/train").unwrap();
        let shown = format!("{act:?}");
        server.rule(move |request| if request.path.ends_with(".png") { act.clone() } else { Act::Serve });
        let (took, error) = first_read(&source);
        assert!(took < timeout + Duration::from_millis(500), "{shown}: {took:?}");
        assert!(error.contains(wanted) || error.contains("1.5 s"), "{shown}: {error}");
        assert!(error.contains("s3://bucket/train/even/000.png"), "{shown}: {error}");
        assert!(source.io_stats().retries > 0, "{shown}: it was tried again");
        server.rule(|_| Act::Serve);
        let mut bytes = Vec::new();
        source.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, picture(0), "{shown}: the source is still good");
    }
}

#[test]
fn threads_that_read_at_once_wait_at_once() {
    let server = Server::start(pictures(16), false);
    let source = options(&server).stall_timeout(Duration::from_secs(5)).open("s3://bucket/train").unwrap();
    server.rule(|_| Act::Wait(Duration::from_millis(300)));
    let began = Instant::now();
    std::thread::scope(|scope| {
        for index in 0..16 {
            let source = &source;
            scope.spawn(move || source.read(index, &mut Vec::new()).unwrap());
        }
    });
    // One after the other they would take 4.8 s.
    assert!(began.elapsed() < Duration::from_millis(2400), "{:?}", began.elapsed());
}

#[test]
fn a_server_that_is_not_there_is_said_in_bounded_time() {
    // A port that nobody listens on, and one that takes connections and says nothing.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [gone, mute.local_addr().unwrap()] {
        let began = Instant::now();
        let options = Remote::options().endpoint(format!("http://{address}")).anonymous(true);
        let options = options.timeout(Duration::from_secs(2)).stall_timeout(Duration::from_millis(300));
        let error = options.max_retries(2).open("s3://bucket/train").unwrap_err().to_string();
        assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
        assert!(error.contains("s3://bucket/train") && error.contains("check the network"), "{error}");
    }
}

#[test]
fn an_object_that_changed_after_the_opening_is_a_bad_sample() {
    let server = Server::start(pictures(4), false);
    let source = open(&server);
    server.put("bucket/train/even/000.png", picture(500));
    let (_, error) = first_read(&source);
    assert!(
        error.contains("not the one that was there") && error.contains("open the data set again"),
        "{error}"
    );
    let mut bytes = Vec::new();
    source.read(1, &mut bytes).unwrap();
    assert_eq!(bytes, picture(2));
}

#[test]
fn a_file_above_the_limit_is_not_fetched() {
    let server = Server::start(pictures(2), false);
    let source = options(&server).max_file_bytes(10).open("s3://bucket/train").unwrap();
    let before = server.seen().len();
    let (_, error) = first_read(&source);
    assert!(error.contains("max_file_bytes = 10"), "{error}");
    assert_eq!(server.seen().len(), before);
    // Of what a list names no size is known before.
    server.put("bucket/train/list.txt", b"even/000.png\n".to_vec());
    let listed = options(&server).max_file_bytes(10).open("s3://bucket/train/list.txt").unwrap();
    let (_, error) = first_read(&listed);
    assert!(error.contains("max_file_bytes = 10"), "{error}");
}

#[test]
fn inside_an_asynchronous_runtime_it_says_so_and_does_not_panic() {
    let server = Server::start(pictures(2), false);
    let source = open(&server);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (_, error) = runtime.block_on(async { first_read(&source) });
    assert!(error.contains("a thread of its own"), "{error}");
    runtime.block_on(async move { drop(source) });
}
