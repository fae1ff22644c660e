//! The files that every decoder on a GPU is made for, so that all can be measured with the same ones.

use crate::photos::Named;
use crate::{BACKENDS, print};
use feedline::image::parse_header;
use serde_json::json;
use std::path::PathBuf;

/// List the files of a folder that all of the GPU's decoders are made for
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A folder of JPEG files
    #[arg(long)]
    data: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.data.canonicalize()?;
    for Named { key, bytes } in Named::read_all(&folder)? {
        if parse_header(&bytes).is_ok_and(|header| BACKENDS.iter().all(|(_, route)| route.takes(&header))) {
            print(&json!({ "file": folder.join(key) }))?;
        }
    }
    Ok(())
}
