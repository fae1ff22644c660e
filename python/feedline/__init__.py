"""feedline: compressed images in, augmented training batches out.

`Loader` takes the place of torch's DataLoader; the transforms have torchvision's names, arguments and defaults. `decode` and
`decode_batch` are its decoder alone.
"""

from typing import TYPE_CHECKING

from feedline import _names
from feedline._batches import Batch, Batches
from feedline._decode import decode, decode_batch
from feedline._feedline import DecodeError, Header, PanicError, SampleError, Tensor, UnavailableError, __version__
from feedline._dataset import Dataset, Sampler
from feedline._doctor import Diagnosis, doctor
from feedline._loader import Loader
from feedline._map import Mapped
from feedline.transforms import *  # noqa: F403
from feedline import transforms
from feedline._mixture import Mixture
from feedline._recipes import recipe_parameters, recipes
from feedline._view import View
from feedline._warn import FeedlineWarning

__all__ = [
    "Batch",
    "Batches",
    "Dataset",
    "DecodeError",
    "Diagnosis",
    "FeedlineWarning",
    "Header",
    "Loader",
    "Mapped",
    "Mixture",
    "PanicError",
    "SampleError",
    "Sampler",
    "Tensor",
    "UnavailableError",
    "View",
    "__version__",
    "decode",
    "decode_batch",
    "doctor",
    "recipe_parameters",
    "recipes",
    "transforms",
]
__all__ += transforms.__all__


if not TYPE_CHECKING:  # A type checker knows by itself what there is not.

    def __getattr__(name):
        raise _names.missing("feedline", name, __all__)
