//! Puts annotations to their images and checks them against these.

use super::About;
use super::json::{self, Category, Owner};
use crate::error::{Error, Result};
use crate::label::{Object, Skeleton, Unit};
use crate::policy::OnBadLabel;
use crate::source::labels::report::LabelReport;
use crate::source::labels::table::Table;
use std::collections::HashMap;
use std::sync::Arc;

/// How far an object may reach beyond its image, in parts of the image's side: what is within is cut off, what is beyond
/// is an error.
const SLACK: f32 = 0.01;
/// What is cut off silently, in pixels.
const ROUNDING: f32 = 1e-3;

/// The content of the categories.
struct Categories {
    /// Ids in ascending order; a class is an index into this list.
    ids: Vec<i64>,
    names: Vec<String>,
    skeleton: Option<Arc<Skeleton>>,
}

/// Images in the order of their ids with their objects.
pub(super) fn gather(
    file: &str,
    coco: json::Coco,
    on_bad_label: OnBadLabel,
    listed: usize,
) -> Result<(About, Table)> {
    let refuse = |what: &str| Error::config(format!("{file}: {what}"));
    let json::Coco { images, categories, owners, objects, bad } = coco;
    let mut images = images.ok_or_else(|| refuse("there is no list `images`: name COCO annotations"))?;
    let categories =
        categories.ok_or_else(|| refuse("there is no list `categories`: name COCO annotations"))?;
    let categories = Categories::new(categories).map_err(|what| refuse(&what))?;
    images.sort_by_key(|image| image.id);
    if let Some(twice) = images.windows(2).find(|two| two[0].id == two[1].id) {
        return Err(refuse(&format!("two images have the id {}: give each its own", twice[0].id)));
    }
    if images.is_empty() {
        return Err(refuse("it names no image: name COCO annotations"));
    }
    let report = LabelReport::default();
    let mut gathering =
        Gathering { file, owners: &owners, listed, report, is_bad: vec![false; images.len()] };
    let order = gathering.assign(&images, bad);
    let mut table = Table::new(Unit::Pixels, categories.skeleton.clone());
    let mut about = About { categories: categories.ids.clone(), ..About::default() };
    let (mut rest, mut list) = (order.as_slice(), Vec::new());
    for (place, image) in (0..).zip(images) {
        let own = rest.partition_point(|&(owner, _)| owner == place);
        let own = rest.split_off(..own).unwrap_or_default();
        list.clear();
        let mut clipped = 0;
        for &(_, number) in own {
            match categories.object(&image, &owners[number], objects.image(number).list) {
                Ok((object, was_clipped)) => {
                    clipped += u64::from(was_clipped);
                    list.push(object);
                }
                Err(cause) => gathering.bad(number, Some(place), cause),
            }
        }
        if on_bad_label == OnBadLabel::SkipImage && gathering.is_bad[place] {
            gathering.report.skipped_images += 1;
            continue;
        }
        gathering.report.clipped += clipped;
        gathering.report.duplicates += table.push(&list)?;
        about.add_image(image);
    }
    let mut report = gathering.report;
    report.refuse_bad(on_bad_label)?;
    table.shrink();
    (report.images, report.objects) = (table.len() as u64, table.objects());
    report.backgrounds = table.backgrounds();
    (about.report, about.classes) = (report, categories.names);
    about.skeleton = categories.skeleton.map(|skeleton| (skeleton.count, skeleton.flip.clone()));
    Ok((about, table))
}

/// Counts what is bad.
struct Gathering<'a> {
    file: &'a str,
    owners: &'a [Owner],
    listed: usize,
    report: LabelReport,
    /// Which images have a bad annotation.
    is_bad: Vec<bool>,
}

impl Gathering<'_> {
    /// The indices of the image and of each annotation that is sound so far, by image.
    fn assign(&mut self, images: &[json::Image], bad: Vec<(usize, String)>) -> Vec<(usize, usize)> {
        let places: HashMap<i64, usize> =
            images.iter().enumerate().map(|(at, image)| (image.id, at)).collect();
        let mut bad = bad.into_iter().peekable();
        let mut order = Vec::with_capacity(self.owners.len());
        for (number, owner) in self.owners.iter().enumerate() {
            let cause = bad.next_if(|(at, _)| *at == number).map(|(_, cause)| cause);
            match (places.get(&owner.image), cause) {
                (None, _) => self.bad(number, None, format!("there is no image with the id {}", owner.image)),
                (Some(&place), Some(cause)) => self.bad(number, Some(place), cause),
                (Some(&place), None) => order.push((place, number)),
            }
        }
        order.sort_unstable();
        order
    }

    fn bad(&mut self, number: usize, image: Option<usize>, cause: String) {
        if let Some(image) = image {
            self.is_bad[image] = true;
        }
        let (file, owner) = (self.file, &self.owners[number]);
        let place = || match owner.annotation {
            Some(id) => format!("{file}, annotation {id} (image {})", owner.image),
            None => format!("{file}, annotation without id, number {number} from 0 (image {})", owner.image),
        };
        self.report.add_bad(self.listed, place, cause);
    }
}

impl About {
    fn add_image(&mut self, image: json::Image) {
        self.images.push(image.id);
        self.sizes.push([image.width.unwrap_or(0), image.height.unwrap_or(0)]);
        self.files.push(image.file_name);
    }
}

impl Categories {
    fn new(mut categories: Vec<Category>) -> Result<Self, String> {
        categories.sort_by_key(|category| category.id);
        if let Some(twice) = categories.windows(2).find(|two| two[0].id == two[1].id) {
            return Err(format!("two categories have the id {}: give each its own", twice[0].id));
        }
        let mut points = categories.iter().filter_map(|category| category.keypoints.as_ref());
        let first = points.next();
        if points.any(|other| Some(other) != first) {
            return Err("categories have different keypoints: split the annotations by category".to_owned());
        }
        let skeleton = first
            .filter(|names| !names.is_empty())
            .map(|names| Arc::new(Skeleton { count: names.len(), flip: flip(names) }));
        let ids = categories.iter().map(|category| category.id).collect();
        Ok(Self { ids, names: categories.into_iter().map(|category| category.name).collect(), skeleton })
    }

    /// The object of an annotation in its image, and whether it was cut off at the image's edge.
    fn object(
        &self,
        image: &json::Image,
        owner: &Owner,
        list: Vec<Object>,
    ) -> Result<(Object, bool), String> {
        let Some(mut object) = list.into_iter().next() else { return Err("there is no object".to_owned()) };
        let class = self.ids.binary_search(&owner.category);
        object.class =
            class.map_err(|_| format!("there is no category with the id {}", owner.category))? as i64;
        let wanted = self.skeleton.as_ref().map_or(0, |skeleton| skeleton.count);
        if !object.keypoints.is_empty() && object.keypoints.len() != wanted {
            return Err(format!("{} keypoints, but the category names {wanted}", object.keypoints.len()));
        }
        let (Some(width), Some(height)) = (image.width, image.height) else { return Ok((object, false)) };
        if owner.mask.is_some_and(|mask| mask != [width, height]) {
            let [mask_width, mask_height] = owner.mask.unwrap_or_default();
            return Err(format!(
                "the mask has {mask_width} x {mask_height} pixels, the image {width} x {height}: size is height, width"
            ));
        }
        let clipped = clip(&mut object, [width as f32, height as f32])?;
        Ok((object, clipped))
    }
}

/// Cuts an object off at the edge of its image; returns whether that changed it.
fn clip(object: &mut Object, size: [f32; 2]) -> Result<bool, String> {
    let mut clipped = false;
    let mut cut = |value: &mut f32, axis: usize| {
        let side = size[axis];
        if !(-SLACK * side..=side + SLACK * side).contains(value) {
            return Err(format!("{value} is beyond the image of {} x {} pixels", size[0], size[1]));
        }
        clipped |= !(-ROUNDING..=side + ROUNDING).contains(value);
        *value = value.clamp(0.0, side);
        Ok(())
    };
    for (at, value) in object.bbox.iter_mut().enumerate() {
        cut(value, at % 2)?;
    }
    for [x, y] in object.polygons.iter_mut().flatten() {
        cut(x, 0)?;
        cut(y, 1)?;
    }
    for point in object.keypoints.iter_mut().filter(|point| point.visibility > 0.0) {
        cut(&mut point.x, 0)?;
        cut(&mut point.y, 1)?;
    }
    let [left, top, right, bottom] = object.bbox;
    match right > left && bottom > top {
        true => Ok(clipped),
        false => Err("nothing of the object is inside its image".to_owned()),
    }
}

/// The keypoint that each one is exchanged with in a mirror image: where `left` is a word of one name, the one with `right`.
fn flip(names: &[String]) -> Vec<usize> {
    let place = |name: &str| names.iter().position(|other| other == name);
    (0..).zip(names).map(|(own, name)| place(&mirrored(name)).unwrap_or(own)).collect()
}

fn mirrored(name: &str) -> String {
    let swap = |word: &str| match word {
        "left" => "right".to_owned(),
        "right" => "left".to_owned(),
        "Left" => "Right".to_owned(),
        "Right" => "Left".to_owned(),
        other => other.to_owned(),
    };
    let words = name.split_inclusive(|c: char| !c.is_alphanumeric());
    words
        .map(|word| {
            let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
            swap(bare) + &word[bare.len()..]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keypoints_change_places_where_left_and_right_are_words_of_their_names() {
        let names = ["nose", "left_eye", "right_eye", "bright spot", "Left knee", "Right knee", "left_only"];
        assert_eq!(flip(&names.map(str::to_owned)), [0, 2, 1, 3, 5, 4, 6]);
    }
}
