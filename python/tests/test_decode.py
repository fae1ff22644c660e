"""Decoding without a Loader: Pillow's pixels, NumPy's arrays, and errors that name the file."""

import array
import concurrent.futures
import io
import mmap
import multiprocessing
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import PHOTOS
from PIL import Image, ImageOps

import feedline
from feedline import _decode

PATHS = sorted(PHOTOS.glob("*/*.jpg"))


def pixels(image):
    return np.asarray(image.convert("RGB"))


def of_pillow(data, exif=True):
    image = Image.open(io.BytesIO(data))
    return pixels(ImageOps.exif_transpose(image) if exif else image)


def saved(image, kind, orientation=1, **options):
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    image.save(file, kind, exif=exif, **options)
    return file.getvalue()


def picture(mode="RGB", size=(53, 37), seed=0):
    rng = np.random.default_rng(seed)
    blocks = rng.integers(0, 256, (size[1] // 8 + 1, size[0] // 8 + 1, 4), np.uint8)
    levels = blocks.repeat(8, 0).repeat(8, 1)[: size[1], : size[0]]
    image = Image.fromarray(levels, "RGBA" if mode == "RGBA" else "CMYK") if mode in ("RGBA", "CMYK") else None
    return image or Image.fromarray(np.ascontiguousarray(levels[..., :3])).convert(mode)


@pytest.fixture
def photo():
    return PATHS[0].read_bytes()


def test_photographs_have_pillow_s_pixels():
    assert len(PATHS) == 43
    for path in PATHS:
        decoded = feedline.decode(path)
        assert decoded.dtype == np.uint8 and decoded.flags.c_contiguous and decoded.flags.writeable
        assert np.array_equal(decoded, of_pillow(path.read_bytes())), path
        assert np.array_equal(decoded, feedline.decode(path.read_bytes())), path


@pytest.mark.parametrize(
    ("mode", "kind", "options"),
    [
        ("RGB", "JPEG", {"quality": 80}),
        ("RGB", "JPEG", {"quality": 95, "subsampling": 0, "progressive": True}),
        ("L", "JPEG", {}),
        ("CMYK", "JPEG", {}),
        ("RGB", "PNG", {}),
        ("RGBA", "PNG", {}),
        ("P", "PNG", {}),
        ("L", "PNG", {}),
        ("1", "PNG", {}),
        ("RGB", "WEBP", {"lossless": True}),
        ("RGBA", "WEBP", {"lossless": True, "exact": True}),
    ],
)
def test_every_kind_of_file_is_decoded_upright_and_in_part_as_pillow_does(mode, kind, options):
    image = picture(mode)
    for orientation in range(1, 9):
        file = saved(image, kind, orientation, **options)
        whole = feedline.decode(file)
        assert np.array_equal(whole, of_pillow(file)), orientation
        assert np.array_equal(feedline.decode(file, exif=False), of_pillow(file, exif=False)), orientation
        top, left, height, width = 3, 5, 31, 22
        part = feedline.decode(file, (top, left, height, width))
        assert np.array_equal(part, whole[top : top + height, left : left + width]), orientation


@pytest.mark.parametrize("denominator", [1, 2, 4, 8])
@pytest.mark.parametrize("subsampling", [0, 1, 2])
def test_a_smaller_scale_has_the_pixels_of_pillow_s_draft(denominator, subsampling):
    file = saved(picture(size=(203, 119)), "JPEG", subsampling=subsampling)
    image = Image.open(io.BytesIO(file))
    image.draft("RGB", (203 // denominator, 119 // denominator))
    small = feedline.decode(file, scale=1 / denominator)
    assert small.shape == (-(-119 // denominator), -(-203 // denominator), 3)
    assert np.array_equal(small, pixels(image))
    part = feedline.decode(file, region=(16, 24, 64, 100), scale=1 / denominator)
    rows, columns = slice(16 // denominator, 80 // denominator), slice(24 // denominator, -(-124 // denominator))
    assert np.array_equal(part, small[rows, columns])


def test_a_minimum_size_chooses_the_scale_as_pillow_s_draft_does():
    file = saved(picture(size=(400, 300)), "JPEG")
    for height, width in [(1, 1), (37, 50), (38, 50), (75, 100), (75, 101), (150, 200), (151, 10), (300, 400), (999, 1)]:
        image = Image.open(io.BytesIO(file))
        image.draft("RGB", (width, height))
        assert feedline.decode(file, min_size=(height, width)).shape[:2] == image.size[::-1], (height, width)
    assert feedline.decode(file, min_size=75).shape == (75, 100, 3)
    # Of a region its own size counts, upright; a PNG stays as it is.
    assert feedline.decode(file, (0, 0, 80, 90), min_size=40).shape == (40, 45, 3)
    turned = saved(picture(size=(400, 300)), "JPEG", 6)
    assert feedline.decode(turned, min_size=(200, 150)).shape == (200, 150, 3)
    assert feedline.decode(turned, min_size=(150, 200)).shape == (400, 300, 3)
    assert feedline.decode(saved(picture(), "PNG"), min_size=4).shape == (37, 53, 3)


def test_whatever_lends_its_bytes_is_decoded(photo):
    expected = feedline.decode(photo)
    with PATHS[0].open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert np.array_equal(feedline.decode(mapped), expected)
    other = [bytearray(photo), memoryview(photo), np.frombuffer(photo, np.uint8), array.array("B", photo)]
    for data in [*other, memoryview(b"xx" + photo)[2:], str(PATHS[0])]:
        assert np.array_equal(feedline.decode(data), expected), type(data)
        assert feedline.Header(data).width == expected.shape[1]
    with pytest.raises(BufferError):
        feedline.decode(memoryview(photo)[::2])


def test_pixels_are_written_where_they_are_wanted(photo):
    expected = feedline.decode(photo)
    height, width, _ = expected.shape
    assert feedline.decode(photo, out=(own := np.zeros_like(expected))) is own
    assert np.array_equal(own, expected)
    # Rows of a wider array, and a buffer that is no array of NumPy's.
    frame = np.full((height + 2, width + 3, 3), 7, np.uint8)
    feedline.decode(photo, out=frame[1:-1, 2:-1])
    assert np.array_equal(frame[1:-1, 2:-1], expected)
    assert (frame[[0, -1]] == 7).all() and (frame[:, :2] == 7).all() and (frame[:, -1] == 7).all()
    levels = bytearray(expected.size)
    feedline.decode(photo, out=memoryview(levels).cast("B", expected.shape))
    assert levels == expected.tobytes()
    assert feedline.decode(photo, (0, 0, 1, 1), out=np.zeros((1, 1, 3), np.uint8)).tolist() == [[expected[0, 0].tolist()]]


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (np.zeros((2, 2, 3), np.uint8), "is decoded to 37 rows and 53 columns, and out has 2 and 2"),
        (np.zeros((37, 53, 3), np.int8), "out is not of uint8"),
        (np.zeros((37, 53, 3), np.float32), "out is not of uint8"),
        (np.zeros((37, 53), np.uint8), "another number of axes"),
        (np.zeros((1, 37, 53, 3), np.uint8), "another number of axes"),
        (np.zeros((37, 53, 4), np.uint8), "no three channels"),
        (np.zeros((37, 53, 4), np.uint8)[..., :3], "gaps between pixels"),
        (np.zeros((3, 37, 53), np.uint8).transpose(1, 2, 0), "gaps between pixels"),
        (np.zeros((37, 53, 3), np.uint8)[::-1], "rows in another order"),
        (np.zeros((0, 53, 3), np.uint8), "and out has 0 and 53"),
    ],
)
def test_memory_that_does_not_fit_is_refused(out, words):
    with pytest.raises(ValueError, match=words):
        feedline.decode(saved(picture(), "JPEG"), out=out)


def test_memory_that_must_not_be_written_is_refused():
    file = saved(picture(), "PNG")
    fixed = np.zeros((37, 53, 3), np.uint8)
    fixed.flags.writeable = False
    for out in (fixed, bytes(37 * 53 * 3)):
        with pytest.raises((ValueError, BufferError, TypeError)):
            feedline.decode(file, out=out)
    assert not fixed.any()
    shared = np.zeros(37 * 53 * 3, np.uint8)
    shared[: len(file)] = np.frombuffer(file, np.uint8)
    with pytest.raises(ValueError, match="share memory"):
        feedline.decode(shared[: len(file)], out=shared.reshape(37, 53, 3))


def test_a_file_that_cannot_be_decoded_is_named(tmp_path, photo):
    text, missing = tmp_path / "text.jpg", tmp_path / "none.jpg"
    text.write_text("no photograph")
    with pytest.raises(feedline.DecodeError, match="^not an image: it holds text: .*") as raised:
        feedline.decode(text.read_bytes())
    assert raised.value.key is None and raised.value.index is None
    with pytest.raises(feedline.SampleError, match=f"^{text}: not an image") as raised:
        feedline.decode(text)
    assert raised.value.key == str(text) and raised.value.index is None
    for use in (feedline.decode, feedline.Header):
        with pytest.raises(FileNotFoundError) as raised:
            use(missing)
        assert raised.value.filename == str(missing)
        with pytest.raises(feedline.DecodeError, match="truncated"):
            use(photo[:300])
        with pytest.raises(TypeError, match="of type int: give the bytes of a file, or its path"):
            use(3)
    with pytest.raises(OSError, match="not a regular file"):
        feedline.decode(tmp_path)


def test_damage_is_treated_as_in_a_loader(photo):
    middle = len(photo) // 2
    damaged, cut = photo[:middle] + b"\xff\x01" + photo[middle + 2 :], photo[:middle]
    assert np.array_equal(feedline.decode(damaged), of_pillow(damaged))
    with pytest.raises(feedline.DecodeError, match="corrupt"):
        feedline.decode(damaged, damaged="refuse")
    with pytest.raises(feedline.DecodeError, match="truncated"):
        feedline.decode(cut)
    assert feedline.decode(cut, damaged="libjpeg").shape == feedline.decode(photo).shape
    with pytest.raises(feedline.DecodeError, match="max_pixels"):
        feedline.decode(photo, max_pixels=1000)
    with pytest.raises(feedline.DecodeError, match="max_scans"):
        feedline.decode(saved(picture(), "JPEG", progressive=True), max_scans=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scale": 0.3}, "scale is 0.3: give 1, 1/2, 1/4 or 1/8"),
        ({"scale": 2}, "scale is 2: give 1, 1/2, 1/4 or 1/8"),
        ({"scale": "half"}, "scale is 'half': give 1, 1/2, 1/4 or 1/8"),
        ({"scale": 0.5, "min_size": 8}, "give one of them"),
        ({"min_size": "x"}, r"min_size is 'x': give \(height, width\)"),
        ({"min_size": (1, 2, 3)}, "give .height, width."),
        ({"region": (0, 0, 38, 1)}, "leaves the upright image of height 37 and width 53"),
        ({"region": (0, -1, 3, 3)}, "leaves the upright image"),
        ({"region": (0, 0, 0, 3)}, "is empty"),
        ({"region": (0, 0, -1, 3)}, "give .top, left, height, width."),
        ({"region": (0, 0, 1)}, "give .top, left, height, width."),
        ({"region": (0, 0, 1.5, 1)}, "give .top, left, height, width."),
        ({"damaged": "perhaps"}, '"refuse", "torchvision" or "libjpeg"'),
        ({"exif": "yes"}, "exif is 'yes': give True or False"),
        ({"max_pixels": -1}, "max_pixels is -1"),
        ({"framework": "jax"}, "framework is 'jax'"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(arguments, words):
    file = saved(picture(), "JPEG")
    with pytest.raises(ValueError, match=words):
        feedline.decode(file, **arguments)
    with pytest.raises(ValueError, match=words):
        feedline.decode_batch([file], on_error="none", **arguments)


@pytest.mark.parametrize("kind", [5, 6])
def test_every_level_of_a_pnm_is_pillow_s(kind):
    for largest in (1, 2, 3, 7, 100, 200, 254, 255, 256, 510, 1000, 4095, 65534, 65535):
        size = 1 if largest < 256 else 2
        levels = np.arange(256**size, dtype=f">u{size}").repeat(3 if kind == 6 else 1)
        file = b"P%d\n# all levels\n256 %d\n%d\n" % (kind, 256 ** (size - 1), largest) + levels.tobytes()
        assert np.array_equal(feedline.decode(file), of_pillow(file)), largest
        part = feedline.decode(file, region=(0, 17, 1, 200))
        assert np.array_equal(part, of_pillow(file)[:1, 17:217]), largest


def test_only_jpeg_is_decoded_smaller():
    with pytest.raises(ValueError, match="file is PNG, and only JPEG"):
        feedline.decode(saved(picture(), "PNG"), scale=0.5)


def test_a_header_tells_what_is_in_a_file():
    header = feedline.Header(saved(picture(), "JPEG", 6, progressive=True, subsampling=1))
    assert (header.format, header.height, header.width) == ("JPEG", 53, 37)
    assert (header.stored_height, header.stored_width, header.orientation) == (37, 53, 6)
    assert (header.components, header.bits, header.progressive, header.sampling) == (3, 8, True, "4:2:2")
    assert repr(header).endswith("height=53, width=37, stored_height=37, stored_width=53, orientation=6)")
    pnm = feedline.Header(saved(picture("L"), "PPM"))
    assert (pnm.format, pnm.components, pnm.bits, pnm.sampling) == ("PNM", 1, 8, None)
    other = feedline.Header(saved(picture("RGBA"), "PNG"))
    assert (other.format, other.components, other.progressive, other.sampling) == ("PNG", 4, False, None)
    assert header == header and header != other


def test_a_header_tells_the_shape_of_every_decode():
    for kind in ("JPEG", "PNG"):
        for orientation in (1, 6):
            file = saved(picture(), kind, orientation)
            for arguments in (
                {},
                {"region": (3, 2, 31, 20)},
                {"min_size": 8},
                {"exif": False},
                {"region": (1, 1, 30, 31), "min_size": (9, 6)},
            ):
                assert feedline.Header(file).decoded_shape(**arguments) == feedline.decode(file, **arguments).shape
    with pytest.raises(ValueError, match="leaves the upright image"):
        feedline.Header(saved(picture(), "PNG")).decoded_shape((0, 0, 99, 1))


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_a_batch_is_a_list_in_order(threads):
    mixed = [path if at % 2 else path.read_bytes() for at, path in enumerate(PATHS)]
    decoded = feedline.decode_batch(iter(mixed), threads=threads)
    assert isinstance(decoded, list) and len(decoded) == 43
    assert all(np.array_equal(each, feedline.decode(path)) for each, path in zip(decoded, PATHS))
    assert feedline.decode_batch([], threads=threads) == []


def test_each_file_of_a_batch_may_have_a_region_of_its_own():
    regions = [(at, 2 * at, 30 + at, 40) for at in range(4)]
    files = PATHS[:4]
    for given in (regions, np.array(regions), iter(regions)):
        parts = feedline.decode_batch(files, given)
        assert all(np.array_equal(part, feedline.decode(*of)) for part, of in zip(parts, zip(files, regions)))
    whole, part = feedline.decode_batch(files[:2], [None, (0, 0, 5, 6)])
    assert whole.shape == feedline.decode(files[0]).shape and part.shape == (5, 6, 3)
    same = feedline.decode_batch(files, np.array([1, 2, 3, 4]))
    assert [each.shape for each in same] == [(3, 4, 3)] * 4
    with pytest.raises(ValueError, match="there are 2 regions and 4 files"):
        feedline.decode_batch(files, regions[:2])


def test_images_of_one_size_are_stacked():
    region = (10, 20, 64, 48)
    stacked = feedline.decode_batch(PATHS[:5], region, stack=True)
    assert stacked.shape == (5, 64, 48, 3) and stacked.flags.c_contiguous
    assert all(np.array_equal(each, feedline.decode(path, region)) for each, path in zip(stacked, PATHS))
    room = np.zeros((5, 70, 50, 3), np.uint8)
    view = room[:, 3:67, 1:49]
    assert feedline.decode_batch(PATHS[:5], region, out=view, threads=2) is view
    assert np.array_equal(view, stacked) and not room[:, :3].any() and not room[:, :, 49].any()
    with pytest.raises(ValueError, match="file 0 is decoded to .* and file 2 to 5 and 6: only images of one size"):
        feedline.decode_batch(PATHS[:3], [(0, 0, 9, 9), (0, 0, 9, 9), (0, 0, 5, 6)], stack=True)
    with pytest.raises(ValueError, match="a stack has at least one"):
        feedline.decode_batch([], stack=True)
    with pytest.raises(ValueError, match="room for 5 images, and there are 4 files"):
        feedline.decode_batch(PATHS[:4], region, out=view)
    with pytest.raises(ValueError, match="file 0 is decoded to 8 rows"):
        feedline.decode_batch(PATHS[:5], (0, 0, 8, 8), out=view)
    # Images that would share memory, one row apart.
    overlapping = np.lib.stride_tricks.as_strided(room, (5, 64, 48, 3), (150, 150, 3, 1))
    with pytest.raises(ValueError, match="in another order"):
        feedline.decode_batch(PATHS[:5], region, out=overlapping)


def test_what_becomes_of_bad_files_of_a_batch_is_the_caller_s_choice(tmp_path, photo):
    text, missing = tmp_path / "text.jpg", tmp_path / "none.jpg"
    text.write_text("no photograph")
    middle = len(photo) // 2
    files = [photo, text, b"", missing, photo[:middle]]
    with pytest.raises(feedline.DecodeError, match=r"file 1 \(.*text.jpg\): not an image: it holds text") as raised:
        feedline.decode_batch(files)
    assert (raised.value.index, raised.value.key) == (1, str(text))
    with pytest.raises(FileNotFoundError) as missed:
        feedline.decode_batch([photo, missing])
    assert (missed.value.index, missed.value.filename) == (1, str(missing))
    # Its header is whole: the damage is found while it is decoded.
    with pytest.raises(feedline.DecodeError, match="file 2: truncated") as raised:
        feedline.decode_batch([photo, photo, photo[:middle]])
    assert (raised.value.index, raised.value.key) == (2, None)
    good, *bad = feedline.decode_batch(files, on_error="none")
    assert np.array_equal(good, feedline.decode(photo)) and bad == [None] * 4
    good, *bad = feedline.decode_batch(files, on_error="return")
    assert [type(error) for error in bad] == [feedline.DecodeError] * 2 + [FileNotFoundError, feedline.DecodeError]
    assert [error.index for error in bad] == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="no place for files that cannot be decoded"):
        feedline.decode_batch(files, stack=True, on_error="none")
    with pytest.raises(ValueError, match='on_error is "skip"'):
        feedline.decode_batch(files, on_error="skip")


def test_what_is_no_list_of_files_is_refused(photo):
    for single in (photo, str(PATHS[0]), PATHS[0]):
        with pytest.raises(TypeError, match="call decode for a single one"):
            feedline.decode_batch(single)
    with pytest.raises(TypeError, match="file 1 is of type int"):
        feedline.decode_batch([photo, 7], on_error="none")
    with pytest.raises(ValueError, match="threads is 0"):
        feedline.decode_batch([photo], threads=0)


def test_other_threads_run_while_files_are_decoded(photo):
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    large = saved(picture(size=(4000, 3000)), "JPEG", quality=95, subsampling=0)
    spans = []
    for use in (lambda: feedline.decode(large), lambda: feedline.decode_batch([large] * 2, threads=1)):
        began = time.monotonic()
        use()
        spans.append((began, time.monotonic()))
    done.set(), ticker.join()
    for began, ended in spans:
        assert any(began + 0.005 < moment < ended - 0.005 for moment in ticks), (began, ended, len(ticks))


def test_many_threads_decode_at_once():
    expected = [feedline.decode(path) for path in PATHS]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            decoded = pool.map(feedline.decode, PATHS)
            assert all(np.array_equal(one, other) for one, other in zip(decoded, expected))


def test_a_signal_ends_a_batch_within_a_second(photo):
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    # What takes many seconds, but most of the memory for its results is never written.
    files, began = [saved(picture(size=(2000, 1500)), "JPEG", quality=95)] * 500, time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Interrupted):
            feedline.decode_batch(files, threads=2)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - began < 2


def test_neither_torch_nor_numpy_is_imported_unasked():
    program = f"""
import sys, feedline
data = open({str(PATHS[0])!r}, "rb").read()
header = feedline.Header(data)
room = bytearray(header.height * header.width * 3)
feedline.decode(data, out=memoryview(room).cast("B", header.decoded_shape()))
assert any(room) and not {{"numpy", "torch", "multiprocessing"}} & set(sys.modules), set(sys.modules)
feedline.decode_batch([data])
assert "numpy" in sys.modules and "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_process_of_multiprocessing_decodes_on_one_thread_unless_told():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_decode._threads, (None,)) == 1
        assert pool.apply(_decode._threads, (3,)) == 3
    assert _decode._threads(None) is None
