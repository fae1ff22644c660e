//! Random ops with random parameters: the one generator that the CPU renderer, the CUDA renderer and the comparison with
//! torchvision take their chains from.
//!
//! An op is drawn for a canvas, whose size the caller follows with a draft. `tests/render` checks that no op of the
//! catalogue is missing here.

use serde_json::{Value, json};

/// Every op that can be drawn.
pub const OPS: &[&str] = &[
    "crop",
    "center_crop",
    "resized_crop",
    "resize",
    "pad",
    "affine",
    "rotate",
    "pillow_affine",
    "warp_affine",
    "perspective",
    "warp_perspective",
    "paste_mirrored",
    "fill_rectangles",
    "hflip",
    "vflip",
    "transpose",
    "brightness",
    "contrast",
    "saturation",
    "hue",
    "hsv",
    "grayscale",
    "solarize",
    "solarize_add",
    "posterize",
    "invert",
    "permute_channels",
    "autocontrast",
    "equalize",
    "gamma",
    "brightness_contrast",
    "shift_rgb",
    "shift_hsv",
    "to_gray",
    "sharpness",
    "gaussian_blur",
    "sum_chains",
    "box_blur",
    "median_blur",
    "convolve",
    "clahe",
    "gauss_noise",
    "multiplicative_noise",
    "iso_noise",
    "jpeg_compression",
    "grid_distortion",
    "optical_distortion",
    "elastic_transform",
    "erase",
    "sanitize_bounding_boxes",
    "keep_centers",
    "normalize",
];
/// Those that work on the finished sample: after them come none of the others but crops and flips.
pub const LAST: &[&str] = &["erase", "normalize"];
/// Those that measure the whole canvas first; a sample may have sixteen of them.
pub const MEASURING: &[&str] = &["contrast", "autocontrast", "equalize"];

/// Those that a chain of `sum_chains` is made of here: they keep the size.
const CHAINED: &[&str] = &[
    "hflip",
    "brightness",
    "saturation",
    "solarize",
    "posterize",
    "invert",
    "equalize",
    "sharpness",
    "pillow_affine",
];

/// Where the chances come from, and how large a canvas an op may make.
pub struct Dice<'a> {
    /// 32 uniform bits.
    pub bits: &'a mut dyn FnMut() -> u32,
    /// The longest edge that a resampling makes.
    pub longest: u32,
}

impl Dice<'_> {
    /// A whole number in 0..bound.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from((self.bits)()) * u64::from(bound)) >> 32) as u32
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as u32) as usize]
    }

    fn whole(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as u32) as i32
    }

    /// A number with few digits, so that it is the same in every language's floats.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        let part = f64::from(self.below(4097)) / 4096.0;
        ((low + (high - low) * part) * 4096.0).round() / 4096.0
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }

    /// An op of any name in `among`, for a canvas of `width` and `height`.
    pub fn any(&mut self, among: &[&str], size: [u32; 2]) -> Value {
        let name = self.pick(among);
        self.op(name, size)
    }

    /// The op called `name`, for a canvas of `width` and `height`.
    ///
    /// # Panics
    /// Where no such op is known here.
    pub fn op(&mut self, name: &str, size: [u32; 2]) -> Value {
        let mut op = match name {
            "crop" | "center_crop" | "resized_crop" | "resize" | "pad" => self.window(name, size),
            "affine" | "rotate" | "warp_affine" | "perspective" | "warp_perspective" => self.warp(name, size),
            "pillow_affine" => self.pillow_affine(size),
            "erase" => {
                let [left, top, width, height] = self.part(size);
                json!({"i": top, "j": left, "h": height, "w": width, "v": self.below(256)})
            }
            "normalize" => {
                let mut three = |low: f64, high: f64| [0; 3].map(|_| self.between(low, high));
                json!({"mean": three(0.3, 0.6), "std": three(0.2, 0.4)})
            }
            "paste_mirrored" => {
                let polygons: Vec<_> = (3..6).map(|corners| self.polygon(corners, size)).collect();
                json!({"polygons": polygons})
            }
            "fill_rectangles" => {
                let rectangles: Vec<_> = (0..1 + self.below(3))
                    .map(|_| self.part(size))
                    .map(|[left, top, width, height]| [left, top, left + width, top + height])
                    .collect();
                json!({"rectangles": rectangles, "fill": self.pick(&[0, 0, 114])})
            }
            "sanitize_bounding_boxes" => json!({"min_size": self.between(1.0, 9.0)}),
            "keep_centers" => self.rectangle(size),
            "gaussian_blur"
            | "box_blur"
            | "median_blur"
            | "convolve"
            | "clahe"
            | "gauss_noise"
            | "multiplicative_noise"
            | "iso_noise"
            | "jpeg_compression" => self.filter(name, size),
            "grid_distortion" | "optical_distortion" | "elastic_transform" => self.distortion(name, size),
            "sum_chains" => self.sum_chains(size),
            _ => self.recolouring(name),
        };
        op["op"] = json!(name);
        op
    }

    fn sum_chains(&mut self, size: [u32; 2]) -> Value {
        let weights = self.pick(&[[0.25, 0.75], [0.1, 0.6], [0.9, 0.9], [1.0, 0.0]]);
        let chains = weights.map(|weight| {
            let ops: Vec<_> = (0..self.below(2)).map(|_| self.any(CHAINED, size)).collect();
            json!({"weight": weight, "ops": ops})
        });
        match self.below(2) {
            0 => json!({"chains": chains}),
            _ => json!({"chains": chains, "blend": self.pick(&[0.0, 0.25, 0.7, 1.0])}),
        }
    }

    /// An op without arguments, or one that changes colours.
    fn recolouring(&mut self, name: &str) -> Value {
        match name {
            "hflip" | "vflip" | "transpose" | "invert" | "autocontrast" | "equalize" | "grayscale"
            | "to_gray" => json!({}),
            "brightness" | "contrast" | "saturation" | "sharpness" => json!({"factor": self.factor()}),
            "hue" => {
                let ends = self.pick(&[-0.5, 0.0, 0.5]);
                let between = self.between(-0.5, 0.5);
                json!({"factor": if self.one_in(20) { ends } else { between }})
            }
            "hsv" => {
                let hue = self.between(-1.0, 1.0);
                json!({"hue": hue, "saturation": self.between(0.0, 3.0), "value": self.between(0.0, 3.0)})
            }
            "gamma" => json!({"gamma": self.between(0.25, 3.0)}),
            "brightness_contrast" => json!({"alpha": self.factor(), "beta": self.between(-120.0, 120.0)}),
            "shift_rgb" => {
                let shift = [0; 3].map(|_| self.between(-80.0, 80.0));
                json!({"shift": shift})
            }
            "shift_hsv" => {
                let [saturation, value] = [0; 2].map(|_| self.between(-120.0, 120.0));
                json!({"hue": self.between(-180.0, 180.0), "saturation": saturation, "value": value})
            }
            "solarize" => json!({"threshold": self.between(-1.0, 255.0)}),
            "solarize_add" => {
                json!({"addition": self.below(256), "threshold": self.pick(&[128, 128, 0, 90, 255])})
            }
            "posterize" => json!({"bits": self.below(9)}),
            "permute_channels" => {
                let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
                json!({"permutation": self.pick(&orders)})
            }
            other => panic!("`{other}` is not drawn: add it to tests/support/src/chains.rs"),
        }
    }

    fn filter(&mut self, name: &str, size: [u32; 2]) -> Value {
        match name {
            "gaussian_blur" => {
                let kernel_size = size.map(|edge| 2 * self.below(edge.min(12)) + 1);
                json!({"kernel_size": kernel_size, "sigma": [self.between(0.1, 2.0), self.between(0.1, 4.0)]})
            }
            "box_blur" => {
                let kernel_size = [0; 2].map(|_| 2 * self.below(5) + 1);
                json!({"kernel_size": kernel_size})
            }
            "median_blur" => json!({"kernel_size": 2 * self.below(4) + 1}),
            "convolve" => {
                let [columns, rows] = [0; 2].map(|_| 2 * self.below(4) + 1);
                let mut row = || (0..columns).map(|_| self.between(-0.5, 0.75)).collect::<Vec<_>>();
                let kernel: Vec<_> = (0..rows).map(|_| row()).collect();
                json!({"kernel": kernel})
            }
            "multiplicative_noise" => {
                let (key, low) = ([(self.bits)(), (self.bits)()], self.between(0.0, 1.5));
                let multiplier = [low, low + self.between(0.0, 2.0)];
                json!({"key": key, "multiplier": multiplier, "per_channel": self.one_in(2), "elementwise": !self.one_in(4)})
            }
            "iso_noise" => {
                let key = [(self.bits)(), (self.bits)()];
                json!({"key": key, "color_shift": self.between(0.0, 1.0), "intensity": self.between(0.0, 1.0)})
            }
            "jpeg_compression" => json!({"quality": self.pick(&[1, 10, 30, 50, 75, 90, 100])}),
            "clahe" => {
                let tiles = [0; 2].map(|_| 1 + self.below(9));
                json!({"clip_limit": self.between(0.5, 5.0), "tile_grid_size": tiles})
            }
            _ => {
                let (key, per_channel) = ([(self.bits)(), (self.bits)()], !self.one_in(3));
                json!({"key": key, "mean": self.between(-20.0, 20.0), "std": self.between(0.0, 90.0), "per_channel": per_channel})
            }
        }
    }

    fn distortion(&mut self, name: &str, size: [u32; 2]) -> Value {
        let mut op = match name {
            "grid_distortion" => {
                let [across, down] = size.map(|edge| 2 + self.below(edge.min(7)));
                let mut steps = |count: u32| (0..count).map(|_| self.between(0.0, 2.0)).collect::<Vec<_>>();
                json!({"steps_x": steps(across), "steps_y": steps(down)})
            }
            "optical_distortion" => {
                json!({"k": self.between(-0.33, 1.0), "mode": self.pick(&["camera", "fisheye"])})
            }
            _ => {
                let key = [(self.bits)(), (self.bits)()];
                let sigma = self.pick(&[1.0, 2.5, 6.0, 50.0]);
                // Some pixels inside, more at the edges, and now and then none at all.
                let alpha = self.between(0.0, 8.0) * sigma;
                json!({"key": key, "alpha": alpha, "sigma": sigma, "same_dxdy": self.one_in(3)})
            }
        };
        op["interpolation"] = json!(self.pick(&["bilinear", "bilinear", "nearest"]));
        op["fill"] = json!(self.pick(&[[0; 3], [0; 3], [124, 116, 104]]));
        op
    }

    fn window(&mut self, name: &str, size @ [width, height]: [u32; 2]) -> Value {
        match name {
            "crop" if self.one_in(2) => {
                // Past the edge, where it is black.
                let (left, top) = (self.around(width), self.around(height));
                let (across, down) = (self.below(width + 16), self.below(height + 16));
                let [width, height] =
                    [width / 2 + 1 + across, height / 2 + 1 + down].map(|edge| edge.min(self.longest));
                json!({"top": top, "left": left, "height": height, "width": width})
            }
            "crop" => self.rectangle(size),
            "center_crop" => json!({"output_size": self.sides()}),
            "pad" => {
                let mode = self.pick(&["constant", "constant", "edge", "reflect", "symmetric"]);
                // What is mirrored has no more pixels to show.
                let most = if mode == "constant" { 8 } else { (width.min(height) - 1).min(8) };
                let padding = [0; 4].map(|_| self.below(most + 1));
                let fill = [json!(self.below(256)), json!([self.below(256), 114, 7])];
                json!({"padding": padding, "fill": fill[self.below(2) as usize], "padding_mode": mode})
            }
            _ => {
                let mut op = if name == "resize" { json!({}) } else { self.rectangle(size) };
                let interpolation = self.pick(&["bilinear", "bilinear", "bicubic", "nearest"]);
                // Bicubic without it is refused, and nearest has none.
                let antialias = interpolation == "bicubic" || !self.one_in(4);
                (op["size"], op["interpolation"]) = (json!(self.sides()), json!(interpolation));
                op["antialias"] = json!(antialias);
                op
            }
        }
    }

    fn warp(&mut self, name: &str, size @ [width, height]: [u32; 2]) -> Value {
        let mut op = match name {
            "affine" => {
                let translate = [width, height].map(|edge| self.whole(-(edge as i32) / 3, edge as i32 / 3));
                let shear = [self.between(-40.0, 40.0), self.between(-40.0, 40.0)];
                let scale = self.between(0.3, 2.5);
                json!({"angle": self.angle(), "translate": translate, "scale": scale, "shear": shear})
            }
            "warp_affine" => {
                let moved = size.map(|edge| self.between(-0.4, 0.4) * f64::from(edge));
                let [shear, steep] = [self.between(-0.5, 0.5), self.between(-0.5, 0.5)];
                let [across, down] = [self.between(0.4, 2.0), self.between(0.4, 2.0)];
                json!({"matrix": [[across, shear, moved[0]], [steep, down, moved[1]]]})
            }
            // A canvas as large as the turned image is meant for turns round the middle.
            "rotate" => json!({"angle": self.angle(), "expand": self.one_in(2)}),
            "perspective" => {
                // An edge of one pixel keeps its corners as if it had two, or there would be nothing to solve.
                let [right, bottom] = size.map(|edge| edge.saturating_sub(1).max(1) as i32);
                let corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]];
                // By less than a third, so that no three of them come to lie on one line.
                let moved = corners.map(|[x, y]| {
                    [(x, width), (y, height)].map(|(at, edge)| {
                        let inwards = self.below(1 + edge.saturating_sub(2) / 3) as i32;
                        if at == 0 { inwards } else { at - inwards }
                    })
                });
                json!({"startpoints": corners, "endpoints": moved})
            }
            _ => return self.folding_warp(size),
        };
        op["interpolation"] = json!(self.pick(&["nearest", "bilinear"]));
        match self.below(3) {
            0 => {}
            1 => op["fill"] = json!(self.below(256)),
            _ => op["fill"] = json!([200, self.below(256), 7]),
        }
        if name == "affine" && self.one_in(3) {
            op["center"] = json!(size.map(|edge| self.between(-0.5, 1.5) * f64::from(edge)));
        }
        op
    }

    /// A warp whose map is composed with what came before, upright every other time.
    pub fn folding_warp(&mut self, size: [u32; 2]) -> Value {
        let (across, down) = (self.between(0.2, 1.6), self.between(0.2, 1.6));
        let (mut skew, mut tilt) = ([0.0; 2], [0.0; 2]);
        if self.one_in(2) {
            skew = [self.between(-0.6, 0.6), self.between(-0.6, 0.6)];
            if self.one_in(2) {
                tilt = [self.between(-0.004, 0.004), self.between(-0.004, 0.004)];
            }
        }
        let moved = size.map(|edge| self.between(-0.4, 0.6) * f64::from(edge));
        let matrix = [[across, skew[0], moved[0]], [skew[1], down, moved[1]], [tilt[0], tilt[1], 1.0]];
        let fill = self.pick(&[0, 114]);
        let (size, antialias) = (self.sides(), self.one_in(2));
        json!({"op": "warp_perspective", "matrix": matrix, "size": size, "fill": fill, "antialias": antialias})
    }

    /// A map near to none, or upright, or any.
    fn pillow_affine(&mut self, size: [u32; 2]) -> Value {
        let moved = size.map(|edge| self.between(-0.4, 0.4) * f64::from(edge));
        let [shear, steep] = [self.between(-0.5, 0.5), self.between(-0.5, 0.5)];
        let [across, down] = [self.between(0.3, 2.0), self.between(0.3, 2.0)];
        let data = match self.below(4) {
            0 => [1.0, shear, 0.0, 0.0, 1.0, 0.0],
            1 => [1.0, 0.0, moved[0], 0.0, 1.0, moved[1]],
            2 => [across, 0.0, moved[0], 0.0, -down, moved[1] + f64::from(size[1])],
            _ => [across, shear, moved[0], steep, down, moved[1]],
        };
        json!({"data": data, "resample": self.pick(&["bilinear", "bicubic"]), "fillcolor": self.pick(&[0, 114])})
    }

    /// Rows and columns; small ones are as interesting as large ones, and cheaper.
    fn sides(&mut self) -> [u32; 2] {
        let longest = [64.min(self.longest), self.longest];
        [0; 2].map(|_| {
            let longest = self.pick(&longest);
            1 + self.below(longest)
        })
    }

    /// Left, top, width and height of a part of the canvas; now and then all of it.
    fn part(&mut self, size: [u32; 2]) -> [u32; 4] {
        if self.one_in(20) {
            return [0, 0, size[0], size[1]];
        }
        let [width, height] = size.map(|edge| 1 + self.below(edge));
        [self.below(size[0] - width + 1), self.below(size[1] - height + 1), width, height]
    }

    fn rectangle(&mut self, size: [u32; 2]) -> Value {
        let [left, top, width, height] = self.part(size);
        json!({"top": top, "left": left, "height": height, "width": width})
    }

    /// A place on either side of the canvas's first edge.
    fn around(&mut self, edge: u32) -> i32 {
        self.whole(-(edge as i32) / 2, edge as i32 / 2)
    }

    /// A factor for colours, its special values included.
    fn factor(&mut self) -> f64 {
        let special = self.pick(&[0.0, 1.0, 2.0]);
        if self.one_in(20) { special } else { self.between(0.0, 2.5) }
    }

    /// Degrees, quarters of a turn and other whole numbers included.
    fn angle(&mut self) -> f64 {
        match self.below(4) {
            0 => self.between(-200.0, 400.0),
            1 => self.between(-30.0, 30.0),
            2 => f64::from(self.whole(-180, 180)),
            _ => self.pick(&[-90.0, 90.0, 180.0]),
        }
    }

    /// Corners on the canvas and a little outside.
    pub fn polygon(&mut self, corners: usize, size: [u32; 2]) -> Vec<[f64; 2]> {
        (0..corners).map(|_| size.map(|edge| self.between(-0.1, 1.1) * f64::from(edge))).collect()
    }
}
