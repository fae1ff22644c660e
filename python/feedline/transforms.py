"""The transforms, under torchvision's names with its arguments, their order and their defaults.

Which there are, and what they take, is asked of the library, so this file lists none. A transform is checked as it is
made, and is plain data: `as_dict()` is what a recipe holds under `[[augment]]`. Types are in `transforms.pyi`.
"""

import inspect
import json
import math
import textwrap
from enum import Enum

from feedline import _feedline, _names
from feedline._transform_help import HELP


class Transform:
    """One augmentation and its arguments."""

    _op = ""
    _names = ()

    def __init__(self, *args, **kwargs):
        if not self._op:
            raise TypeError("Transform is what all transforms are: make one of them")
        if len(args) > len(self._names):
            raise TypeError(
                f"{self._op} takes {len(self._names)} arguments ({', '.join(self._names)}), and {len(args)} were given"
            )
        given = dict(zip(self._names, args))
        for name in kwargs:
            if name in given:
                raise TypeError(f"{self._op} was given `{name}` twice")
        given.update(kwargs)
        given = {name: _plain(value) for name, value in given.items()}
        for name, value in given.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{self._op}: {name} = {value}: give a number that is finite")
        checked = json.loads(_feedline.check_transform(json.dumps({**given, "op": self._op}, allow_nan=False)))
        del checked["op"]
        self._arguments = {name: _objects(value) if name == "transforms" else value for name, value in checked.items()}

    def as_dict(self):
        """The transform as a recipe holds it: its name under `op`, and all its arguments."""
        return {"op": self._op, **{name: _plain(value) for name, value in self._arguments.items()}}

    def __getattr__(self, name):
        if name in type(self)._names:
            # What was left out is None, but a probability: only RandomChoice's, one for each transform, may be left out so.
            return self._arguments.get(name, 1.0 if name == "p" and self._op != "RandomChoice" else None)
        raise AttributeError(f"{type(self).__name__} has no argument `{name}`")

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self._op} is run by a Loader and not called: give it in transforms=[...]")

    def __repr__(self):
        return f"{self._op}({', '.join(f'{name}={value!r}' for name, value in self._arguments.items())})"

    def __eq__(self, other):
        return self.as_dict() == other.as_dict() if isinstance(other, Transform) else NotImplemented

    def __hash__(self):
        return hash(json.dumps(self.as_dict(), sort_keys=True))

    def __reduce__(self):
        return (_make, (self._op, self._arguments))


def _make(op, arguments):
    return globals()[op](**arguments)


def _objects(transforms):
    """What a container holds, as transforms again."""
    return tuple(_make(fields["op"], {name: value for name, value in fields.items() if name != "op"}) for fields in transforms)


def _plain(value):
    """As JSON has it: torchvision's enums by their value, tuples as lists, NumPy's numbers as Python's."""
    if isinstance(value, Transform):
        return value.as_dict()
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        return value.item()
    return value


def __getattr__(name):
    raise _names.missing("feedline.transforms", name, __all__)


def _document(name, own):
    """What `help()` shows: the meaning of the transform and of its arguments, as docs/transforms.md has them."""
    # stubs.py, which writes what is looked up here, imports this as well.
    about, arguments = HELP.get(name, ("", {}))
    lines = [about, ""]
    for argument in own:
        kind, default, meaning = arguments.get(argument, ("", "None", ""))
        lines += textwrap.wrap(f"{argument} ({kind}, {default}): {meaning}", 110, subsequent_indent="    ")
    return "\n".join(lines).rstrip()


def _signature(name, own):
    """The arguments with their defaults. One that must be given may stand after others, as in torchvision it does not."""
    parameters, positional = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    arguments = HELP.get(name, ("", {}))[1]
    for argument in own:
        default = arguments.get(argument, ("", "None", ""))[1]
        needed = default == "required" and not any(each.default is not each.empty for each in parameters)
        shown = inspect.Parameter.empty if needed else _Default(default)
        parameters.append(inspect.Parameter(argument, positional, default=shown))
    return inspect.Signature(parameters)


class _Default:
    """A default as it is shown."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


__all__ = ["Transform", *_feedline.transform_names()]

for _name in _feedline.transform_names():
    _own = tuple(_feedline.transform_arguments(_name))
    globals()[_name] = type(
        _name,
        (Transform,),
        {
            "__doc__": _document(_name, _own),
            "__module__": __name__,
            "__signature__": _signature(_name, _own),
            "_op": _name,
            "_names": _own,
        },
    )
