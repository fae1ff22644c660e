"""The transforms: names, arguments and defaults, as torchvision has them."""

import enum
import inspect
import pickle
import runpy
import subprocess
import sys

import pytest
from conftest import PHOTOS, ROOT

import feedline
from feedline import transforms


def test_a_transform_is_what_a_recipe_holds():
    crop = feedline.RandomResizedCrop(224, scale=(0.5, 1))
    assert crop.as_dict() == {
        "op": "RandomResizedCrop",
        "size": 224,
        "scale": [0.5, 1.0],
        "ratio": [0.75, pytest.approx(4 / 3)],
        "interpolation": "bilinear",
        "antialias": True,
    }
    assert crop.scale == [0.5, 1.0]
    assert crop == feedline.RandomResizedCrop(size=224, scale=[0.5, 1.0]) != feedline.RandomResizedCrop(224)
    assert pickle.loads(pickle.dumps(crop)) == crop and hash(crop) == hash(pickle.loads(pickle.dumps(crop)))
    assert repr(feedline.RandomPosterize(4)) == "RandomPosterize(bits=4, p=0.5)"
    assert eval(repr(crop), vars(feedline)) == crop


def test_arguments_that_mean_nothing_are_refused_at_once():
    with pytest.raises(ValueError, match="did you mean `size`"):
        feedline.RandomResizedCrop(sise=3)
    with pytest.raises(ValueError, match="`size` is missing: give it"):
        feedline.RandomResizedCrop()
    with pytest.raises(ValueError, match=r"\[0.0, 1.0\]"):
        feedline.RandomHorizontalFlip(50)
    with pytest.raises(ValueError, match="p = nan: give a number that is finite"):
        feedline.RandomHorizontalFlip(float("nan"))
    with pytest.raises(TypeError, match="takes 1 arguments"):
        feedline.RandomHorizontalFlip(0.5, 1)
    with pytest.raises(TypeError, match="`p` twice"):
        feedline.RandomHorizontalFlip(0.5, p=1)
    with pytest.raises(TypeError, match="make one of them"):
        transforms.Transform()
    with pytest.raises(AttributeError, match="no argument `q`"):
        _ = feedline.RandomHorizontalFlip().q


def test_enums_are_taken_by_their_value():
    class Mode(enum.Enum):
        NEAREST = "nearest"

    resize = feedline.Resize(8, interpolation=Mode.NEAREST, antialias=False)
    assert resize.interpolation == "nearest"


def test_the_stub_is_what_the_library_says():
    stubs = runpy.run_path(str(ROOT / "python" / "stubs.py"))
    assert stubs["STUB"].read_text() == stubs["stub"](), "run python/stubs.py"


def test_the_typed_example_runs():
    example = ROOT / "python" / "tests" / "typed_example.py"
    out = subprocess.run([sys.executable, example, PHOTOS], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert out == "10\n"


def test_containers_hold_transforms_and_any_transform_takes_a_probability():
    jitter = feedline.ColorJitter(0.4, p=0.8)
    assert jitter.p == 0.8 and feedline.ColorJitter(0.4).p == 1.0
    assert jitter.as_dict()["p"] == pytest.approx(0.8) and "p" not in feedline.ColorJitter(0.4).as_dict()
    choice = transforms.RandomChoice([jitter, transforms.Compose([feedline.RandomInvert(1.0), jitter])], p=[0.25, 0.75])
    assert choice.transforms[1].transforms[1] == jitter and choice.as_dict()["transforms"][0]["op"] == "ColorJitter"
    assert transforms.RandomChoice([jitter]).p is None
    for made in (jitter, choice):
        assert pickle.loads(pickle.dumps(made)) == made and eval(repr(made), vars(transforms)) == made


def test_what_stands_in_a_container_is_named_by_its_place():
    inner = {"op": "RandomApply", "transforms": [{"op": "ColorJiter"}]}
    with pytest.raises(ValueError, match=r"transforms\[1\].transforms\[0\]: unknown op `ColorJiter`: did you mean `ColorJitter`"):
        transforms.Compose([feedline.RandomInvert(), inner])
    with pytest.raises(ValueError, match="sum to 0.75 and not to 1"):
        transforms.RandomChoice([feedline.RandomInvert()] * 2, p=[0.5, 0.25])
    with pytest.raises(ValueError, match="transforms is empty"):
        transforms.RandomOrder([])
    with pytest.raises(ValueError, match="put them into a Compose"):
        transforms.RandomChoice([[feedline.RandomInvert()]])
    deep = feedline.RandomInvert()
    with pytest.raises(ValueError, match="more than 8 deep"):
        for _ in range(9):
            deep = transforms.Compose([deep])


#: What torchvision has and feedline has not, since it has one value here: its neutral one.
LEFT_OUT = {"inplace", "labels_getter", "num_classes", "dtype"}
#: docs/parity.md has the first; of the second torchvision says None, and means the list that stands here.
OTHER_DEFAULTS = {("Grayscale", "num_output_channels"), ("RandomIoUCrop", "sampler_options")}


#: Albumentations' transforms of a name that torchvision has too.
OF_OTHERS = {"ElasticTransform"}


@pytest.mark.parametrize("name", transforms.__all__[1:])
def test_arguments_and_defaults_are_torchvision_s(torch, name):
    v2 = pytest.importorskip("torchvision.transforms.v2")
    theirs = getattr(v2, name, None)
    if theirs is None or name in OF_OTHERS:
        assert name in {
            "Affine", "Blur", "CLAHE", "CenterCropOrPad", "ChannelShuffle", "CoarseDropout", "CopyPaste", "D4", "Downscale", "ElasticTransform", "Emboss", "FixedSizeCrop", "GaussNoise", "GridDistortion", "HueSaturationValue", "ISONoise", "ImageCompression", "LetterBox", "MedianBlur", "MmsegRandomCrop", "MmsegRandomResize", "Mosaic", "MotionBlur", "MultiplicativeNoise", "OneOf", "OpticalDistortion", "PadIfSmaller", "RGBShift", "RandomBrightnessContrast", "RandomCropOrPad", "RandomGamma", "RandomHSV", "RandomRotate90", "RandomSizeCrop", "ResizeKeepRatio", "ResizeLongest", "Sharpen", "ShiftScaleRotate", "SomeOf", "TimmAugMix", "TimmMixup", "TimmRandAugment", "TimmRandomErasing", "ToGray", "Transpose", "YoloCutMix", "YoloMixUp", "YoloPerspective",
        }  # fmt: skip
        return
    parameters = list(inspect.signature(theirs).parameters.values())
    names = [parameter.name for parameter in parameters if parameter.name not in LEFT_OUT]
    ours = [argument for argument in getattr(transforms, name)._names if argument in names]
    assert ours == names
    values = {"min_size": 7 if name == "RandomResize" else [7], "max_size": 9, "target_size": [7, 7], "transforms": [transforms.RandomInvert()]}
    needed = {p.name: values.get(p.name, 1) for p in parameters
              if p.default is p.empty and p.name not in LEFT_OUT}  # fmt: skip
    made = getattr(transforms, name)(**needed)
    for parameter in parameters:
        if parameter.name in LEFT_OUT or parameter.name in needed or (name, parameter.name) in OTHER_DEFAULTS:
            continue
        assert plain(getattr(made, parameter.name)) == plain(parameter.default), parameter.name


def plain(value):
    """Without the ways in which Python and JSON write the same thing."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return 0 if value is None else pytest.approx(value, rel=1e-6) if isinstance(value, float) else value
