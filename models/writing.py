"""Texts that a decoder goes on with, token by token, with its cache of keys and values."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.decoder import Decoder
from models.inputs.targets import can_write
from models.model import Model
from models.structure import evaluating

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
    network: Any = evaluating(model.network)
    is_ours = isinstance(network, Decoder)
    if not is_ours and not (can_write(network) and _goes_on(network)):
        raise ValueError(f"{model.name} is no decoder: expected a model that goes on with a text")
    past: Any = None
    seen = 0

    @torch.no_grad()
    def read(ids: Int[Tensor, " token"]) -> Float[Tensor, " vocab"]:
        nonlocal past, seen
        whole = ids[None].to(model.device)
        if is_ours:
            past = network(whole, past=past, logits_to_keep=1)
            return past.logits[0, -1]
        given = {"input_ids": whole[:, seen:], "attention_mask": torch.ones_like(whole)}
        out = network(**given, past_key_values=past, use_cache=True, return_dict=True)
        past = out.past_key_values
        seen = 0 if past is None else whole.shape[1]
        return out.logits[0, -1]

    return read


def _goes_on(network: Any) -> bool:
    return network.can_generate() and not network.config.is_encoder_decoder


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
