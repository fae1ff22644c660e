//! A small HTTP server: a store in memory that speaks as much of S3 as is read, or a way through to a real server; and
//! ahead of either, the faults that a test asks for.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Keys of one page of a listing.
const PAGE: usize = 7;

/// Objects by `bucket/key`.
pub(crate) type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// What a request asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Without the first slash, decoded.
    pub(crate) path: String,
    pub(crate) query: HashMap<String, String>,
    pub(crate) headers: HashMap<String, String>,
    /// How often the same was asked for before.
    pub(crate) attempt: u64,
    head: String,
}

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Serve,
    /// The connection is closed without an answer.
    Drop,
    /// The connection is closed in the middle of the answer's body.
    Cut,
    /// An answer with this status and body.
    Refuse(u16, String),
    /// The answer begins after a while.
    Wait(Duration),
    /// The answer's body comes in a hundred pieces, with this pause between.
    Trickle(Duration),
}

#[derive(Clone)]
enum Behind {
    Memory(Objects),
    Real(SocketAddr),
}

type Rule = Arc<Mutex<Box<dyn FnMut(&Request) -> Act + Send>>>;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    behind: Behind,
    rule: Rule,
    seen: Arc<Mutex<Vec<Request>>>,
    over: Arc<AtomicBool>,
}

impl Server {
    /// Serves from memory, or from the server at `FEEDLINE_S3` where `real` is asked for.
    pub(crate) fn start(objects: BTreeMap<String, Vec<u8>>, real: bool) -> Self {
        let behind = match real {
            false => Behind::Memory(Arc::new(Mutex::new(objects))),
            true => {
                let address =
                    std::env::var("FEEDLINE_S3").expect("FEEDLINE_S3 names host:port of an S3 server");
                let address = address.parse().expect("FEEDLINE_S3 is host:port");
                upload(address, &objects);
                Behind::Real(address)
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            behind,
            rule: Arc::new(Mutex::new(Box::new(|_| Act::Serve))),
            seen: Arc::default(),
            over: Arc::default(),
        };
        let (behind, rule) = (server.behind.clone(), Arc::clone(&server.rule));
        let (seen, over) = (Arc::clone(&server.seen), Arc::clone(&server.over));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let (behind, rule, seen) = (behind.clone(), Arc::clone(&rule), Arc::clone(&seen));
                thread::spawn(move || serve(stream, &behind, &rule, &seen));
            }
        });
        server
    }

    /// Decides from now on what becomes of each request.
    pub(crate) fn rule(&self, rule: impl FnMut(&Request) -> Act + Send + 'static) {
        *self.rule.lock().unwrap() = Box::new(rule);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// Puts an object in the place of the one that is there.
    pub(crate) fn put(&self, path: &str, bytes: Vec<u8>) {
        match &self.behind {
            Behind::Memory(objects) => drop(objects.lock().unwrap().insert(path.to_owned(), bytes)),
            Behind::Real(address) => put(*address, path, &bytes),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
    }
}

/// Answers the requests of one connection until either side closes it.
fn serve(mut stream: TcpStream, behind: &Behind, rule: &Rule, seen: &Mutex<Vec<Request>>) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
    let _ = stream.set_nodelay(true);
    while let Some(mut request) = read_request(&mut stream) {
        {
            let mut seen = seen.lock().unwrap();
            let same = |other: &&Request| {
                (&other.path, &other.query, other.headers.get("range"))
                    == (&request.path, &request.query, request.headers.get("range"))
            };
            request.attempt = seen.iter().filter(same).count() as u64;
            seen.push(request.clone());
        }
        let act = (rule.lock().unwrap())(&request);
        let (status, headers, body) = match &act {
            Act::Drop => return,
            Act::Refuse(status, body) => (*status, String::new(), body.clone().into_bytes()),
            _ => match behind {
                Behind::Memory(objects) => answer(&request, &objects.lock().unwrap()),
                Behind::Real(address) => forward(*address, &request),
            },
        };
        let length = if headers.to_lowercase().contains("content-length:") {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let head = format!("HTTP/1.1 {status} Reason\r\n{headers}{length}\r\n");
        let body = if request.method == "HEAD" { Vec::new() } else { body };
        let sent = match act {
            Act::Cut => {
                let half = [head.as_bytes(), &body[..body.len() / 2]].concat();
                let _ = stream.write_all(&half);
                return;
            }
            Act::Trickle(pause) => stream.write_all(head.as_bytes()).and_then(|()| {
                body.chunks(1 + body.len() / 100).try_for_each(|piece| {
                    thread::sleep(pause);
                    stream.write_all(piece)
                })
            }),
            Act::Wait(pause) => {
                thread::sleep(pause);
                stream.write_all(&[head.as_bytes(), &body].concat())
            }
            _ => stream.write_all(&[head.as_bytes(), &body].concat()),
        };
        if sent.is_err() {
            return;
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let headers = lines.filter_map(|line| line.split_once(": "));
    Some(Request {
        method,
        path: decoded(path.trim_start_matches('/')),
        query: pairs.map(|(name, value)| (name.to_owned(), decoded(value))).collect(),
        headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
        attempt: 0,
        head: head.clone(),
    })
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

type Answer = (u16, String, Vec<u8>);

/// What the store in memory says.
fn answer(request: &Request, objects: &BTreeMap<String, Vec<u8>>) -> Answer {
    if request.query.contains_key("list-type") {
        return list(request, objects);
    }
    let Some(bytes) = objects.get(&request.path) else {
        return (404, String::new(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec());
    };
    let tag = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let headers = format!("ETag: \"{tag:x}\"\r\nLast-Modified: Sat, 21 Nov 2026 10:00:00 GMT\r\n");
    let Some(range) = request.headers.get("range") else { return (200, headers, bytes.clone()) };
    let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let (from, to) = (from.parse::<usize>().unwrap(), to.parse::<usize>().unwrap().min(bytes.len() - 1));
    let headers = format!("{headers}Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
    (206, headers, bytes[from..=to].to_vec())
}

fn list(request: &Request, objects: &BTreeMap<String, Vec<u8>>) -> Answer {
    let bucket = format!("{}/", request.path.trim_end_matches('/'));
    let prefix = request.query.get("prefix").cloned().unwrap_or_default();
    let from = request.query.get("continuation-token").cloned().unwrap_or_default();
    let keys = objects.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(&bucket)?, bytes.len())));
    let mut keys = keys.filter(|(key, _)| key.starts_with(&prefix) && **key > *from);
    let page: Vec<(&str, usize)> = keys.by_ref().take(PAGE).collect();
    let more = keys.next().is_some();
    let entries = page.iter().map(|(key, size)| {
        let tag = objects[&format!("{bucket}{key}")].iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        format!(
            "<Contents><Key>{key}</Key><LastModified>2026-11-21T10:00:00.000Z</LastModified><ETag>&quot;{tag:x}&quot;\
             </ETag><Size>{size}</Size></Contents>"
        )
    });
    let next = page
        .last()
        .filter(|_| more)
        .map_or_else(String::new, |(key, _)| format!("<NextContinuationToken>{key}</NextContinuationToken>"));
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult><IsTruncated>{more}</IsTruncated>{}{next}\
         </ListBucketResult>",
        entries.collect::<String>()
    );
    (200, "Content-Type: application/xml\r\n".into(), body.into_bytes())
}

/// What the real server says to the same request.
fn forward(address: SocketAddr, request: &Request) -> Answer {
    let head = request.head.trim_end().lines().filter(|line| !line.to_lowercase().starts_with("connection:"));
    let head = head.collect::<Vec<_>>().join("\r\n");
    exchange(address, format!("{head}\r\nConnection: close\r\n\r\n").as_bytes(), request.method == "HEAD")
}

fn exchange(address: SocketAddr, request: &[u8], is_head: bool) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").expect("an answer") + 4;
    let head = String::from_utf8(all[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let keep = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default().to_lowercase();
        let length = name == "content-length" && is_head;
        !["connection", "transfer-encoding", "content-length"].contains(&name.as_str()) || length
    };
    let headers = head.trim_end().lines().skip(1).filter(keep).map(|line| format!("{line}\r\n")).collect();
    assert!(!head.to_lowercase().contains("transfer-encoding: chunked"), "chunks are not understood here");
    (status, headers, all[end..].to_vec())
}

fn upload(address: SocketAddr, objects: &BTreeMap<String, Vec<u8>>) {
    let mut buckets: Vec<&str> = objects.keys().filter_map(|path| path.split('/').next()).collect();
    buckets.dedup();
    buckets.iter().for_each(|bucket| put(address, bucket, b""));
    objects.iter().for_each(|(path, bytes)| put(address, path, bytes));
}

fn put(address: SocketAddr, path: &str, bytes: &[u8]) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte);
    let path: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    // Not checked by the server, which only wants to see who asks.
    let who = "AWS4-HMAC-SHA256 Credential=test/20261121/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
    let head = format!(
        "PUT /{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {who}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    );
    let (status, _, body) = exchange(address, &[head.as_bytes(), bytes].concat(), false);
    assert!(status == 200, "PUT {path}: {status} {}", String::from_utf8_lossy(&body));
}
