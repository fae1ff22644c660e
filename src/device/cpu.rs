//! The CPU backend: the same pixels as the GPU's, and the default where there is none.

mod blend;
mod block;
#[cfg(target_arch = "x86_64")]
mod dispatch;
mod normal;
mod pack;
mod recolour;
mod render;
mod resample;
mod sink;
mod taps;
mod view;
#[cfg(target_arch = "x86_64")]
mod weave;

pub use render::Renderer;
