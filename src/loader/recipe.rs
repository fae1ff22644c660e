//! A loader as a recipe describes it.

use super::LoaderBuilder;
use crate::geometry::Size;
use crate::recipe::Recipe;
use crate::sampler::Shuffle;

impl LoaderBuilder {
    /// Takes over everything that the recipe says; what it leaves out stays as it is.
    pub fn recipe(mut self, recipe: &Recipe) -> Self {
        let section = &recipe.loader;
        self = self.limits(recipe.limits()).output(recipe.output.dtype, recipe.output.layout);
        self = given(self, section.batch_size, |builder, rows| builder.batch_size(rows as usize));
        self = given(self, section.shuffle, |builder, shuffle| builder.shuffle(shuffle));
        self = given(self, section.shuffle_window, |builder, size| builder.shuffle(Shuffle::Window(size)));
        self = given(self, section.shuffle_shards, |builder, mixed| builder.shuffle(Shuffle::Shards(mixed)));
        self = given(self, section.seed, Self::seed);
        self = given(self, section.last_batch, Self::last_batch);
        self = given(self, section.bad_sample, Self::bad_sample);
        self = given(self, section.close_mosaic, Self::close_mosaic);
        self = given(self, section.workers, |builder, threads| builder.workers(threads as usize));
        if section.rect.is_some() {
            self = self.rect(section.rect_batches());
        }
        if section.multi_scale.is_some() || section.sizes.is_some() {
            self = self.multi_scale(section.multi_scale());
        }
        self = given(self, section.prefetch, |builder, batches| builder.prefetch(batches as usize));
        self = given(self, section.byte_cache, Self::byte_cache);
        let labels = &recipe.labels;
        if labels.format.is_some() || labels.unit.is_some() {
            self = self.boxes(labels.format.unwrap_or_default(), labels.unit.unwrap_or_default());
        }
        if labels.min_area.is_some() || labels.min_visibility.is_some() {
            self = self.box_filter(labels.min_area.unwrap_or(0.0), labels.min_visibility.unwrap_or(0.0));
        }
        self = given(self, labels.mask_fill, Self::masks);
        self = given(self, recipe.decode.exif, Self::exif);
        self = given(self, recipe.decode.scale, Self::decode_scale);
        if recipe.decode_only {
            return self.decode_only();
        }
        self = given(self, recipe.output.size, |builder, [height, width]| {
            builder.output_size(Size::new(width, height))
        });
        self = given(self, recipe.normalize(), |builder, n| builder.normalize(n.mean, n.std));
        recipe.augmentations().into_iter().fold(self, Self::augment_boxed)
    }
}

fn given<T>(
    builder: LoaderBuilder,
    value: Option<T>,
    set: impl FnOnce(LoaderBuilder, T) -> LoaderBuilder,
) -> LoaderBuilder {
    match value {
        Some(value) => set(builder, value),
        None => builder,
    }
}
