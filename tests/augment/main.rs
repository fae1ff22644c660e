//! What augmentations draw and plan: against the numbers of other libraries, and against naive accounts of their pixels.

mod albumentations;
mod containers;
mod detection;
mod distortions;
mod executed;
mod mixes;
mod mosaic;
mod params;
mod paste;
mod policies;
mod script;
mod spread;
mod timm;
mod warps;
