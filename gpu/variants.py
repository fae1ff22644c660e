"""Re-encodings of some photographs, one folder for each sampling and mode: what the decoders are told apart by."""

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


def save(image, folder, number, **options):
    """One file of a variant."""
    folder.mkdir(exist_ok=True)
    image.save(folder / f"{number}.jpg", quality=QUALITY, **options)
