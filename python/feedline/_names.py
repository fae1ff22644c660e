"""Names that people look for here, and what to write in their place."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

_PIXELS = "leave it out: batches are arrays of floats from 0 to 1 already, or as dtype= says"

#: What torchvision, Albumentations and torch have and feedline has by another name, or has no need of.
REMEDIES = {
    "ToTensor": _PIXELS,
    "ToTensorV2": _PIXELS,
    "PILToTensor": _PIXELS,
    "ToImage": _PIXELS,
    "ToPureTensor": _PIXELS,
    "ToDtype": _PIXELS,
    "ConvertImageDtype": _PIXELS,
    "ToFloat": _PIXELS,
    "ToPILImage": 'batches are arrays: take `batch["image"][0]`, with dtype="uint8" and layout="nhwc" for a picture',
    "Normalize": 'use normalize=(mean, std) of the Loader, for pixels from 0 to 1, or normalize="imagenet"',
    "Lambda": "transforms run no Python: change batches by loader.map(function)",
    "Identity": "leave it out",
    "Sequential": "use feedline.Compose([...]), or the list itself in transforms=[...]",
    "HorizontalFlip": "use feedline.RandomHorizontalFlip()",
    "VerticalFlip": "use feedline.RandomVerticalFlip()",
    "Flip": "use feedline.RandomHorizontalFlip() and feedline.RandomVerticalFlip()",
    "Rotate": "use feedline.RandomRotation(degrees)",
    "SmallestMaxSize": "use feedline.Resize(length)",
    "LongestMaxSize": "use feedline.ResizeLongest(length)",
    "Cutout": "use feedline.CoarseDropout() or feedline.RandomErasing()",
    "RandomCutout": "use feedline.CoarseDropout() or feedline.RandomErasing()",
    "Scale": "use feedline.Resize(length)",
    "RandomSizedCrop": "use feedline.RandomResizedCrop(size)",
    "FiveCrop": "use views=[feedline.View(size, transforms)] for several crops of a sample",
    "TenCrop": "use views=[feedline.View(size, transforms)] for several crops of a sample",
    "DataLoader": "it is feedline.Loader(data, batch_size, shuffle)",
    "Dataset": "give a path to feedline.Loader, or an object with __len__ and __getitem__ that returns compressed images",
    "ImageFolder": "give the folder's path to feedline.Loader",
    "DistributedSampler": 'use distributed="env" of the Loader',
}


def missing(module: str, name: str, there: Sequence[str]) -> AttributeError:
    """The error for a name that a module has not."""
    return AttributeError(f"{module} has no {name}: {remedy(name, there)}")


def remedy(name: str, there: Sequence[str]) -> str:
    if name in REMEDIES:
        return REMEDIES[name]
    same = {each.lower(): each for each in there}
    near = same.get(name.lower()) or next(iter(difflib.get_close_matches(name, there, 1, 0.75)), None)
    return f"did you mean {near}?" if near else "docs/transforms.md lists the transforms, help(feedline) everything"


def advice(transform: object) -> str:
    """What to do about a transform of another library's, or about what is none."""
    from feedline import transforms

    kind = transform if isinstance(transform, type) else type(transform)
    name, known = kind.__name__, transforms.__all__
    if isinstance(transform, type):
        return f"make one: feedline.{name}(...)" if name in known else remedy(name, known)
    if name == "Normalize" and hasattr(transform, "mean") and hasattr(transform, "std"):
        return f"leave it out, and give normalize=({_numbers(transform.mean)}, {_numbers(transform.std)}) to the Loader"
    if name in REMEDIES:
        return REMEDIES[name]
    if name in known:
        return f"use feedline.{name}, which takes the same arguments"
    where = "feedline.transforms has torchvision's under the same names, and loader.map(function) changes batches"
    return f"it would have to be run in Python on pixels; {where}"


def shown(thing: object) -> str:
    """An object in a message, without its address."""
    kind = type(thing)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return repr(thing) if " at 0x" not in repr(thing) else f"a {name}"


def _numbers(values: object) -> str:
    plain = values.tolist() if hasattr(values, "tolist") else values
    return repr(tuple(plain)) if isinstance(plain, (list, tuple)) else repr(plain)


def translated(transforms: Sequence[object]) -> str:
    """The keywords that say what a list of another library's transforms does."""
    from feedline.transforms import __all__ as known

    kept, normalize = [], ""
    for each in transforms:
        name = type(each).__name__
        if name == "Normalize":
            normalize = f", normalize=({_numbers(getattr(each, 'mean', ...))}, {_numbers(getattr(each, 'std', ...))})"
        elif name in known:
            kept.append(f"feedline.{name}(...)")
        elif name in REMEDIES and REMEDIES[name].startswith("use feedline."):
            kept.append(REMEDIES[name][4:].split("(")[0] + "(...)")
        elif REMEDIES.get(name) != _PIXELS:
            kept.append(f"... in place of {name}")
    return f"transforms=[{', '.join(kept)}]{normalize}"
