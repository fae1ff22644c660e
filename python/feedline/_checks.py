"""What is refused, or warned of, in the words of those who write Python: keywords, data, and what was probably not intended."""

from __future__ import annotations

import difflib
import operator
import os
import sys
from collections.abc import Mapping
from typing import Any

from feedline import _feedline
from feedline._batches import Batch
from feedline._warn import warn

#: Transforms that do the same each time.
_FIXED = {
    "CenterCrop", "CenterCropOrPad", "Compose", "FixedSizeCrop", "Grayscale", "LetterBox", "Pad", "PadIfSmaller", "Resize",
    "ResizeLongest", "SanitizeBoundingBoxes",
}  # fmt: skip

#: What says in which order samples come.
_ORDERS = ("shuffle", "shuffle_window", "shuffle_shards", "weights", "subset", "repeats")

#: Whether a warning has said why batches are not page-locked.
_told_of_pinning = False


def option(option: Mapping[str, Any], keyword: str, value: Any, plain: Any, what: str) -> None:
    """Refuses what is not of the option's type, as Python shows it; the rest is the library's to check.

    `plain` is what the library is given of `value`, and `what` says what it may be.
    """
    kind, plain = option["kind"], plain.tolist() if hasattr(plain, "tolist") else plain
    if kind == "Flag" and not isinstance(plain, bool):
        raise ValueError(f"option {keyword} = {value!r}: give {what.replace('true or false', 'True or False')}")
    if kind == "Integer":
        _whole(keyword, value, plain, what)
    if kind == "Number" and (isinstance(plain, bool) or not isinstance(plain, (int, float))):
        raise ValueError(f"option {keyword} = {value!r}: give {what}")
    if kind == "Triple":
        numbers = plain if isinstance(plain, (list, tuple)) else []
        if len(numbers) != 3 or any(isinstance(each, (bool, str)) for each in numbers):
            raise ValueError(f"option {keyword} = {value!r}: give {what}, as ({', '.join([_example(plain)] * 3)})")
    if kind == "Words" and isinstance(plain, str) and plain not in option["words"]:
        near = difflib.get_close_matches(plain, [word for word in option["words"] if f"`{word}`" in what], 1)
        hint = f"did you mean `{near[0]}`? Else give {what}" if near else f"give {what}"
        raise ValueError(f"option {keyword} = {value!r}: {hint}")


def _whole(keyword: str, value: Any, plain: Any, what: str) -> None:
    try:
        if isinstance(plain, bool):
            raise TypeError
        number = operator.index(plain)
    except TypeError:
        raise ValueError(f"option {keyword} = {value!r}: give {what}") from None
    if number < 0:
        raise ValueError(f"option {keyword} = {value!r}: it is below 0; give {what}")


def _example(plain: Any) -> str:
    return repr(plain) if isinstance(plain, (int, float)) and not isinstance(plain, bool) else "0.5"


def ahead(said: Mapping[str, Any]) -> None:
    """Looks at what was said before anything is opened."""
    if said.get("persistent_workers") is False:
        warn("persistent_workers=False has no effect: threads stay from epoch to epoch; close() stops them, and so does `with`")
    _ranks(said)


def _ranks(said: Mapping[str, Any]) -> None:
    """Several processes must not show the same samples without anybody's having said so."""
    launched = os.environ.get("WORLD_SIZE", "1").strip() not in ("", "0", "1")
    torch = sys.modules.get("torch.distributed")
    ranks = torch.get_world_size() if torch is not None and torch.is_available() and torch.is_initialized() else 1
    if said.get("distributed") == "env":
        if "RANK" not in os.environ and ranks > 1:
            raise ValueError(
                f'distributed="env" finds no RANK in the environment, and torch.distributed has {ranks} ranks: give '
                "rank=torch.distributed.get_rank(), world_size=torch.distributed.get_world_size()"
            )
        if "RANK" not in os.environ and "WORLD_SIZE" not in os.environ:
            what = 'distributed="env" finds no RANK in the environment, so this process shows all samples'
            warn(f"{what}: start it by torchrun, or leave it out")
    elif said.get("rank") is None and said.get("world_size") is None and (launched or ranks > 1):
        remedy = 'give distributed="env", or rank=0, world_size=1 if that is meant'
        warn(f"this is one of several ranks, and each shows all samples: {remedy}")


def opened(native: _feedline.Loader, facts: Mapping[str, Any], said: Mapping[str, Any], source: Any) -> None:
    """Looks at what was said in the light of the data."""
    classes = said.get("num_classes")
    if classes is not None:
        _classes(native, facts, operator.index(classes), source)
    elif facts["mixes"] and not facts["objects"] and "label" not in facts["fields"]:
        mixing = ", ".join(name for name in facts["transforms"] if name not in _FIXED and _mixes(name)) or "the recipe"
        what = f"{mixing} mixes samples, and batch[\"label\"] says only the first one's class"
        warn(f'{what}: give num_classes=, and train with batch["target"]')
    _pinned(native)
    shows_more = classes is not None or facts["masks"] or facts["pictures"] or facts["fields"] or len(facts["outputs"]) > 1
    if facts["kind"] == "folder" and said.get("flat") is None and not shows_more and not native.classes() and native.class_count() == 0:
        warn(
            "the folder has images and no folders of classes, so that every label is -1: put them into a folder for each class, "
            "or give flat=True if that is meant"
        )
    _order(facts, said)


def _pinned(native: _feedline.Loader) -> None:
    """Says once why batches are not page-locked: it is the same for all loaders of a process."""
    global _told_of_pinning
    why = native.unpinned()
    if why is not None and not _told_of_pinning:
        _told_of_pinning = True
        warn(f"pin_memory=True has no effect: {why}")


def _mixes(name: str) -> bool:
    return "mix" in name.lower() or name in ("Mosaic", "CopyPaste")


def _classes(native: _feedline.Loader, facts: Mapping[str, Any], classes: int, source: Any) -> None:
    if "label" in facts["fields"]:
        raise ValueError(f"num_classes = {classes} is for classes, and the labels of these records are numbers: leave it out")
    named = len(native.classes())
    columns = source["columns"] if isinstance(source, dict) else None
    there = native.class_count()
    least = max(0 if facts["objects"] else named, columns or 0, there or 0)
    # A subset may leave the others out.
    if least > classes and not facts["subset"]:
        raise ValueError(f"num_classes = {classes}, and the data have {least} classes: give num_classes={least}, or more")
    if there == 0:
        why = "objects with boxes" if facts["objects"] else "no classes"
        remedy = "" if facts["objects"] else "put images into a folder for each class, or "
        what = f'num_classes = {classes} makes batch["target"] of classes, and these data have {why}'
        warn(f"{what}, so that it is all zeros: {remedy}leave num_classes out")


def _order(facts: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    if any(said.get(name) is not None for name in _ORDERS) or facts["ordered"]:
        return
    random = [name for name in facts["transforms"] if name not in _FIXED]
    if facts["mixes"] or said.get("recipe") is not None and random:
        what = f"{random[0]} is for training" if random else "the transforms are for training"
        warn(f"{what}, and the samples come in the order of the data: give shuffle=True, or shuffle=False if that is meant")


def columns(facts: Mapping[str, Any], said: Mapping[str, Any]) -> tuple[list[str] | None, bool]:
    """The fields of a batch that are wanted, and whether as a tuple."""
    wanted, as_tuple = said.get("columns"), said.get("as_tuple")
    if wanted is None:
        if not as_tuple:
            return None, False
        if facts["objects"]:
            fields = 'columns=("image", "cls", "bboxes", "batch_idx")'
            raise ValueError(f"as_tuple is (image, label), and these data have objects: name the fields, {fields}")
        target = "label" if said.get("num_classes") is None else "target"
        return ["views" if len(facts["outputs"]) > 1 else "image", target], True
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    known = [*Batch.__annotations__, *(name for field in facts["fields"] for name in (field, f"{field}_offsets"))]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise ValueError(f"columns names {name!r}, which no batch has: {hint}")
        if name == "target" and said.get("num_classes") is None:
            raise ValueError("columns names target, which num_classes= asks for: give that as well")
    return names, as_tuple is not False


def collate(functions: Any) -> None:
    if not isinstance(functions, Mapping) or not all(callable(each) for each in functions.values()):
        raise TypeError('collate names fields with what makes a batch of their rows, as {"ids": function}')
