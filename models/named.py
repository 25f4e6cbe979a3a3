"""Inputs under the names transformers gives them, for networks of ours: ids, padding, pixels."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.inputs import Inputs, inputs_of
from models.text import Tokens

if TYPE_CHECKING:
    from models.loading import Model

NAMES = ("input_ids", "attention_mask", "token_type_ids", "pixel_values")


def named_inputs(model: "Model", given: Mapping[str, Any]) -> Inputs:
    """What a network of ours takes, from a dict as a tokenizer of transformers gives it.

    Raises:
        ValueError: for other names, or padding that is not at the end.
    """
    unknown = sorted(set(given) - set(NAMES))
    if unknown:
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    if "pixel_values" in given:
        return inputs_of(model, given["pixel_values"])
    ids = given.get("input_ids")
    if not isinstance(ids, Tensor):
        raise ValueError(f"{model.name}: expected a dict with input_ids or pixel_values")
    whole = inputs_of(model, ids)
    shown = given.get("attention_mask")
    shown = torch.ones_like(ids) if shown is None else shown
    counts = shown.sum(1).tolist()
    ends = torch.arange(ids.shape[1])[None] < torch.tensor(counts)[:, None]
    if not ends.equal(shown.bool().cpu()) or min(counts) < 1:
        raise ValueError("attention_mask: expected padding at the end of an item alone")
    pairs = zip(ids.tolist(), counts, strict=True)
    tokens = tuple(Tokens.of_ids(row[:count]) for row, count in pairs)
    arguments = {**whole.arguments, "padding": None if ends.all() else ~ends.to(model.device)}
    if "token_type_ids" in given:
        arguments["segments"] = given["token_type_ids"].to(model.device)
    return Inputs(arguments, tokens)
