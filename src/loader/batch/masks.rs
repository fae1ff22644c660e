//! Semantic masks: rendered by the CPU through the plans of their images, wherever the images are rendered.

use crate::decode_memory::{Permit, give_back};
use crate::device::cpu::Renderer;
use crate::error::{Cause, Error};
use crate::geometry::Rect;
use crate::image::{Image, decode_mask};
use crate::loader::report::errors::{Failure, Stage};
use crate::loader::worker::context::Context;
use crate::output::{DType, Layout, Output};
use crate::plan::{ImageRef, ViewPlan, ViewPlans};

/// One worker's tools for masks; their memory is used again from sample to sample.
pub(in crate::loader) struct Masks<'a> {
    context: &'a Context,
    /// The class of what shows no image, and of images that have no mask.
    fill: u8,
    renderer: Renderer,
    images: Vec<Image>,
    file: Vec<u8>,
    classes: Vec<u8>,
    levels: Vec<u8>,
    /// What is taken of the memory for huge images.
    memory: Permit,
}

impl<'a> Masks<'a> {
    /// `None` where the loader makes no masks.
    pub(in crate::loader) fn new(context: &'a Context) -> Option<Self> {
        let fill = context.labels.mask_fill?;
        Some(Self {
            context,
            fill,
            renderer: Renderer::default(),
            images: Vec::new(),
            file: Vec::new(),
            classes: Vec::new(),
            levels: Vec::new(),
            memory: Permit::default(),
        })
    }

    /// The classes of each view of a planned sample, row by row; `None` where none of the view's images has a mask.
    pub(in crate::loader) fn of(&mut self, plans: &ViewPlans) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        let made = self.make(plans);
        self.images.iter_mut().for_each(Image::give_back);
        [&mut self.file, &mut self.classes, &mut self.levels].into_iter().for_each(give_back);
        self.renderer.give_back();
        self.memory.release();
        made
    }

    fn make(&mut self, plans: &ViewPlans) -> Result<Vec<Option<Vec<u8>>>, Failure> {
        let of = plans.images();
        self.images.resize_with(self.images.len().max(of.len()), Image::default);
        // Each has its classes, and while it is decoded packed ones, beside its image.
        let sizes = of.iter().map(|image| image.stored);
        let images = sizes.clone().map(|size| Image::bytes(size.rect()));
        let classes = sizes.map(|size| 2 * size.pixels() as usize).max();
        self.memory.reserve(images.chain(classes));
        let load = |(at, image): (usize, &ImageRef)| {
            let loaded = self.load(at, image);
            loaded.map_err(|cause| self.context.failure(Stage::Decode, image.index, cause))
        };
        let known: Vec<bool> = of.iter().enumerate().map(load).collect::<Result<_, _>>()?;
        plans.views().iter().map(|view| self.render(view, &known)).collect()
    }

    /// The classes of a view of images that are loaded; `known` says which of them have a mask.
    fn render(&mut self, view: &ViewPlan, known: &[bool]) -> Result<Option<Vec<u8>>, Failure> {
        if view.own(known).all(|&known| !known) {
            return Ok(None);
        }
        let (plan, layout) = (&view.plan, Layout::Nhwc);
        let output = Output { size: plan.size(), dtype: DType::U8, layout, normalize: None };
        self.levels.resize(output.sample_bytes(), 0);
        let images: Vec<&Image> = view.own(&self.images).collect();
        let rendered = self.renderer.render(&plan.for_masks(self.fill), &images, &output, &mut self.levels);
        rendered.map_err(|cause| self.context.failure(Stage::Decode, plan.images[0].index, cause))?;
        Ok(Some(self.levels.iter().step_by(3).copied().collect()))
    }

    /// Makes an image of the mask, stored as its photograph is; false where there is none.
    fn load(&mut self, at: usize, of: &ImageRef) -> Result<bool, Cause> {
        let image = &mut self.images[at];
        image.reset(of.stored, of.stored.rect());
        if !self.context.source.mask(of.index as usize, &mut self.file).map_err(unreadable)? {
            image.data.fill(self.fill);
            return Ok(false);
        }
        let size = decode_mask(&self.file, &self.context.limits, &mut self.classes)?;
        if self.context.labels.reduce_zero_label {
            self.classes.iter_mut().for_each(|class| *class = reduced(*class).unwrap_or(self.fill));
        }
        let upright = of.orientation.apply_size(of.stored);
        if size != upright {
            let cause =
                format!("its mask has {size} pixels and the image {upright}: make a mask of that size");
            return Err(cause.into());
        }
        let places = (0..size.height as i32).flat_map(|y| (0..size.width as i32).map(move |x| (x, y)));
        for ((x, y), &class) in places.zip(&self.classes) {
            let stored = of.orientation.to_stored(Rect::new(x, y, 1, 1), upright);
            let at = stored.y as usize * image.stride + stored.x as usize * 3;
            image.data[at..at + 3].fill(class);
        }
        Ok(true)
    }
}

/// The class where those of a mask count from 1, as mmseg's `reduce_zero_label` reads them; `None` for one that is ignored.
fn reduced(class: u8) -> Option<u8> {
    class.checked_sub(1).filter(|&class| class != u8::MAX - 1)
}

/// The image is named as it is; of the mask, only its own name is new.
fn unreadable(error: Error) -> Cause {
    match error {
        Error::Sample { key, source, .. } => format!("its mask {key}: {source}").into(),
        other => other.into(),
    }
}
