"""Texts that a decoder goes on with, token by token, with its cache of keys and values."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decoder import Decoder
from models.eval_mode import evaluating
from models.model import Model

if TYPE_CHECKING:
    from models.inputs.generation import Rules

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


def rules_of(model: Model, ids: Int[Tensor, " token"], count: int) -> "Rules | None":
    """How the checkpoint's generation config has so many tokens written after a text.

    None for a network that states nothing.

    Raises:
        ValueError: for a generation config that cannot be used.
    """
    from models.inputs import generation

    if model.door == "transformers":
        return generation.rules_of(model.network, ids, count)
    stated = "{}" if model.prompts is None else model.prompts.generation
    return None if stated == "{}" else generation.rules_without_network(stated, ids, count)
