//! The plans of one sample's views, which show the same decoded images.

use super::{ImageRef, Plan};

/// The plans of all views of a sample, and the images that they show, each of them once.
#[derive(Clone, Debug)]
pub struct ViewPlans {
    images: Vec<ImageRef>,
    views: Vec<ViewPlan>,
}

/// The plan of one view.
#[derive(Clone, Debug)]
pub struct ViewPlan {
    /// What is to be done.
    pub plan: Plan,
    /// Of each of the plan's images, its index among those of all views.
    images: Vec<u32>,
}

impl ViewPlans {
    /// Finds out which images the plans have in common.
    pub fn new(plans: impl IntoIterator<Item = Plan>) -> Self {
        let mut all = Self { images: Vec::new(), views: Vec::new() };
        for plan in plans {
            let images = match all.views.is_empty() {
                true => {
                    all.images.clone_from(&plan.images);
                    (0..plan.images.len() as u32).collect()
                }
                false => plan.images.iter().map(|image| all.place(image)).collect(),
            };
            all.views.push(ViewPlan { plan, images });
        }
        all
    }

    /// The images of all views.
    pub fn images(&self) -> &[ImageRef] {
        &self.images
    }

    /// The views, in their order.
    pub fn views(&self) -> &[ViewPlan] {
        &self.views
    }

    /// The plans that show the image `number`, with its index among those of the plan.
    pub fn showing(&self, number: usize) -> impl Iterator<Item = (&Plan, usize)> {
        self.views.iter().flat_map(move |view| {
            let own = view.images.iter().enumerate().filter(move |&(_, &of_all)| of_all as usize == number);
            own.map(|(own, _)| (&view.plan, own))
        })
    }

    /// The same images, shown by changed plans.
    pub fn map(&self, change: impl Fn(&ViewPlan) -> Plan) -> Self {
        let changed = |view: &ViewPlan| ViewPlan { plan: change(view), images: view.images.clone() };
        Self { images: self.images.clone(), views: self.views.iter().map(changed).collect() }
    }

    /// The index of an image, which is added where it is not there.
    fn place(&mut self, image: &ImageRef) -> u32 {
        let at = self.images.iter().position(|other| other == image).unwrap_or(self.images.len());
        if at == self.images.len() {
            self.images.push(*image);
        }
        at as u32
    }
}

impl ViewPlan {
    /// What belongs to each of the plan's images, of what belongs to those of all views.
    pub fn own<'a, T>(&self, of_all: &'a [T]) -> impl Iterator<Item = &'a T> {
        self.images.iter().filter_map(move |&number| of_all.get(number as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Draft;
    use crate::draft::op::Op;
    use crate::geometry::{Orientation, Size};
    use crate::plan::Modality;

    /// A plan that shows these images, each beside the one before it.
    fn plan(indices: &[u64]) -> Plan {
        let draft = |index: u64| Draft::new(index, Size::new(4 + index as u32, 4), Orientation::UPRIGHT);
        let mut draft = draft(indices[0]);
        draft.apply(Op::Hflip {});
        let mut plan = draft.freeze().unwrap();
        for &index in &indices[1..] {
            let stored = Size::new(4 + index as u32, 4);
            let (orientation, modality) = (Orientation::UPRIGHT, Modality::Image);
            plan.images.push(ImageRef { index, stored, orientation, modality });
        }
        plan
    }

    #[test]
    fn images_that_views_have_in_common_are_there_once() {
        let plans = ViewPlans::new([plan(&[5, 7]), plan(&[5, 9]), plan(&[9, 7, 5])]);
        let indices = |plans: &ViewPlans| plans.images().iter().map(|image| image.index).collect::<Vec<_>>();
        assert_eq!(indices(&plans), [5, 7, 9]);
        let own: Vec<Vec<char>> =
            plans.views().iter().map(|view| view.own(&['a', 'b', 'c']).copied().collect()).collect();
        assert_eq!(own, [vec!['a', 'b'], vec!['a', 'c'], vec!['c', 'b', 'a']]);
        let shown: Vec<Vec<usize>> =
            (0..3).map(|number| plans.showing(number).map(|(_, own)| own).collect()).collect();
        assert_eq!(shown, [vec![0, 0, 2], vec![1, 1], vec![1, 0]]);
    }

    #[test]
    fn the_only_view_keeps_its_images_as_they_are() {
        let plans = ViewPlans::new([plan(&[3, 3])]);
        assert_eq!((plans.images().len(), plans.views().len()), (2, 1));
        assert_eq!(plans.views()[0].own(&[1, 2]).copied().collect::<Vec<_>>(), [1, 2]);
    }
}
