//! AugMix against timm's own and torchvision's.

use super::{alike, assert_even, assert_follows, ops};
use crate::script::Script;
use feedline::augment::{AugMix, Augment, TimmAugMix};
use feedline::draft::op::{Interpolation, Op};
use feedline::geometry::Size;
use feedline::rng::Rng;

/// Edge of a square image, seed, settings, what is done, draws. timm's weights are drawn as they are here, by gamma draws.
type MixRow = (u32, u64, usize, &'static str, u32);

#[rustfmt::skip]
const MIXES: &[MixRow] = &[
    (224, 0, 0, r#"{"op": "sum_chains", "chains": [{"weight": 0.5791217684745789, "ops": [{"op": "pillow_affine", "data": [0.988302131431049, -0.152508678470591, 18.391133268428717, 0.152508678470591, 0.988302131431049, -15.770810708983674], "resample": "bilinear", "fillcolor": [128, 128, 128]}]}, {"weight": 0.13234010338783264, "ops": [{"op": "pillow_affine", "data": [1.0, 0.043623849749565125, 0.0, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [1.0, 0.0, 8.763215789794922, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [128, 128, 128]}, {"op": "contrast", "factor": 1.0787721174955367}]}, {"weight": 0.2885381281375885, "ops": [{"op": "contrast", "factor": 0.8037879401445389}, {"op": "solarize", "threshold": 215}]}], "blend": 0.20437276363372803}"#, 38),
    (37, 1, 0, r#"{"op": "sum_chains", "chains": [{"weight": 0.03925768658518791, "ops": [{"op": "equalize"}, {"op": "posterize", "bits": 3}, {"op": "solarize", "threshold": 181}]}, {"weight": 0.2885010540485382, "ops": [{"op": "solarize", "threshold": 196}, {"op": "equalize"}]}, {"weight": 0.6722412705421448, "ops": [{"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, 2.956746084094047], "resample": "bicubic", "fillcolor": [128, 128, 128]}]}], "blend": 0.733948290348053}"#, 32),
    (300, 2, 0, r#"{"op": "sum_chains", "chains": [{"weight": 0.6340082883834839, "ops": [{"op": "sharpness", "factor": 1.0457878184318543}]}, {"weight": 0.20563951134681702, "ops": [{"op": "autocontrast"}, {"op": "contrast", "factor": 1.0782131665945054}, {"op": "contrast", "factor": 0.9992030781507492}]}, {"weight": 0.1603521853685379, "ops": [{"op": "contrast", "factor": 0.7349812805652618}, {"op": "brightness", "factor": 0.8906637674570084}, {"op": "contrast", "factor": 0.7551040118932724}]}], "blend": 0.9686029553413391}"#, 38),
    (160, 3, 0, r#"{"op": "sum_chains", "chains": [{"weight": 0.5912871360778809, "ops": [{"op": "brightness", "factor": 1.212976450920105}, {"op": "pillow_affine", "data": [1.0, -0.03965328454971313, 0.0, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}, {"op": "equalize"}]}, {"weight": 0.29866501688957214, "ops": [{"op": "equalize"}, {"op": "brightness", "factor": 1.1242278355360031}]}, {"weight": 0.11004786938428879, "ops": [{"op": "solarize", "threshold": 234}, {"op": "brightness", "factor": 1.0037395572662353}, {"op": "brightness", "factor": 0.9898246860504151}]}], "blend": 0.8049731254577637}"#, 40),
    (224, 100, 1, r#"{"op": "sum_chains", "chains": [{"weight": 0.4190595746040344, "ops": [{"op": "contrast", "factor": 0.5858131498098373}, {"op": "solarize", "threshold": 151}]}, {"weight": 0.022353725507855415, "ops": [{"op": "equalize"}, {"op": "pillow_affine", "data": [1.0, 0.07534469068050384, 0.0, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [124, 116, 104]}]}, {"weight": 0.09520445764064789, "ops": [{"op": "contrast", "factor": 0.6593472242355347}, {"op": "equalize"}]}, {"weight": 0.4633822441101074, "ops": [{"op": "contrast", "factor": 1.1692774027585984}, {"op": "pillow_affine", "data": [1.0, 0.0, 17.514232635498047, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [124, 116, 104]}]}], "blend": 0.8870324492454529}"#, 41),
    (37, 101, 1, r#"{"op": "sum_chains", "chains": [{"weight": 0.06913161277770996, "ops": [{"op": "saturation", "factor": 0.7717428594827652}, {"op": "autocontrast"}]}, {"weight": 0.4230118691921234, "ops": [{"op": "brightness", "factor": 0.9646345376968384}, {"op": "pillow_affine", "data": [1.0, 0.0, 2.7610208094120026, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [124, 116, 104]}]}, {"weight": 0.1687985360622406, "ops": [{"op": "equalize"}, {"op": "sharpness", "factor": 1.1815495014190673}]}, {"weight": 0.339057981967926, "ops": [{"op": "autocontrast"}, {"op": "autocontrast"}]}], "blend": 0.6833199858665466}"#, 41),
    (300, 102, 1, r#"{"op": "sum_chains", "chains": [{"weight": 0.20643578469753265, "ops": [{"op": "autocontrast"}, {"op": "brightness", "factor": 1.1163839459419251}]}, {"weight": 0.07106717675924301, "ops": [{"op": "brightness", "factor": 1.2822625070810318}, {"op": "pillow_affine", "data": [0.983310842558191, 0.181933468354507, -24.786646636904692, -0.181933468354507, 0.983310842558191, 29.7933938694474], "resample": "bicubic", "fillcolor": [124, 116, 104]}]}, {"weight": 0.22650794684886932, "ops": [{"op": "equalize"}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, -33.20235460996628], "resample": "bicubic", "fillcolor": [124, 116, 104]}]}, {"weight": 0.4959890842437744, "ops": [{"op": "posterize", "bits": 3}, {"op": "solarize", "threshold": 206}]}], "blend": 0.8487544059753418}"#, 40),
    (160, 103, 1, r#"{"op": "sum_chains", "chains": [{"weight": 0.40684571862220764, "ops": [{"op": "pillow_affine", "data": [0.974386486131365, 0.224879913830853, -15.941311996977447, -0.224879913830853, 0.974386486131365, 20.03947421595904], "resample": "bilinear", "fillcolor": [124, 116, 104]}, {"op": "pillow_affine", "data": [0.968433935866443, 0.249270358972402, -17.41634358710759, -0.249270358972402, 0.968433935866443, 22.46691384847672], "resample": "bilinear", "fillcolor": [124, 116, 104]}]}, {"weight": 0.19956737756729126, "ops": [{"op": "solarize", "threshold": 204}, {"op": "autocontrast"}]}, {"weight": 0.2441435158252716, "ops": [{"op": "pillow_affine", "data": [1.0, 0.12367093563079834, 0.0, 0.0, 1.0, 0.0], "resample": "bicubic", "fillcolor": [124, 116, 104]}, {"op": "saturation", "factor": 1.1338093996047973}]}, {"weight": 0.1494433730840683, "ops": [{"op": "posterize", "bits": 4}, {"op": "pillow_affine", "data": [1.0, 0.0, 0.0, 0.0, 1.0, 6.947373390197754], "resample": "bicubic", "fillcolor": [124, 116, 104]}]}], "blend": 0.9731699228286743}"#, 45),
    (224, 200, 2, r#"{"op": "sum_chains", "chains": [{"weight": 0.4257967472076416, "ops": [{"op": "autocontrast"}]}, {"weight": 0.5742032527923584, "ops": [{"op": "pillow_affine", "data": [1.0, 0.0, 0.0, -0.22519939077202816, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}, {"op": "pillow_affine", "data": [0.924046078157106, 0.38228110788067, -34.30864483623091, -0.38228110788067, 0.924046078157106, 51.322323329039165], "resample": "bilinear", "fillcolor": [128, 128, 128]}]}], "blend": 0.22041471302509308}"#, 22),
    (37, 201, 2, r#"{"op": "sum_chains", "chains": [{"weight": 0.5329698920249939, "ops": [{"op": "brightness", "factor": 1.8757761736081877}, {"op": "sharpness", "factor": 0.16637371986832072}, {"op": "contrast", "factor": 1.7542019341791508}]}, {"weight": 0.4670300781726837, "ops": [{"op": "autocontrast"}, {"op": "pillow_affine", "data": [1.0, 0.0, 8.821600486936951, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}]}], "blend": 0.7403156161308289}"#, 28),
    (300, 202, 2, r#"{"op": "sum_chains", "chains": [{"weight": 0.29523175954818726, "ops": [{"op": "pillow_affine", "data": [0.866234597282357, 0.499637491058341, -54.880813251104684, -0.499637491058341, 0.866234597282357, 95.01043406639761], "resample": "bilinear", "fillcolor": [128, 128, 128]}, {"op": "solarize", "threshold": 11}]}, {"weight": 0.7047682404518127, "ops": [{"op": "posterize", "bits": 2}, {"op": "pillow_affine", "data": [0.890330515046683, 0.455314807552652, -51.84679838990024, -0.455314807552652, 0.890330515046683, 84.74764387589535], "resample": "bilinear", "fillcolor": [128, 128, 128]}, {"op": "brightness", "factor": 0.3413112992255698}]}], "blend": 0.0645497515797615}"#, 27),
    (160, 203, 2, r#"{"op": "sum_chains", "chains": [{"weight": 0.25913944840431213, "ops": [{"op": "pillow_affine", "data": [1.0, 0.17042551670111494, 0.0, 0.0, 1.0, 0.0], "resample": "bilinear", "fillcolor": [128, 128, 128]}]}, {"weight": 0.7408605813980103, "ops": [{"op": "brightness", "factor": 0.24342546367055518}, {"op": "equalize"}]}], "blend": 0.3448345363140106}"#, 22),
];

#[test]
fn timm_aug_mix_does_what_timm_does() {
    let of = |config: &str| TimmAugMix::from_config(config).unwrap().fill([128; 3]);
    let settings = [
        of("augmix"),
        of("augmix-m5-w4-d2").fill([124, 116, 104]),
        of("augmix-m9-w2-mstd1.5").interpolation(Interpolation::Bilinear),
    ];
    for &(edge, seed, setting, want, draws) in MIXES {
        let mut script = Script::new(seed);
        let [op] = ops(&settings[setting], Size::new(edge, edge), &mut script).try_into().unwrap();
        let (got, wanted) = (serde_json::to_value(&op).unwrap(), serde_json::from_str(want).unwrap());
        assert!(alike(&got, &wanted), "{edge}x{edge} seed {seed}: {got} and not {want}");
        assert_eq!(script.draws, draws, "{edge}x{edge} seed {seed}");
    }
}

#[test]
fn a_config_of_augmix_says_what_the_arguments_say() {
    let by_hand = TimmAugMix::new(5.0).width(4).depth(2).alpha(0.5).magnitude_std(1.5);
    assert_eq!(TimmAugMix::from_config("augmix-m5-w4-d2-a0.5-mstd1.5").unwrap(), by_hand);
    assert_eq!(TimmAugMix::from_config("augmix").unwrap(), TimmAugMix::default());
    let written = TimmAugMix { config: Some("augmix-m5-w4-d2-a0.5-mstd1.5".into()), ..TimmAugMix::default() };
    for seed in 0..50 {
        let plan = |augment: &TimmAugMix| ops(augment, Size::new(90, 60), &mut Script::new(seed));
        assert_eq!(plan(&written), plan(&by_hand), "seed {seed}");
    }
}

/// The weights and the lengths of the chains of many samples, and how often each op is met.
fn spread(
    augment: &dyn Augment,
) -> (Vec<Vec<f64>>, Vec<usize>, std::collections::BTreeMap<&'static str, u32>) {
    let mut rng = Rng::new(3, 0, 0, 0);
    let (mut weights, mut depths, mut names) = (Vec::new(), Vec::new(), std::collections::BTreeMap::new());
    for _ in 0..20_000 {
        let done: [Op; 1] = ops(augment, Size::new(64, 48), &mut rng).try_into().unwrap();
        let [Op::SumChains { chains, blend }] = done else { panic!("{done:?}") };
        let all = chains.iter().map(|chain| f64::from(chain.weight)).chain(blend.map(f64::from));
        weights.push(all.collect());
        for chain in chains {
            depths.push(chain.ops.len());
            chain.ops.iter().for_each(|op| *names.entry(op.name()).or_insert(0) += 1);
        }
    }
    (weights, depths, names)
}

#[test]
fn aug_mix_is_spread_as_torchvision_s() {
    let (weights, depths, names) = spread(&AugMix::default());
    // Of two numbers that sum to 1, each is uniform.
    assert_follows("own weight", weights.iter().map(|of| of[0]).collect(), |weight| weight);
    // A part of three has the distribution function 1 - (1 - x)^2.
    let part = |at: usize| weights.iter().map(|of| of[at] / (1.0 - of[0])).collect::<Vec<_>>();
    (1..4).for_each(|at| assert_follows("chain", part(at), |weight| 1.0 - (1.0 - weight).powi(2)));
    assert!(weights.iter().all(|of| (of.iter().sum::<f64>() - 1.0).abs() < 1e-5));
    // Every fourth is the image itself.
    let chains: Vec<usize> =
        depths.iter().enumerate().filter(|(at, _)| at % 4 > 0).map(|(_, depth)| depth - 1).collect();
    assert_even("depth", &[0, 1, 2].map(|depth| chains.iter().filter(|&&of| of == depth).count() as u32));
    // Shears and translations are one op here.
    let counts: Vec<u32> =
        names.iter().map(|(name, count)| if *name == "affine" { count / 4 } else { *count }).collect();
    assert_even("op", &counts);
    assert_eq!(names.len(), 10, "{names:?}");
    let (_, _, few) = spread(&AugMix::default().all_ops(false));
    assert!(
        ["brightness", "contrast", "saturation", "sharpness"].iter().all(|name| !few.contains_key(name)),
        "{few:?}"
    );
}

#[test]
fn timm_aug_mix_is_spread_as_timm_s() {
    let (weights, depths, _) = spread(&TimmAugMix::new(10.0));
    assert_follows("blend", weights.iter().map(|of| of[3]).collect(), |weight| weight);
    (0..3).for_each(|at| {
        assert_follows("chain", weights.iter().map(|of| of[at]).collect(), |weight| {
            1.0 - (1.0 - weight).powi(2)
        });
    });
    assert!(weights.iter().all(|of| (of[..3].iter().sum::<f64>() - 1.0).abs() < 1e-5));
    let depth = depths.iter().sum::<usize>() as f64 / depths.len() as f64;
    assert!((1.95..2.01).contains(&depth), "{depth}: a solarize may leave everything as it is");
}

#[test]
fn what_aug_mix_cannot_do_is_refused_by_name() {
    let text = |config: &str| TimmAugMix { config: Some(config.into()), ..TimmAugMix::default() };
    let refused: Vec<(Box<dyn Augment>, &str)> = vec![
        (Box::new(AugMix::new(0)), "AugMix: severity should be from 1 to 10"),
        (Box::new(AugMix::new(3).mixture_width(0)), "AugMix: mixture_width should be from 1 to 12"),
        (Box::new(AugMix::new(3).mixture_width(5)), "AugMix: 5 chains of 3 operations are more than 12"),
        (Box::new(AugMix::new(3).chain_depth(-2)), "AugMix: chain_depth should be from -1 to 12"),
        (Box::new(AugMix::new(3).alpha(0.0)), "AugMix: alpha should be"),
        (
            Box::new(AugMix::new(3).interpolation(Interpolation::Bicubic)),
            "AugMix: interpolation must be nearest",
        ),
        (Box::new(TimmAugMix::new(-1.0)), "TimmAugMix: magnitude should be from 0"),
        (Box::new(TimmAugMix::new(3.0).width(13)), "TimmAugMix: width should be from 1 to 12"),
        (Box::new(TimmAugMix::new(3.0).depth(13)), "TimmAugMix: depth should be from -1"),
        (
            Box::new(TimmAugMix::new(3.0).magnitude_std(-1.0)),
            "TimmAugMix: magnitude_std should be at least 0",
        ),
        (
            Box::new(TimmAugMix::new(3.0).translate_pct(2.0)),
            "TimmAugMix: translate_pct should be from 0 to 1",
        ),
        (
            Box::new(TimmAugMix::new(3.0).interpolation(Interpolation::Nearest)),
            "TimmAugMix: interpolation must be",
        ),
        (Box::new(text("rand-m9")), "begins with `rand`"),
        (Box::new(text("augmix-b1")), "the unknown section `b1`: the keys are m (magnitude)"),
        (Box::new(text("augmix-d4294967295")), "`d4294967295`, which should be a key and a whole number"),
        (Box::new(text("augmix-m0.5")), "`m0.5`, which should be a key and a whole number"),
        (Box::new(TimmAugMix { width: 2, ..text("augmix-m5") }), "leave out the one or the other"),
    ];
    for (augment, want) in refused {
        let message = augment.check().unwrap_err().to_string();
        assert!(message.contains(want) && message.contains("AugMix: "), "{message}");
    }
}
