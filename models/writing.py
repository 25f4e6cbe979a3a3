"""Texts that a decoder goes on with, token by token, with its cache of keys and values."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decoder import Decoder
from models.eval_mode import evaluating
from models.model import Model

Reader = Callable[[Int[Tensor, " token"]], Float[Tensor, " vocab"]]


def reader_of(model: Model) -> Reader:
    """A function that gives the logits after a text, of which it has read the first tokens before.

    Each call is given all tokens so far; only those that are new are worked out.

    Args:
        model: a decoder.

    Raises:
        ValueError: for any other network.
    """
    if model.door == "transformers":
        from models.pretrained.writing import pretrained_reader

        return pretrained_reader(model)
    network = evaluating(model.network)
    if not isinstance(network, Decoder):
        raise ValueError(f"{model.name} is no decoder: expected a model that goes on with a text")
    past = None

    def read(ids: Int[Tensor, " token"]) -> Float[Tensor, " vocab"]:
        nonlocal past
        with torch.no_grad():
            past = network(ids[None].to(model.device), past=past, logits_to_keep=1)
        return past.logits[0, -1]

    return read
