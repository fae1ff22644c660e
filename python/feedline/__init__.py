"""feedline: compressed images in, augmented training batches out.

`Loader` takes the place of torch's DataLoader; the transforms have torchvision's names, arguments and defaults.
"""

from feedline._feedline import PanicError, SampleError, Tensor, UnavailableError, __version__
from feedline._loader import Batch, Batches, Loader
from feedline.transforms import *  # noqa: F403
from feedline import transforms
from feedline._mixture import Mixture
from feedline._view import View

__all__ = [
    "Batch",
    "Batches",
    "Loader",
    "Mixture",
    "PanicError",
    "SampleError",
    "Tensor",
    "UnavailableError",
    "View",
    "__version__",
    "transforms",
]
__all__ += transforms.__all__
