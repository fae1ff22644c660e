"""Runs an installed feedline as its documentation shows, on the bundled photographs: the first listing of docs/python.md, with
NumPy in the place of torch, and examples/python/epochs.py; prints what ran where."""

import pathlib
import platform
import re
import runpy
import sys
import sysconfig

import feedline

ROOT = pathlib.Path(__file__).resolve().parents[1]


def main():
    free_threaded = sysconfig.get_config_var("Py_GIL_DISABLED") == 1
    if free_threaded and sys._is_gil_enabled():
        sys.exit("the import of feedline has turned the GIL on")
    if pathlib.Path(feedline.__file__).parent == ROOT / "python" / "feedline":
        sys.exit(f"{feedline.__file__} is not an installed feedline")
    if not feedline._feedline.OPTIMISED:
        sys.exit("the wheel holds an unoptimised build")
    listing = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL).group(1)
    listing = listing.replace('"torch"', '"numpy"').replace('"data/photos"', repr(str(ROOT / "data" / "photos")))
    names = {}
    exec(compile(listing, "docs/python.md", "exec"), names)
    shape, dtype = names["images"].shape, str(names["images"].dtype)
    if shape[1:] != (3, 224, 224) or dtype != "float32" or len(names["labels"]) != shape[0]:
        sys.exit(f"the last batch of docs/python.md is {shape} of {dtype}, with {len(names['labels'])} labels")
    runpy.run_path(str(ROOT / "examples" / "python" / "epochs.py"))["main"]()
    threads = "without the GIL" if free_threaded else "with the GIL"
    print(f"feedline {feedline.__version__} ran on Python {platform.python_version()}, {platform.machine()}, {threads}")


if __name__ == "__main__":
    main()
