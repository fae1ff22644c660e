"""Makes the gallery of transforms, docs/gallery.md and its pictures below a folder: what `feedline preview` shows of each
transform on docs/transforms.md, on the same photographs.

    python site/gallery.py FEEDLINE FOLDER
"""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
#: A sheet of `feedline preview`: the edge of a picture, between those of a pair, and around pairs.
CELL, INNER_GAP, GAP = 224, 4, 16
PAIRS = 2
TWO = [{"op": "ColorJitter", "brightness": 0.5, "hue": 0.2}, {"op": "RandomHorizontalFlip", "p": 1.0}]
#: What is set where the defaults do not do: what has none, and what changes too little by it to be seen at this size. Of
#: all others that have one, the probability is 1.
SETTINGS = {
    "Affine": {"scale": [0.7, 1.3], "rotate": 20, "shear": 10, "p": 1.0},
    "AugMix": {"severity": 8},
    "Blur": {"blur_limit": [15, 21], "p": 1.0},
    "CenterCrop": {"size": 224},
    "CenterCropOrPad": {"size": 400},
    "ColorJitter": {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1},
    "Compose": {"transforms": TWO},
    "CopyPaste": {"p": 1.0, "mode": "mixup"},
    "Downscale": {"scale_range": [0.1, 0.25], "p": 1.0},
    "ElasticTransform": {"alpha": 1000, "sigma": 15, "p": 1.0},
    "Emboss": {"alpha": [0.5, 1.0], "strength": [0.7, 1.5], "p": 1.0},
    "FixedSizeCrop": {"size": 400},
    "GaussianBlur": {"kernel_size": 23, "sigma": [1.0, 5.0]},
    "GridDistortion": {"distort_limit": 0.6, "p": 1.0},
    "ISONoise": {"color_shift": [0.1, 0.3], "intensity": [0.5, 1.0], "p": 1.0},
    "ImageCompression": {"quality_range": [5, 10], "p": 1.0},
    "LetterBox": {"size": 320},
    "MedianBlur": {"blur_limit": [13, 15], "p": 1.0},
    "MmsegRandomCrop": {"size": 224},
    "MmsegRandomResize": {"scale": [320, 240]},
    "Mosaic": {"imgsz": 320},
    "MotionBlur": {"blur_limit": [21, 31], "p": 1.0},
    "MultiplicativeNoise": {"multiplier": [0.5, 1.5], "elementwise": True, "p": 1.0},
    "OneOf": {"transforms": TWO, "p": 1.0},
    "OpticalDistortion": {"distort_limit": 0.3, "p": 1.0},
    "Pad": {"padding": 40},
    "PadIfSmaller": {"size": 600},
    "RandomAdjustSharpness": {"sharpness_factor": 6, "p": 1.0},
    "RandomAffine": {"degrees": 30, "translate": [0.1, 0.1], "scale": [0.8, 1.2]},
    "RandomApply": {"transforms": TWO, "p": 1.0},
    "RandomChoice": {"transforms": TWO},
    "RandomCrop": {"size": 224},
    "RandomCropOrPad": {"size": 400},
    "RandomGamma": {"gamma_limit": [40, 250], "p": 1.0},
    "RandomOrder": {"transforms": TWO},
    "RandomPosterize": {"bits": 2, "p": 1.0},
    "RandomResize": {"min_size": 60, "max_size": 160},
    "RandomResizedCrop": {"size": 224},
    "RandomRotation": {"degrees": 30},
    "RandomShortestSize": {"min_size": [60, 110, 160]},
    "RandomSizeCrop": {"min_size": 120, "max_size": 300},
    "RandomSolarize": {"threshold": 128, "p": 1.0},
    "Resize": {"size": [224, 120]},
    "ResizeKeepRatio": {"size": 224},
    "ResizeLongest": {"imgsz": 160},
    "SanitizeBoundingBoxes": {"min_size": 350},
    "ScaleJitter": {"target_size": [224, 224]},
    "Sharpen": {"alpha": [0.5, 1.0], "p": 1.0},
    "SomeOf": {"transforms": TWO, "n": 1},
    "TimmMixup": {"mixup_alpha": 0.8, "cutmix_alpha": 1.0},
    "YoloPerspective": {"size": 320, "degrees": 10, "shear": 5},
}
#: Of those whose draws by the usual seed, SEED, show little of them.
SEEDS = {"CopyPaste": 4, "CutMix": 5, "MixUp": 9, "TimmMixup": 5}
SEED = 3
#: Shown with outlines, since it is objects that they move, ask for or drop.
WITH_OBJECTS = {
    "CopyPaste", "Mosaic", "RandomIoUCrop", "SanitizeBoundingBoxes", "YoloCutMix", "YoloMixUp", "YoloPerspective",
}  # fmt: skip
#: Run behind a Resize to SIZE, since they need samples of one size: those that mix them, and those that follow the
#: normalisation.
OF_ONE_SIZE = {"CutMix", "MixUp", "RandomErasing", "TimmMixup", "TimmRandomErasing", "YoloCutMix", "YoloMixUp"}
SIZE = [240, 320]
HEAD = f"""# Gallery of transforms

What each transform of [transforms.md](transforms.md) makes of the same two photographs: the original at the left, a sample
at the right, drawn by `feedline preview`. What the line of Python does not name has its default; some settings are stronger
than usual, so that they show at this size. Pictures smaller than {CELL} pixels are shown in their own size, larger ones are
shrunk to that. Boxes and outlines are drawn where it is objects that a transform moves, asks for or drops. Transforms that
need samples of one size follow a `Resize({SIZE})`.

"""


def catalogue(page):
    """Name, anchor and meaning of each transform in the table of docs/transforms.md, and whether it has a probability `p`."""
    rows = re.findall(r"^\| \[(\w+)\]\(#(\w+)\) \| .+? \| (.+) \|$", page, re.MULTILINE)
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE))
    return [(row, "\n| `p` | number |" in sections[row[0]]) for row in rows]


def settings_of(name, has_p):
    return SETTINGS.get(name, {"p": 1.0} if has_p else {})


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def python(name, settings):
    """The transform as a line of Python."""

    def written(value):
        if isinstance(value, dict):
            return python(value["op"], {key: each for key, each in value.items() if key != "op"})
        return "[" + ", ".join(map(written, value)) + "]" if isinstance(value, list) else repr(value)

    return f"{name}({', '.join(f'{key}={written(value)}' for key, value in settings.items())})"


def recipe(name, settings):
    chain = [{"op": "Resize", "size": SIZE}] if name in OF_ONE_SIZE else []
    chain.append({"op": name, **settings})
    tables = "".join(
        "[[augment]]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in each.items()) for each in chain
    )
    # Without a size that all have, a sample ends where its transform does, and has no padding since it is alone.
    ends = f"size = {SIZE}" if name in OF_ONE_SIZE else "size = [16384, 16384]\n[loader]\npad_to_largest = true"
    return f'name = "{name}"\n{tables}[output]\n{ends}\n'


def photographs():
    """The module that draws the pictures of recipes, which has the outlines of three photographs."""
    spec = importlib.util.spec_from_file_location("recipes", ROOT / "docs/pictures/recipes.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def data_sets(work):
    """The same photographs with outlines and without."""
    recipes = photographs()
    outlined = recipes.labelled(work / "outlined")
    plain = work / "plain"
    plain.mkdir()
    for picture in sorted((work / "outlined" / "images").iterdir()):
        shutil.copy(picture, plain / picture.name)
    return outlined, plain


def draw(feedline, name, settings, data, work):
    """The pairs of a sheet, each an original and a sample."""
    (work / "recipe.toml").write_text(recipe(name, settings))
    sheet = work / "sheet.png"
    told = {"recipe": work / "recipe.toml", "data": data, "seed": SEEDS.get(name, SEED), "count": PAIRS, "out": sheet}
    command = [feedline, "preview", *(f"--{option}={value}" for option, value in told.items())]
    if name not in WITH_OBJECTS:
        command.append("--flat")
    drawn = subprocess.run(command, capture_output=True, text=True)
    if drawn.returncode:
        sys.exit(f"site/gallery.py cannot show {name}; give it settings in SETTINGS:\n{drawn.stderr}")
    picture = Image.open(sheet).convert("RGB")
    width = 2 * CELL + INNER_GAP
    if picture.width != PAIRS * (width + GAP) + GAP:
        sys.exit(f"site/gallery.py: a sheet is {picture.width} pixels wide: `feedline preview` draws other pairs now")
    places = (GAP + at * (width + GAP) for at in range(PAIRS))
    return [picture.crop((left, GAP, left + width, GAP + CELL)) for left in places]


def section(transform, settings, pairs, pictures):
    """What the page has of one transform, whose pictures are written."""
    name, anchor, meaning = transform
    images = ""
    for at, pair in enumerate(pairs):
        file = f"{name}-{at}.jpg"
        pair.save(pictures / file, quality=85, optimize=True)
        about = f"A photograph, and what {name} makes of it"
        size = f'width="{pair.width}" height="{pair.height}"'
        images += f'<img src="{pictures.name}/{file}" alt="{about}" {size} loading="lazy">\n'
    code = f"```python\n{python(name, settings)}\n```"
    return (
        f'## {name}\n\n[{name}](transforms.md#{anchor}): {meaning}\n\n{code}\n\n<div class="pairs">\n{images}</div>\n\n'
    )


def main():
    feedline, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]) / "docs"
    pictures = folder / "gallery"
    pictures.mkdir(parents=True, exist_ok=True)
    transforms = catalogue((ROOT / "docs/transforms.md").read_text())
    strange = (set(SETTINGS) | set(SEEDS) | WITH_OBJECTS | OF_ONE_SIZE) - {name for (name, _, _), _ in transforms}
    if not transforms or strange:
        sys.exit(f"site/gallery.py: docs/transforms.md has not got {strange or 'a table of transforms'}")
    page = HEAD
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        outlined, plain = data_sets(work)
        for transform, has_p in transforms:
            name = transform[0]
            settings = settings_of(name, has_p)
            pairs = draw(feedline, name, settings, outlined if name in WITH_OBJECTS else plain, work)
            page += section(transform, settings, pairs, pictures)
    (folder / "gallery.md").write_text(page)


if __name__ == "__main__":
    main()
