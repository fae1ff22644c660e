//! The CPU renderer, against naive accounts of what it has to do.

mod chains;
mod oracle;
mod warp;
