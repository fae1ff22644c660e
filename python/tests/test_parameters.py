"""Parameters of recipes are keywords of a Loader."""

import numpy as np
import pytest
from conftest import ROOT

import feedline
from feedline import _options

MINE = """name = "mine"

[parameters]
edge = { default = 16, min = 1, about = "edge of the samples" }
strength = { default = 0.0, min = 0.0, max = 1.0, about = "how much colours change" }

[[augment]]
op = "Resize"
size = ["$edge", "$edge"]

[[augment]]
op = "ColorJitter"
when = "$strength"
brightness = "$strength"

[output]
size = ["$edge", "$edge"]
"""


def shape(loader):
    return next(iter(loader))["image"].shape


def test_a_parameter_is_a_keyword(make):
    assert shape(make(recipe="imagenet-eval", crop_size=32, resize_size=np.int64(40))) == (8, 3, 32, 32)
    assert shape(make(recipe="clip", image_size=24, scale=(0.5, 1), seed=3)) == (8, 3, 24, 24)
    assert shape(make(recipe="imagenet-eval", crop_size=None, resize_size=224)) == (8, 3, 224, 224)


def test_it_makes_the_batches_that_the_same_recipe_by_hand_makes(make):
    set_by_name = make(recipe="imagenet-train", crop_size=32, hflip_prob=1.0, seed=5)
    chain = [feedline.RandomResizedCrop(32), feedline.RandomHorizontalFlip(1.0)]
    by_hand = make(transforms=chain, seed=5, shuffle=True, normalize="imagenet", size=32)
    one, other = next(iter(set_by_name)), next(iter(by_hand))
    assert one["key"] == other["key"] and (one["image"].numpy() == other["image"].numpy()).all()
    by_hand.load_state_dict(set_by_name.state_dict())


def test_a_recipe_of_one_s_own_has_its_own(make, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    for recipe in (path, str(path), MINE):
        assert shape(make(recipe=recipe, shuffle=False)) == (8, 3, 16, 16)
        assert shape(make(recipe=recipe, shuffle=False, edge=8)) == (8, 3, 8, 8)
        assert shape(make(recipe=recipe, shuffle=False, params={"edge": 9}, strength=0.5)) == (8, 3, 9, 9)
    listed = feedline.recipe_parameters(path)
    assert [parameter["name"] for parameter in listed] == ["edge", "strength"]
    assert listed[0] == {"name": "edge", "type": "integer", "default": 16, "min": 1, "about": "edge of the samples"}


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"mosiac": 1}, TypeError, "no option `mosiac`: did you mean"),
        ({"mosaic": 1}, TypeError, "`mosaic`: it is a parameter of the recipe yolo-obb and yolo-segment and yolo-train, and there is none"),
        ({"recipe": "yolo-train", "mosiac": 1}, TypeError, "and yolo-train has no such parameter: did you mean `mosaic`.*imgsz, mosaic"),
        ({"recipe": "yolo-train", "batchsize": 1}, TypeError, "did you mean `batch_size`"),
        ({"recipe": "imagenet-train", "mosaic": 1}, TypeError, "yolo-train, and imagenet-train has no such parameter"),
        ({"recipe": "detr", "qqqqqqqqq": 1}, TypeError, "Its parameters: none"),
        ({"recipe": "yolo-train", "sampler": 1}, TypeError, "use subset="),
        ({"recipe": "yolo-trian", "mosaic": 1}, ValueError, "did you mean `yolo-train`"),
        ({"recipe": "yolo-train", "mosaic": 2}, ValueError, "mosaic of yolo-train = 2: this is too large; give a number from 0 to 1"),
        ({"recipe": "yolo-train", "imgsz": 32.5}, ValueError, "imgsz of yolo-train = 32.5: this is no whole number"),
        ({"recipe": "yolo-train", "imgsz": object()}, TypeError, "parameter imgsz is <object"),
        ({"recipe": "yolo-train", "mosaic": float("nan")}, ValueError, "parameter mosaic = nan: give numbers that are finite"),
        ({"recipe": "yolo-train", "mosaic": 1, "params": {"mosaic": 0.5}}, ValueError, "params and mosaic both say"),
        ({"recipe": "yolo-train", "params": {"mosiac": 0.5}}, ValueError, "no such parameter: did you mean `mosaic`"),
        ({"recipe": "yolo-train", "params": 3}, TypeError, "params is 3: give a dict"),
        ({"params": {"mosaic": 0.5}}, ValueError, "there is no recipe"),
    ],
)
def test_what_cannot_be_is_refused_with_its_remedy(make, options, kind, words):
    with pytest.raises(kind, match=words):
        make(**options)


def test_no_recipe_may_declare_a_keyword_of_a_loader():
    names = [name for option in _options.LISTED for name in (option["name"], *option["aliases"])]
    for name in [*names, *_options.ONLY_HERE]:
        with pytest.raises(ValueError, match=f"parameter `{name}`: .*: call it otherwise"):
            feedline.recipe_parameters(MINE.replace("edge =", f"{name} =").replace("$edge", f"${name}"))


def test_all_parameters_are_known_to_type_checkers():
    typed = (ROOT / "python/feedline/_keywords.pyi").read_text()
    for recipe in feedline.recipes():
        for parameter in feedline.recipe_parameters(recipe):
            assert f"    {parameter['name']}: " in typed
            assert parameter["about"].split()[0] in typed
    assert "    scale: Sequence[float] | Sequence[int] | float | None\n" in typed
