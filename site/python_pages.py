"""Makes the pages of the Python package, by pdoc, of its docstrings and stubs. Trainers, which plugs import, are stood in
for.

    python site/python_pages.py FOLDER
"""

import importlib.abc
import importlib.machinery
import inspect
import pathlib
import re
import sys
import textwrap
import types
import warnings

import pdoc
import pdoc.docstrings

HERE = pathlib.Path(__file__).resolve().parent
TRAINERS = (
    "accelerate",
    "jax",
    "keras",
    "lightning",
    "ray",
    "tensorflow",
    "torch",
    "torchdata",
    "transformers",
    "ultralytics",
)


class Named(type):
    """What a trainer has under some name: a class that is written by that name, whatever is asked of it."""

    def __repr__(cls):
        return f"{cls.__module__}.{cls.__qualname__}"

    def __getattr__(cls, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return named(f"{cls.__module__}.{cls.__qualname__}", name)


def named(module, name):
    return Named(
        name, (), {"__module__": module, "__qualname__": name, "__class_getitem__": classmethod(lambda cls, key: cls)}
    )


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module of a trainer."""

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in TRAINERS else None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)

        def get(name):
            if name.startswith("__"):
                raise AttributeError(name)
            return named(spec.name, name)

        module.__getattr__ = get
        return module

    def exec_module(self, module):
        pass


#: Where a docstring explains an argument.
ARGUMENT = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*)(?:: |:?$)")


def as_list(paragraph):
    """A paragraph that explains arguments, each from a line of its own on, as a list of Markdown's; others as they are."""
    first, *rest = paragraph.split("\n")
    if first.endswith(":") and rest and all(line.startswith(" ") for line in rest) and not ARGUMENT.match(first):
        return f"{first}\n\n" + as_list(textwrap.dedent("\n".join(rest)))
    if not ARGUMENT.match(first) or not all(ARGUMENT.match(line) or line.startswith("  ") for line in rest):
        return paragraph
    return "\n".join(
        ARGUMENT.sub(r"* `\1`: ", line, count=1) if ARGUMENT.match(line) else line for line in (first, *rest)
    )


def with_lists(convert):
    """pdoc's way from a docstring to Markdown, with arguments as lists; the first paragraph says what something is."""

    def converted(docstring, *arguments):
        first, *rest = inspect.cleandoc(docstring).split("\n\n")
        return convert("\n\n".join([first, *map(as_list, rest)]), *arguments)

    return converted


def without_dead_ends(page):
    """A page without pdoc's links to what it leaves out there, such as private bases."""
    there = set(re.findall(r' id="([^"]+)"', page))
    return re.sub(r'<a href="#([^"]+)"[^>]*>(.*?)</a>', lambda link: link[0] if link[1] in there else link[2], page)


def main():
    sys.meta_path.insert(0, StandIns())
    warnings.simplefilter("error")
    pdoc.docstrings.convert = with_lists(pdoc.docstrings.convert)
    pdoc.render.configure(template_directory=HERE / "pdoc", show_source=False, search=True, footer_text="")
    folder = pathlib.Path(sys.argv[1])
    pdoc.pdoc("feedline", "feedline.plug", r"!feedline\.plug\._.*", output_directory=folder)
    for page in folder.rglob("*.html"):
        page.write_text(without_dead_ends(page.read_text()))


if __name__ == "__main__":
    main()
