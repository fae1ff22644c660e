//! The plans of a sample's other pictures: the same geometry for its semantic mask, its depth map, and second images.

use super::{
    BlendInput, BlendMode, CanvasFilter, Content, Erase, Filter, Layer, LayerSource, Method, Modality,
    Outside, Pass, PillowMap, Plan, Sampled, Span, WarpFilter, WarpMap,
};

/// What a plan keeps of another one.
#[derive(Clone, Copy)]
enum Kept {
    /// Levels are no colours: each pixel is its nearest one, and what shows no image is this.
    Levels(u8),
    /// Everything but what only the sample's own colours are to become.
    Colors,
}

/// Pixel for pixel, where sizes are the same.
const UNCHANGED: Method = Method::Upright(Filter::Nearest);

impl Plan {
    /// The same plan for images whose levels are classes: every pixel is its nearest one, colours stay as they are, and
    /// what shows no image is `fill`.
    ///
    /// Of two inputs that are blended, the one with the greater weight is seen. Erased and filled
    /// rectangles are left out: what was there is what the model is to guess.
    pub fn for_masks(&self, fill: u8) -> Plan {
        self.keeping(Kept::Levels(fill))
    }

    /// The same plan for second images of the records: they are moved, resampled, filled around and mixed alike. Colour
    /// operations, blurs and other filters, what shrinks and enlarges again, and erased rectangles are the sample's own, and
    /// left out.
    pub fn for_second_images(&self) -> Plan {
        self.keeping(Kept::Colors)
    }

    /// The same plan, showing other pictures of the same records.
    pub(crate) fn showing(mut self, modality: Modality) -> Plan {
        self.images.iter_mut().for_each(|image| image.modality = modality);
        self
    }

    /// The same plan with passes as large as what they show where they are smaller only to be enlarged again.
    fn unshrunk(&self) -> Plan {
        let mut plan = Plan { shrunk: Vec::new(), ..self.clone() };
        for &pass in &self.shrunk {
            // Its only layer fills the canvas.
            let input = self.passes[pass as usize].inputs.start as usize;
            let shrunk = &mut plan.layers[self.inputs[input].layers.start as usize];
            let Some(sampled) = shrunk.sampled_mut() else { continue };
            let size = sampled.clip.size();
            (sampled.method, sampled.scaled) = (UNCHANGED, size);
            shrunk.window = size.rect();
            plan.inputs[input].window = size.rect();
            plan.passes[pass as usize].size = size;
            for sampled in plan.layers.iter_mut().filter_map(Layer::sampled_mut) {
                if sampled.from == LayerSource::Pass(pass) {
                    (sampled.method, sampled.clip) = (UNCHANGED, size.rect());
                }
            }
        }
        plan
    }

    fn keeping(&self, kept: Kept) -> Plan {
        if !self.shrunk.is_empty() {
            return self.unshrunk().keeping(kept);
        }
        let mut plan = Plan {
            images: self.images.clone(),
            labels: self.labels.clone(),
            mask_rows: self.mask_rows.clone(),
            runs: self.runs.clone(),
            distortions: self.distortions.clone(),
            ..Plan::default()
        };
        for pass in &self.passes {
            let start = plan.inputs.len() as u32;
            for input in &self.inputs[pass.inputs.range()] {
                let is_first = plan.inputs.len() as u32 == start;
                let weight = match kept {
                    Kept::Levels(_) => (input.weight >= 0.5).then_some(1.0),
                    Kept::Colors => Some(input.weight),
                };
                let weight = weight.filter(|_| input.mode.is_over() && !input.window.is_empty());
                if let Some(weight) = weight.or(is_first.then_some(1.0)) {
                    // That of a batch's padding is no part of the sample.
                    let padding = match (kept, self.unpadded) {
                        (Kept::Colors, Some(_)) => &self.erases[input.erases.range()],
                        _ => &[],
                    };
                    plan.show((input, weight, padding), &self.layers[input.layers.range()], kept);
                }
            }
            let inputs = Span { start, len: plan.inputs.len() as u32 - start };
            plan.passes.push(Pass { size: pass.size, inputs, steps: Span::default() });
        }
        plan
    }

    fn show(&mut self, (input, weight, padding): (&BlendInput, f32, &[Erase]), layers: &[Layer], kept: Kept) {
        let start = self.layers.len() as u32;
        if let Kept::Levels(fill) = kept {
            // What no image covers.
            self.layers.push(Layer::solid(input.window, [fill; 3]));
        }
        // What covers a part of an image, and is no part of a pasted object, hides it as an erased rectangle does. What lies
        // beside the images below it is around another one.
        let hides = |at: usize, layer: &Layer| {
            let covers =
                |below: &Layer| below.sampled().is_some() && !below.window.intersect(layer.window).is_empty();
            layer.sampled().is_none() && layer.mask.is_none() && layers[..at].iter().any(covers)
        };
        let seen = layers.iter().enumerate().filter(|(at, layer)| !hides(*at, layer));
        self.layers.extend(seen.map(|(_, layer)| match kept {
            Kept::Levels(fill) => nearest(layer, fill),
            Kept::Colors => plain(layer),
        }));
        let span = Span { start, len: self.layers.len() as u32 - start };
        let erases = Span { start: self.erases.len() as u32, len: padding.len() as u32 };
        self.erases.extend_from_slice(padding);
        let (steps, mode) = (Span::default(), BlendMode::Over);
        self.inputs.push(BlendInput { layers: span, steps, erases, weight, mode, ..*input });
    }
}

/// The layer without colour steps and filters; a blurred or sharpened pass is as large as the pass.
fn plain(layer: &Layer) -> Layer {
    let content = match layer.content {
        Content::Solid(color) => Content::Solid(color),
        Content::Sampled(sampled) => {
            let method = match sampled.method {
                // That moves pixels.
                Method::Filtered(CanvasFilter::Distort { .. }) => sampled.method,
                Method::Filtered(_) => Method::Upright(Filter::Nearest),
                method => method,
            };
            Content::Sampled(Sampled { method, steps: Span::default(), ..sampled })
        }
    };
    Layer { content, ..*layer }
}

fn nearest(layer: &Layer, fill: u8) -> Layer {
    let content = match plain(layer).content {
        Content::Solid(_) => Content::Solid([fill; 3]),
        Content::Sampled(sampled) => {
            let method = match sampled.method {
                Method::Filtered(CanvasFilter::Distort { distortion, .. }) => {
                    Method::Filtered(CanvasFilter::Distort { distortion, nearest: true, fill: [fill; 3] })
                }
                Method::Upright(_) | Method::Filtered(_) => Method::Upright(Filter::Nearest),
                Method::Warp(WarpMap { map, filter: _, outside }) => Method::Warp(WarpMap {
                    map,
                    filter: WarpFilter::Nearest,
                    outside: match outside {
                        Outside::Transparent => Outside::Transparent,
                        Outside::Black | Outside::Fill(_) => Outside::Fill([fill; 3]),
                    },
                }),
                Method::Pillow(PillowMap { matrix, .. }) => Method::Warp(WarpMap {
                    map: from_middle(matrix, &sampled),
                    filter: WarpFilter::Nearest,
                    outside: Outside::Transparent,
                }),
            };
            Content::Sampled(Sampled { method, ..sampled })
        }
    };
    Layer { content, ..*layer }
}

/// The map in the form that [`WarpMap::map`] describes.
fn from_middle([a, b, c, d, e, f]: [f64; 6], Sampled { scaled, clip, .. }: &Sampled) -> [f32; 9] {
    let [x, y] = [scaled.width, scaled.height].map(|edge| 0.5 * f64::from(edge));
    let [across, down] = [clip.width, clip.height].map(|edge| 0.5 * f64::from(edge));
    let [u, v] = [(a * x + b * y + c) / across - 1.0, (d * x + e * y + f) / down - 1.0];
    [a / across, b / across, u, d / down, e / down, v, 0.0, 0.0, 1.0].map(|number| number as f32)
}
