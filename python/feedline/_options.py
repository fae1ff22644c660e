"""The keywords of a Loader: the library's options and parameters of recipes, which are asked of it, and what only Python
has, which stands here."""

from __future__ import annotations

import difflib
import inspect
import json
import math
import operator
import os
import textwrap
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from feedline import _checks, _feedline
from feedline._records import as_python
from feedline._words import transforms, view

#: All options, as `src/options` declares them: name, aliases, section, doc, kind, words, value, default, data.
LISTED: list[dict[str, Any]] = json.loads(_feedline.option_list())

#: Keywords that are no options of the library: their types, and what they mean, with why only Python has them.
ONLY_HERE = {
    "recipe": (
        "str | os.PathLike[str]",
        "A recipe by its name, path or text, which the other keywords are laid over; other faces take it in a call of its "
        "own.",
    ),
    "params": (
        "Mapping[str, Any]",
        "Parameters of the recipe by name, where they cannot be keywords of their own: a recipe's own that a type checker does not "
        "know.",
    ),
    "transforms": (
        "Sequence[Transform | Mapping[str, Any]]",
        "What is done to each sample, in place of a recipe's augmentations: Python's objects.",
    ),
    "views": (
        "Sequence[View | Mapping[str, Any]]",
        "Outputs of each sample, where it has several, with transforms of their own after `transforms`: Python's objects.",
    ),
    "framework": (
        "Framework",
        "Whose arrays a batch holds, `torch`, `numpy` or `jax`: Python's objects. Without it they are `feedline.Tensor`.",
    ),
    "num_classes": (
        "int",
        "Adds dense labels of this many columns to a batch as `target`; in other languages a batch is asked for them.",
    ),
    "label_smoothing": ("float", "How much of each dense label is spread over all classes; for `num_classes`."),
    "columns": (
        "Sequence[str]",
        "The fields that a batch has, by their names; without `as_tuple` as a tuple in this order. Python's loops take tuples.",
    ),
    "as_tuple": (
        "bool",
        "Whether batches are tuples: of `columns`, or of `image` and `label`, or `target` with `num_classes`, as DataLoader's.",
    ),
    "cls_dtype": (
        'Literal["int64", "float32"] | Any',
        "Number format of `cls` and `batch_idx`: int64, or float32 as Ultralytics' trainers take them; also a dtype of torch or NumPy.",
    ),
    "collate": (
        "Mapping[str, Callable[[list[Any]], Any]]",
        "Functions that make of the rows of a field, a list of arrays or texts, what the batch has under its name: Python's.",
    ),
    "drop_last": ("bool", "DataLoader's word for `last_batch`: True is `drop`, False is `partial`."),
    "persistent_workers": ("bool", "DataLoader's; threads always persist, so that False is warned of."),
}

#: Where Python takes more than the library: the type, and in words.
WIDER = {
    "shuffle": ("bool | int", "true or false, or the length of the runs that are shuffled, as `shuffle_window`"),
    "normalize": (
        'Literal["imagenet"] | tuple[Sequence[float], Sequence[float]]',
        "`imagenet`, or a pair of `mean` and `std`",
    ),
    "dtype": ("Any", "`f32`, `f16`, `bf16` or `u8`, also as `float32` and so on, or a dtype of torch, NumPy or JAX"),
    "layout": ("str", "`nchw` or `nhwc`"),
    "workers": ("int", "a whole number; 0 is automatic"),
}

#: Options of torch's DataLoader that have no meaning here, and what to do instead.
_REMEDIES = {
    "dataset": "give the data first: a path, a feedline.Mixture, or records in memory",
    "sampler": "use subset=, weights= or shuffle=",
    "batch_sampler": "use batch_size=, subset= or weights=",
    "collate_fn": "batches are made in place: change the dict in the loop or by loader.map(function), or use as_tuple=True",
    "worker_init_fn": "workers are threads, which run no Python but the __getitem__ of an object that is the data: leave it out, "
    "and let __getitem__ keep what each thread needs of its own in a threading.local()",
    "multiprocessing_context": "workers are threads: leave it out",
    "generator": "use seed=",
    "timeout": "leave it out: waiting can be interrupted at any time; for object stores there is timeout_s=",
    "in_order": "leave it out: batches always come in order",
    "pin_memory_device": "use device=",
    "transform": "use transforms=[...]",
    "augment": "use transforms=[...]",
    "augmentations": "use transforms=[...]",
    "path": "give it first: feedline.Loader(path, ...)",
    "epochs": "each `for` over the loader is an epoch",
    "num_epochs": "each `for` over the loader is an epoch",
    **dict.fromkeys(
        ("crop", "crop_size", "image_size", "img_size", "imgsz", "input_size", "resize"),
        "sizes are those of transforms, as in transforms=[feedline.RandomResizedCrop(224)]",
    ),
    **dict.fromkeys(
        ("flip", "hflip", "mixup", "cutmix", "color_jitter"),
        "it is a transform, as in transforms=[feedline.RandomResizedCrop(224), feedline.RandomHorizontalFlip()]",
    ),
}

_LISTED = {option["name"]: option for option in LISTED}

#: The option that each name means.
_MEANS = {name: option["name"] for option in LISTED for name in (option["name"], *option["aliases"])}


def read(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """What the native loader takes, of keywords of which those that are None say nothing."""
    given = {name: value for name, value in keywords.items() if value is not None}
    recipe = None if given.get("recipe") is None else os.fspath(given["recipe"])
    parameters = _parameters(recipe, keywords)
    options: dict[str, Any] = {}
    said: dict[str, str] = {}
    for keyword, value in given.items():
        for name, plain in _as_options(keyword, value).items():
            option = _LISTED[_MEANS[name]]
            _checks.option(option, keyword, value, plain, WIDER[option["name"]][1] if option["name"] in WIDER else option["value"])
            first = said.setdefault(_MEANS[name], keyword)
            if first != keyword:
                raise ValueError(f"{first} and {keyword} both say what {_MEANS[name]} is: give one of them")
            options[name] = plain
    _checks.collate(given.get("collate", {}))
    smoothing = _number("label_smoothing", given.get("label_smoothing", 0.0), float, "a number")
    if smoothing and "num_classes" not in given:
        raise ValueError(f"label_smoothing = {smoothing} is for dense labels, which num_classes asks for: give that as well")
    numbers = {name: options.pop(name, None) for name in ("subset", "weights") if isinstance(options.get(name), list)}
    given_transforms, views = given.get("transforms"), given.get("views")
    return {
        "options": _object("option", options),
        "recipe": recipe,
        "parameters": _object("parameter", parameters),
        "transforms": None if given_transforms is None else [_json("transforms", each) for each in transforms(given_transforms)],
        "views": None if views is None else [_json("views", view(each)) for each in views],
        "subset": numbers.get("subset"),
        "weights": numbers.get("weights"),
        "num_classes": _number("num_classes", given.get("num_classes"), _count, "a whole number from 0"),
        "label_smoothing": smoothing,
        "float_objects": _cls_dtype(given.get("cls_dtype", "int64")) == "f32",
    }


def _cls_dtype(value: Any) -> str:
    word = dtype(value)
    if word not in ("int64", "f32"):
        raise ValueError(f"option cls_dtype = {value!r}: give int64 or float32")
    return word


def with_mixture(keywords: Mapping[str, Any], mixture: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a Loader whose data are a mixture."""
    twice = [name for name in mixture if keywords.get(name) is not None]
    if twice:
        raise ValueError(f"the mixture and the keyword {twice[0]} both say what {twice[0]} is: give one of them")
    return {**keywords, **mixture}


def _parameters(recipe: str | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Those keywords that are parameters of the recipe, and what `params` says. The others are options, or unknown."""
    said: Any = {} if keywords.get("params") is None else keywords["params"]
    if not isinstance(said, Mapping):
        raise TypeError(f"params is {said!r}: give a dict with parameters of the recipe by name")
    if said and recipe is None:
        raise ValueError(f"params says {', '.join(map(str, said))}, and there is no recipe: give recipe= as well")
    others = {name: value for name, value in keywords.items() if name not in _MEANS and name not in ONLY_HERE}
    for name in said:
        if others.get(name) is not None:
            raise ValueError(f"params and {name} both say what {name} is: give one of them")
    own = [] if recipe is None or not others else parameters(recipe)
    for name in others:
        if name not in own:
            raise TypeError(f"Loader has no option `{name}`{_remedy(name, recipe, own)}")
    return {name: as_python(value) for name, value in {**said, **others}.items() if value is not None}


def parameters(recipe: str) -> dict[str, dict[str, Any]]:
    """The parameters of a recipe by their names."""
    return {parameter["name"]: parameter for parameter in json.loads(_feedline.recipe_parameters(recipe))}


def _remedy(name: str, recipe: str | None, own: Iterable[str]) -> str:
    """What to do about a keyword that means nothing."""
    if name in _REMEDIES:
        return f": {_REMEDIES[name]}"
    owners = [each for each in _feedline.recipe_names() if name in parameters(each)]
    if owners:
        where = "there is none" if recipe is None else f"{_shown(recipe)} has no such parameter"
        return f": it is a parameter of the recipe {' and '.join(owners)}, and {where}"
    known = [*_MEANS, *ONLY_HERE]
    near = difflib.get_close_matches(name, [*own, *known], 1)
    there_are = f"did you mean `{near[0]}`?" if near else "help(feedline.Loader) lists them."
    if recipe is None:
        return f": {there_are if near else _of_some_recipe(name) or there_are}"
    listed = ", ".join(own) or "none"
    return f", and {_shown(recipe)} has no such parameter: {there_are} Its parameters: {listed}"


def _of_some_recipe(name: str) -> str | None:
    """The parameter of a built-in recipe that a keyword seems to mean."""
    owners = {parameter: each for each in _feedline.recipe_names() for parameter in parameters(each)}
    near = difflib.get_close_matches(name, owners, 1)
    return f"did you mean `{near[0]}`, a parameter of recipes such as {owners[near[0]]}?" if near else None


def _shown(recipe: str) -> str:
    return "the recipe" if "\n" in recipe else recipe


def _as_options(keyword: str, value: Any) -> dict[str, Any]:
    """What a keyword says, as options of the library."""
    option = _MEANS.get(keyword)
    if keyword == "drop_last":
        return {"last_batch": "drop" if value else "partial"}
    if option is None:
        return {}
    if option == "shuffle" and _is_number(value):
        return {"shuffle_window": value}
    if option == "normalize" and not isinstance(value, str):
        return _constants(value)
    if option == "workers" and _is_number(value) and operator.index(value) == 0:
        return {}
    if option == "dtype":
        return {keyword: dtype(value)}
    if option == "layout" and isinstance(value, str):
        return {keyword: value.lower()}
    if option == "device":
        return {keyword: str(value)}
    if option == "fields":
        return {keyword: _fields(value)}
    if option == "sets" and isinstance(value, (list, tuple)):
        return {keyword: [_with_fields(each) for each in value]}
    if option in ("subset", "weights") and not isinstance(value, (str, os.PathLike)):
        return {keyword: _numbers(option, value)}
    return {keyword: value}


def _with_fields(table: Any) -> Any:
    is_table = isinstance(table, Mapping) and "fields" in table
    return {**table, "fields": _fields(table["fields"])} if is_table else table


def _fields(fields: Any) -> Any:
    """Fields as JSON has them, which has no number for a default that is not finite."""
    if not isinstance(fields, Mapping):
        return fields
    return {name: _field(each) for name, each in fields.items()}


def _field(field: Any) -> Any:
    if not isinstance(field, Mapping) or "default" not in field:
        return field
    default = as_python(field["default"])
    if default is None:
        return {key: said for key, said in field.items() if key != "default"}
    if field.get("type") not in ("float", "floats"):
        return field
    is_list = isinstance(default, (list, tuple))
    return {**field, "default": [_finite(each) for each in default] if is_list else _finite(default)}


def _finite(number: Any) -> Any:
    said = as_python(number)
    return str(said) if isinstance(said, float) and not math.isfinite(said) else said


def _is_number(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _constants(value: Any) -> dict[str, Any]:
    try:
        mean, std = value
    except (TypeError, ValueError):
        words = WIDER["normalize"][1]
        raise ValueError(f"option normalize = {value!r}: give {words}, of three numbers each") from None
    return {"mean": mean, "std": std}


def _numbers(name: str, values: Iterable[Any]) -> list[Any]:
    cast, what = (_count, "whole numbers from 0") if name == "subset" else (float, "numbers")
    try:
        return [cast(value) for value in as_python(values)]
    except (TypeError, ValueError) as error:
        raise type(error)(f"option {name}: {error}; give {what}, or the path of a text file of them") from None


def _count(value: Any) -> int:
    count = operator.index(value)
    if count < 0:
        raise ValueError(f"{count} is below 0")
    if count >= 1 << 63:
        raise ValueError(f"{count} is above {(1 << 63) - 1}")
    return count


def _number(name: str, value: Any, cast: Callable[[Any], Any], what: str) -> Any:
    try:
        return None if value is None else cast(value)
    except TypeError:
        raise ValueError(f"option {name} = {value!r}: give {what}") from None
    except (ValueError, OverflowError) as error:
        raise ValueError(f"option {name} = {value!r}: {error}; give {what}") from None


def _object(what: str, values: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {_json(name, value, what)}" for name, value in values.items()) + "}"


def _json(name: str, value: Any, what: str = "option") -> str:
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except TypeError:
        message = f"{what} {name} is {value!r}, of type {type(value).__name__}: give plain numbers or words"
        raise TypeError(message) from None
    except ValueError:
        raise ValueError(f"{what} {name} = {value!r}: give numbers that are finite") from None


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError


def dtype(dtype: Any) -> str:
    """torch's, NumPy's and JAX's dtypes by their names."""
    name = (
        dtype
        if isinstance(dtype, str)
        else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    )
    short = {"float32": "f32", "float": "f32", "float16": "f16", "half": "f16", "bfloat16": "bf16", "uint8": "u8"}
    word = name.split(".")[-1].lower()
    return short.get(word, word)


def keywords() -> Iterable[tuple[str, str, str]]:
    """Each keyword with what it may be and what it means, in words."""
    for option in LISTED:
        name, value = option["name"], option["value"]
        names = ", ".join([*option["aliases"], name])
        default = f" (default: {option['default']})" if option["default"] is not None else ""
        kinds = f" For data of the kind {', '.join(option['data'])}." if option["data"] else ""
        yield names, f"{WIDER[name][1] if name in WIDER else value}{default}", option["doc"] + kinds
    for name, (_, meaning) in ONLY_HERE.items():
        yield name, "", meaning


def describe(loader: type) -> None:
    """Lets `help()` and `inspect.signature()` show all keywords."""
    init: Any = loader.__dict__["__init__"]
    own = list(inspect.signature(init).parameters.values())
    fixed, names = own[:-1], [*_MEANS, *ONLY_HERE]
    taken = {parameter.name for parameter in fixed}
    more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names if name not in taken]
    of_recipe = inspect.Parameter("parameters", inspect.Parameter.VAR_KEYWORD)
    init.__signature__ = inspect.Signature([*fixed, *more, of_recipe])
    lines = [inspect.cleandoc(loader.__doc__ or ""), "", "Keywords:"]
    for name, value, meaning in keywords():
        lines.append(f"  {name}: {value}" if value else f"  {name}")
        lines += textwrap.wrap(meaning, 110, initial_indent="      ", subsequent_indent="      ")
    lines += ["  parameters: those of the recipe, by their names", "      docs/recipes.md lists them, and `recipe_parameters()`."]
    loader.__doc__ = "\n".join(lines)
