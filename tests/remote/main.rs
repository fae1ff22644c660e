//! Remote data sets against a server that misbehaves: what is read, what is tried again, what is cached, and for how long
//! anything may take. `.ci/full` runs the faults again in front of a real S3 server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod beside;
mod caching;
mod faults;
mod fields;
mod labelled;
mod layouts;
mod server;
mod support;
