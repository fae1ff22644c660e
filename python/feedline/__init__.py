"""feedline: compressed images in, augmented training batches out.

`Loader` takes the place of torch's DataLoader; the transforms have torchvision's names, arguments and defaults. `decode` and
`decode_batch` are its decoder alone.
"""

from feedline._decode import decode, decode_batch
from feedline._feedline import DecodeError, Header, PanicError, SampleError, Tensor, UnavailableError, __version__
from feedline._loader import Batch, Batches, Loader
from feedline.transforms import *  # noqa: F403
from feedline import transforms
from feedline._mixture import Mixture
from feedline._recipes import recipe_parameters, recipes
from feedline._view import View

__all__ = [
    "Batch",
    "Batches",
    "DecodeError",
    "Header",
    "Loader",
    "Mixture",
    "PanicError",
    "SampleError",
    "Tensor",
    "UnavailableError",
    "View",
    "__version__",
    "decode",
    "decode_batch",
    "recipe_parameters",
    "recipes",
    "transforms",
]
__all__ += transforms.__all__
