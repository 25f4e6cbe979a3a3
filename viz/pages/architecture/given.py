"""What the Architecture page gives its network, as `trace` takes it."""

from typing import TYPE_CHECKING, Any

from viz.pages.architecture.blueprint import PAGE
from viz.pages.image import picture
from viz.pages.text import reading

if TYPE_CHECKING:
    from torch import Tensor

    from models.model import Config


def arguments(config: "Config", given: tuple[Any, ...]) -> tuple[Any, Any]:
    """Input and target as `trace` takes them."""
    from models.text import clean

    kind, *values = given
    if kind == "image":
        return _pixels(config, *values), None
    given_ids = kind == "ids"
    read = [_ids(v) if given_ids else clean(v)[0] for v in values if given_ids or v.strip()]
    return read[0], read[1] if len(read) > 1 else None


def _pixels(config: Any, digest: str, how: picture.How) -> "Tensor":
    """The picture as the network's channels: of one, grey; of more than three, with zeros."""
    import torch

    from models.image import fit_image, to_pixels

    data, _ = picture.source(PAGE)
    image, _ = fit_image(picture.opened_image(digest, data), config.image, config.image, how)
    pixels = to_pixels(image)
    if config.channels == 1:
        return pixels.mean(1, keepdim=True)
    return torch.nn.functional.pad(pixels, (0, 0, 0, 0, 0, config.channels - 3))


def _ids(text: str) -> "Tensor":
    import torch

    return torch.tensor([reading.numbers_in(text)])
