//! What is asked of the decoder: a file, its header, and where which part of it goes.

use super::route::{Route, Routes};
use crate::device::cuda::driver::{CudaError, Event};
use crate::device::cuda::host_bytes::HostBytes;
use crate::device::cuda::jpeg::Scan;
use crate::device::cuda::nvjpeg::Item;
use crate::device::cuda::target::Target;
use crate::geometry::Rect;
use crate::image::Header;

/// One image to be decoded.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    /// The file up to the end of its image.
    pub(crate) bytes: &'a [u8],
    /// What was parsed of it.
    pub(crate) header: &'a Header,
    /// Where it goes.
    pub(crate) target: Target,
    /// The scan of just that region, where somebody has made it.
    pub(crate) scan: Option<StagedScan<'a>>,
    /// Whether samples share it: see [`Request::is_to_be_whole`].
    pub(crate) shared: bool,
}

/// A scan and its bits.
#[derive(Clone, Copy)]
pub(crate) struct StagedScan<'a> {
    pub(crate) scan: &'a Scan,
    pub(crate) words: HostBytes<'a>,
}

impl<'a> Request<'a> {
    /// Why no decoder of nvJPEG can be asked: the target's region must lie in the image, its rows must not overlap, and the file must
    /// be a JPEG that has its last marker, since an engine may hand out whatever it had.
    pub(super) fn unfit(&self) -> Option<String> {
        let Target { region, pitch, .. } = self.target;
        let size = self.header.size;
        if self.header.jpeg.is_none() {
            return Some("nvJPEG decodes JPEGs alone: decode it on the CPU".into());
        }
        if !self.bytes.ends_with(&[0xFF, 0xD9]) {
            return Some("the file is cut short: it has no end marker".into());
        }
        if !region.is_empty() && size.rect().contains(region) && pitch >= 3 * region.width as usize {
            return None;
        }
        Some(format!("the target {region:?}, {pitch} bytes a row, does not fit an image of {size}"))
    }

    /// The part to be decoded alone; none for the whole image.
    pub(super) fn part(&self) -> Option<Rect> {
        Some(self.target.region).filter(|&region| region != self.header.size.rect())
    }

    /// Whether the verdict on all of the file counts, and a decoder that looks at the part alone cannot give it.
    pub(super) fn is_to_be_whole(&self) -> bool {
        self.shared && self.part().is_some()
    }

    /// The same for nvJPEG.
    pub(super) fn item(&self) -> Item<'a> {
        let Target { ptr, pitch, .. } = self.target;
        Item { bytes: self.bytes, to: ptr, pitch, part: self.part() }
    }
}

/// Whether the host has seen the last readers of the targets end.
///
/// The decoding engines of some GPUs (seen on Hopper) write without waiting for the earlier work of the stream that
/// they were given: a kernel that is still reading the memory's last image reads the new one. That an event orders the
/// reader before the write does not help, only that the host has seen the reader end.
#[derive(Debug)]
pub(crate) struct HostFree(bool);

impl HostFree {
    /// Waits until all of these have completed. They must come after every reader of the targets.
    pub(crate) fn wait<'a>(readers: impl IntoIterator<Item = &'a Event>) -> Result<Self, CudaError> {
        readers.into_iter().try_for_each(Event::synchronize)?;
        Ok(Self(true))
    }

    /// The host knows nothing: the engines stay idle.
    pub(crate) fn unknown() -> Self {
        Self(false)
    }

    /// Whether it has.
    pub(super) fn is_known(&self) -> bool {
        self.0
    }

    /// Those of the routes that may be taken.
    pub(super) fn limit(&self, routes: Routes) -> Routes {
        if self.0 { routes } else { routes.without(Route::Hardware) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_stay_idle_where_readers_may_still_run() {
        let all = Routes::ALL;
        assert!(!HostFree::unknown().limit(all).has(Route::Hardware));
        assert!(HostFree::unknown().limit(all).has(Route::Hybrid));
        assert_eq!(HostFree::wait([]).unwrap().limit(all), all);
    }
}
