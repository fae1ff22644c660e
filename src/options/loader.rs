//! `[loader]`: batches, their order, and the threads that make them.

use super::bytes::Bytes;
use super::listed::Listed;
use crate::draft::op::Extent;
use crate::error::{Error, Result, bail, ensure};
use crate::output::{MultiScale, RectBatches};
use crate::policy::{BadSample, CachePlace, CachedForm, LastBatch, WorkerPriority};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

section! {
    /// `[loader]`: batches, their order, and the threads that make them.
    pub struct LoaderOptions in "loader" {
        /// Rows of a batch.
        batch_size: usize = 1;
        /// Whether each epoch has an order of its own.
        shuffle: bool = false;
        /// Shuffles runs of this many consecutive samples, and each within itself, instead of all of them at once.
        shuffle_window: u64;
        /// Shuffles the source's shards, and the samples of this many of them at a time, instead of all of them at once.
        shuffle_shards: u64;
        /// The seed of all random numbers and orders.
        seed: u64 = 0;
        /// What becomes of a last batch that is not full.
        last_batch: LastBatch = LastBatch::Drop;
        /// What becomes of a sample that cannot be read, decoded or rendered.
        bad_sample: BadSample = BadSample::Fail;
        /// How many bad samples an epoch may have before it fails all the same.
        max_failures: u64, unset "any number";
        /// The samples that are shown, by their indices in the data set; without shuffle in this order. An epoch is as long as the
        /// list: a sample that it names several times comes as often, each time augmented anew.
        subset: Listed<u64>, unset "all";
        /// Draws an epoch's samples with replacement, each with a chance in proportion to its weight: one weight for each
        /// sample of the data set, or of the subset in its order.
        weights: Listed<f64>;
        /// How often each sample of the order comes in a row of positions, which go to different ranks, each time augmented
        /// anew (repeated augmentation, 3 in DeiT). An epoch stays as long, but for a multiple of 256, and so shows a part of
        /// the samples. Where samples are mixed, the copies are a partner window apart.
        repeats: u64 = 1;
        /// Which of several processes this one is, from 0.
        rank: usize, unset "0";
        /// How many processes share the samples.
        world_size: usize, unset "1";
        /// Where rank and world size come from: `env` takes them from the variables RANK and WORLD_SIZE, as torchrun sets
        /// them.
        distributed: Distributed;
        /// Consecutive positions of the epoch's order that the partners of a mix or a mosaic are drawn from.
        partner_window: u64 = 128;
        /// The epoch, counted from 0, from which on augmentations that take several samples are left out: mosaics, mixes and
        /// copy-paste. Ultralytics' `close_mosaic` counts epochs from the end: its 10 of 100 epochs is 90 here, under that name too.
        mixing_off_epoch or "close_mosaic": u64, unset "never";
        /// Worker threads, 1 to 512.
        workers or "num_workers": usize, unset "one for each core, and up to four where reading is the limit";
        /// The scheduling priority of worker threads: `normal` as all threads have it; `idle` below all others of the process's
        /// control group, for a training that computes on the same cores (Linux only). If something else keeps all cores busy
        /// without ever waiting, idle workers hardly run.
        worker_priority: WorkerPriority = WorkerPriority::Normal;
        /// Batches that are made ahead, 1 to 64.
        prefetch or "prefetch_factor": usize, unset "2, and up to 4 where the trainer's waits are irregular";
        /// Whether each batch is shaped as its images are, which come in the order of their shapes.
        rect: bool = false;
        /// By how many strides a rect batch is larger than its images.
        rect_pad: f64, unset "0.5";
        /// Draws the size of each batch: how far from the output's it may be, as a part of it; 0 is not at all.
        multi_scale: f64 = 0.0;
        /// The sizes of batches to draw from instead.
        sizes: Vec<Extent>;
        /// Lets each sample keep the size that its augmentations end at, at most the output's: a batch is as large as its largest
        /// sample, and the others are padded with zeros at the right and at the bottom (DETR). A batch then says which pixels
        /// are padding, and the size of each sample.
        pad_to_largest: bool = false;
        /// What the edges of batches are multiples of, with rect, multi_scale or pad_to_largest.
        stride: u32, unset "32, and 1 with pad_to_largest";
        /// The largest number of bytes of compressed files that are kept in memory from their first read on.
        byte_cache: Bytes = Bytes(0);
        /// The largest number of bytes of decoded images that are kept for the other samples of a partner window, where
        /// augmentations mix samples; on a GPU they are bytes of its memory, reserved at the start.
        image_cache: Bytes = Bytes(256 << 20);
        /// Where records are kept for all processes of the machine that read the same data (Linux): `ram` is one file in memory,
        /// which the last of them removes; `disk` is one file on a disk, for later runs as well. A file of the data that changes is
        /// read again.
        cache: CachePlace = CachePlace::Off;
        /// What `cache` keeps of an image: its file as it is, or its pixels, upright as `exif` says, whole and in full size, which
        /// take five to ten times the room. Both give the same pixels as no cache. Damaged files and those of more than 64 MiB of
        /// pixels stay as they are.
        cache_form: CachedForm = CachedForm::Compressed;
        /// The longest shorter edge of what `cache` keeps decoded, in pixels: larger images are resized, as `feedline pack --resize`
        /// does it. This changes pixels.
        cache_resize: u32, unset "images keep their sizes";
        /// The largest number of bytes of the file of `cache`; what comes first stays.
        cache_limit: Bytes, unset "half of what is free: of the disk, or of memory and of /dev/shm";
        /// The file of `cache`.
        cache_file: PathBuf, unset "one in /dev/shm, or in `$XDG_CACHE_HOME/feedline` or `~/.cache/feedline`";
    }
}

words! { Distributed }

/// Where rank and world size come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distributed {
    /// From the environment.
    Env,
}

impl LoaderOptions {
    pub(crate) fn check(&self) -> Result<()> {
        let wrong = match (self.shuffle, self.shuffle_window, self.shuffle_shards) {
            (_, Some(0), _) => "shuffle_window is 0: give the samples of a run, or leave it out",
            (_, _, Some(0)) => {
                "shuffle_shards is 0: give the shards that are mixed at a time, or leave it out"
            }
            (_, Some(_), Some(_)) => {
                "shuffle_window and shuffle_shards are two orders: leave one of them out"
            }
            (Some(false), Some(_), _) => {
                "shuffle_window shuffles, but shuffle is false: leave one of them out"
            }
            (Some(false), _, Some(_)) => {
                "shuffle_shards shuffles, but shuffle is false: leave one of them out"
            }
            _ => match self.wrong_repeats() {
                Some(wrong) => wrong,
                None => return self.check_sizes().and_then(|()| self.check_cache()),
            },
        };
        Err(Error::config(format!("[loader]: {wrong}")))
    }

    fn wrong_repeats(&self) -> Option<&'static str> {
        match self.repeats() {
            0 => Some("repeats is 0: give how often each sample comes, or leave it out"),
            1 => None,
            _ if self.weights.is_some() => {
                Some("repeats and weights both say how often a sample comes: leave one of them out")
            }
            _ if self.rect.unwrap_or(false) => Some(
                "rect shows each sample once, in the order of their shapes, and repeats more often: leave one of them out",
            ),
            _ => None,
        }
    }

    /// What shapes batches as their images are, where that is asked for.
    pub fn rect_batches(&self) -> Option<RectBatches> {
        let usual = RectBatches::default();
        let (stride, pad) = (self.stride.unwrap_or(usual.stride), self.rect_pad.unwrap_or(usual.pad));
        self.rect.unwrap_or(false).then_some(RectBatches { stride, pad })
    }

    /// What edges of batches are multiples of where batches are as large as their largest sample.
    pub fn padded_batches(&self) -> Option<u32> {
        self.pad_to_largest().then(|| self.stride.unwrap_or(1))
    }

    /// The sizes that batches are drawn from, where they are.
    pub fn drawn_sizes(&self) -> Option<MultiScale> {
        if let Some(sizes) = &self.sizes {
            return Some(MultiScale::Sizes(sizes.iter().map(|size| size.square()).collect()));
        }
        let MultiScale::Around { by, stride } = MultiScale::around(self.multi_scale()) else {
            return None;
        };
        (by != 0.0).then_some(MultiScale::Around { by, stride: self.stride.unwrap_or(stride) })
    }

    /// A key that nothing reads would be a setting that does nothing.
    fn check_sizes(&self) -> Result<()> {
        let (rect, scaled) = (self.rect.unwrap_or(false), self.multi_scale.unwrap_or(0.0) != 0.0);
        let unread = [
            ("rect_pad", self.rect_pad.is_some() && !rect, "rect = true"),
            (
                "stride",
                self.stride.is_some() && !rect && !scaled && !self.pad_to_largest(),
                "rect = true, multi_scale or pad_to_largest = true",
            ),
        ];
        if let Some((key, _, remedy)) = unread.iter().find(|(_, unread, _)| *unread) {
            bail!("[loader]: {key} means nothing here: set {remedy}, or leave it out");
        }
        match scaled && self.sizes.is_some() {
            true => Err(Error::config(
                "[loader]: multi_scale and sizes both say what sizes there are: leave one of them out",
            )),
            false => Ok(()),
        }
    }

    /// Where processes share a cache, if they do.
    pub(crate) fn shared_cache(&self) -> Option<CachePlace> {
        Some(self.cache()).filter(|&place| place != CachePlace::Off)
    }

    fn check_cache(&self) -> Result<()> {
        let (is_on, is_decoded) = (self.shared_cache().is_some(), self.cache_form() == CachedForm::Decoded);
        let unread = [
            ("cache_form", self.cache_form.is_some() && !is_on, "cache"),
            ("cache_resize", self.cache_resize.is_some() && !is_decoded, "cache_form = \"decoded\""),
            ("cache_resize", self.cache_resize.is_some() && !is_on, "cache"),
            ("cache_limit", self.cache_limit.is_some() && !is_on, "cache"),
            ("cache_file", self.cache_file.is_some() && !is_on, "cache"),
        ];
        if let Some((key, _, remedy)) = unread.iter().find(|(_, unread, _)| *unread) {
            bail!("[loader]: {key} means nothing here: set {remedy}, or leave it out");
        }
        ensure!(
            self.cache_resize != Some(0),
            "[loader]: cache_resize is 0, and an image has at least 1 pixel"
        );
        ensure!(
            !is_on || self.byte_cache().0 == 0,
            "[loader]: cache keeps one copy for all processes, and byte_cache one in each: leave one of them out"
        );
        Ok(())
    }

    /// Drops from `below` what is said in another way here, and what nothing would read any more.
    pub(super) fn displace(&self, below: &mut Self) {
        if self.shuffle.is_some() || self.shuffle_window.is_some() || self.shuffle_shards.is_some() {
            (below.shuffle, below.shuffle_window, below.shuffle_shards) = (None, None, None);
        }
        if self.multi_scale.is_some() || self.sizes.is_some() {
            (below.multi_scale, below.sizes) = (None, None);
        }
        if self.distributed.is_some() {
            (below.rank, below.world_size) = (None, None);
        }
        if self.rank.is_some() || self.world_size.is_some() {
            below.distributed = None;
        }
        self.displace_cache(below);
        let is_on = |rect: Option<bool>| rect.unwrap_or(false);
        let rect = is_on(self.rect.or(below.rect));
        let scaled = self.multi_scale.or(below.multi_scale).unwrap_or(0.0) != 0.0;
        if !rect {
            below.rect_pad = None;
        }
        if !rect && !scaled && !is_on(self.pad_to_largest.or(below.pad_to_largest)) {
            below.stride = None;
        }
    }

    fn displace_cache(&self, below: &mut Self) {
        if self.shared_cache().is_some() {
            below.byte_cache = None;
        }
        if self.byte_cache().0 > 0 && self.cache.is_none() {
            below.cache = None;
        }
        let place = self.cache.or(below.cache).unwrap_or_default();
        if place == CachePlace::Off {
            (below.cache_form, below.cache_limit, below.cache_file) = (None, None, None);
        }
        let form = self.cache_form.or(below.cache_form).unwrap_or_default();
        if place == CachePlace::Off || form != CachedForm::Decoded {
            below.cache_resize = None;
        }
    }
}
