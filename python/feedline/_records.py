"""Records that Python gives in place of a path: their images, labels and fields, as the compiled half takes them."""

from __future__ import annotations

import atexit
import json
import operator
import os
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

from feedline import _feedline

# Threads of a loader ask for records; they must not meet an interpreter that ends.
atexit.register(_feedline.end_calls)

#: The class, several of them, or the number that stands in place of a class.
Class = Union[int, list[int], None]
#: Key, image (bytes or a path), class, number in place of a class, values of the fields.
Record = tuple[str, Union[bytes, str], Class, Optional[float], list[Any]]

#: What a record that is a mapping says besides its fields.
_OWN = ("image", "label", "key")

#: What a value of a field is, by the field's type.
_FILES = {"bytes": "bytes", "image": "the bytes of its file", "depth": "the bytes of its file"}
_VALUES = {
    "text": "a text",
    "integer": "a whole number",
    "float": "a number",
    "integers": "a list of whole numbers",
    "floats": "a list of numbers",
    **_FILES,
}

#: What is wrong with images that are pixels.
DECODED = "decoded already"

_FORMS = "give bytes or a path, (image, label), (key, image, label), or a dict with image, label, key and fields"


#: Kinds of labels that may stand in one data set. Whole numbers among fractions are numbers.
_ALIKE = [{"a number", "an index"}, {"an index", "a list of indices"}, {"a name", "a list of names"}]


class Labels:
    """Reads labels, which are of one kind in all records: classes by index, by name, or numbers that are no classes."""

    def __init__(self) -> None:
        self.first: tuple[str, Any, str] | None = None
        self.fractions = False
        self.columns: int | None = None

    def read(self, at: str, label: Any) -> Any:
        """The class, a list of classes, a name, a list of names, a float, or None."""
        if label is None:
            return None
        said = as_python(label)
        try:
            read = self._several(at, said) if _is_list(said) else _one(said)
        except (TypeError, OverflowError):
            raise TypeError(
                f"the label of {at} of the data is {reprlib.repr(label)}: give the class as a whole number from 0 or as a name, a "
                "list of the classes that the image has, a list of bools or of floats that are 0 or 1 with a number for every "
                "class, a float where labels are no classes, or None"
            ) from None
        kind = _kind(read)
        if kind is None:
            return read
        self.first = self.first or (at, label, kind)
        other_at, other, other_kind = self.first
        if kind != other_kind and {kind, other_kind} not in _ALIKE:
            raise ValueError(
                f"the label of {at} of the data is {reprlib.repr(label)}, {kind}, and that of {other_at} is "
                f"{reprlib.repr(other)}, {other_kind}: give labels of one kind"
            )
        self.fractions = self.fractions or isinstance(read, float)
        return read

    def _several(self, at: str, said: Iterable[Any]) -> list[Any]:
        each = [as_python(one) for one in said]
        if each and all(isinstance(one, (bool, float)) for one in each):
            if any(one not in (0, 1) for one in each):
                raise ValueError(
                    f"the label of {at} of the data is {reprlib.repr(each)}: a list of floats says by 0 and 1 which classes an image "
                    "has; other numbers are fields of the record, in a dict"
                )
            columns = self.columns = self.columns or len(each)
            if columns != len(each):
                raise ValueError(
                    f"the label of {at} of the data has {len(each)} numbers, and others have {columns}: give one for every class"
                )
            return [number for number, one in enumerate(each) if one]
        if any(isinstance(one, bool) for one in each):
            raise TypeError
        if all(isinstance(one, str) for one in each):
            return each
        return [_index(one) for one in each]


def _is_list(said: Any) -> bool:
    return isinstance(said, Iterable) and not isinstance(said, (str, bytes, bytearray, Mapping))


def _one(said: Any) -> int | float | str:
    if isinstance(said, (str, float)):
        return said
    return _index(said)


def _index(label: Any) -> int:
    said = operator.index(label)
    if abs(said) >= 1 << 63:
        raise OverflowError
    return said


def _kind(read: Any) -> str | None:
    if isinstance(read, list):
        return "a list of names" if read and isinstance(read[0], str) else "a list of indices" if read else None
    if isinstance(read, float):
        return "a number"
    return "a name" if isinstance(read, str) else "an index"


def as_python(value: Any) -> Any:
    """What arrays and their numbers are in Python's own types."""
    return value.tolist() if hasattr(value, "tolist") else value


def in_memory(data: Iterable[Any], declared: Mapping[str, Any] | None) -> dict[str, Any]:
    """All records of a list or of what can be iterated."""
    labels = Labels()
    read = [_parts(f"record {at}", record) for at, record in enumerate(data)]
    fields = _Fields(declared, [fields for _, _, _, fields in read])
    said = [labels.read(f"record {at}", label) for at, (_, _, label, _) in enumerate(read)]
    classes = sorted({name for each in said for name in (each if isinstance(each, list) else [each]) if isinstance(name, str)})
    index = {name: number for number, name in enumerate(classes)}
    records = [
        (key, image, *_class(label, index, labels.fractions), fields.values(f"record {at}", own))
        for at, ((key, image, _, own), label) in enumerate(zip(read, said))
    ]
    about = {"classes": classes, "fields": fields.declared(), "declared": declared is not None, "fractions": labels.fractions}
    return {"records": records, "about": about, "columns": labels.columns}


def _class(label: Any, index: Mapping[str, int], fractions: bool) -> tuple[Class, float | None]:
    if fractions:
        return None, None if label is None else float(label)
    if isinstance(label, list):
        return [index[each] if isinstance(each, str) else each for each in label], None
    return (index[label] if isinstance(label, str) else label), None


def one_by_one(data: Any, declared: Mapping[str, Any] | None) -> dict[str, Any]:
    """An object with `__len__` and `__getitem__`, whose records are asked for by the loader's threads."""
    length = len(data)
    if length == 0:
        raise ValueError(f"the data are a {type(data).__name__} of length 0: give data with samples")
    labels = Labels()
    key, _, label, own = _parts("record 0", _item(data, 0))
    first = labels.read(key, label)
    _check_name(key, first)
    fields = _Fields(declared, [own])
    fractions = labels.fractions

    def fetch(at: int) -> Record:
        where = f"record {at}"
        key, image, said, own = _parts(where, data[at])
        read = labels.read(where, said)
        if isinstance(read, float) and not fractions:
            raise TypeError(
                f"the label of {where} of the data is {said!r}, a number, and that of record 0 is {label!r}, by which labels are "
                "classes: return float(label) of every record"
            )
        _check_name(where, read)
        return (key, image, *_class(read, {}, fractions), fields.values(where, own))

    targets = getattr(data, "targets", None)
    known = None
    if targets is not None and not fractions and len(targets) == length:
        ahead = Labels()
        read = [ahead.read(f"record {at}", target) for at, target in enumerate(as_python(targets))]
        # Names are no help: labels are indices.
        known = [_class(target, {}, False)[0] for target in read] if not any(map(_has_names, read)) else None
    names = getattr(data, "classes", None)
    classes = list(names) if isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names) else []
    about = {"classes": classes, "fields": fields.declared(), "declared": declared is not None, "fractions": fractions}
    return {"fetch": fetch, "length": length, "labels": known, "about": about, "columns": labels.columns}


def _has_names(label: Any) -> bool:
    return isinstance(label, str) or isinstance(label, list) and any(isinstance(each, str) for each in label)


def _check_name(at: str, label: Any) -> None:
    if _has_names(label):
        raise TypeError(f"the label of {at} of the data is {label!r}: give the index of the class, as names are not known ahead")


def _item(data: Any, at: int) -> Any:
    try:
        return data[at]
    except Exception as error:
        raised = _feedline.SampleError(f"record {at} of the data cannot be had: {type(error).__name__}: {error}")
        raised.key, raised.index = f"record {at}", at
        raise raised from error


def _parts(at: str, record: Any) -> tuple[str, bytes | str, Any, Mapping[str, Any]]:
    """Key, image, label and fields of a record."""
    if isinstance(record, Mapping):
        if "image" not in record:
            raise TypeError(f"{at} of the data has no image, only {', '.join(map(str, record))}: {_FORMS}")
        own = {name: value for name, value in record.items() if name not in _OWN}
        return str(record.get("key", at)), _image(at, record["image"]), record.get("label"), own
    if isinstance(record, (tuple, list)) and len(record) == 2:
        return at, _image(at, record[0]), record[1], {}
    if isinstance(record, (tuple, list)) and len(record) == 3:
        return str(record[0]), _image(at, record[1]), record[2], {}
    return at, _image(at, record), None, {}


def _image(at: str, image: Any) -> bytes | str:
    if isinstance(image, bytes):
        return image
    if isinstance(image, (bytearray, memoryview)):
        return bytes(image)
    if isinstance(image, (str, os.PathLike)):
        path = os.fspath(image)
        return path if isinstance(path, str) else os.fsdecode(path)
    if isinstance(image, Mapping) and (image.get("bytes") is not None or image.get("path") is not None):
        return _image(at, image["bytes"] if image.get("bytes") is not None else image["path"])
    package = type(image).__module__.split(".")[0]
    if package == "PIL" or hasattr(image, "shape"):
        what = "an image of PIL" if package == "PIL" else f"pixels ({type(image).__name__})"
        raise TypeError(f"{at} of the data is {what}, {DECODED}: give the bytes of its file, or its path")
    raise TypeError(f"{at} of the data is {type(image).__name__}: {_FORMS}")


class _Fields:
    """The fields of records: those that are declared, or all that the records have."""

    def __init__(self, declared: Mapping[str, Any] | None, records: Sequence[Mapping[str, Any]]) -> None:
        if declared is None:
            names = list(dict.fromkeys(name for record in records for name in record))
            declared = {str(name): _type_of(name, [record.get(name) for record in records]) for name in names}
        # In the order in which the library has them.
        self.said = dict(sorted(declared.items()))
        self.readers: list[tuple[str, str, str]] = []
        for name, field in self.said.items():
            kind = field.get("type") if isinstance(field, Mapping) else field
            stored = field.get("from", name) if isinstance(field, Mapping) else name
            self.readers.append((name, stored, str(kind)))

    def declared(self) -> str:
        return json.dumps(self.said)

    def values(self, at: str, own: Mapping[str, Any]) -> list[Any]:
        return [None if own.get(stored) is None else _value(at, name, kind, own[stored]) for name, stored, kind in self.readers]


def _value(at: str, name: str, kind: str, value: Any) -> Any:
    """A value as the compiled half takes it: text, bytes, a number or a list of numbers."""
    if kind == "json":
        return _json(at, name, value)
    plain = as_python(value)
    if isinstance(plain, (bytearray, memoryview)):
        return bytes(plain)
    if isinstance(plain, (str, bytes)):
        return plain
    is_list = isinstance(plain, Sequence)
    types = set(map(type, plain)) if is_list else {type(plain)}
    if all(hasattr(each, "__float__") or hasattr(each, "__index__") for each in types):
        return plain
    shown = type(value).__name__ + (f" of {', '.join(sorted(each.__name__ for each in types))}" if is_list else "")
    what = _VALUES.get(kind, "what is of this type")
    json_too = "" if kind in _FILES else f', or ask for fields={{{name!r}: "json"}}, which takes dicts and lists'
    raise TypeError(f"the field {name} of {at} of the data is {shown}, and its type is {kind}: give {what}{json_too}")


def _json(at: str, name: str, value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"the field {name} of {at} of the data is {type(value).__name__}, which is not what JSON has ({error}): give dicts, lists, "
            "texts, numbers, bools and None"
        ) from None


def _type_of(name: Any, values: Sequence[Any]) -> str | dict[str, Any]:
    """The type of a field, by its values."""
    there = [as_python(value) for value in values if value is not None]
    if all(isinstance(value, str) for value in there):
        return "text"
    if all(isinstance(value, (bytes, bytearray, memoryview)) for value in there):
        return "bytes"
    if all(isinstance(value, int) for value in there):
        return "integer"
    if all(isinstance(value, (int, float)) for value in there):
        return "float"
    if all(isinstance(value, (list, tuple)) for value in there):
        numbers = [number for value in there for number in value]
        if all(isinstance(number, int) for number in numbers):
            return "integers"
        if all(isinstance(number, (int, float)) for number in numbers):
            return "floats"
    if all(isinstance(value, (dict, list, tuple, str, int, float)) for value in there):
        return "json"
    kinds = sorted({type(value).__name__ for value in there})
    raise TypeError(f"the field {name} of the records is {', '.join(kinds)}: give text, bytes, numbers, lists of numbers, or what JSON has")
