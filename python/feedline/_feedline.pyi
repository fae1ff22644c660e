"""The native half of the package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, final

from feedline._decode import File, Region

__version__: str
OPTIMISED: bool

class SampleError(RuntimeError):
    key: str
    index: int

class DecodeError(SampleError):
    """A file cannot be decoded."""

    key: str | None  # type: ignore[assignment]
    """Its path; None for one in memory."""
    index: int | None  # type: ignore[assignment]
    """Its place in a batch."""

class UnavailableError(RuntimeError): ...

class PanicError(RuntimeError):
    key: str
    index: int

@final
class Tensor:
    """One array of a batch, which `torch.from_dlpack` and `numpy.asarray` take without a copy."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
        _lasts: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def numpy(self) -> Any: ...
    def torch(self) -> Any: ...

@final
class Header:
    """What a file says of its image before it is decoded. `data` is as in `decode`.

    Of a JPEG, a PNM or a file of coefficients at a path no more than 64 KiB are read, if its header ends there.
    """

    def __new__(cls, data: File) -> Header: ...
    @property
    def format(self) -> str:
        """JPEG, PNG, WebP, PNM or coefficients, by the file's bytes."""

    @property
    def height(self) -> int:
        """Rows of the upright image."""

    @property
    def width(self) -> int:
        """Columns of the upright image."""

    @property
    def stored_height(self) -> int:
        """Rows as they are stored."""

    @property
    def stored_width(self) -> int:
        """Columns as they are stored."""

    @property
    def orientation(self) -> int:
        """The EXIF orientation, 1 to 8; 1 is upright."""

    @property
    def components(self) -> int:
        """Channels of a stored pixel: 1 (grey, or a palette), 2 (grey and alpha), 3, or 4 (colour and alpha, or four inks)."""

    @property
    def bits(self) -> int:
        """Bits of a stored channel."""

    @property
    def progressive(self) -> bool:
        """Whether a JPEG is progressive, or a PNG interlaced."""

    @property
    def sampling(self) -> str | None:
        """The chroma sampling of a JPEG or of its coefficients, such as 4:2:0; None for other formats."""

    def decoded_shape(
        self,
        region: Region | None = None,
        scale: float | None = None,
        *,
        min_size: int | Sequence[int] | None = None,
        exif: bool = True,
    ) -> tuple[int, int, int]:
        """The shape of what `decode` makes of the file with these arguments."""

@final
class Epoch:
    def next(self) -> dict[str, Any] | None: ...
    def left(self) -> int: ...
    def state(self) -> str: ...
    def close(self) -> None: ...

@final
class Timer:
    def record(self, seconds: float) -> None: ...
    def timing(self) -> str: ...

@final
class Loader:
    def __new__(cls, data: str | dict[str, Any] | None, keywords: dict[str, Any]) -> Loader: ...
    def options(self) -> str: ...
    def facts(self) -> str: ...
    def class_count(self) -> int | None: ...
    def targets(self) -> list[int]: ...
    def rows(self) -> int: ...
    def unpinned(self) -> str | None: ...
    @property
    def notes(self) -> list[str]: ...
    def batches(self) -> int: ...
    def samples(self) -> int: ...
    def classes(self) -> list[str]: ...
    def epoch(self, epoch: int) -> Epoch: ...
    def resume(self, state: str) -> Epoch: ...
    def check_state(self, state: str) -> None: ...
    def state_ahead_of(self, epoch: int) -> str: ...
    def stats(self) -> str: ...
    def explain(self) -> str: ...
    def report(
        self,
    ) -> tuple[int, list[tuple[str, str, int, str]], int, list[tuple[str, int, str, int]]]: ...
    def close(self) -> None: ...

def decode(data: File, region: Region | None, wanted: tuple[Any, ...], out: Any) -> Any: ...
def decode_batch(
    files: list[File],
    regions: Sequence[Region | None],
    wanted: tuple[Any, ...],
    how: tuple[Any, ...],
    out: Any,
) -> Any: ...
def end_calls() -> None: ...
def option_list() -> str: ...
def doctor(
    data: Any,
    keywords: dict[str, Any],
    seconds: float,
    step_s: float | None,
    step_cpu_s: float | None,
) -> str: ...

class GpuMeter:
    def __init__(self) -> None: ...
    @staticmethod
    def settles_in(seconds: float) -> float: ...
    def look(self) -> int: ...
    def mean(self) -> str: ...

def prometheus(figures: str, labels: list[tuple[str, str]]) -> str: ...
def check_options(json: str) -> str: ...
def recipe_names() -> list[str]: ...
def recipe_parameters(recipe: str) -> str: ...
def transform_names() -> list[str]: ...
def transform_arguments(name: str) -> list[str]: ...
def check_transform(json: str) -> str: ...
def check_view(json: str) -> str: ...
def nvjpeg_candidates() -> list[Path]: ...
