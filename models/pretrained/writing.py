"""Logits after a text that grows, from a decoder of transformers with its own cache."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.eval_mode import evaluating
from models.inputs.targets import can_write

if TYPE_CHECKING:
    from models.model import Model


def pretrained_reader(
    model: "Model",
) -> Callable[[Int[Tensor, " token"]], Float[Tensor, " vocab"]]:
    """See `models.writing.reader_of`; the network attends with the library's own attention."""
    network: Any = evaluating(model.network)
    if not can_write(network) or not network.can_generate() or network.config.is_encoder_decoder:
        raise ValueError(f"{model.name} is no decoder: expected a model that goes on with a text")
    cache, seen = None, 0

    def read(ids: Int[Tensor, " token"]) -> Float[Tensor, " vocab"]:
        nonlocal cache, seen
        whole = ids[None].to(model.device)
        given = {"input_ids": whole[:, seen:], "attention_mask": torch.ones_like(whole)}
        with torch.no_grad():
            out = network(**given, past_key_values=cache, use_cache=True, return_dict=True)
        cache, seen = out.past_key_values, whole.shape[1] if out.past_key_values is not None else 0
        return out.logits[0, -1]

    return read
