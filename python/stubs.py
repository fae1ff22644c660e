"""Writes what type checkers read of the compiled library: `feedline/transforms.pyi`, with names, order and defaults from
there and meanings from docs/transforms.md, and `feedline/_keywords.pyi`, the keywords of a Loader from the list of options and
the parameters of the built-in recipes; and `feedline/_transform_help.py`, which `help()` of a transform shows.

python stubs.py           # writes them
python stubs.py --check   # fails where they are not what would be written
"""

import json
import pathlib
import re
import sys
import textwrap

from feedline import _feedline, _options

HERE = pathlib.Path(__file__).resolve().parent
STUB = HERE / "feedline" / "transforms.pyi"
HELP = HERE / "feedline" / "_transform_help.py"
KEYWORDS = HERE / "feedline" / "_keywords.pyi"

#: What is given to what has no default, to learn the defaults of the others.
EXAMPLES = {"kernel_size": 3, "target_size": [1, 1], "min_size": [1], "transforms": [{"op": "RandomInvert"}]}

#: The same for arguments that mean something else in one transform.
OWN_EXAMPLES = {("RandomResize", "min_size"): 1, ("RandomResize", "max_size"): 2, ("RandomSizeCrop", "min_size"): 1, ("RandomSizeCrop", "max_size"): 2, ("MmsegRandomResize", "scale"): [1, 1]}

PAIR = "Sequence[float]"
#: The types of arguments whose default does not tell.
TYPES = {
    "size": "int | Sequence[int]",
    "target_size": "Sequence[int]",
    "kernel_size": "int | Sequence[int]",
    "min_size": "int | Sequence[int]",
    "max_size": "int | None",
    "padding": "int | Sequence[int]",
    "fill": "float | Sequence[float]",
    "degrees": "float | Sequence[float]",
    "shear": "float | Sequence[float] | None",
    "sigma": "float | Sequence[float]",
    "brightness": "float | Sequence[float]",
    "contrast": "float | Sequence[float]",
    "saturation": "float | Sequence[float]",
    "hue": "float | Sequence[float]",
    "value": 'float | Sequence[float] | Literal["random"]',
    "translate": f"{PAIR} | None",
    "scale": f"{PAIR} | None",
    "center": f"{PAIR} | None",
    "interpolation": 'Literal["nearest", "bilinear", "bicubic", "random"] | Enum',
    "padding_mode": 'Literal["constant", "edge", "reflect", "symmetric"]',
    "magnitude_std": "float | None",
    "config": "str | None",
    "blur_limit": "int | Sequence[int]",
    "clip_limit": "float | Sequence[float]",
    "rotate": "float | Sequence[float]",
    "translate_percent": "float | Sequence[float] | Mapping[str, Sequence[float]] | None",
    "translate_px": "float | Sequence[float] | Mapping[str, Sequence[float]] | None",
    "downscale": 'Literal["nearest", "bilinear"] | Enum',
    "upscale": 'Literal["nearest", "bilinear", "bicubic"] | Enum',
    **{f"{what}_limit": "float | Sequence[float]" for what in ("brightness", "contrast", "shift", "scale", "rotate", "distort")},
    **{f"{what}_shift_limit": "float | Sequence[float]" for what in ("hue", "sat", "val", "r", "g", "b")},
    "max_aspect": "float | None",
    "max_count": "int | None",
    "magnitude_max": "float | None",
    "policy": "str | Enum",
    "noise_distribution": 'Literal["gaussian", "uniform"] | Enum',
    "mode": "str",
    "threshold": "float",
    "bits": "int",
    "sharpness_factor": "float",
    "transforms": "Sequence[Transform]",
}

#: What the page says of the probability that any transform takes.
PROBABILITY = "Probability that it runs, from 0 to 1."


#: The types of options by what they may be.
OPTION_TYPES = {
    "Flag": "bool",
    "Integer": "int",
    "Number": "float",
    "Bytes": "int | str",
    "Text": "str",
    "Path": "str | os.PathLike[str]",
    "Device": "str",
    "Index": "str | os.PathLike[str]",
    "Size": "int | Sequence[int]",
    "Sizes": "Sequence[int | Sequence[int]]",
    "Triple": "Sequence[float]",
    "Integers": "Iterable[int] | str | os.PathLike[str]",
    "Numbers": "Iterable[float] | str | os.PathLike[str]",
    "Texts": "Sequence[str]",
    "Renames": "Mapping[str, str]",
    "DataSets": "Sequence[Mapping[str, Any]]",
    "Fields": 'Mapping[str, Literal["text", "bytes", "json", "integer", "float", "integers", "floats", "image", "depth"] | Mapping[str, Any]]',
}
#: The types of parameters of recipes by what they may be; a word's are its words.
PARAMETER_TYPES = {
    "integer": "int",
    "float": "float",
    "bool": "bool",
    "text": "str",
    "integers": "Sequence[int]",
    "floats": "Sequence[float]",
}
#: Keywords that stand in the Loader's own signature, since they may be given by their position.
POSITIONAL = {"data", "batch_size", "shuffle"}


def main():
    for path, text in ((STUB, stub()), (KEYWORDS, keywords()), (HELP, transform_help())):
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path.name} is not what {pathlib.Path(__file__).name} writes: run it")


def keywords():
    """The stub of the Loader's keywords."""
    lines = [
        '"""The keywords of a Loader, for type checkers. Made by `stubs.py` of the lists of options and parameters; do not edit."""',
        "",
        "import os",
        "from collections.abc import Callable, Iterable, Mapping, Sequence",
        "from typing import Any, Literal, TypedDict",
        "",
        "from feedline._view import View",
        "from feedline._words import Framework",
        "from feedline.transforms import Transform",
        "",
        "class Keywords(TypedDict, total=False):",
        '    """What a Loader is told besides its data, `batch_size` and `shuffle`. None says nothing."""',
        "",
    ]
    for option in _options.LISTED:
        default = f" Default: {option['default']}." if option["default"] is not None else ""
        for name in [*option["aliases"], option["name"]]:
            if name not in POSITIONAL:
                lines += keyword(name, type_of_option(option), option["doc"] + default)
    for name, (kind, meaning) in _options.ONLY_HERE.items():
        lines += keyword(name, kind, meaning)
    for name, (kinds, meanings) in sorted(parameters().items()):
        lines += keyword(name, " | ".join(kinds), " ".join(f"{', '.join(recipes)}: {said}." for said, recipes in meanings.items()))
    return "\n".join([*lines, ""])


def parameters():
    """The types of each parameter of the built-in recipes, and its meanings, each with the recipes that it has it in."""
    found = {}
    for recipe in _feedline.recipe_names():
        for name, parameter in _options.parameters(recipe).items():
            kinds, meanings = found.setdefault(name, ([], {}))
            kind = type_of_parameter(parameter)
            kinds += [] if kind in kinds else [kind]
            meanings.setdefault(parameter["about"], []).append(recipe)
    return found


def type_of_parameter(parameter):
    if parameter["type"] == "word":
        return f"Literal[{', '.join(json.dumps(word) for word in parameter['words'])}]"
    return PARAMETER_TYPES[parameter["type"]]


def keyword(name, kind, meaning):
    return [f"    {name}: {kind} | None", *wrapped(f'"""{meaning}"""', "    ")]


def type_of_option(option):
    if option["name"] in _options.WIDER:
        return _options.WIDER[option["name"]][0]
    if option["kind"] == "Words":
        return f"Literal[{', '.join(json.dumps(word) for word in option['words'])}]"
    return OPTION_TYPES[option["kind"]]


def stub():
    names = _feedline.transform_names()
    head = [
        '"""The transforms, with their arguments. Made by `stubs.py`; do not edit."""',
        "",
        "from collections.abc import Mapping, Sequence",
        "from enum import Enum",
        "from typing import Any, Literal",
        "",
        "class Transform:",
        '    """One augmentation and its arguments."""',
        "",
        "    def as_dict(self) -> dict[str, Any]:",
        '        """The transform as a recipe holds it: its name under `op`, and all its arguments."""',
        "",
    ]
    everything = ["__all__ = [", '    "Transform",', *[f'    "{name}",' for name in names], "]", ""]
    return "\n".join(head + [line for name in names for line in transform(name)] + everything)


def transform(name):
    """The lines of one class."""
    order = _feedline.transform_arguments(name)
    needed, full = defaults(name)
    doc, meanings = documents(name)
    lines = [f"class {name}(Transform):", *wrapped(f'"""{doc}', "    ")]
    lines.append("")
    for argument in order:
        lines += wrapped(f"{argument}: {meanings.get(argument, PROBABILITY)}", "        ")
    lines += ['    """', ""]
    # A stub's attribute is what the argument was, in the form that a recipe has it in.
    lines += [f"    {argument}: Any" for argument in order]
    lines += ["    def __init__("] + ["        self,"]
    for argument in order:
        default = "" if argument in needed else f" = {as_python(full.get(argument))}"
        lines.append(f"        {argument}: {type_of(name, argument, full.get(argument))}{default},")
    return [*lines, "    ) -> None: ...", ""]


def defaults(name):
    """Which arguments must be given, and the values of all where no other is."""
    needed = {}
    while True:
        try:
            found = json.loads(_feedline.check_transform(json.dumps({"op": name, **needed})))
            return needed, {"p": None if name == "RandomChoice" else 1.0, **found}
        except ValueError as error:
            missing = re.search(r"`(\w+)` is missing", str(error))
            if missing is None:
                raise
            needed[missing[1]] = OWN_EXAMPLES.get((name, missing[1]), EXAMPLES.get(missing[1], 1))


def type_of(name, argument, default):
    if (name, argument) == ("RandomChoice", "p"):
        return f"{PAIR} | None"
    if name == "YoloPerspective" and argument in ("degrees", "translate", "scale", "shear"):
        return "float"
    if argument == "scale" and default is not None or argument == "brightness" and "Distort" in name:
        return PAIR
    if name in ("RandomResize", "RandomSizeCrop") and argument in ("min_size", "max_size"):
        return "int"
    if isinstance(default, bool):
        return "bool"
    if argument == "min_size" and isinstance(default, float):
        return "float"
    if argument in TYPES:
        optional = " | None" if default is None and argument in ("fill", "padding") else ""
        return TYPES[argument] + optional
    if isinstance(default, int):
        return "int"
    return PAIR if isinstance(default, list) else "float"


def as_python(value):
    if isinstance(value, list):
        return f"({', '.join(as_python(item) for item in value)})"
    # An f32's shortest digits, where the library wrote those of an f64.
    return repr(float(f"{value:.7g}")) if isinstance(value, float) else repr(value).replace("'", '"')


def documents(name):
    """The first paragraph on a transform on the page of transforms, and what the page says of its arguments."""
    about, rows = section(name)
    return about, {argument: meaning for argument, (_, _, meaning) in rows.items()}


def transform_help():
    """What each transform does, and of each argument its type, its default and its meaning."""
    lines = ['"""What `help()` shows of the transforms. Made by `stubs.py` of docs/transforms.md; do not edit."""', "", "HELP = {"]
    for name in _feedline.transform_names():
        about, rows = section(name)
        shown = []
        for argument in _feedline.transform_arguments(name):
            kind, default, meaning = rows.get(argument, ("number", "`1.0`", PROBABILITY))
            default = default if default == "required" else "None" if default == "none" else as_shown(default)
            shown.append(f"{json.dumps(argument)}: ({literal(kind)}, {literal(default)}, {literal(meaning)})")
        lines.append(f"    {json.dumps(name)}: ({literal(about)}, {{{', '.join(shown)}}}),")
    return "\n".join([*lines, "}", ""])


def as_shown(default):
    """A default of the page, which is JSON in code type, as Python has it."""
    return as_python(json.loads(default.strip("`")))


def literal(text):
    return json.dumps(text.replace("\\|", "|"), ensure_ascii=False)


def section(name):
    """The first paragraph on a transform, and of its arguments type, default and meaning."""
    page = (HERE.parent / "docs" / "transforms.md").read_text()
    found = re.search(rf"^## {name}\n\n(.*)\n([\s\S]*?)(?=^## |\Z)", page, re.M)
    if not found:
        raise SystemExit(f"no section on {name} in docs/transforms.md: run UPDATE_DOCS=1 cargo test transforms_page")
    cell = r"((?:[^|\\]|\\.)*)"
    rows = re.findall(rf"^\| `(\w+)` \| {cell} \| {cell} \| {cell} \|$", found[2], re.M)
    return found[1], {argument: (kind, default, meaning) for argument, kind, default, meaning in rows}


def wrapped(text, below):
    return textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent=below, break_on_hyphens=False)


if __name__ == "__main__":
    main()
