//! Which decoders can take a file, by its header.

use crate::device::cuda::jpeg::LeftOut;
use crate::image::Header;
use crate::jpeg::{self, ColorModel};
use crate::policy::DecoderChoice;

/// The decoder of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Route {
    /// The GPU's decoding engines.
    Hardware,
    /// The GPU's processors, entropy decoding included.
    GpuHuffman,
    /// Entropy decoding on the CPU by nvJPEG, the rest on the GPU.
    Hybrid,
    /// feedline's own decoder, run by the caller.
    Cpu,
    /// feedline's own decoder on the GPU's processors.
    Feedline,
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Route::Hardware => "the GPU's engines",
            Route::GpuHuffman => "nvJPEG on the GPU",
            Route::Hybrid => "nvJPEG on CPU and GPU",
            Route::Cpu => "the CPU",
            Route::Feedline => "feedline on the GPU",
        })
    }
}

impl Route {
    /// Those of nvJPEG.
    pub(super) const GPU: [Route; 3] = [Route::Hardware, Route::GpuHuffman, Route::Hybrid];
    /// How many there are.
    pub(crate) const COUNT: usize = Route::Feedline as usize + 1;

    /// Whether the decoder is made for files of this header; its library may refuse one all the same.
    pub fn takes(self, header: &Header) -> bool {
        self == Route::Cpu || Routes::of(header).has(self) || Routes::own(header).has(self)
    }

    /// What it is called in the option `decoder`.
    pub(super) fn option(self) -> &'static str {
        let choice = match self {
            Route::Hardware => DecoderChoice::NvjpegHardware,
            Route::GpuHuffman => DecoderChoice::NvjpegGpu,
            Route::Hybrid => DecoderChoice::NvjpegHybrid,
            Route::Cpu => DecoderChoice::Cpu,
            Route::Feedline => DecoderChoice::Feedline,
        };
        choice.word()
    }
}

/// Widest and highest image that the engines take, in pixels. Their documentation says 16384 on the newest; the margin
/// costs nothing, since such images are rare and the other decoders take them.
const HARDWARE_EDGE: u32 = 16_000;

/// A set of routes. [`Route::Cpu`] is never in it and always possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Routes(u8);

impl Routes {
    pub(super) const NONE: Routes = Routes(0);
    /// All of nvJPEG's.
    pub(super) const ALL: Routes = Routes(7);
    /// feedline's own on the GPU.
    pub(super) const FEEDLINE: Routes = Routes(1 << Route::Feedline as u8);

    /// feedline's own decoder on the GPU, where that can take a file of this header.
    pub(super) fn own(header: &Header) -> Self {
        if LeftOut::of(header).is_none() { Self::FEEDLINE } else { Self::NONE }
    }

    /// The decoders of nvJPEG that can take a file of this header.
    ///
    /// Files of four components are left to the CPU: nvJPEG's conversion of inks is not feedline's. Nor is RGB stored as such, which
    /// it may take for YCbCr. Arithmetic coding it does not know.
    pub(super) fn of(header: &Header) -> Self {
        header.jpeg.as_ref().map_or(Self::NONE, Self::of_jpeg)
    }

    fn of_jpeg(header: &jpeg::Header) -> Self {
        let color = matches!(header.color, ColorModel::Grey | ColorModel::YCbCr);
        let (sampled, by_engines) = match header.sampling.name() {
            "grey" | "4:4:4" | "4:2:2" | "4:2:0" | "4:4:0" => (true, true),
            "4:1:1" | "4:1:0" => (true, false),
            _ => (false, false),
        };
        if !(color && sampled) || header.arithmetic {
            return Self::NONE;
        }
        let interleaved = header.has_one_scan();
        let small = header.size.width.max(header.size.height) <= HARDWARE_EDGE;
        match (interleaved, by_engines && small) {
            (true, true) => Self::ALL,
            (true, false) => Self::ALL.without(Route::Hardware),
            (false, _) => Self::NONE.with(Route::Hybrid),
        }
    }

    pub(super) fn has(self, route: Route) -> bool {
        route != Route::Cpu && self.0 & Self::bit(route) != 0
    }

    pub(super) fn without(self, route: Route) -> Self {
        Self(self.0 & !Self::bit(route))
    }

    /// This route, where it is in the set, and no other.
    pub(super) fn only(self, route: Route) -> Self {
        if self.has(route) { Self(Self::bit(route)) } else { Self::NONE }
    }

    pub(super) fn with(self, route: Route) -> Self {
        Self(self.0 | Self::bit(route))
    }

    /// Those that are in both sets.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn bit(route: Route) -> u8 {
        1 << route as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

    fn encoded(sampling: SamplingFactor, color: ColorType, progressive: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, 90);
        encoder.set_sampling_factor(sampling);
        encoder.set_progressive(progressive);
        let channels = match color {
            ColorType::Luma => 1,
            ColorType::Cmyk => 4,
            _ => 3,
        };
        encoder.encode(&vec![90; 32 * 16 * channels], 32, 16, color).unwrap();
        bytes
    }

    fn routes(bytes: &[u8]) -> Vec<Route> {
        let routes = Routes::of(&crate::image::parse_header(bytes).unwrap());
        Route::GPU.into_iter().filter(|&route| routes.has(route)).collect()
    }

    #[test]
    fn the_engines_take_baseline_files_of_common_samplings() {
        use SamplingFactor::{F_1_1, F_1_2, F_2_1, F_2_2, F_4_1, F_4_2};
        for sampling in [F_1_1, F_2_1, F_2_2, F_1_2] {
            assert_eq!(routes(&encoded(sampling, ColorType::Rgb, false)), Route::GPU, "{sampling:?}");
        }
        for sampling in [F_4_1, F_4_2] {
            let file = encoded(sampling, ColorType::Rgb, false);
            let mut header = crate::jpeg::parse_header(&file).unwrap();
            header.first_scan = 3;
            let routes = Routes::of(&header.into());
            assert!(routes.has(Route::GpuHuffman) && !routes.has(Route::Hardware), "{sampling:?}");
        }
        assert_eq!(routes(&encoded(F_1_1, ColorType::Luma, false)), Route::GPU);
    }

    #[test]
    fn progressive_files_need_the_cpus_help() {
        assert_eq!(routes(&encoded(SamplingFactor::F_2_2, ColorType::Rgb, true)), [Route::Hybrid]);
    }

    #[test]
    fn inks_are_the_cpus() {
        assert_eq!(routes(&encoded(SamplingFactor::F_1_1, ColorType::Cmyk, false)), []);
    }

    #[test]
    fn images_beyond_the_engines_edge_go_elsewhere() {
        let file = encoded(SamplingFactor::F_1_1, ColorType::Rgb, false);
        let mut header = crate::jpeg::parse_header(&file).unwrap();
        header.size.width = HARDWARE_EDGE + 1;
        let routes = Routes::of(&header.into());
        assert!(!routes.has(Route::Hardware) && routes.has(Route::GpuHuffman));
    }

    #[test]
    fn a_scan_for_each_component_needs_the_cpus_help() {
        // This encoder writes 4:1:1 so.
        let file = encoded(SamplingFactor::F_4_1, ColorType::Rgb, false);
        let header = crate::jpeg::parse_header(&file).unwrap();
        assert!(header.baseline && header.first_scan == 1);
        assert_eq!(routes(&file), [Route::Hybrid]);
    }
}
