//! From coefficients to samples: quantisation factors, the queue of decoded blocks, and their inverse DCT.

mod batch;
mod block_group;
mod block_queue;
pub(crate) mod idct;
mod quant;
mod target;
mod zigzag;

#[cfg(test)]
pub(crate) use batch::{BATCH, Batch};
pub(crate) use batch::{SLOT, Slot};
pub(crate) use block_group::BlockGroup;
pub(crate) use block_queue::BlockQueue;
pub(crate) use quant::{Quant, Quants};
pub(crate) use target::{Target, TargetRow};
pub(crate) use zigzag::ZIGZAG;
