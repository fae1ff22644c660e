"""Where the time of a function goes that makes a sample: waiting, decoding, or other work.

What a thread waits for is what its clock shows beyond its processor time, and beyond the time in which it could have run and
other threads had the cores (which only Linux tells). Decoders are known by their names; the rest is
work in Python and in the libraries that it calls.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

# Functions written in C that decode images, by the ends of their names: Pillow's, OpenCV's, simplejpeg's, and what other
# libraries call alike.
_C_DECODERS = (
    "ImagingDecoder.decode",
    "imread",
    "imdecode",
    "decode_jpeg",
    "decode_png",
    "decode_image",
    "decode_webp",
)
# Functions written in Python that do nothing else, by file and name: Pillow's, torchvision's, PyTurboJPEG's and feedline's.
_PYTHON_DECODERS = (
    ("PIL/ImageFile.py", "load"),
    ("torchvision/io/image.py", "decode_image"),
    ("torchvision/io/image.py", "decode_jpeg"),
    ("torchvision/io/image.py", "decode_png"),
    ("torchvision/io/image.py", "read_image"),
    ("turbojpeg.py", "decode"),
    ("feedline/_decode.py", "decode"),
)


@dataclass
class SampleTime:
    """Seconds of one sample on a core of its own: until it was there, and what of them went where."""

    seconds: float
    waiting: float
    decoding: float

    @property
    def working(self) -> float:
        """What is left: transforms, and Python."""
        return max(0.0, self.seconds - self.waiting - self.decoding)


def measure(make: Callable[[int], Any], indices: list[int], at_most_s: float) -> SampleTime:
    """The mean over samples, the first of which is made once before; at least one is measured.

    Each sample is made twice, in different samples' order: once as it is, for its time, and once watched, for the share of
    decoding in its processor time. Watching costs Python more than C, so only the share is used.
    """
    make(indices[0])
    began, count, wall, processor, queued = time.perf_counter(), 0, 0.0, 0.0, _queued_s()
    for index in indices:
        if count and time.perf_counter() - began > at_most_s / 2:
            break
        before, before_processor = time.perf_counter(), time.thread_time()
        make(index)
        wall += time.perf_counter() - before
        processor += time.thread_time() - before_processor
        count += 1
    queued = max(0.0, _queued_s() - queued)
    watch = _Watch()
    began = time.perf_counter()
    for watched, index in enumerate(reversed(indices[:count])):
        if watched and time.perf_counter() - began > at_most_s / 2:
            break
        watch.run(make, index)
    seconds, busy = max(wall - queued, processor) / count, processor / count
    return SampleTime(seconds, seconds - busy, busy * watch.share())


def _queued_s() -> float:
    """How long this thread has waited for a core until now; 0 where the system does not say."""
    try:
        with open("/proc/thread-self/schedstat") as stat:
            return int(stat.read().split()[1]) * 1e-9
    except (OSError, ValueError, IndexError):
        return 0.0


class _Watch:
    """Adds up the processor time inside of decoders, and in all."""

    def __init__(self) -> None:
        self._depth = 0
        self._entered = 0.0
        self._decoding = 0.0
        self._all = 0.0

    def share(self) -> float:
        return min(1.0, self._decoding / self._all) if self._all > 0 else 0.0

    def run(self, make: Callable[[int], Any], index: int) -> None:
        before = sys.getprofile()
        began = time.thread_time()
        sys.setprofile(self._seen)
        try:
            make(index)
        finally:
            sys.setprofile(before)
            self._all += time.thread_time() - began
            self._depth = 0

    def _seen(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" or event == "return":
            code = frame.f_code
            is_decoder = any(
                # Windows has backslashes.
                code.co_name == name and code.co_filename.replace("\\", "/").endswith(file)
                for file, name in _PYTHON_DECODERS
            )
        else:
            name: str = getattr(argument, "__qualname__", "")
            is_decoder = name.endswith(_C_DECODERS)
        if not is_decoder:
            return
        if event == "call" or event == "c_call":
            if self._depth == 0:
                self._entered = time.thread_time()
            self._depth += 1
        elif self._depth:
            self._depth -= 1
            if self._depth == 0:
                self._decoding += time.thread_time() - self._entered
