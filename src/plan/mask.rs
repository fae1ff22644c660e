//! The plan of a sample's semantic mask: the same geometry, without anything that would mix two classes.

use super::{
    BlendInput, BlendMode, Content, Filter, Layer, Method, Outside, Pass, PillowMap, Plan, Sampled, Span,
    WarpFilter, WarpMap,
};

impl Plan {
    /// The same plan for images whose levels are classes: every pixel is its nearest one, colours stay as they are, and
    /// what shows no image is `fill`.
    ///
    /// Of two inputs that are blended, the one with the greater weight is seen. Erased and filled
    /// rectangles are left out: what was there is what the model is to guess.
    pub fn for_masks(&self, fill: u8) -> Plan {
        let mut masks = Plan {
            images: self.images.clone(),
            labels: self.labels.clone(),
            mask_rows: self.mask_rows.clone(),
            runs: self.runs.clone(),
            ..Plan::default()
        };
        for pass in &self.passes {
            let start = masks.inputs.len() as u32;
            for input in &self.inputs[pass.inputs.range()] {
                let is_first = masks.inputs.len() as u32 == start;
                if is_first || (input.weight >= 0.5 && input.mode.is_over()) {
                    masks.show(input, &self.layers[input.layers.range()], fill);
                }
            }
            let inputs = Span { start, len: masks.inputs.len() as u32 - start };
            masks.passes.push(Pass { size: pass.size, inputs, steps: Span::default() });
        }
        masks
    }

    fn show(&mut self, input: &BlendInput, layers: &[Layer], fill: u8) {
        let start = self.layers.len() as u32;
        // What no image covers.
        self.layers.push(Layer::solid(input.window, [fill; 3]));
        let lowest = layers.iter().position(|layer| layer.sampled().is_some());
        // What covers an image, and is no part of a pasted object, hides it as an erased rectangle does.
        let hides = |at: usize, layer: &Layer| {
            layer.sampled().is_none() && layer.mask.is_none() && lowest.is_some_and(|lowest| at > lowest)
        };
        let seen = layers.iter().enumerate().filter(|(at, layer)| !hides(*at, layer));
        self.layers.extend(seen.map(|(_, layer)| nearest(layer, fill)));
        let span = Span { start, len: self.layers.len() as u32 - start };
        let (steps, erases) = (Span::default(), Span::default());
        self.inputs.push(BlendInput {
            layers: span,
            steps,
            erases,
            weight: 1.0,
            mode: BlendMode::Over,
            ..*input
        });
    }
}

fn nearest(layer: &Layer, fill: u8) -> Layer {
    let content = match layer.content {
        Content::Solid(_) => Content::Solid([fill; 3]),
        Content::Sampled(sampled) => {
            let method = match sampled.method {
                // A blurred or sharpened pass is as large as the pass.
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
            Content::Sampled(Sampled { method, steps: Span::default(), ..sampled })
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
