"""Re-encodings: of some photographs, one folder for each sampling and mode, and of whole data sets with restart markers."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import kit

SAMPLINGS = {"444": "4:4:4", "422": "4:2:2", "420": "4:2:0"}
MODES = {"baseline": {}, "progressive": {"progressive": True}, "restarts": {"restart_marker_rows": 1}}
QUALITY = 92
PHOTOS = 8
TINY = (104, 88)


def write(folder, tiny=False):
    """All of them below a folder; tiny ones for a simulated device."""
    from PIL import Image

    sources = kit.files_of(kit.DATA / kit.PHOTOS)
    for number, path in enumerate(sources[::max(len(sources) // PHOTOS, 1)]):
        with Image.open(path) as image:
            image = image.resize(TINY) if tiny else image
            colour, grey = image.convert("RGB"), image.convert("L")
        for name, sampling in SAMPLINGS.items():
            for mode, options in MODES.items():
                save(colour, folder / f"{name}-{mode}", number, subsampling=sampling, **options)
        save(grey, folder / "grey-baseline", number)


def restarts(data, folder, most=None):
    """Every image of a data set with restart markers, by as many threads as there are cores."""
    folder.mkdir(parents=True)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda numbered: restarted(folder, *numbered), enumerate(kit.files_of(data)[:most])))


def restarted(folder, number, path):
    """One of them: a marker a row, or every seven MCUs, which lie across the rows."""
    from PIL import Image

    options = {"restart_marker_rows": 1} if number % 2 else {"restart_marker_blocks": 7}
    with Image.open(path) as image:
        image = image if image.mode in ("L", "RGB") else image.convert("RGB")
        image.save(folder / f"{number}-{Path(path).stem}.jpg", quality=QUALITY, **options)


def save(image, folder, number, **options):
    """One file of a variant."""
    folder.mkdir(exist_ok=True)
    image.save(folder / f"{number}.jpg", quality=QUALITY, **options)
