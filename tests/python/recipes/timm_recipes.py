"""The recipes of timm's training script, and DeiT III's."""

from types import SimpleNamespace

import torch
from PIL import Image
from timm.data import Mixup, auto_augment, create_transform, random_erasing
from timm.data.auto_augment import AugMixAugment
from timm.data.mixup import cutmix_bbox_and_lam
from torchvision.transforms import InterpolationMode, v2

from parity_ops import REFERENCE

from .entry import Entry
from .mixes import mixed_batch, mixed_labels, mixes_of_windows
from .recording import RECORDER, Picture, recorded
from .torchvision_recipes import drawn, own_class
from .view_recipes import LATER_COLOURS, apart

# The names that timm's policies call Pillow by, and feedline's.
OPS = {"autocontrast": "autocontrast", "invert": "invert", "equalize": "equalize"}
ENHANCED = {"Contrast": "contrast", "Color": "saturation", "Brightness": "brightness", "Sharpness": "sharpness"}


def recording_enhancement(op):
    """Pillow's class of an enhancement, which records."""
    return lambda picture: SimpleNamespace(enhance=lambda factor: RECORDER.add(op, picture, factor=factor))


def recording_op(op):
    """Pillow's function without arguments, which records."""
    return lambda picture: RECORDER.add(op, picture)


RECORDING = {
    "ImageEnhance": SimpleNamespace(**{name: recording_enhancement(op) for name, op in ENHANCED.items()}),
    "ImageOps": SimpleNamespace(
        **{name: recording_op(op) for name, op in OPS.items()},
        solarize=lambda picture, threshold: RECORDER.add("solarize", picture, threshold=threshold),
        posterize=lambda picture, bits: RECORDER.add("posterize", picture, bits=bits)),
    "Image": SimpleNamespace(AFFINE=Image.Transform.AFFINE, fromarray=lambda pixels: None, blend=lambda one, other, share: one,
                             BILINEAR=Image.Resampling.BILINEAR, BICUBIC=Image.Resampling.BICUBIC),
}
for module_name, replacement in RECORDING.items():
    setattr(auto_augment, module_name, replacement)
random_erasing._get_pixels = lambda *_arguments, **_named: None


class ErasedPicture:
    """What is erased in a finished sample."""

    dtype = torch.float32

    def __init__(self, size):
        self.width, self.height = size

    def size(self):
        """Channels, rows and columns."""
        return 3, self.height, self.width

    def __setitem__(self, place, _value):
        _, rows, columns = place
        RECORDER.ops.append({"op": "erase", "i": rows.start, "j": columns.start, "h": rows.stop - rows.start,
                             "w": columns.stop - columns.start, "v": {"key": []}})


class RecordedAugMix(AugMixAugment):
    """timm's AugMix, whose calls become one op."""

    def _apply_basic(self, img, mixing_weights, m):
        ahead = RECORDER.taken()
        super()._apply_basic(img, mixing_weights, m)
        chains = [[]]
        for op in RECORDER.taken():
            if op["op"] == "seen":
                chains.append([])
            # No level lies above 255, so that a solarisation from 256 on is none.
            elif op.get("threshold", 0) < 256:
                chains[-1].append(op)
        chains = [{"weight": float(weight), "ops": ops} for weight, ops in zip(mixing_weights, chains)]
        RECORDER.ops = [*ahead, {"op": "sum_chains", "chains": chains, "blend": float(m)}]
        return img


def timm(**arguments):
    """How timm's composition draws, the erasing of the finished sample included."""
    composition = create_transform(224, is_training=True, **arguments).transforms
    erasing = [step for step in composition if isinstance(step, random_erasing.RandomErasing)]
    steps = [step for step in composition if type(step).__module__.startswith(("timm.data.auto", "timm.data.transforms"))
             or type(step).__name__ in ("RandomHorizontalFlip", "ColorJitter")]
    steps = [step for step in steps if "ToTensor" not in type(step).__name__]
    for step in steps:
        if isinstance(step, AugMixAugment):
            step.__class__ = RecordedAugMix

    def draw(case, view):
        with recorded() as recorder:
            picture = Picture(case.size)
            for step in steps:
                if view == "as it is" and isinstance(step, AugMixAugment):
                    break
                picture = step(picture)
            else:
                for step in erasing:
                    step(ErasedPicture(picture.size))
        return recorder.taken()

    return draw


MIXUP = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0)


def batch_mix():
    """One batch's draws of timm's Mixup: what remains of a sample, and the rectangle."""
    share, use_cutmix = MIXUP._params_per_batch()
    if not use_cutmix:
        return share, None
    (top, bottom, left, right), share = cutmix_bbox_and_lam((2, 3, 224, 224), share, correct_lam=True)
    return share, (left, top, right, bottom)


def shared_crop(run, tests):
    """All views of a sample have its crop and its flip."""
    for line in run.lines:
        first = run.by_place[line["epoch"], line["index"], 0]["ops"]
        if [op for op in line["ops"] if op["op"] not in ("sum_chains", "erase")] != first:
            tests.failures.append(f"epoch {line['epoch']}, {line['key']}: view {line['view']} has another crop")


def solarize_add(image, addition, threshold=128):
    """timm's: levels below a threshold get something added."""
    return torch.where(image < threshold, (image.to(torch.int16) + addition).clamp(max=255).to(torch.uint8), image)


FUNCTIONS = REFERENCE | {"solarize_add": solarize_add}

TRAIN = {"auto_augment": "rand-m9-mstd0.5-inc1", "re_prob": 0.25, "re_mode": "pixel"}
MIXED = {"mixed": mixed_batch, "labels": mixed_labels, "more": mixes_of_windows(batch_mix, 224), "functions": FUNCTIONS,
         "flags": ["--partner-window", 8, "--repeats", 1], "epochs": 3}
ENTRIES = [
    Entry("timm-train", "timm's create_transform and Mixup", timm(interpolation="random", **TRAIN), **MIXED),
    Entry("deit", "timm's create_transform and Mixup, as DeiT calls them", timm(interpolation="bicubic", **TRAIN), **MIXED),
    Entry("timm-rkrc", "timm's create_transform with `train_crop_mode='rkrc'`",
          timm(interpolation="random", train_crop_mode="rkrc"), labels=own_class, functions=FUNCTIONS, epochs=3),
    Entry("timm-augmix", "timm's create_transform and AugMixDataset",
          timm(interpolation="random", auto_augment="augmix-m5-w4-d2", re_prob=0.25, re_mode="pixel"),
          views=["as it is", "mixed", "mixed again"], labels=own_class, functions=FUNCTIONS, more=shared_crop),
    Entry("deit-iii", "DeiT III's augment.py, in torchvision's transforms", drawn(
        v2.RandomResizedCrop(224, interpolation=InterpolationMode.BICUBIC), v2.RandomHorizontalFlip(),
        v2.RandomChoice([v2.Grayscale(3), v2.RandomSolarize(128, p=1.0), v2.GaussianBlur(23, (0.1, 2.0))]),
        v2.ColorJitter(0.3, 0.3, 0.3)), labels=own_class, bound=LATER_COLOURS, flags=["--repeats", 1], epochs=3),
]
