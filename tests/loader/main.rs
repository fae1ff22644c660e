//! The loader seen from outside: what it delivers, in which order, and what it does with everything that goes wrong.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod building;
mod coarse_records;
mod coefficients;
mod delivery;
mod faults;
mod fields;
mod figures;
mod indexing;
mod instances;
mod interrupted;
mod lifetime;
mod masks;
mod mixing;
mod mixture;
mod multi_label;
mod objects;
mod options;
mod padded;
mod parameters;
mod partners;
mod pictures;
mod placements;
mod ranks;
mod recipe;
mod repeats;
mod resuming;
mod rotated;
mod selecting;
mod shapes;
#[cfg(target_os = "linux")]
mod shared_cache;
mod sizes;
mod support;
mod tensors;
mod threads;
mod views;
mod waiting;
