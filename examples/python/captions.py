"""Goes through the images and captions of a tar file, as one trains CLIP: `7.jpg` and `7.txt` lie next to each other in it.

    pip install ./python numpy
    python examples/python/captions.py out/captions.tar

An archive that is not there is packed of the bundled photographs. The example of the same name in Rust prints the same.
"""

import io
import pathlib
import sys
import tarfile

import feedline

PHOTOS = pathlib.Path(__file__).resolve().parents[2] / "data" / "photos"


def pack(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for number, photo in enumerate(sorted(PHOTOS.glob("*/*.jpg"))[:6]):
            caption = f"a photo of a {photo.parent.name}".encode()
            text = tarfile.TarInfo(f"{number}.txt")
            text.size = len(caption)
            archive.add(photo, f"{number}.jpg")
            archive.addfile(text, io.BytesIO(caption))


archive = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "out/captions.tar")
if not archive.exists():
    pack(archive)
fields = {"caption": {"type": "text", "from": "txt"}}
crop = [feedline.RandomResizedCrop(224)]
for batch in feedline.Loader(archive, batch_size=4, shuffle=True, seed=42, transforms=crop, fields=fields):
    print(list(batch["image"].shape))
    for key, caption in zip(batch["key"], batch["caption"]):
        print(f"  {key}: {caption}")
