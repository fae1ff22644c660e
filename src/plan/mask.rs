//! The plan of a sample's semantic mask: the same geometry, without anything that would mix two classes.

use super::{Layer, NONE, Picture, Plan, Span, Stage, around, filter, kind};
use crate::geometry::Rect;
use bytemuck::Zeroable;

impl Plan {
    /// The same plan for images whose levels are classes: every pixel is its nearest one, colours stay as they are, and
    /// what shows no image is `fill`.
    ///
    /// Of two pictures that are blended, the one with the greater share is seen. Erased rectangles are left out: what
    /// was there is what the model is to guess.
    pub fn for_masks(&self, fill: u8) -> Plan {
        let mut masks = Plan {
            images: self.images.clone(),
            labels: self.labels.clone(),
            mask_rows: self.mask_rows.clone(),
            runs: self.runs.clone(),
            ..Plan::default()
        };
        for stage in &self.stages {
            let start = masks.pictures.len() as u32;
            for picture in &self.pictures[stage.pictures.range()] {
                let is_first = masks.pictures.len() as u32 == start;
                if is_first || picture.share >= 0.5 {
                    masks.show(picture, &self.layers[picture.layers.range()], fill);
                }
            }
            let pictures = Span { start, len: masks.pictures.len() as u32 - start };
            masks.stages.push(Stage { size: stage.size, pictures, steps: Span::default() });
        }
        masks
    }

    fn show(&mut self, picture: &Picture, layers: &[Layer], fill: u8) {
        let span = Span { start: self.layers.len() as u32, len: layers.len() as u32 + 1 };
        self.layers.push(ground(picture.window, fill));
        self.layers.extend(layers.iter().map(|layer| nearest(layer, fill)));
        let (steps, erases) = (Span::default(), Span::default());
        self.pictures.push(Picture { layers: span, steps, erases, share: 1.0, ..*picture });
    }
}

/// What is seen where no image is.
fn ground(window: Rect, fill: u8) -> Layer {
    Layer {
        kind: kind::SOLID,
        image: NONE,
        mask: NONE,
        window,
        fill: [fill, fill, fill, 0],
        ..Layer::zeroed()
    }
}

fn nearest(layer: &Layer, fill: u8) -> Layer {
    let plain = Layer { filter: filter::NEAREST, steps: Span::default(), ..*layer };
    let colour = |last: u8| [fill, fill, fill, last];
    match layer.kind {
        kind::SOLID => Layer { fill: colour(0), ..plain },
        // What lies below is seen round such a warp.
        kind::WARP if layer.fill[3] == around::NOTHING => plain,
        kind::WARP => Layer { fill: colour(around::FILL), ..plain },
        // A blurred or sharpened stage is as large as the stage.
        kind::FILTERED => {
            Layer { kind: kind::UPRIGHT, map: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], ..plain }
        }
        _ => plain,
    }
}
