//! A plan's bytes for a hash: what saved states tell recipes apart by.

use super::Plan;
use std::hash::Hasher;

impl Plan {
    /// Writes everything that a plan says, as JSON. That is the same in every build, as long as its types keep the names
    /// of their fields; another name goes with a new `STATE_VERSION`.
    pub(crate) fn fingerprint(&self, hasher: &mut impl Hasher) {
        match serde_json::to_vec(self) {
            Ok(plan) => hasher.write(&plan),
            Err(error) => hasher.write(error.to_string().as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::draft::Draft;
    use crate::draft::op::{CATALOGUE, Entry, Op};
    use crate::geometry::{Orientation, Size};
    use std::hash::Hasher;
    use twox_hash::XxHash3_64;

    /// Ops that came after states had been saved: they change no state of a recipe without them.
    const LATER: [&str; 2] = ["pillow_affine", "solarize_add"];
    /// The same, after that.
    const LATEST: [&str; 20] = [
        "sum_chains",
        "warp_affine",
        "fill_rectangles",
        "transpose",
        "gamma",
        "brightness_contrast",
        "shift_rgb",
        "shift_hsv",
        "to_gray",
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
    ];

    #[test]
    fn a_fingerprint_stays_what_it_was_when_states_were_saved() {
        let named =
            |names: &[&str]| CATALOGUE.iter().filter(|entry| names.contains(&entry.name)).collect::<Vec<_>>();
        let is_first = |entry: &&Entry| !LATER.contains(&entry.name) && !LATEST.contains(&entry.name);
        let first: Vec<&Entry> = CATALOGUE.iter().filter(is_first).collect();
        // Where these change, states that were saved are refused as another recipe's: STATE_VERSION must change too.
        assert_eq!(hashed(&first), (30, "b637d2329b69cba8".to_owned()));
        assert_eq!(hashed(&named(&LATER)), (2, "2bb99d26569bb79b".to_owned()));
        assert_eq!(hashed(&named(&LATEST)), (20, "fd0a7d532f178a93".to_owned()));
    }

    /// How many of the ops make a plan, and the hash of all plans.
    fn hashed(entries: &[&Entry]) -> (usize, String) {
        let mut hasher = XxHash3_64::new();
        let mut plans = 0;
        for entry in entries {
            let mut draft = Draft::new(3, Size::new(640, 480), Orientation::from_exif(6));
            let op: Op = serde_json::from_str(entry.example).expect("an op");
            draft.apply(op);
            let mut partner = Draft::new(4, Size::new(480, 640), Orientation::UPRIGHT);
            partner.apply(Op::Hflip {});
            let size = draft.size();
            if partner.size() == size {
                draft.blend(partner, 0.25, size.rect(), 0.25).expect("one size");
            }
            if let Ok(plan) = draft.freeze() {
                plan.fingerprint(&mut hasher);
                plans += 1;
            }
        }
        (plans, format!("{:016x}", hasher.finish()))
    }
}
